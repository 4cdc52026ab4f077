//! Tests of reports on synthetic archives.

mod animated;
mod described;
mod edits;
mod level;
pub(crate) mod objects;
mod screen;

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use bytes::Bytes;

use super::*;
use crate::FORMATS;
use crate::object::Link;
use hpimount_assets::model::Reservation;
use hpimount_assets::view::NamedAsset;
use hpimount_assets::view::report::TableEdit;
use hpimount_assets::view::{self, AssetKey, AssetRef, MakeShared, Shared, View};
use hpimount_containers::hip::{Game, Platform, asset_id};
use hpimount_containers::io::Endian;
use hpimount_containers::volume::AssetType;

/// An asset of an archive.
#[derive(Clone)]
pub(crate) struct Asset {
    archive: &'static str,
    pub(crate) kind: AssetType,
    pub(crate) name: &'static str,
    pub(crate) bytes: Bytes,
}

/// The available archives and the asset. The first archive is the asset's own.
#[derive(Clone)]
pub(crate) struct Archives {
    pub(crate) assets: Vec<Asset>,
    pub(crate) asset: Option<usize>,
    /// Number of times each asset was read or parsed.
    reads: RefCell<HashMap<AssetRef, usize>>,
    /// The memory that was reserved, in order.
    pub(crate) reserved: RefCell<Vec<usize>>,
}

impl Archives {
    /// Creates big-endian assets of one game: archive, type, name and bytes.
    pub(crate) fn new(assets: &[(&'static str, &[u8; 4], &'static str, Vec<u8>)]) -> Self {
        let assets = assets.iter().map(|(archive, code, name, bytes)| Asset {
            archive,
            kind: AssetType {
                code: **code,
                platform: Platform::GameCube,
                endian: Endian::Big,
                game: Game::Bfbb,
                subtype: match (*code, bytes.get(8..12)) {
                    (b"DYNA", Some(kind)) => u32::from_be_bytes(kind.try_into().unwrap()),
                    _ => 0,
                },
                id: asset_id(name.as_bytes()),
            },
            name,
            bytes: bytes.clone().into(),
        });
        Self {
            assets: assets.collect(),
            asset: None,
            reads: RefCell::default(),
            reserved: RefCell::default(),
        }
    }

    /// Returns the archives as archives of another game.
    fn of_game(mut self, game: Game) -> Self {
        let assets = self.assets.iter_mut();
        assets.for_each(|asset| asset.kind.game = game);
        self
    }

    fn count(&self, file: AssetRef) {
        *self.reads.borrow_mut().entry(file).or_default() += 1;
    }

    fn get(&self, file: AssetRef) -> Option<&Asset> {
        self.assets.get(file.0 as usize)
    }

    fn is_own(&self, asset: &Asset) -> bool {
        asset.archive == self.assets[0].archive
    }

    fn chosen(&self, is_chosen: impl Fn(&Asset) -> bool) -> Vec<AssetRef> {
        let assets = (0..).zip(&self.assets);
        let chosen = assets.filter(|(_, asset)| is_chosen(asset));
        chosen.map(|(number, _)| AssetRef(number)).collect()
    }

    /// Returns the text of a report.
    fn text(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).unwrap()
    }

    fn bytes(&self, path: &str) -> Vec<u8> {
        let mut reports = REPORTS.iter();
        let report = reports.find(|report| report.path == path).unwrap();
        assert!((report.applies)(self), "{path}");
        let mut bytes = Vec::new();
        report.render(self, &mut bytes).unwrap();
        bytes
    }
}

impl AssetContext for Archives {
    fn name(&self) -> &str {
        ""
    }

    fn find(&self, key: AssetKey<'_>) -> Option<AssetRef> {
        let AssetKey::Id(id) = key else {
            return None;
        };
        let mut found = self.chosen(|asset| asset.kind.id == id);
        found.sort_by_key(|&file| !self.is_own(self.get(file).unwrap()));
        found.first().copied()
    }

    fn archive_of(&self, file: AssetRef) -> String {
        self.get(file).unwrap().archive.to_owned()
    }

