//! Detection of the game and platform of an archive (FORMATS, HIP 4), and their names
//! in its files.

use std::ops::Range;

use super::hipb::Hipb;
use super::package::Package;
pub use crate::volume::{Game, Platform};

/// `clientVersion` of the Scooby-Doo prototype on PlayStation 2.
const CLIENT_SCOOBY_PROTOTYPE: u32 = 1;

/// `clientVersion` of Scooby-Doo.
const CLIENT_SCOOBY: u32 = 0x0004_0006;

/// Start and end of some months and years, in seconds since 1970 UTC.
const APRIL_2002: Range<u32> = 1_017_619_200..1_020_211_200;
const AUGUST_2002: Range<u32> = 1_028_160_000..1_030_838_400;
const YEAR_2003: Range<u32> = 1_041_379_200..1_072_915_200;
const YEAR_2004: Range<u32> = 1_072_915_200..1_104_537_600;
const YEAR_2005: Range<u32> = 1_104_537_600..1_136_073_600;
const YEAR_2006: Range<u32> = 1_136_073_600..1_167_609_600;

impl Game {
    /// Returns the game, or its prototype if `clientVersion` says so.
    pub fn of_client(self, client: u32) -> Self {
        match self {
            Self::Scooby if client == CLIENT_SCOOBY_PROTOTYPE => Self::ScoobyPrototype,
            game => game,
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
}

impl Platform {
    /// Returns the platform of a Scooby-Doo archive that was created at `time`,
    /// in seconds since 1970 UTC.
    pub fn of_scooby_date(time: u32) -> Self {
        match time {
            time if APRIL_2002.contains(&time) => Self::PlayStation2,
            time if AUGUST_2002.contains(&time) => Self::GameCube,
            time if YEAR_2003.contains(&time) => Self::Xbox,
            _ => Self::Unknown,
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

/// A detected value, and the evidence for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Detected<T> {
    /// The value.
    pub(super) value: T,
    /// The evidence, as text.
    pub(super) evidence: &'static str,
}

fn detected<T>(value: T, evidence: &'static str) -> Detected<T> {
    Detected { value, evidence }
}

/// Detects the game: by PLAT if there is one, else by the version.
pub(super) fn game(package: &Package, hipb: Option<&Hipb>) -> Detected<Game> {
    let Some(plat) = &package.plat else {
        return match package.version.map(|version| version.client) {
            Some(CLIENT_SCOOBY) => detected(Game::Scooby, "no PLAT and clientVersion 0x40006"),
            Some(CLIENT_SCOOBY_PROTOTYPE) => {
                detected(Game::ScoobyPrototype, "no PLAT and clientVersion 1")
            }
            Some(_) => detected(
                Game::Unknown,
                "no PLAT and a clientVersion of no known game",
            ),
            None => detected(Game::Unknown, "no PLAT and no PVER"),
        };
    };
    let second = plat.get(1).map_or(&b""[..], Vec::as_slice);
    if matches!(second, b"GameCube" | b"Xbox" | b"PlayStation 2") {
        return detected(Game::Bfbb, "the second string of PLAT names the platform");
    }
    match plat.len() {
        5.. => detected(Game::Bfbb, "PLAT has five strings"),
        4 => family(package, hipb),
        _ => detected(Game::Unknown, "PLAT has fewer than four strings"),
    }
}

/// Distinguishes the games whose PLAT has four strings.
fn family(package: &Package, hipb: Option<&Hipb>) -> Detected<Game> {
    match hipb.map(|hipb| hipb.game) {
        Some(3) => return detected(Game::Incredibles, "HIPB"),
        Some(4) => return detected(Game::Rotu, "HIPB"),
        Some(5) => return detected(Game::RatProto, "HIPB"),
        _ => {}
    }
    match package.created.as_ref().map(|created| created.time) {
        Some(time) if YEAR_2004.contains(&time) => {
            detected(Game::Incredibles, "PLAT has four strings, PCRT is of 2004")
        }
        Some(time) if YEAR_2005.contains(&time) => {
            detected(Game::Rotu, "PLAT has four strings, PCRT is of 2005")
        }
        Some(time) if YEAR_2006.contains(&time) => {
            detected(Game::RatProto, "PLAT has four strings, PCRT is of 2006")
        }
        _ => detected(
            Game::Incredibles,
            "PLAT has four strings, PCRT is of no year of a later game",
        ),
    }
}

/// Detects the platform: by PLAT if there is one, else by data of tools or by
/// the date, and finally by the alignment of the first asset, which is at
/// `first_data` in the source.
pub(super) fn platform(
    package: &Package,
    hipb: Option<&Hipb>,
    game: Game,
    first_data: Option<u32>,
) -> Detected<Platform> {
    if let Some(plat) = &package.plat {
        for (string, by) in plat
            .iter()
            .zip(["the first string of PLAT", "the second string of PLAT"])
        {
            let platform = Platform::from_plat(string);
            if platform != Platform::Unknown {
                return detected(platform, by);
            }
        }
        return detected(Platform::Unknown, "PLAT names no known platform");
    }
    match hipb.map(|hipb| hipb.scooby_platform) {
        Some(1) => return detected(Platform::PlayStation2, "HIPB"),
        Some(2) => return detected(Platform::GameCube, "HIPB"),
        Some(3) => return detected(Platform::Xbox, "HIPB"),
        _ => {}
    }
    let created = package.created.as_ref();
    match created.map(|created| Platform::of_scooby_date(created.time)) {
        Some(Platform::PlayStation2) => {
            return detected(Platform::PlayStation2, "no PLAT, PCRT is of April 2002");
        }
        Some(Platform::GameCube) => {
            return detected(Platform::GameCube, "no PLAT, PCRT is of August 2002");
        }
        Some(Platform::Xbox) => return detected(Platform::Xbox, "no PLAT, PCRT is of 2003"),
        Some(Platform::Unknown) | None => {}
    }
    match first_data {
        _ if game == Game::ScoobyPrototype => {
            detected(Platform::PlayStation2, "the game was on no other platform")
        }
        Some(offset) if offset % 2048 == 0 => detected(
            Platform::Unknown,
            "nothing; the first asset is aligned as on PlayStation 2 and Xbox",
        ),
        Some(offset) if offset % 32 == 0 => {
            detected(Platform::GameCube, "the first asset is aligned to 32 bytes")
        }
        _ => detected(Platform::Unknown, "nothing"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::package::{Created, Version};
    use super::*;

    fn package(plat: Option<&[&str]>, client: u32, time: u32) -> Package {
        Package {
            version: Some(Version {
                sub: 2,
                client,
                compat: 1,
            }),
            created: Some(Created {
                time,
                text: Vec::new(),
            }),
            plat: plat.map(|strings| strings.iter().map(|s| s.as_bytes().to_vec()).collect()),
            ..Package::default()
        }
    }

    fn both(package: &Package, hipb: Option<&Hipb>, first: Option<u32>) -> (Game, Platform) {
        let game = game(package, hipb).value;
        (game, platform(package, hipb, game, first).value)
    }

    #[test]
    fn plat_distinguishes_bikini_bottom_from_later_games() {
        let strings = ["XB", "Xbox", "NTSC", "US Common", "Sponge Bob"];
        let bfbb = package(Some(&strings), 0xA000F, 0);
        assert_eq!(both(&bfbb, None, None), (Game::Bfbb, Platform::Xbox));
        // A name of the platform is enough, regardless of the number of
        // strings.
        let cut = package(Some(&strings[..2]), 0xA000F, 0);
        assert_eq!(both(&cut, None, None), (Game::Bfbb, Platform::Xbox));
        let odd = package(Some(&["WII", "Wii", "PAL", "French", "Game"]), 0xA000F, 0);
        assert_eq!(both(&odd, None, None), (Game::Bfbb, Platform::Unknown));
    }

    #[test]
    fn later_games_are_detected_by_hipb_and_by_the_year() {
        let strings: &[&str] = &["PS2", "US", "NTSC", "Incredibles"];
        for (time, game) in [
            (YEAR_2004.start, Game::Incredibles),
            (YEAR_2005.start, Game::Rotu),
            (YEAR_2006.end - 1, Game::RatProto),
            (YEAR_2006.end, Game::Incredibles),
        ] {
            let package = package(Some(strings), 0xA000F, time);
            assert_eq!(both(&package, None, None), (game, Platform::PlayStation2));
            let hipb = Hipb {
                game: 4,
                ..Hipb::default()
            };
            assert_eq!(both(&package, Some(&hipb), None).0, Game::Rotu);
        }
    }

    #[test]
    fn scooby_is_detected_by_the_version_and_its_platform_by_the_date() {
        for (time, platform) in [
            (APRIL_2002.start, Platform::PlayStation2),
            (AUGUST_2002.start, Platform::GameCube),
            (YEAR_2003.start, Platform::Xbox),
            (APRIL_2002.start - 1, Platform::Unknown),
        ] {
            let package = package(None, CLIENT_SCOOBY, time);
            assert_eq!(both(&package, None, None), (Game::Scooby, platform));
            let hipb = Hipb {
                scooby_platform: 1,
                ..Hipb::default()
            };
            let found = both(&package, Some(&hipb), None).1;
            assert_eq!(found, Platform::PlayStation2);
        }
        let prototype = package(None, CLIENT_SCOOBY_PROTOTYPE, 0);
        let expected = (Game::ScoobyPrototype, Platform::PlayStation2);
        assert_eq!(both(&prototype, None, Some(32)), expected);
    }

    #[test]
    fn without_other_evidence_the_alignment_decides() {
        let package = package(None, CLIENT_SCOOBY, 0);
        let found = |first| both(&package, None, Some(first)).1;
        assert_eq!(found(0x460), Platform::GameCube);
        assert_eq!(found(0x800), Platform::Unknown);
        assert_eq!(found(0x461), Platform::Unknown);
    }

    #[test]
    fn other_versions_without_plat_are_unknown() {
        let package = package(None, 0xA000F, 0);
        assert_eq!(game(&package, None).value, Game::Unknown);
        assert_eq!(game(&Package::default(), None).value, Game::Unknown);
    }
}
