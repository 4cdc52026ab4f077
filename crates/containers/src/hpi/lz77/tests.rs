use std::io::{self, Read};

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn decoded(input: &[u8], length: usize) -> Result<Vec<u8>, Lz77Error> {
    Decoder::default().decode(input, length).map_err(cause)
}

fn cause(error: io::Error) -> Lz77Error {
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    error.downcast().unwrap()
}

/// Returns the output of a [`Reader`] that is read in steps of `step` bytes.
fn streamed(input: &[u8], length: usize, step: usize) -> io::Result<Vec<u8>> {
    let mut reader = Reader::new(input, length as u64);
    let mut out = Vec::new();
    let mut part = vec![0; step];
    loop {
        match reader.read(&mut part)? {
            0 => return Ok(out),
            count => out.extend_from_slice(&part[..count]),
        }
    }
}

/// Decodes in both ways, which must agree.
fn both(input: &[u8], length: usize, step: usize) -> Result<Vec<u8>, Lz77Error> {
    let whole = decoded(input, length);
    let stream = streamed(input, length, step).map_err(cause);
    assert_eq!(whole, stream);
    whole
}

/// Returns a pair as it is in packed data.
fn pair(position: usize, length: usize) -> [u8; 2] {
    Pair { position, length }.bits().to_le_bytes()
}

#[test]
fn literals_and_an_overlapping_match_decode() {
    let [low, high] = pair(1, 5);
    assert_eq!(
        both(&[0b1100, b'a', b'b', low, high, 0, 0], 7, 3).unwrap(),
        b"abababa"
    );
}

#[test]
fn a_match_ahead_of_the_cursor_reads_zeros() {
    // Cursor at 2; 4095 and 0 have never been written, 1 holds the literal.
    let [low, high] = pair(4095, 4);
    assert_eq!(
        both(&[0b110, b'x', low, high, 0, 0], 5, 5).unwrap(),
        b"x\0\0x\0"
    );
}

#[test]
fn a_match_at_the_cursor_is_a_whole_window_back() {
    let plain: Vec<u8> = (0..WINDOW).map(|at| ((at * at) >> 5) as u8).collect();
    let mut packed: Vec<u8> = plain
        .chunks(GROUP)
        .flat_map(|group| [&[0], group].concat())
        .collect();
    // 4096 bytes later the cursor is at 1 again.
    packed.extend([0b11, 0x1F, 0x00, 0, 0]);
    let out = both(&packed, WINDOW + MAX_MATCH, 100).unwrap();
    assert_eq!(out[WINDOW..], plain[..MAX_MATCH]);
}

#[test]
fn bytes_after_the_end_mark_are_ignored() {
    assert_eq!(both(&[0b10, b'a', 0, 0, 1, 2, 3], 1, 1).unwrap(), b"a");
}

#[test]
fn empty_data_needs_an_end_mark_too() {
    assert_eq!(both(&[1, 0, 0], 0, 1), Ok(vec![]));
    assert_eq!(encode(&[]), [1, 0, 0]);
    assert_eq!(both(&[], 0, 1), Err(Lz77Error::Truncated { position: 0 }));
}

#[test]
fn an_error_has_cause_and_position() {
    let text = |input: &[u8], length| both(input, length, 2).unwrap_err().to_string();
    assert_eq!(
        text(&[0, b'a', b'b'], 2),
        "LZ77 data ends at byte 3 without an end mark"
    );
    assert_eq!(
        text(&[0b10, b'a', 0x1F, 0, 0], 8),
        "LZ77 item at byte 2 exceeds the declared 8 bytes"
    );
    assert_eq!(
        text(&[0b10, b'a', 0, 0], 100),
        "LZ77 end mark at byte 2 after 1 of 100 bytes"
    );
}

#[test]
fn the_start_of_damaged_data_decodes_if_the_damage_is_after_it() {
    let plain: Vec<u8> = (0..2000_u32).map(|at| ((at * at) >> 4) as u8).collect();
    let packed = encode(&plain);
    let cut = &packed[..packed.len() / 2];
    let mut decoder = Decoder::default();
    for wanted in [0, 1, 17, 500] {
        let start = decoder.decode_start(cut, wanted, plain.len()).unwrap();
        assert_eq!(start, plain[..wanted]);
    }
    assert!(decoder.decode_start(cut, 1900, plain.len()).is_err());
}

#[test]
fn a_reader_returns_the_last_bytes_only_with_the_end_mark() {
    let mut reader = Reader::new(&[0, b'a', b'b'][..], 2);
    let mut out = [0; 2];
    assert!(reader.read_exact(&mut out).is_err());
    assert!(reader.read(&mut out).is_err(), "an error is not the end");
}

