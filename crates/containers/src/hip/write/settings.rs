//! Parsing of `Settings.ini`, where HipHopTool and the mount describe an
//! archive (FORMATS, HIP 11).

use std::collections::HashMap;

use crate::hip::toc::MAX_LAYERS;
use crate::hip::{Game, Hipb, Platform, Type};
use crate::volume::MAX_ENTRIES;

/// The supported version of the file.
const VERSION: u32 = 2;

/// Maximum length of a string that the games read, in bytes; their buffers have
/// room for one more, the terminator.
const MAX_NAME_LENGTH: usize = 255;

/// Maximum length of a string of PLAT that the games read, in bytes.
const MAX_PLAT_LENGTH: usize = 31;

/// The contents of `Settings.ini`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub(in crate::hip) game: Game,
    pub(in crate::hip) platform: Platform,
    /// PVER: `subVersion`, `clientVersion`, `compatVersion`.
    pub(in crate::hip) version: [u32; 3],
    /// PFLG.
    pub(in crate::hip) flags: u32,
    /// PCRT and PMOD, seconds since 1970 UTC.
    pub(in crate::hip) created: u32,
    /// The date of PCRT in words.
    pub(in crate::hip) date: Vec<u8>,
    /// The strings of PLAT in the order of the archive; empty if the game has
    /// no PLAT.
    pub(in crate::hip) plat: Vec<Vec<u8>>,
    /// AINF.
    pub(in crate::hip) asset_info: u32,
    /// LINF.
    pub(in crate::hip) layer_info: u32,
    /// All assets in the order of their lines.
    pub assets: Vec<Asset>,
    pub(in crate::hip) layers: Vec<Layer>,
    /// DHDR.
    pub(in crate::hip) stream_debug: u32,
    pub(in crate::hip) hipb: Option<Hipb>,
}

/// An asset, as its line describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// AHDR's id.
    pub id: u32,
    /// The type.
    pub kind: Type,
    pub(in crate::hip) flags: u32,
    pub(in crate::hip) align: i32,
    pub(in crate::hip) name: Vec<u8>,
    /// The file that it was made from.
    pub(in crate::hip) source_file: Vec<u8>,
    pub(in crate::hip) checksum: u32,
}

/// A layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::hip) struct Layer {
    pub(in crate::hip) kind: u32,
    /// LDBG.
    pub(in crate::hip) debug: u32,
    /// Numbers of its assets in [`Settings::assets`].
    pub(in crate::hip) members: Vec<usize>,
}

/// A problem with `Settings.ini`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A line is invalid.
    #[error("line {line}: {problem}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// The file as a whole is invalid.
    #[error("{0}")]
    File(String),
}

/// Parses the bytes of `Settings.ini`. Like HipHopTool, it skips lines with
/// unknown keys.
///
/// # Errors
/// Returns the first problem.
pub fn parse(bytes: &[u8]) -> Result<Settings, Problem> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut reader = Reader::default();
    for (line, text) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let read = std::str::from_utf8(text)
            .map_err(|_| "is not UTF-8".to_owned())
            .and_then(|text| reader.line(text));
        read.map_err(|problem| Problem::Line { line, problem })?;
    }
    reader.finish().map_err(Problem::File)
}

/// The state of parsing.
#[derive(Default)]
struct Reader {
    has_version: bool,
    game: Option<Game>,
    platform: Option<Platform>,
    version: Option<[u32; 3]>,
    flags: u32,
    created: u32,
    date: Vec<u8>,
    /// The strings of PLAT by their keys.
    plat: HashMap<String, Vec<u8>>,
    asset_info: u32,
    layer_info: u32,
    assets: Vec<Asset>,
    /// Indices of the assets by id.
    by_id: HashMap<u32, usize>,
    layers: Vec<Layer>,
    /// The layer that has not ended yet.
    open: Option<Layer>,
    /// Number of members of all layers.
    members: usize,
    stream_debug: Option<u32>,
    hipb: Option<Hipb>,
}

