//! Switching off one mechanism of the prefetch, to measure its effect
//! (`scripts/bench --ablation`). Only builds with the feature `ablation` can do
//! that; in all others every mechanism is on.

/// A mechanism of the prefetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mechanism {
    /// Pushing only the beginning of files if a reader reads no more.
    Heads,
    /// Decoding a block only as far as its reader reads.
    Stops,
    /// Following readers that read a directory from its end.
    Reverse,
    /// Answering a small read before its block is decoded to the end.
    PartialDecode,
    /// Pushing the rest of a block after a small read in it.
    BlockRests,
    /// Decoding files of directories that have not been listed yet.
    NextDirectories,
    /// Decoding the next blocks of the file that is being read.
    NextBlocks,
}

/// All mechanisms.
#[cfg(feature = "ablation")]
const ALL: [Mechanism; 7] = [
    Mechanism::Heads,
    Mechanism::Stops,
    Mechanism::Reverse,
    Mechanism::PartialDecode,
    Mechanism::BlockRests,
    Mechanism::NextDirectories,
    Mechanism::NextBlocks,
];

/// Returns whether a mechanism is switched off: its name is in the variable
/// `HPIMOUNT_WITHOUT`.
#[cfg(feature = "ablation")]
pub(super) fn is_off(mechanism: Mechanism) -> bool {
    use std::sync::LazyLock;

    static OFF: LazyLock<u32> = LazyLock::new(|| {
        let named = std::env::var("HPIMOUNT_WITHOUT").unwrap_or_default();
        let named = named
            .split(',')
            .filter(|name| !name.is_empty())
            .map(|name| {
                let is_it = |mechanism: &&Mechanism| format!("{mechanism:?}") == name;
                let mechanism = ALL.iter().find(is_it);
                1 << *mechanism.expect("a mechanism in HPIMOUNT_WITHOUT") as u32
            });
        named.fold(0, |all, bit: u32| all | bit)
    });
    *OFF & (1 << mechanism as u32) != 0
}

/// Returns false: every mechanism is on.
#[cfg(not(feature = "ablation"))]
pub(super) fn is_off(_: Mechanism) -> bool {
    false
}
