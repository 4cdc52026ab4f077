//! Deterministic bytes that resemble game data.

use std::fmt::Write;

/// Bytes of prose to cut texts from.
const PROSE: usize = 24 << 20;

/// Different words of the prose.
const WORDS: usize = 6000;

/// SplitMix64.
pub(super) struct Random(u64);

impl Random {
    /// Returns the sequence for `seed`.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to but not including `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// Returns a number from 0 up to but not including 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The contents of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Lines of words, as scripts and unit definitions are.
    Text,
    /// Small records with fields that vary little, as models and tables are.
    Records,
    /// Bytes that do not compress, as sounds and films are.
    Noise,
}

/// A generator of the contents of files.
pub(super) struct Generator {
    random: Random,
    prose: Vec<u8>,
}

impl Generator {
    /// Creates a generator whose files depend on `seed` and on previous calls.
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let prose = prose(&mut random);
        Self { random, prose }
    }

    /// Returns the random numbers that all contents are derived from.
    pub(super) fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// Returns a file of `size` bytes.
    pub(super) fn bytes(&mut self, kind: Kind, size: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(size + 40_000);
        while bytes.len() < size {
            match kind {
                Kind::Text => self.passage(&mut bytes),
                Kind::Records => self.records(&mut bytes),
                Kind::Noise => bytes.extend(self.random.bits().to_le_bytes()),
            }
        }
        bytes.truncate(size);
        bytes
    }

    /// Adds 8 to 60 lines of the prose.
    fn passage(&mut self, bytes: &mut Vec<u8>) {
        let start = self.random.below(self.prose.len() - 16_384);
        let lines = 9 + self.random.below(53);
        let from_start = self.prose[start..].split_inclusive(|&byte| byte == b'\n');
        for line in from_start.skip(1).take(lines - 1) {
            bytes.extend(line);
        }
    }

    /// Adds 200 to 2000 records of 12 bytes: a counter, flags and a number.
    fn records(&mut self, bytes: &mut Vec<u8>) {
        let base = self.random.below(1 << 20) as u32;
        for number in 0..200 + self.random.below(1801) as u32 {
            let noise = self.random.bits();
            bytes.extend((base + 4 * number).to_le_bytes());
            bytes.extend((noise as u16 & 15).to_le_bytes());
            bytes.extend([(noise >> 16) as u8 & 3, 0]);
            bytes.extend(f32::from((noise >> 24) as u8).to_le_bytes());
        }
    }
}

/// Returns lines of 3 to 14 words, a few of them frequent and many rare.
fn prose(random: &mut Random) -> Vec<u8> {
    let word = |random: &mut Random| {
        let letters = 2 + random.below(10);
        let letters = (0..letters).map(|_| char::from(b'a' + random.below(26) as u8));
        letters.collect::<String>()
    };
    let words: Vec<String> = (0..WORDS).map(|_| word(random)).collect();
    let mut total = 0.0;
    let frequencies: Vec<f64> = (0..WORDS)
        .map(|rank| {
            total += 1.0 / (rank as f64 + 3.0);
            total
        })
        .collect();
    let mut prose = String::with_capacity(PROSE + 256);
    while prose.len() < PROSE {
        for index in 0..3 + random.below(12) {
            let wanted = random.unit() * total;
            let rank = frequencies.partition_point(|&reached| reached < wanted);
            let space = if index == 0 { "" } else { " " };
            let word = &words[rank.min(WORDS - 1)];
            write!(prose, "{space}{word}").expect("writing to a String cannot fail");
        }
        prose.push('\n');
    }
    prose.into_bytes()
}
