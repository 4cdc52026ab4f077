//! Types of assets: their names, folders and extensions (FORMATS, HIP 9).

use std::borrow::Cow;

use crate::text::{has_extension, windows_1252};

use super::detect::Platform;
use super::dyna;

/// An asset's type: four characters, padded with spaces.
pub(crate) type Code = [u8; 4];

/// A known type of assets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Its code.
    code: Code,
    /// HipHopTool's folder for it.
    folder: &'static str,
    /// Extension of its files, without the dot.
    extension: &'static str,
    /// Other extensions that occur in names of such assets.
    also: &'static [&'static str],
}

const fn kind(
    code: &[u8; 4],
    folder: &'static str,
    extension: &'static str,
    also: &'static [&'static str],
) -> Kind {
    Kind {
        code: *code,
        folder,
        extension,
        also,
    }
}

/// The known types, sorted by code.
const KINDS: [Kind; 96] = [
    kind(b"ALST", "AnimationList", "alst", &[]),
    kind(b"ANIM", "Animation", "anm", &[]),
    kind(b"ATBL", "AnimationTable", "atbl", &[]),
    kind(b"ATKT", "AttackTable", "atkt", &[]),
    kind(b"BINK", "BinkVideo", "bik", &[]),
    kind(b"BOUL", "Boulder", "boul", &[]),
    kind(b"BSP ", "BSP", "bsp", &[]),
    kind(b"BUTN", "Button", "butn", &[]),
    kind(b"CAM ", "Camera", "cam", &[]),
    kind(b"CCRV", "CameraCurve", "ccrv", &[]),
    kind(b"CNTR", "Counter", "cntr", &[]),
    kind(b"COLL", "CollisionTable", "coll", &[]),
    kind(b"COND", "Conditional", "cond", &[]),
    kind(b"CRDT", "Credits", "crd", &[]),
    kind(b"CSN ", "Cutscene", "csn", &[]),
    kind(b"CSNM", "CutsceneManager", "csnm", &[]),
    kind(b"CSSS", "CutsceneStreamingSound", "csss", &[]),
    kind(b"CTOC", "CutsceneTableOfContents", "ctoc", &[]),
    kind(b"DEST", "Destructible", "dest", &[]),
    kind(b"DPAT", "Dispatcher", "dpat", &[]),
    kind(b"DSCO", "DiscoFloor", "dsco", &[]),
    kind(b"DSTR", "DestructibleObject", "dstr", &[]),
    kind(b"DTRK", "DashTrack", "dtrk", &[]),
    kind(b"DUPC", "Duplicator", "dupc", &[]),
    kind(b"DYNA", "DYNA", "dyna", &[]),
    kind(b"EGEN", "ElectricArcGenerator", "egen", &[]),
    kind(b"ENV ", "Environment", "env", &[]),
    kind(b"FLY ", "Flythrough", "fly", &[]),
    kind(b"FOG ", "Fog", "fog", &[]),
    kind(b"GRSM", "GrassMesh", "grsm", &[]),
    kind(b"GRUP", "Group", "grup", &[]),
    kind(b"GUST", "Gust", "gust", &[]),
    kind(b"HANG", "Hangable", "hang", &[]),
    kind(b"JAW ", "JawDataTable", "jaw", &[]),
    kind(b"JSP ", "JSP", "jsp", &["jspinfo"]),
    kind(b"LITE", "Light", "lite", &[]),
    kind(b"LKIT", "LightKit", "lkt", &["ma"]),
    kind(b"LOBM", "LobMaster", "lobm", &[]),
    kind(b"LODT", "LevelOfDetailTable", "lodt", &[]),
    kind(b"MAPR", "SurfaceMapper", "mapr", &[]),
    kind(b"MINF", "ModelInfo", "minf", &[]),
    kind(b"MODL", "Model", "dff", &[]),
    kind(b"MPHT", "MorphTarget", "mpht", &[]),
    kind(b"MRKR", "Marker", "mrkr", &[]),
    kind(b"MVPT", "MovePoint", "mvpt", &[]),
    kind(b"NGMS", "NavigationMesh", "ngms", &[]),
    kind(b"NPC ", "Villain", "npc", &[]),
    kind(b"NPCS", "NPCSettings", "npcs", &[]),
    kind(b"ONEL", "OneLiner", "onel", &[]),
    kind(b"PARE", "ParticleEmitter", "pare", &[]),
    kind(b"PARP", "ParticleProperties", "parp", &[]),
    kind(b"PARS", "ParticleSystem", "pars", &[]),
    kind(b"PEND", "Pendulum", "pend", &[]),
    kind(b"PGRS", "ProgressScript", "pgrs", &[]),
    kind(b"PICK", "PickupTable", "pick", &[]),
    kind(b"PIPT", "PipeInfoTable", "pipt", &[]),
    kind(b"PKUP", "Pickup", "pkup", &[]),
    kind(b"PLAT", "Platform", "plat", &[]),
    kind(b"PLYR", "Player", "plyr", &[]),
    kind(b"PORT", "Portal", "port", &[]),
    kind(b"PRJT", "Projectile", "prjt", &[]),
    kind(b"RANM", "ReactiveAnimation", "ranm", &[]),
    kind(b"RAW ", "RawImage", "raw", &["ico"]),
    kind(b"RWTX", "Texture", "txd", &["rw3"]),
    kind(b"SCRP", "Script", "scrp", &[]),
    kind(b"SDFX", "SDFX", "sdfx", &[]),
    kind(b"SFX ", "SFX", "sfx", &[]),
    kind(b"SGRP", "SoundGroup", "sgrp", &[]),
    kind(b"SHDW", "ShadowTable", "shdw", &[]),
    kind(b"SHRP", "Shrapnel", "shrp", &[]),
    kind(b"SIMP", "SimpleObject", "simp", &[]),
    kind(b"SLID", "SlideProperty", "slid", &[]),
    kind(b"SND ", "Sound", "snd", &["dsp", "wav", "vag"]),
    kind(b"SNDI", "SoundInfo", "sndi", &[]),
    kind(b"SNDS", "SoundStream", "snd", &["dsp", "wav", "vag"]),
    kind(b"SPLN", "Spline", "spln", &[]),
    kind(b"SPLP", "SplinePath", "splp", &[]),
    kind(b"SSET", "SceneSettings", "sset", &[]),
    kind(b"SUBT", "Subtitles", "subt", &[]),
    kind(b"SURF", "Surface", "surf", &[]),
    kind(b"TEXS", "TextureStream", "txd", &["rw3"]),
    kind(b"TEXT", "Text", "text", &[]),
    kind(b"TIMR", "Timer", "timr", &[]),
    kind(b"TPIK", "PickupTypes", "tpik", &[]),
    kind(b"TRCK", "Track", "trck", &[]),
    kind(b"TRIG", "Trigger", "trig", &[]),
    kind(b"TRWT", "ThrowableTable", "trwt", &[]),
    kind(b"UI  ", "UserInterface", "ui", &[]),
    kind(b"UIFN", "UIFN", "uifn", &[]),
    kind(b"UIFT", "UserInterfaceFont", "uift", &[]),
    kind(b"UIM ", "UserInterfaceMotion", "uim", &[]),
    kind(b"VIL ", "NPC", "vil", &[]),
    kind(b"VILP", "NPCProperties", "vilp", &[]),
    kind(b"VOLU", "Volume", "volu", &[]),
    kind(b"WIRE", "WireframeModel", "wire", &[]),
    kind(b"ZLIN", "ZipLine", "zlin", &[]),
];

