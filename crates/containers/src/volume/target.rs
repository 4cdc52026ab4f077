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

    /// Returns the name in HipHopTool's `Settings.ini`. The prototype is called
    /// Scooby, because HipHopTool has no name for it and the file contains its
    /// version numbers.
    pub fn hiphoptool_name(self) -> &'static str {
        match self {
            Self::Scooby | Self::ScoobyPrototype => "Scooby",
            Self::Bfbb => "BFBB",
            Self::Incredibles => "Incredibles",
            Self::Rotu => "ROTU",
            Self::RatProto => "RatProto",
            Self::Unknown => "Unknown",
        }
    }

    /// Returns the game with this name in `Settings.ini`. The prototype of
    /// Scooby-Doo, which has the same name, is detected by the version: see
    /// [`Game::of_client`].
    pub fn of_hiphoptool_name(name: &[u8]) -> Option<Self> {
        [
            Self::Scooby,
            Self::Bfbb,
            Self::Incredibles,
            Self::Rotu,
            Self::RatProto,
            Self::Unknown,
        ]
        .into_iter()
        .find(|game| game.hiphoptool_name().as_bytes() == name)
    }

    /// Returns whether archives have PLAT.
    pub fn has_plat(self) -> bool {
        self == Self::Bfbb || self.is_incredibles_or_later()
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

    /// Returns the platform with this name in `Settings.ini` of a game without
    /// PLAT.
    pub fn of_name(name: &[u8]) -> Option<Self> {
        [Self::GameCube, Self::PlayStation2, Self::Xbox]
            .into_iter()
            .find(|platform| platform.name().as_bytes() == name)
    }

    /// Returns the platform that a string of PLAT names.
    pub fn from_plat(string: &[u8]) -> Self {
        match string {
            b"GC" | b"GameCube" => Self::GameCube,
            b"P2" | b"PS2" | b"PlayStation 2" => Self::PlayStation2,
            b"XB" | b"BX" | b"Xbox" => Self::Xbox,
            _ => Self::Unknown,
        }
    }
}