#[test]
fn the_window_position_of_the_end_mark_is_never_used() {
    // The first needle starts at window position 0, the second could match it.
    let mut plain = vec![0; WINDOW - START];
    plain.extend(b"needle-needle");
    let packed = encode(&plain);
    assert_eq!(both(&packed, plain.len(), 1000).unwrap(), plain);
}

#[test]
fn the_cheapest_sequence_is_found() {
    let plain = b"abc1bcdef2abcdef";
    let packed = encode(plain);
    // Greedy: a b c 1 (bc) d e f 2 (abc) (def); cheapest: ... 2 a (bcdef).
    let (tags, literals, matches) = (2, 9, 2);
    assert_eq!(packed.len(), tags + literals + 2 * (matches + 1));
    assert_eq!(both(&packed, plain.len(), 4).unwrap(), plain);
}

#[test]
fn runs_shrink_to_a_match_for_seventeen_bytes() {
    let plain = vec![7; 65536];
    let matches = plain.len().div_ceil(MAX_MATCH) + plain.len() / WINDOW;
    let packed = encode(&plain);
    assert!(packed.len() <= (2 * GROUP + 1) * matches.div_ceil(GROUP));
    assert_eq!(both(&packed, plain.len(), 4096).unwrap(), plain);
}

/// Returns bytes with much repetition, like game data: new pieces, runs, and
/// copies of earlier pieces up to more than a window back.
fn repetitive() -> impl Strategy<Value = Vec<u8>> {
    let fresh = vec(0..4_u8, 1..40).prop_map(|bytes| (bytes, 0, 0));
    let copy = (1..5000_usize, 1..300_usize).prop_map(|(back, length)| (vec![], back, length));
    vec(prop_oneof![fresh, copy], 0..60).prop_map(|pieces| {
        let mut out: Vec<u8> = Vec::new();
        for (fresh, back, length) in pieces {
            out.extend(&fresh);
            let start = out.len().saturating_sub(back);
            for at in start..start + length {
                out.push(out.get(at).copied().unwrap_or(0));
            }
        }
        out
    })
}

/// Items in groups, most of them valid, to get further than noise.
fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let group = (any::<u8>(), vec(any::<u8>(), 1..20)).prop_map(|(tag, rest)| {
        let mut group = vec![tag];
        group.extend(rest);
        group
    });
    vec(group, 0..60).prop_map(|groups| groups.concat())
}

proptest! {
    #[test]
    fn encoded_bytes_decode_to_the_original(plain in repetitive(), step in 1..5000_usize) {
        prop_assert_eq!(both(&encode(&plain), plain.len(), step).unwrap(), plain);
    }

    #[test]
    fn the_start_equals_the_start_of_the_whole(plain in repetitive(), wanted in any::<prop::sample::Index>()) {
        let wanted = wanted.index(plain.len() + 1);
        let mut decoder = Decoder::default();
        let start = decoder.decode_start(&encode(&plain), wanted, plain.len()).unwrap();
        prop_assert_eq!(start, &plain[..wanted]);
    }

    #[test]
    fn the_start_needs_hardly_more_packed_bytes_than_it_has(
        plain in prop_oneof![repetitive(), vec(any::<u8>(), 0..3000)],
        wanted in any::<prop::sample::Index>(),
    ) {
        let wanted = wanted.index(plain.len() + 1);
        let packed = encode(&plain);
        let cut = &packed[..packed.len().min(wanted + wanted / GROUP + 40)];
        let start = Decoder::default().decode_start(cut, wanted, plain.len()).unwrap();
        prop_assert_eq!(start, &plain[..wanted]);
    }

    #[test]
    fn noise_is_encoded_at_an_eighth_more(plain in vec(any::<u8>(), 0..3000)) {
        let packed = encode(&plain);
        prop_assert!(packed.len() <= plain.len() + (plain.len() + 1).div_ceil(GROUP) + 2);
        prop_assert_eq!(both(&packed, plain.len(), 500).unwrap(), plain);
    }

    #[test]
    fn whole_and_stream_give_the_same_verdict(
        input in garbage(),
        length in 0..6000_usize,
        step in 1..300_usize,
    ) {
        let _ = both(&input, length, step);
    }

    #[test]
    fn damage_gets_the_same_verdict(
        plain in repetitive(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        length in -20..20_isize,
    ) {
        let mut packed = encode(&plain);
        for (at, byte) in damage {
            let at = at.index(packed.len());
            packed[at] = byte;
        }
        let _ = both(&packed, plain.len().saturating_add_signed(length), 64);
    }

    /// The declared length of garbage is hardly ever right; here it is.
    #[test]
    fn garbage_of_the_right_length_decodes_alike(mut input in garbage()) {
        input.extend([[0xFF; 18], [0; 18]].concat());
        let Err(Lz77Error::TooShort { produced, .. }) = decoded(&input, 1 << 20) else {
            return Err(TestCaseError::reject("has no end mark"));
        };
        prop_assert!(both(&input, produced as usize, 100).is_ok());
    }
}