    fn read(&self, file: AssetRef) -> Option<Bytes> {
        self.count(file);
        Some(self.get(file)?.bytes.clone())
    }

    fn reserve(&self, bytes: usize) -> io::Result<Option<Reservation>> {
        self.reserved.borrow_mut().push(bytes);
        Ok(None)
    }

    fn model(&self, file: AssetRef) -> Option<Arc<dyn View>> {
        self.count(file);
        let asset = self.get(file)?;
        let mut formats = FORMATS.iter();
        let format = formats.find(|one| one.asset_types.contains(&asset.kind.code))?;
        let mut context = self.clone();
        context.asset = Some(file.0 as usize);
        Some(view::open(format, &asset.bytes, &context).into())
    }

    fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        Some(make(self).into())
    }

    fn asset(&self) -> Option<AssetType> {
        Some(self.assets[self.asset?].kind)
    }

    fn asset_name(&self, id: u32) -> Option<NamedAsset> {
        let found = self.get(self.find(AssetKey::Id(id))?)?;
        Some(NamedAsset {
            name: found.name.to_owned(),
            archive: (!self.is_own(found)).then(|| found.archive.to_owned()),
            code: Some(found.kind.code),
        })
    }

    fn assets(&self) -> Vec<AssetRef> {
        self.chosen(|asset| self.is_own(asset))
    }

    fn asset_of(&self, file: AssetRef) -> Option<AssetType> {
        Some(self.get(file)?.kind)
    }

    fn name_of(&self, file: AssetRef) -> Option<String> {
        Some(self.get(file)?.name.to_owned())
    }

    fn find_type(&self, code: [u8; 4]) -> Vec<AssetRef> {
        self.chosen(|asset| self.is_own(asset) && asset.kind.code == code)
    }

    fn find_type_beside(&self, code: [u8; 4]) -> Vec<AssetRef> {
        self.chosen(|asset| !self.is_own(asset) && asset.kind.code == code)
    }

    fn size_of(&self, file: AssetRef) -> Option<u64> {
        Some(self.get(file)?.bytes.len() as u64)
    }
}

pub(crate) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

pub(crate) fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect()
}

pub(crate) fn id(name: &str) -> u32 {
    asset_id(name.as_bytes())
}

/// Returns an object with a body, and links from one event to another at a target.
pub(crate) fn object(
    name: &str,
    base_type: u32,
    body: &[u8],
    links: &[(u16, u16, u32)],
) -> Vec<u8> {
    let head = base_type << 24 | (links.len() as u32) << 16 | 0x1D;
    let links = links.iter().flat_map(|&(event, send, target)| {
        let events = u32::from(event) << 16 | u32::from(send);
        words(&[events, target, 0x3F80_0000, 0, 0, 0, 0, 0])
    });
    let links: Vec<u8> = links.collect();
    [&words(&[id(name), head])[..], body, &links].concat()
}

/// Returns a SIMP with a model, at a position.
pub(crate) fn simple(name: &str, position: [f32; 3], model: u32) -> Vec<u8> {
    let body = [
        words(&[0x0100_0000, 0, 0]),
        floats(&[1.5, 0.0, 0.0]),
        floats(&position),
        floats(&[1.0; 3]),
        floats(&[1.0; 5]),
        words(&[model, 0, 0, 0, 0]),
    ];
    object(name, 11, &body.concat(), &[])
}

pub(crate) fn dispatcher(name: &str, links: &[(u16, u16, u32)]) -> Vec<u8> {
    object(name, 30, &[], links)
}