impl Reader {
    fn line(&mut self, text: &str) -> Result<(), String> {
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        match key {
            "Game" => self.game = Some(game(value)?),
            "IniVersion" => {
                let version = number(value)?;
                if version != VERSION {
                    return Err(format!(
                        "IniVersion is {version}, only {VERSION} is supported"
                    ));
                }
                self.has_version = true;
            }
            "Platform" => {
                let platform = Platform::of_name(value.as_bytes());
                let unknown = || format!("{value} is not a known platform: gc, ps2 or xbox");
                self.platform = Some(platform.ok_or_else(unknown)?);
            }
            "PACK.PVER" => self.version = Some(numbers(value)?),
            "PACK.PFLG" => self.flags = number(value)?,
            "PACK.PCRT" => {
                let (time, date) = value.split_once(';').unwrap_or((value, ""));
                self.created = number(time)?;
                self.date = string(date, MAX_NAME_LENGTH)?;
            }
            "DICT.ATOC.AINF" => self.asset_info = number(value)?,
            "DICT.LTOC.LINF" => self.layer_info = number(value)?,
            "STRM.DHDR" => self.stream_debug = Some(number(value)?),
            "LayerType" => self.begin_layer(value)?,
            "LHDR.LDBG" => self.layer()?.debug = number(value)?,
            "Asset" => {
                self.layer()?;
                let asset = self.asset(value)?;
                self.add_member(asset)?;
            }
            "Shared" => {
                let id = id(value)?;
                let unknown = || format!("asset {id:08X} is not described by an earlier line");
                let asset = *self.by_id.get(&id).ok_or_else(unknown)?;
                self.add_member(asset)?;
            }
            "Unlayered" => {
                self.asset(value)?;
            }
            "EndLayer" => {
                let layer = self.open.take();
                self.layers.push(layer.ok_or("does not end a layer")?);
            }
            "HIPB" => {
                let [version, hidden, scooby_platform, game] = numbers(value)?;
                self.hipb = Some(Hipb {
                    version,
                    no_layers: hidden != 0,
                    scooby_platform,
                    game,
                    ..Hipb::default()
                });
            }
            "HIPB.LayerName" => {
                let (layer, name) = value.split_once(';').unwrap_or((value, ""));
                let (layer, name) = (number(layer)?, string(name, MAX_NAME_LENGTH)?);
                let hipb = self.hipb.as_mut().ok_or("is not preceded by a HIPB line")?;
                hipb.layer_names.insert(layer, name);
            }
            _ => {
                if let Some(field) = key.strip_prefix("PACK.PLAT.") {
                    let value = string(value, MAX_PLAT_LENGTH)?;
                    self.plat.insert(field.to_owned(), value);
                }
            }
        }
        Ok(())
    }

    fn begin_layer(&mut self, value: &str) -> Result<(), String> {
        if self.open.is_some() {
            return Err("the previous layer has no EndLayer".to_owned());
        }
        if self.layers.len() >= MAX_LAYERS {
            return Err(format!("there are more than {MAX_LAYERS} layers"));
        }
        // The number is followed by the name of the type.
        let kind = number(value.split(' ').next().unwrap_or_default())?;
        self.open = Some(Layer {
            kind,
            debug: u32::MAX,
            members: Vec::new(),
        });
        Ok(())
    }

    fn layer(&mut self) -> Result<&mut Layer, String> {
        let layer = self.open.as_mut();
        layer.ok_or_else(|| "is not in a layer".to_owned())
    }

    fn add_member(&mut self, asset: usize) -> Result<(), String> {
        if self.members >= MAX_ENTRIES {
            return Err(format!("layers list more than {MAX_ENTRIES} assets"));
        }
        self.members += 1;
        self.layer()?.members.push(asset);
        Ok(())
    }

    /// Adds the asset that a line describes, and returns its index.
    fn asset(&mut self, value: &str) -> Result<usize, String> {
        let fields: Vec<&str> = value.splitn(6, ';').collect();
        // HipHopTool does not escape semicolons in the names of source files.
        let [asset_id, folder, flags, align, name, rest] = fields[..] else {
            return Err(format!("has {} of 7 values", fields.len()));
        };
        let (source_file, checksum) = rest.rsplit_once(';').ok_or("has 6 of 7 values")?;
        let asset = Asset {
            id: id(asset_id)?,
            kind: Type::of_folder(folder)
                .ok_or_else(|| format!("{folder} is not a type of assets"))?,
            flags: number(flags)?,
            align: number(align)?.cast_signed(),
            name: string(name, MAX_NAME_LENGTH)?,
            source_file: string(source_file, MAX_NAME_LENGTH)?,
            checksum: id(checksum)?,
        };
        if self.assets.len() >= MAX_ENTRIES {
            return Err(format!("there are more than {MAX_ENTRIES} assets"));
        }
        let index = self.assets.len();
        if self.by_id.insert(asset.id, index).is_some() {
            return Err(format!("asset {:08X} occurs twice", asset.id));
        }
        self.assets.push(asset);
        Ok(index)
    }