/// Subtype of a JSP asset that is not geometry but JSPINFO.
pub(crate) const JSP_INFO: u32 = 1;

/// The type of an asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Type {
    /// Its code.
    pub code: Code,
    /// For a DYNA asset the hash of its type's name, for a JSP asset `JSP_INFO`
    /// if it is JSPINFO; otherwise 0.
    pub subtype: u32,
}

impl Type {
    /// Returns its code, without the padding, as text.
    pub fn text(self) -> String {
        windows_1252(trimmed(&self.code)).into_owned()
    }

    /// Returns HipHopTool's folder for it. HipHopTool refuses unknown types;
    /// here they get a folder with the code, and unknown DYNA types one with
    /// the hash, `DYNA_` and eight hexadecimal digits. A DYNA asset too short
    /// for its hash is in `DYNA`.
    pub fn folder(self) -> Cow<'static, str> {
        match (&self.code, self.subtype) {
            (b"JSP ", JSP_INFO) => "JSPInfo".into(),
            (b"DYNA", hash) if hash != 0 => match dyna::folder(hash) {
                Some(folder) => folder.into(),
                None => format!("DYNA_{hash:08X}").into(),
            },
            _ => match find(self.code) {
                Some(kind) => kind.folder.into(),
                None => safe(self.code).into(),
            },
        }
    }

    /// Returns the type with this folder or this code; the inverse of
    /// [`Type::folder`], except for characters that were replaced by `_`.
    pub fn of_folder(folder: &str) -> Option<Self> {
        let plain = |code| Self { code, subtype: 0 };
        let dyna = |subtype| Self {
            code: *b"DYNA",
            subtype,
        };
        if folder == "JSPInfo" {
            return Some(Self {
                code: *b"JSP ",
                subtype: JSP_INFO,
            });
        }
        if let Some(kind) = KINDS.iter().find(|kind| kind.folder == folder) {
            return Some(plain(kind.code));
        }
        if let Some(hash) = dyna::number(folder) {
            return Some(dyna(hash));
        }
        if let Some(hash) = folder.strip_prefix("DYNA_") {
            return u32::from_str_radix(hash, 16).ok().map(dyna);
        }
        let is_code = (1..=4).contains(&folder.len());
        if !is_code || !folder.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let mut code = *b"    ";
        code[..folder.len()].copy_from_slice(folder.as_bytes());
        Some(plain(code))
    }

    /// Returns the known types whose files have this extension on `platform`.
    pub(super) fn of_extension(extension: &str, platform: Platform) -> Vec<Self> {
        let name = format!("x.{extension}");
        let is_other = |other: &&str| other.eq_ignore_ascii_case(extension);
        if OTHER_EXTENSIONS.iter().any(is_other) {
            return Vec::new();
        }
        let kinds = KINDS.iter().map(|kind| Self {
            code: kind.code,
            subtype: 0,
        });
        kinds
            .filter(|kind| kind.extensions(platform).carried(name.as_bytes()) > 0)
            .collect()
    }

    /// Returns the extensions of its files on `platform`.
    pub(super) fn extensions(self, platform: Platform) -> Extensions {
        let known = find(self.code);
        Extensions {
            own: self.own_extension(known, platform),
            usual: known.map_or("", |kind| kind.extension),
            also: known.map_or(&[], |kind| kind.also),
        }
    }

    fn own_extension(self, known: Option<&'static Kind>, platform: Platform) -> Cow<'static, str> {
        match (&self.code, platform) {
            (b"JSP ", _) if self.subtype == JSP_INFO => "jspinfo".into(),
            (b"SND " | b"SNDS", Platform::GameCube) => "dsp".into(),
            (b"SND " | b"SNDS", Platform::Xbox) => "wav".into(),
            (b"SND " | b"SNDS", Platform::PlayStation2) => "vag".into(),
            _ => match known {
                Some(kind) => kind.extension.into(),
                None if self.code.iter().any(u8::is_ascii_alphanumeric) => {
                    safe(self.code).to_ascii_lowercase().into()
                }
                None => "".into(),
            },
        }
    }
}