#[test]
fn grep_finds_the_opener_of_a_gate() {
    let archives = Archives::new(&[
        (
            "jf01.HIP",
            b"DPAT",
            "opener",
            dispatcher("opener", &[(18, 24, id("gate"))]),
        ),
        (
            "jf01.HIP",
            b"DPAT",
            "second",
            dispatcher(
                "second",
                &[(18, 3, id("far")), (20, 4, id("gate")), (1, 2, 0)],
            ),
        ),
        ("jf01.HIP", b"SIMP", "gate", simple("gate", [0.0; 3], 0)),
        ("boot.HIP", b"DPAT", "far", dispatcher("far", &[])),
    ]);
    let table = archives.text("tables/links.tsv");
    assert_eq!(table.lines().count(), 1 + 4);
    let gate: Vec<_> = table
        .lines()
        .filter(|line| line.contains("\tgate\t"))
        .collect();
    let (opener, gate_id) = (id("opener"), id("gate"));
    assert_eq!(
        gate[0],
        format!(
            "0x{opener:08X}\topener\tDPAT\t0\tRun\t18\t0x{gate_id:08X}\tgate\tSIMP\tPlay\t24\t1\t0\t0\t0\t\t\t\t\tRun\tPlay"
        )
    );
    assert!(
        gate[1].contains("\tsecond\t") && gate.len() == 2,
        "{gate:?}"
    );
    assert!(table.contains("\tfar\tDPAT\tVisible\t"), "{table}");

    let table = archives.text("tables/links_in.tsv");
    let gate: Vec<_> = table
        .lines()
        .filter(|line| line.contains("\tgate\t"))
        .collect();
    assert_eq!(gate.len(), 2);
    assert!(gate[0].contains("\topener\tDPAT\tRun\t"), "{gate:?}");
    assert!(gate[1].contains("\tsecond\tDPAT\tExpired\t"), "{gate:?}");
    assert_eq!(
        table.lines().count(),
        1 + 3,
        "a link without a target has no row"
    );
    assert_eq!(size_of::<Link>(), 32, "sorted links are small");
}

