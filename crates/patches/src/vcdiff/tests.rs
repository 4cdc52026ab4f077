use std::sync::Arc;

use hpimount_containers::io::ReadAt;

use crate::number::write_vcdiff;
use crate::{Check, Error, Mismatch, Options, Patch, Result};

const HEADER: &[u8] = &[0xD6, 0xC3, 0xC4, 0, 0];
const LZMA: &[u8] = &[0xD6, 0xC3, 0xC4, 0, 1, 2];

/// A window to be written.
#[derive(Default)]
struct Window<'a> {
    segment: Option<(u64, u64)>,
    length: u64,
    data: Vec<u8>,
    instructions: Vec<u8>,
    addresses: Vec<u8>,
    result: Option<&'a [u8]>,
    compressed: u8,
}

impl Window<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        let sections = [&self.data, &self.instructions, &self.addresses];
        let mut fields = Vec::new();
        write_vcdiff(self.length, &mut fields);
        fields.push(self.compressed);
        for section in sections {
            write_vcdiff(section.len() as u64, &mut fields);
        }
        if let Some(result) = self.result {
            fields.extend(simd_adler32::adler32(&result).to_be_bytes());
        }
        out.push(u8::from(self.segment.is_some()) | u8::from(self.result.is_some()) << 2);
        if let Some((length, position)) = self.segment {
            write_vcdiff(length, out);
            write_vcdiff(position, out);
        }
        let lengths = sections.iter().map(|section| section.len()).sum::<usize>();
        write_vcdiff((fields.len() + lengths) as u64, out);
        out.extend(fields);
        sections.iter().for_each(|section| out.extend(*section));
    }

    /// Adds an instruction with a size.
    fn instruct(&mut self, index: u8, size: u64) {
        self.instructions.push(index);
        write_vcdiff(size, &mut self.instructions);
        self.length += size;
    }

    fn add(&mut self, bytes: &[u8]) {
        self.instruct(1, bytes.len() as u64);
        self.data.extend(bytes);
    }

    fn copy(&mut self, address: u64, size: u64) {
        self.instruct(19, size);
        write_vcdiff(address, &mut self.addresses);
    }
}