    fn finish(mut self) -> Result<Settings, String> {
        let missing = |key: &str| format!("has no line {key}");
        let game = self.game.ok_or_else(|| missing("Game"))?;
        if !self.has_version {
            return Err(missing("IniVersion"));
        }
        if self.open.is_some() {
            return Err("its last layer has no EndLayer".to_owned());
        }
        let version = self.version.ok_or_else(|| missing("PACK.PVER"))?;
        let game = game.of_client(version[1]);
        let plat = self.plat(game);
        // Scooby-Doo's dates end in a newline, which a line cannot contain.
        if game.is_scooby() && !self.date.is_empty() {
            self.date.push(b'\n');
        }
        Ok(Settings {
            game,
            platform: self.find_platform(game, &plat),
            version,
            flags: self.flags,
            created: self.created,
            date: self.date,
            plat,
            asset_info: self.asset_info,
            layer_info: self.layer_info,
            assets: self.assets,
            layers: self.layers,
            stream_debug: self.stream_debug.unwrap_or(u32::MAX),
            hipb: self.hipb,
        })
    }

    /// Returns the strings of PLAT in the order of the game (FORMATS, HIP 4).
    fn plat(&mut self, game: Game) -> Vec<Vec<u8>> {
        let fields: &[&str] = match game {
            Game::Bfbb => &[
                "Target",
                "TargetPlatformName",
                "RegionFormat",
                "Language",
                "TargetGame",
            ],
            Game::Incredibles | Game::Rotu | Game::RatProto => {
                &["Target", "Language", "RegionFormat", "TargetGame"]
            }
            Game::Scooby | Game::ScoobyPrototype | Game::Unknown => &[],
        };
        let take = |field: &&str| self.plat.remove(*field).unwrap_or_default();
        fields.iter().map(take).collect()
    }

    /// Returns the platform, as named by PLAT, or else by the line `Platform`,
    /// or else implied by the date.
    fn find_platform(&self, game: Game, plat: &[Vec<u8>]) -> Platform {
        if !plat.is_empty() {
            let named = plat.iter().take(2).map(|text| Platform::from_plat(text));
            let mut known = named.filter(|&platform| platform != Platform::Unknown);
            return known.next().unwrap_or(Platform::Unknown);
        }
        match (self.platform, game) {
            (Some(platform), _) => platform,
            (None, Game::ScoobyPrototype) => Platform::PlayStation2,
            (None, _) => Platform::of_scooby_date(self.created),
        }
    }
}

fn game(value: &str) -> Result<Game, String> {
    let known = "Scooby, BFBB, Incredibles, ROTU, RatProto";
    let game = Game::of_hiphoptool_name(value.as_bytes());
    game.ok_or_else(|| format!("{value} is not a known game: {known}"))
}

/// Parses a number of 32 bits, which may be written as a signed one.
fn number(text: &str) -> Result<u32, String> {
    let text = text.trim();
    let signed = text.parse::<i32>().map(i32::cast_unsigned);
    let number = signed.or_else(|_| text.parse());
    number.map_err(|_| format!("{text:?} is not a 32-bit number"))
}

/// Parses exactly `N` numbers.
fn numbers<const N: usize>(text: &str) -> Result<[u32; N], String> {
    let numbers: Vec<u32> = text.split(';').map(number).collect::<Result<_, _>>()?;
    let count = numbers.len();
    let numbers = numbers.try_into();
    numbers.map_err(|_| format!("has {count} of {N} numbers"))
}

/// Parses an id or a checksum, in hexadecimal digits.
fn id(text: &str) -> Result<u32, String> {
    let digits = text.len() <= 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = digits.then(|| u32::from_str_radix(text, 16).ok()).flatten();
    id.ok_or_else(|| format!("{text:?} is not 8 hexadecimal digits"))
}

