//! The formats of patches.

use std::fmt;

/// A format of patches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// VCDIFF, as xdelta3 writes it.
    Vcdiff,
    /// BPS, of beat and Flips.
    Bps,
    /// UPS.
    Ups,
    /// PPF 1, 2 or 3.
    Ppf,
    /// IPS.
    Ips,
    /// IPS with positions of 32 bits.
    Ips32,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vcdiff => "VCDIFF",
            Self::Bps => "BPS",
            Self::Ups => "UPS",
            Self::Ppf => "PPF",
            Self::Ips => "IPS",
            Self::Ips32 => "IPS32",
        })
    }
}