fn patch(header: &[u8], windows: &[Window<'_>]) -> Vec<u8> {
    let mut bytes = header.to_vec();
    windows.iter().for_each(|window| window.write(&mut bytes));
    bytes
}

fn original() -> Arc<dyn ReadAt> {
    Arc::new((0..=255).cycle().take(10_000).collect::<Vec<u8>>())
}

fn apply_with(patch: Vec<u8>, memory: usize) -> Result<Vec<u8>> {
    let options = Options {
        memory,
        windows: memory,
        spool: None,
    };
    let patched = Patch::open_with(Arc::new(patch), options)?.apply(original())?;
    let mut bytes = vec![0; patched.len() as usize];
    // Ranges that do not coincide with parts.
    for (number, piece) in bytes.chunks_mut(333).enumerate() {
        let read = patched.read_exact_at(piece, number as u64 * 333);
        read.map_err(|error| Error::Source(hpimount_containers::io::read_error(0, 0, error)))?;
    }
    patched.verify()?;
    Ok(bytes)
}

fn apply(patch: Vec<u8>) -> Result<Vec<u8>> {
    apply_with(patch, 1 << 20)
}

#[test]
fn copies_that_overlap_what_they_make_repeat_it() {
    for (period, length) in [(1, 500), (3, 500), (100_000, 250_000)] {
        let unit: Vec<u8> = (0..period)
            .map(|number: u32| (number * 7 % 251) as u8)
            .collect();
        let mut window = Window::default();
        window.add(&unit);
        window.copy(0, length);
        let expected: Vec<u8> = unit
            .iter()
            .cycle()
            .take(period as usize + length as usize)
            .copied()
            .collect();
        window.result = Some(&expected);
        assert!(
            apply(patch(HEADER, &[window])).unwrap() == expected,
            "{period}"
        );
    }
}

#[test]
fn lengths_of_a_window_have_their_shortest_form() {
    let mut window = Window::default();
    window.add(b"abcd");
    let mut bytes = patch(HEADER, &[window]);
    assert_eq!(apply(bytes.clone()).unwrap(), b"abcd");
    // The length of the window, after the flags and the length of the encoding.
    bytes.insert(HEADER.len() + 2, 0x80);
    let error = apply(bytes.clone()).unwrap_err();
    assert!(
        error.to_string().contains("length of the encoding"),
        "{error}"
    );
    // Likewise with another length of the encoding.
    bytes[HEADER.len() + 1] += 1;
    apply(bytes).unwrap_err();
}

/// 512 short pieces, doubled eight times by copies: 131,072 parts.
#[test]
fn a_window_of_many_short_pieces_is_decoded_as_a_whole_and_compared() {
    let mut window = Window {
        segment: Some((256, 0)),
        ..Window::default()
    };
    let mut expected = Vec::new();
    for number in 0..=255 {
        window.add(&[!number]);
        window.copy(u64::from(number), 1);
        expected.extend([!number, number]);
    }
    for _ in 0..8 {
        window.copy(256, window.length);
        expected.extend_from_within(..);
    }
    window.result = Some(&expected);
    assert!(apply(patch(HEADER, &[window])).unwrap() == expected);
}

#[test]
fn windows_that_are_longer_than_the_memory_are_refused_only_if_they_are_decoded() {
    let mut window = Window::default();
    for number in 0..20_000_u32 {
        window.add(&number.to_le_bytes()[..2]);
        window.instruct(0, 1);
        window.data.push(number as u8);
    }
    let dense = patch(HEADER, &[window]);
    let error = apply_with(dense.clone(), 32 << 10).unwrap_err();
    assert!(error.is_fault(), "{error}");
    assert_eq!(apply(dense).unwrap().len(), 60_000);
    let mut window = Window::default();
    window.instruct(0, 64 << 20);
    window.data.push(7);
    let patch = patch(HEADER, &[window]);
    let options = Options {
        memory: 32 << 10,
        windows: 32 << 10,
        spool: None,
    };
    let patched = Patch::open_with(Arc::new(patch), options).unwrap();
    let patched = patched.apply(original()).unwrap();
    let mut byte = [0];
    patched.read_exact_at(&mut byte, 60 << 20).unwrap();
    assert_eq!((byte, patched.len()), ([7], 64 << 20));
}

/// Windows are evicted when others are read, and resolved again.
#[test]
fn all_windows_can_be_read_in_any_order_with_little_memory() {
    let windows = (0..100_u8).map(|number| {
        let mut window = Window::default();
        for at in 0..50 {
            window.add(&[number, at]);
            window.instruct(0, 3);
            window.data.push(at);
        }
        window
    });
    let patch = patch(HEADER, &windows.collect::<Vec<_>>());
    let options = Options {
        memory: 40 << 10,
        windows: 40 << 10,
        spool: None,
    };
    let patched = Patch::open_with(Arc::new(patch), options).unwrap();
    let patched = patched.apply(original()).unwrap();
    for number in (0..100).rev().chain(0..100) {
        let mut bytes = [0; 4];
        patched.read_exact_at(&mut bytes, number * 250 + 5).unwrap();
        assert_eq!(bytes, [number as u8, 1, 1, 1]);
    }
}

#[test]
fn a_wrong_original_is_noticed_and_named() {
    let expected: Vec<u8> = (10..20).collect();
    let mut window = Window {
        segment: Some((100, 0)),
        result: Some(&expected),
        ..Window::default()
    };
    window.copy(10, 10);
    let bytes = patch(HEADER, &[window]);
    let patch = Patch::open(Arc::new(bytes)).unwrap();
    assert_eq!(patch.check(&original()).unwrap(), Check::Window);
    let other: Arc<dyn ReadAt> = Arc::new(vec![1; 10_000]);
    let error = patch.check(&other).unwrap_err();
    assert_eq!(
        error.to_string(),
        "window at 0x0: Adler-32 is 0041000b, expected 02d50092: this file is not the original of the patch"
    );
    let short: Arc<dyn ReadAt> = Arc::new(vec![1; 15]);
    let mismatch = Mismatch::TooShort {
        needed: 20,
        found: 15,
    };
    match patch.apply(short).unwrap().verify() {
        Err(Error::WrongOriginal(found)) => assert_eq!(found, mismatch),
        other => panic!("{other:?}"),
    }
}

/// Returns the start of an xz stream with an uncompressed chunk.
fn xz(dictionary: u8, bytes: &[u8]) -> Vec<u8> {
    let mut stream = b"\xFD7zXZ\0\0\0".to_vec();
    stream.extend(crc32fast::hash(&[0, 0]).to_le_bytes());
    let block = [2, 0, 0x21, 1, dictionary, 0, 0, 0];
    stream.extend(block);
    stream.extend(crc32fast::hash(&block).to_le_bytes());
    chunk(1, bytes, &mut stream);
    stream
}

fn chunk(control: u8, bytes: &[u8], stream: &mut Vec<u8>) {
    stream.push(control);
    stream.extend((bytes.len() as u16 - 1).to_be_bytes());
    stream.extend(bytes);
}

/// Returns a compressed section.
fn section(length: u64, stream: &[u8]) -> Vec<u8> {
    let mut section = Vec::new();
    write_vcdiff(length, &mut section);
    section.extend(stream);
    section
}

/// Returns a window whose data section is compressed.
fn compressed(length: u64, stream: &[u8]) -> Window<'static> {
    let mut window = Window {
        data: section(length, stream),
        compressed: 1,
        ..Window::default()
    };
    window.instruct(1, 10);
    window
}

#[test]
fn sections_of_lzma_continue_those_of_the_window_before() {
    let first = compressed(10, &xz(0, b"0123456789"));
    let mut next = Vec::new();
    chunk(2, b"abcdefghij", &mut next);
    let bytes = patch(LZMA, &[first, compressed(10, &next)]);
    assert_eq!(apply(bytes.clone()).unwrap(), b"0123456789abcdefghij");
    let error = apply_with(bytes, 16 << 10).unwrap_err();
    assert!(error.is_fault(), "{error}");
}

#[test]
fn sections_of_lzma_with_another_length_or_a_huge_dictionary_are_refused() {
    let stream = xz(0, b"0123456789");
    let one = |length, stream: &[u8]| apply(patch(LZMA, &[compressed(length, stream)]));
    for (length, stream) in [
        (9, &*stream),
        (11, &stream),
        (0, &stream),
        (10, &stream[..stream.len() - 1]),
        (10, &stream[..20]),
        (10, &stream[1..]),
    ] {
        let error = one(length, stream).unwrap_err();
        assert!(!error.is_fault(), "{error}");
    }
    let error = one(10, &xz(40, b"0123456789")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "uses LZMA with a dictionary of 4294967295 bytes, more than 67108864"
    );
}