/// Returns the bytes of a string. Each character stands for the byte with its
/// number.
fn string(text: &str, longest: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        match u8::try_from(u32::from(character)) {
            Ok(0) | Err(_) => {
                return Err(format!("{character:?} is not valid in a name"));
            }
            Ok(byte) => bytes.push(byte),
        }
    }
    if bytes.len() > longest {
        return Err(format!(
            "a name has {} bytes, the games read {longest}",
            bytes.len()
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a file with these lines after the mandatory ones.
    fn read(lines: &str) -> Result<Settings, String> {
        let text = format!("Game=BFBB\r\nIniVersion=2\nPACK.PVER=2;655375;1\n{lines}");
        parse(text.as_bytes()).map_err(|problem| problem.to_string())
    }

    fn problem(lines: &str) -> String {
        read(lines).unwrap_err()
    }

    #[test]
    fn a_layer_has_its_assets() {
        let settings = read(
            "LayerType=1 TEXTURE\nAssetAmount=0\nLHDR.LDBG=-1\n\
             Asset=E3488274;Texture;6;-858993460;a=b\u{e9};\\\\Job\\x;y.tga;9A4CB02E\nEndLayer\n\
             LayerType=-3\nShared=E3488274\nEndLayer\nUnlayered=1;ZZ;2;0;;;0\nOther=;;;\n",
        );
        let settings = settings.unwrap();
        let asset = &settings.assets[0];
        assert_eq!((asset.id, &asset.kind.code), (0xE348_8274, b"RWTX"));
        assert_eq!((asset.flags, asset.align), (6, -858_993_460));
        assert_eq!(asset.name, b"a=b\xe9");
        assert_eq!(asset.source_file, b"\\\\Job\\x;y.tga");
        assert_eq!(asset.checksum, 0x9A4C_B02E);
        let layers: Vec<_> = settings
            .layers
            .iter()
            .map(|layer| (layer.kind, layer.debug, layer.members.clone()))
            .collect();
        let expected = [(1, u32::MAX, vec![0]), (u32::MAX - 2, u32::MAX, vec![0])];
        assert_eq!(layers, expected);
        assert_eq!(
            (settings.assets[1].id, &settings.assets[1].kind.code),
            (1, b"ZZ  ")
        );
    }

    #[test]
    fn invalid_lines_are_reported() {
        for (lines, expected) in [
            ("Asset=1;Text;0;0;;;0", "line 4: is not in a layer"),
            ("EndLayer", "line 4: does not end a layer"),
            ("LayerType=0", "its last layer has no EndLayer"),
            (
                "LayerType=0\nLayerType=0",
                "line 5: the previous layer has no EndLayer",
            ),
            ("LayerType=x", "line 4: \"x\" is not a 32-bit number"),
            ("PACK.PVER=1;2", "line 4: has 2 of 3 numbers"),
            ("Unlayered=1;Text;0;0", "line 4: has 4 of 7 values"),
            (
                "Unlayered=1;Text;0;0;name;file",
                "line 4: has 6 of 7 values",
            ),
            (
                "Unlayered=1;No type;0;0;;;0",
                "line 4: No type is not a type of assets",
            ),
            (
                "Unlayered=xyz;Text;0;0;;;0",
                "line 4: \"xyz\" is not 8 hexadecimal digits",
            ),
            (
                "Unlayered=1;Text;0;0;\u{20ac};;0",
                "line 4: '\u{20ac}' is not valid in a name",
            ),
            (
                "Unlayered=1;Text;0;0;;;0\nUnlayered=1;Text;0;0;;;0",
                "line 5: asset 00000001 occurs twice",
            ),
            (
                "LayerType=0\nShared=7",
                "line 5: asset 00000007 is not described by an earlier line",
            ),
            (
                "Game=Halo",
                "line 4: Halo is not a known game: Scooby, BFBB, Incredibles, ROTU, RatProto",
            ),
            (
                "IniVersion=1",
                "line 4: IniVersion is 1, only 2 is supported",
            ),
            (
                "HIPB.LayerName=0;x",
                "line 4: is not preceded by a HIPB line",
            ),
        ] {
            assert_eq!(problem(lines), expected);
        }
        assert_eq!(parse(b"").unwrap_err().to_string(), "has no line Game");
        assert_eq!(
            parse(b"\xff").unwrap_err().to_string(),
            "line 1: is not UTF-8"
        );
    }

    #[test]
    fn a_name_that_the_games_would_truncate_is_rejected() {
        let line = |length| format!("Unlayered=1;Text;0;0;{};;0", "x".repeat(length));
        assert!(read(&line(255)).is_ok());
        assert_eq!(
            problem(&line(256)),
            "line 4: a name has 256 bytes, the games read 255"
        );
        let line = format!("PACK.PLAT.Target={}", "x".repeat(32));
        assert_eq!(
            problem(&line),
            "line 4: a name has 32 bytes, the games read 31"
        );
    }

    #[test]
    fn the_platform_is_determined_as_by_the_mount() {
        let of = |text: &str| {
            let text = format!("IniVersion=2\n{text}");
            let settings = parse(text.as_bytes()).unwrap();
            (settings.game, settings.platform)
        };
        let scooby = "Game=Scooby\nPACK.PVER=2;262150;1\nPACK.PCRT";
        assert_eq!(
            of(&format!("{scooby}=1029024000;x")),
            (Game::Scooby, Platform::GameCube)
        );
        assert_eq!(
            of(&format!("{scooby}=1;x\nPlatform=xbox")),
            (Game::Scooby, Platform::Xbox)
        );
        assert_eq!(of(&format!("{scooby}=1;x")).1, Platform::Unknown);
        assert_eq!(
            of("Game=Scooby\nPACK.PVER=2;1;1"),
            (Game::ScoobyPrototype, Platform::PlayStation2)
        );
        assert_eq!(
            of("Game=BFBB\nPACK.PVER=2;655375;1\nPACK.PLAT.TargetPlatformName=Xbox"),
            (Game::Bfbb, Platform::Xbox)
        );
        assert_eq!(
            of("Game=ROTU\nPACK.PVER=2;655375;1\nPACK.PLAT.Target=PS2"),
            (Game::Rotu, Platform::PlayStation2)
        );
    }
}
