//! Bytes to fill files with.

/// Returns bytes that do not compress, always the same for a seed.
pub fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// Returns bytes that compress like game data: text with changing numbers.
pub fn text(length: usize) -> Vec<u8> {
    (0..)
        .flat_map(|number: usize| {
            format!(
                "[UNIT{}]\r\n\t{{\r\n\tMaxDamage={};\r\n\t}}\r\n",
                number % 97,
                number * 7
            )
            .into_bytes()
        })
        .take(length)
        .collect()
}
