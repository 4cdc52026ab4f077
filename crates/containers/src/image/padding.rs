//! The padding between the files of GameCube discs, which is generated from 17
//! words by a lagged Fibonacci generator.

/// Length of the seed in bytes.
pub(super) const SEED: usize = 17 * 4;

/// The two lags of the generator. The longer one is its number of words.
const WORDS: usize = 521;
const LAG: usize = 32;

/// The generator restarts at every multiple of this offset of the disc.
pub(super) const PERIOD: u64 = 0x8000;

/// Appends `length` bytes of padding to `out`, from byte `skip` of the
/// generator's output on.
pub(super) fn generate(seed: &[u8; SEED], skip: usize, length: usize, out: &mut Vec<u8>) {
    let mut words = [0_u32; WORDS];
    let (seed, _) = seed.as_chunks();
    for (word, &bytes) in words.iter_mut().zip(seed) {
        *word = u32::from_be_bytes(bytes);
    }
    for i in seed.len()..WORDS {
        words[i] = words[i - 17] << 23 ^ words[i - 16] >> 9 ^ words[i - 1];
    }
    for _ in 0..4 {
        turn(&mut words);
    }
    let end = out.len() + length;
    let mut skip = skip;
    while skip >= WORDS * 4 {
        turn(&mut words);
        skip -= WORDS * 4;
    }
    while out.len() < end {
        let bytes = words.iter().flat_map(|word| bytes_of(*word));
        out.extend(bytes.skip(skip).take(end - out.len()));
        skip = 0;
        turn(&mut words);
    }
}

fn turn(words: &mut [u32; WORDS]) {
    for i in 0..LAG {
        words[i] ^= words[i + WORDS - LAG];
    }
    for i in LAG..WORDS {
        words[i] ^= words[i - LAG];
    }
}

/// Returns the bytes of a word. For the second one the word is shifted by 18
/// bits, not by 16.
fn bytes_of(word: u32) -> [u8; 4] {
    [word >> 24, word >> 18, word >> 8, word].map(|shifted| shifted as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_bytes_are_the_beginning_of_the_output() {
        let seed = std::array::from_fn(|i| (i * 37 + 1) as u8);
        let mut whole = Vec::new();
        generate(&seed, 0, 10_000, &mut whole);
        for skip in [1, 4, WORDS * 4 - 1, WORDS * 4, 5000] {
            let mut rest = Vec::new();
            generate(&seed, skip, 10_000 - skip, &mut rest);
            assert_eq!(rest, whole[skip..], "{skip}");
        }
    }
}