#[test]
fn all_placed_assets_are_in_one_table() {
    let archives = Archives::new(&[
        (
            "a.HIP",
            b"SIMP",
            "crate",
            simple("crate", [1.0, 2.5, -3.0], id("crate.dff")),
        ),
        ("a.HIP", b"MRKR", "spot", floats(&[4.0, 5.0, 6.0])),
        ("a.HIP", b"DPAT", "none", dispatcher("none", &[])),
        ("a.HOP", b"MODL", "crate.dff", Vec::new()),
    ]);
    let table = archives.text("tables/placements.tsv");
    let rows: Vec<_> = table.lines().skip(1).collect();
    let (crate_id, model) = (id("crate"), id("crate.dff"));
    let expected = [
        format!(
            "0x{crate_id:08X}\tcrate\tSIMP\t1\t2.5\t-3\t1.5\t0\t0\t1\t1\t1\t0x{model:08X}\tcrate.dff"
        ),
        format!("0x{:08X}\tspot\tMRKR\t4\t5\t6\t\t\t\t\t\t\t\t", id("spot")),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn references_show_missing_assets_and_assets_of_other_archives() {
    let archives = Archives::new(&[
        (
            "a.HIP",
            b"SIMP",
            "crate",
            simple("crate", [0.0; 3], id("crate.dff")),
        ),
        (
            "a.HIP",
            b"ALST",
            "list",
            words(&[id("walk"), 0xDEAD_BEEF, 0]),
        ),
        (
            "a.HIP",
            b"TEXT",
            "hello",
            b"\0\0\0\x0c{sound:beep}\0\0\0\0".to_vec(),
        ),
        ("boot.HIP", b"MODL", "crate.dff", Vec::new()),
        ("boot.HIP", b"SND ", "beep", Vec::new()),
    ]);
    let table = archives.text("tables/refs.tsv");
    let has = |row: String| assert!(table.contains(&row), "{row}\n{table}");
    has(format!(
        "\tcrate\tSIMP\tmodel\tuse\t0x{:08X}\tcrate.dff\tMODL\tboot.HIP\t\n",
        id("crate.dff")
    ));
    has(format!(
        "\tlist\tALST\tanimation\tuse\t0x{:08X}\t\t\t\tmissing\n",
        id("walk")
    ));
    has("\tlist\tALST\tanimation\tuse\t0xDEADBEEF\t\t\t\tmissing\n".to_owned());
    has(format!(
        "\thello\tTEXT\tsound\tuse\t0x{:08X}\tbeep\tSND\tboot.HIP\t\n",
        id("beep")
    ));
    assert_eq!(table.lines().count(), 1 + 4);
}

#[test]
fn references_tell_uses_from_rows_of_properties_and_undecoded_bytes() {
    let shrapnel = words(&[1, id("burst"), 0, 3, 0x3F80_0000, id("smoke")]);
    let archives = Archives::new(&[
        (
            "a.HIP",
            b"SHDW",
            "shadows",
            words(&[1, id("crate.dff"), id("blob.dff"), 0]),
        ),
        ("a.HIP", b"SHRP", "burst", shrapnel),
        ("a.HIP", b"PARE", "smoke", Vec::new()),
        ("a.HIP", b"MODL", "crate.dff", Vec::new()),
        ("a.HIP", b"MODL", "blob.dff", Vec::new()),
    ]);
    let table = archives.text("tables/refs.tsv");
    let kinds: Vec<_> = table
        .lines()
        .skip(1)
        .map(|row| {
            let cells: Vec<_> = row.split('\t').collect();
            [cells[1], cells[3], cells[4], cells[6]]
        })
        .collect();
    let expected = [
        ["shadows", "model", "listed", "crate.dff"],
        ["shadows", "shadow", "use", "blob.dff"],
        ["burst", "rest", "bytes", "smoke"],
    ];
    assert_eq!(kinds, expected);
}

/// Returns a table with the header of one sound, with a loop far past its end.
pub(crate) fn sound_table(sound: u32) -> Vec<u8> {
    let entry = [
        &words(&[14, 16, 8000, 0x0001_0000, 2, 1_142_857, 2])[..],
        &[0; 0x60 - 0x1C],
        &words(&[sound]),
    ];
    [&words(&[1, 0xCDCD_CDCD, 0, 0])[..], &entry.concat()].concat()
}

#[test]
fn checks_list_inconsistencies() {
    let mut archives = Archives::new(&[
        ("a.HIP", b"SND ", "beep", vec![0; 8]),
        ("a.HIP", b"SND ", "lost", vec![0; 8]),
        ("a.HIP", b"SNDI", "sounds", sound_table(id("beep"))),
        ("a.HIP", b"SNDI", "more sounds", sound_table(0xABCD)),
        (
            "a.HIP",
            b"DPAT",
            "opener",
            dispatcher("other", &[(1, 2, 0xDEAD_BEEF)]),
        ),
        (
            "a.HIP",
            b"SIMP",
            "crate",
            simple("crate", [0.0; 3], 0xFEED_F00D),
        ),
        ("a.HIP", b"RWTX", "none.RW3", Vec::new()),
        ("a.HIP", b"LKIT", "dark", Vec::new()),
        ("a.HIP", b"ANIM", "walk", Vec::new()),
        ("a.HIP", b"TIMR", "cut\nname", Vec::new()),
        ("a.HIP", b"XYZ ", "opener", Vec::new()),
    ]);
    archives.assets[8].kind.id = id("walk.anm");
    archives.assets[9].kind.id = 7;
    let checks = archives.text("checks.txt");
    let expected = [
        format!(
            "SND {:08X} beep: its loop ends past the data, and is cut\n",
            id("beep")
        ),
        format!(
            "SND {:08X} lost: has no entry in the archive's table",
            id("lost")
        ),
        "0000ABCD: the entry at 0x10 of SNDI (SND) has no sound\n".to_owned(),
        format!(
            "DPAT {:08X} opener: its header has the id {:08X}\n",
            id("opener"),
            id("other")
        ),
        "opener: target DEADBEEF of link 0 is missing\n".to_owned(),
        "crate: model FEEDF00D is missing\n".to_owned(),
        "none.RW3: is empty\n".to_owned(),
        "dark: is empty\n".to_owned(),
        format!(
            "TIMR 00000007 cut\\nname: its name hashes to {:08X}\n",
            id("cut\nname")
        ),
        "opener: another asset has the same id\n".to_owned(),
        "\n11 assets, ".to_owned(),
    ];
    for line in expected {
        assert!(checks.contains(&line), "{line}\n{checks}");
    }
    assert!(!checks.contains("walk: its name"), "{checks}");
}

#[test]
fn reports_read_no_asset_twice() {
    let archives = Archives::new(&[
        (
            "a.HIP",
            b"DPAT",
            "opener",
            dispatcher("opener", &[(1, 2, id("crate"))]),
        ),
        (
            "a.HIP",
            b"SIMP",
            "crate",
            simple("crate", [0.0; 3], id("crate.dff")),
        ),
        ("a.HIP", b"MODL", "crate.dff", vec![0; 12]),
        (
            "a.HIP",
            b"TEXT",
            "hello",
            b"\0\0\0\x0c{sound:beep}\0\0\0\0".to_vec(),
        ),
        ("a.HIP", b"ALST", "list", words(&[id("walk"), 0, 0])),
        ("a.HIP", b"RWTX", "none.RW3", Vec::new()),
        ("a.HIP", b"SND ", "beep", vec![0; 8]),
        ("a.HIP", b"SNDI", "sounds", sound_table(id("beep"))),
        ("a.HIP", b"MRKR", "first", floats(&[1.0, 2.0, 3.0])),
        ("a.HIP", b"MRKR", "second", floats(&[1.0, 2.0, 3.0])),
    ]);
    let tables = archives.find_type(*b"SNDI");
    for report in [
        "checks.txt",
        "errors.tsv",
        "texts.tsv",
        "tables/links.tsv",
        "tables/links_in.tsv",
        "tables/placements.tsv",
        "tables/refs.tsv",
    ] {
        archives.reads.take();
        archives.bytes(report);
        let reads = archives.reads.take();
        assert!(!reads.is_empty(), "{report}");
        // The headers of sounds are shared in a mount.
        let mut others = reads.iter().filter(|(file, _)| !tables.contains(file));
        assert!(others.all(|(_, count)| *count == 1), "{report}: {reads:?}");
    }
    // The first asset determines the columns of this table.
    archives.bytes("tables/MRKR.tsv");
    let markers = archives.find_type(*b"MRKR");
    let reads = archives.reads.take();
    let counts: Vec<_> = markers.iter().map(|file| reads[file]).collect();
    assert_eq!(counts, [2, 1]);
}

#[test]
fn unreadable_assets_have_a_reason_and_affect_no_others() {
    let archives = Archives::new(&[
        ("a.HIP", b"ANIM", "broken", vec![1; 64]),
        (
            "a.HIP",
            b"TEXT",
            "fine",
            b"\0\0\0\x04a\tb\n\0\0\0\0".to_vec(),
        ),
        ("a.HIP", b"XYZ ", "unknown", vec![1]),
    ]);
    let errors = archives.text("errors.tsv");
    let row = format!(
        "0x{:08X}\tbroken\tANIM\t\tmagic at 0x0: is 0x01010101",
        id("broken")
    );
    assert!(errors.lines().nth(1).unwrap().starts_with(&row), "{errors}");
    assert_eq!(errors.lines().count(), 2);
    let texts = archives.text("texts.tsv");
    assert_eq!(
        texts,
        format!(
            "id\tname\ttext\tshown_by\tshown_by_name\n0x{:08X}\tfine\ta\\tb\\n\t\t\n",
            id("fine")
        )
    );
}

#[test]
fn backslashes_of_edited_texts_stay() {
    let text = |text: &[u8]| {
        let length = text.len() as u32;
        [&length.to_be_bytes(), text, &[0; 4]].concat()
    };
    let archives = Archives::new(&[
        ("a.HIP", b"TEXT", "path", text(b"a\\tank")),
        ("a.HIP", b"TEXT", "lines", text(b"a\nb")),
    ]);
    let shown = archives.text("texts.tsv");
    let edited = shown.replace("tank", "tank2").replace("\\nb", "\\nc");
    let edit = REPORTS.iter().find(|report| report.path == "texts.tsv");
    let edit = edit.unwrap().edit.unwrap().edit;
    let edits = edit(&archives, shown.as_bytes(), edited.as_bytes()).unwrap();
    let texts = edits.edits.into_iter().map(|(_, edit)| match edit {
        TableEdit::File(_, text, _) => String::from_utf8(text).unwrap(),
        other => panic!("{other:?}"),
    });
    assert_eq!(Vec::from_iter(texts), ["a\\tank2", "a\nc"]);
}
