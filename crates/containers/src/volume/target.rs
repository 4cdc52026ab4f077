//! The games and platforms that archives of assets were made for.

use crate::io::Endian;

/// The game an archive was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Game {
    /// Scooby-Doo! Night of 100 Frights.
    Scooby,
    /// Its prototype on PlayStation 2.
    ScoobyPrototype,
    /// SpongeBob SquarePants: Battle for Bikini Bottom.
    Bfbb,
    /// The Incredibles or The SpongeBob SquarePants Movie; their headers do
    /// not differ.
    Incredibles,
    /// The Incredibles: Rise of the Underminer.
    Rotu,
    /// The Ratatouille prototype.
    RatProto,
    /// None of these; such an archive is read like one of the first two.
    Unknown,
}

impl Game {
    /// Returns the name in `info.json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scooby => "scooby",
            Self::ScoobyPrototype => "scooby-proto",
            Self::Bfbb => "bfbb",
            Self::Incredibles => "incredibles/tssm",
            Self::Rotu => "rotu",
            Self::RatProto => "ratproto",
            Self::Unknown => "unknown",
        }
    }

    /// Returns whether it is Scooby-Doo or its prototype.
    pub fn is_scooby(self) -> bool {
        matches!(self, Self::Scooby | Self::ScoobyPrototype)
    }

    /// Returns whether it is The Incredibles or a later game. Those number
    /// layers differently.
    pub fn is_incredibles_or_later(self) -> bool {
        matches!(self, Self::Incredibles | Self::Rotu | Self::RatProto)
    }

    /// Returns whether it is Rise of the Underminer or a later game.
    pub fn is_rotu_or_later(self) -> bool {
        matches!(self, Self::Rotu | Self::RatProto)
    }
}

/// The platform an archive was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Platform {
    /// Nintendo GameCube.
    GameCube,
    /// Sony PlayStation 2.
    PlayStation2,
    /// Microsoft Xbox.
    Xbox,
    /// None of these.
    Unknown,
}

impl Platform {
    /// Returns the name in `info.json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::GameCube => "gc",
            Self::PlayStation2 => "ps2",
            Self::Xbox => "xbox",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the byte order of asset contents. It is little-endian if the
    /// platform is unknown.
    pub fn endian(self) -> Endian {
        match self {
            Self::GameCube => Endian::Big,
            Self::PlayStation2 | Self::Xbox | Self::Unknown => Endian::Little,
        }
    }
}