/// The extensions of the files of a type.
#[derive(Debug)]
pub(super) struct Extensions {
    /// The one that files get; empty if the code of an unknown type is not suitable.
    pub(super) own: Cow<'static, str>,
    /// The one on most platforms.
    usual: &'static str,
    /// Those that names have as well.
    also: &'static [&'static str],
}

impl Extensions {
    /// Returns the length of the extension that `name` already has, including
    /// the dot; 0 if it is neither an extension of this type nor one of
    /// `OTHER_EXTENSIONS`.
    pub(super) fn carried(&self, name: &[u8]) -> usize {
        let of_type = [&*self.own, self.usual];
        let is_carried =
            |extension: &&&str| !extension.is_empty() && has_extension(name, extension);
        let mut lists = [&of_type[..], self.also, OTHER_EXTENSIONS].into_iter();
        lists
            .find_map(|list| list.iter().find(is_carried))
            .map_or(0, |extension| extension.len() + 1)
    }
}

/// Extensions of other games' formats. Packed files with such names keep them,
/// so that they are detected.
const OTHER_EXTENSIONS: &[&str] = &["hgo", "hgo.blk", "ifp", "psx"];

/// Returns a code without the spaces after it.
fn trimmed(code: &Code) -> &[u8] {
    let last = code.iter().rposition(|&byte| byte != b' ');
    &code[..last.map_or(0, |last| last + 1)]
}

fn find(code: Code) -> Option<&'static Kind> {
    // Numbers are compared without a call. They are in the order of the codes.
    let number = u32::from_be_bytes;
    let found = KINDS.binary_search_by_key(&number(code), |kind| number(kind.code));
    KINDS.get(found.ok()?)
}

/// Returns a code as a valid file name, which is not empty.
fn safe(code: Code) -> String {
    let code = trimmed(&code);
    if code.is_empty() {
        return "_".to_owned();
    }
    code.iter()
        .map(|&byte| match byte {
            b'/' | b'.' => '_',
            0x21..=0x7E => byte.into(),
            _ => '_',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(code: &Code) -> Type {
        Type {
            code: *code,
            subtype: 0,
        }
    }

    #[test]
    fn the_documentation_says_how_far_every_type_is_decoded() {
        let page = include_str!("../../../../docs/formats/hip-assets.md");
        let rows = page
            .lines()
            .skip_while(|line| !line.starts_with("| types | games |"));
        let rows = rows.take_while(|line| line.starts_with('|'));
        let cells = rows.filter_map(|row| row.split('|').nth(1));
        let mut codes: Vec<_> = cells.skip(2).flat_map(str::split_whitespace).collect();
        codes.sort_unstable();
        let known = KINDS.iter().map(|kind| trimmed(&kind.code));
        assert!(
            known.eq(codes.iter().map(|code| code.as_bytes())),
            "{codes:?}"
        );
    }

    #[test]
    fn the_table_is_sorted_and_every_folder_is_unique() {
        assert!(KINDS.windows(2).all(|pair| pair[0].code < pair[1].code));
        let folders: std::collections::HashSet<_> = KINDS.iter().map(|kind| kind.folder).collect();
        assert_eq!(folders.len(), KINDS.len());
    }

    #[test]
    fn folders_match_hiphoptool() {
        assert_eq!(plain(b"RWTX").folder(), "Texture");
        assert_eq!(plain(b"NPC ").folder(), "Villain");
        assert_eq!(plain(b"JSP ").folder(), "JSP");
        let info = Type {
            subtype: JSP_INFO,
            ..plain(b"JSP ")
        };
        assert_eq!(info.folder(), "JSPInfo");
        let dyna = |subtype| Type {
            subtype,
            ..plain(b"DYNA")
        };
        assert_eq!(dyna(0x70AD_B7F9).folder(), "TeleportBox");
        assert_eq!(dyna(0x0000_ABCD).folder(), "DYNA_0000ABCD");
        assert_eq!(dyna(0).folder(), "DYNA");
    }

    #[test]
    fn a_folder_identifies_its_type() {
        let known = KINDS.iter().map(|kind| plain(&kind.code));
        let others = [
            (b"JSP ", JSP_INFO),
            (b"DYNA", 0x70AD_B7F9),
            (b"DYNA", 0xABCD),
        ];
        let others = others.map(|(code, subtype)| Type {
            subtype,
            ..plain(code)
        });
        for kind in known.chain(others).chain([plain(b"ZZ Z"), plain(b"Q   ")]) {
            let folder = kind.folder();
            match folder.contains('_') && !folder.starts_with("DYNA_") {
                true => assert_eq!(Type::of_folder(&folder), Some(plain(b"ZZ_Z"))),
                false => assert_eq!(Type::of_folder(&folder), Some(kind), "{folder}"),
            }
        }
        // Earlier versions of HipHopTool write codes.
        assert_eq!(Type::of_folder("RWTX"), Some(plain(b"RWTX")));
        for folder in ["", "Nothing", "DYNA_wrong", "a b", "\u{e9}"] {
            assert_eq!(Type::of_folder(folder), None, "{folder}");
        }
    }

    #[test]
    fn folders_and_extensions_of_unknown_codes_are_valid_names() {
        for (code, folder, extension) in [
            (b"ZZZZ", "ZZZZ", "zzzz"),
            (b"\x01\x02  ", "__", ""),
            (b"A/B ", "A_B", "a_b"),
            (b"    ", "_", ""),
            (b"..  ", "__", ""),
            (b"\xe9\x80\xff1", "___1", "___1"),
        ] {
            assert_eq!(plain(code).folder(), folder);
            assert_eq!(plain(code).extensions(Platform::Unknown).own, extension);
        }
    }

    #[test]
    fn sounds_have_the_extension_of_their_platform() {
        let sound = plain(b"SND ");
        assert_eq!(sound.extensions(Platform::GameCube).own, "dsp");
        assert_eq!(sound.extensions(Platform::Xbox).own, "wav");
        assert_eq!(sound.extensions(Platform::PlayStation2).own, "vag");
        assert_eq!(sound.extensions(Platform::Unknown).own, "snd");
        assert_eq!(sound.extensions(Platform::Xbox).carried(b"boing.VAG"), 4);
    }

    #[test]
    fn a_name_keeps_the_extension_that_it_has() {
        let carried = |code, name: &str| {
            plain(code)
                .extensions(Platform::GameCube)
                .carried(name.as_bytes())
        };
        assert_eq!(carried(b"RWTX", "sand.RW3"), 4);
        assert_eq!(carried(b"RWTX", "sand.txd"), 4);
        assert_eq!(carried(b"MODL", "a.DfF"), 4);
        assert_eq!(carried(b"MODL", "a.dff.anm"), 0);
        assert_eq!(carried(b"MODL", "dff"), 0);
        assert_eq!(carried(b"MODL", ".dff"), 4);
        assert_eq!(carried(b"    ", "a."), 0);
        assert_eq!(carried(b"MODL", "crash.HGO"), 4);
        assert_eq!(carried(b"TEXT", "crash.hgo.blk"), 8);
    }
}
