//! Assets of HIP archives that a folder of changes adds, deletes, moves and
//! redescribes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use tempfile::tempdir;

use fixtures::hip::{Asset, Hip};
use fixtures::noise;
use hpimount::mount::{Ino, Vfs};
use hpimount_containers::changes::{Change, Folder};
use hpimount_containers::extract::Listing;
use hpimount_containers::hip::{CHECKSUM, Offsets, Platform, asset_id};
use hpimount_containers::io::ReadAt;
use testkit::applied::{hpi_apply, new_file, open_changed, planned, read_at, write};
use testkit::hip_random::archives;
use testkit::hpipack::stderr;
use testkit::trial;

/// Returns the processor time of this thread, which a busy machine does not change.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .unwrap()
        .into()
}

/// Applies changes by their paths; `None` deletes. Returns the archive, or all
/// refusals.
fn applied(archive: &[u8], changes: &[(String, Option<Vec<u8>>)]) -> Result<Vec<u8>, String> {
    let mut folder = Folder::default();
    for (path, bytes) in changes {
        let change = match bytes {
            Some(bytes) => new_file(path, bytes),
            None => Change::Deleted,
        };
        folder.insert(path, change);
    }
    let written = planned("a.HIP", archive, folder)?;
    let mut bytes = vec![0; written.data.len() as usize];
    written.data.read_exact_at(&mut bytes, 0).unwrap();
    Ok(bytes)
}

/// The tables of an archive, and its bytes.
struct Read {
    offsets: Offsets,
    bytes: Vec<u8>,
}

impl Read {
    fn new(bytes: Vec<u8>) -> Self {
        let source: Arc<dyn ReadAt> = Arc::new(bytes.clone());
        let offsets = Offsets::read(&source, &mut Listing::default()).unwrap();
        Self { offsets, bytes }
    }

    fn ids(&self) -> Vec<u32> {
        self.offsets.assets.iter().map(|asset| asset.id).collect()
    }

    fn assets(&self) -> BTreeMap<u32, Vec<u8>> {
        let assets = self.offsets.assets.iter();
        let bytes = |start: u32, size: u32| self.bytes[start as usize..][..size as usize].to_vec();
        assets
            .map(|asset| (asset.id, bytes(asset.offset, asset.size)))
            .collect()
    }

    fn layers(&self) -> Vec<Vec<u32>> {
        let ids = |members: &Vec<u32>| {
            let ids = members
                .iter()
                .map(|&member| self.offsets.assets[member as usize].id);
            ids.collect()
        };
        self.offsets.layers.iter().map(ids).collect()
    }

    /// Returns whether the engine, which reads each layer in one piece, finds the
    /// assets of a layer.
    fn is_in_one_piece(&self, layer: usize) -> bool {
        let members = self.offsets.layers[layer].iter();
        let members: Vec<_> = members
            .map(|&member| self.offsets.assets[member as usize])
            .collect();
        let total: u64 = members
            .iter()
            .map(|asset| u64::from(asset.size) + u64::from(asset.plus))
            .sum();
        let total = total - members.last().map_or(0, |last| last.plus.into());
        let filled = || members.iter().filter(|asset| asset.size > 0);
        let Some(first) = filled().next() else {
            return true;
        };
        filled().all(|asset| {
            asset.offset >= first.offset
                && u64::from(asset.offset - first.offset) + u64::from(asset.size) <= total
        })
    }
}

/// The name of a layer's folder.
fn folders(archive: &[u8]) -> Vec<String> {
    let work = tempdir().unwrap();
    let path = work.path().join("a.HIP");
    fs::write(&path, archive).unwrap();
    let vfs = testkit::walked::open(path, hpimount::mount::Options::default()).unwrap();
    let layers = vfs.lookup(Ino::ROOT, "layers").unwrap();
    names(&vfs, layers.ino)
}

fn names(vfs: &Vfs, directory: Ino) -> Vec<String> {
    let mut names = Vec::new();
    let listed = vfs.readdir(directory, 0, &mut |name, _, _, _| {
        names.push(name.to_owned());
        false
    });
    listed.unwrap();
    names
}

/// The types of assets that refuse noise.
const CHECKED: [[u8; 4]; 3] = [*b"TEXT", *b"SND ", *b"SNDS"];

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(trial::part(48, 128))
    })]

    #[test]
    fn any_assets_can_be_added_deleted_and_replaced(
        (target, hip) in archives(),
        plan in vec((0..3_u8, any::<Index>(), 0..5000_usize), 1..6),
    ) {
        // Data without assets has no place for its padding.
        prop_assume!(!hip.assets.is_empty());
        let bytes = hip.build();
        let before = Read::new(bytes.clone());
        let folders = folders(&bytes);
        let folders: Vec<&String> = folders.iter().filter(|name| *name != "unlayered").collect();
        let checked: BTreeSet<u32> =
            hip.assets.iter().filter(|asset| CHECKED.contains(&asset.code)).map(|asset| asset.id).collect();
        let ids = before.ids();
        let (mut expected, mut layers) = (before.assets(), before.layers());
        let mut changes = BTreeMap::new();
        for (number, &(kind, index, size)) in plan.iter().enumerate() {
            let new = noise(size as u64 + number as u64, size);
            if kind == 0 && !folders.is_empty() {
                let layer = index.index(folders.len());
                let name = format!("new thing {number}");
                let id = asset_id(name.as_bytes());
                changes.insert(format!("layers/{}/{name}.lobm", folders[layer]), Some(new.clone()));
                expected.insert(id, new);
                layers[layer].push(id);
            } else if kind > 0 && !ids.is_empty() {
                let id = ids[index.index(ids.len())];
                let path = format!("ids/{id:08X}");
                let is_free = !changes.contains_key(&path);
                if kind == 1 && is_free {
                    changes.insert(path, None);
                    expected.remove(&id);
                    layers.iter_mut().for_each(|layer| layer.retain(|&member| member != id));
                } else if kind == 2 && is_free && !checked.contains(&id) {
                    changes.insert(path, Some(new.clone()));
                    expected.insert(id, new);
                }
            }
        }
        // The new ones of a layer are sorted by name.
        let changes: Vec<_> = changes.into_iter().collect();
        let old_layers = before.layers();
        for (layer, old) in layers.iter_mut().zip(&old_layers) {
            let is_old = |id: &u32| ids.contains(id);
            let kept = layer.iter().filter(|id| is_old(id)).count();
            prop_assert!(kept <= old.len());
            layer[kept..].sort_by_key(|id| changes.iter().position(|(path, _)| {
                let name = path.rsplit('/').next().unwrap();
                name.strip_suffix(".lobm").is_some_and(|name| asset_id(name.as_bytes()) == *id)
            }));
        }
        let after = applied(&bytes, &changes);
        prop_assert!(after.is_ok(), "{:?}", after);
        let after = Read::new(after.unwrap());
        prop_assert_eq!(after.assets(), expected);
        prop_assert_eq!(&after.layers(), &layers);
        if hip.hipb.is_some() {
            let end = |bytes: &[u8]| bytes[bytes.len() - 4..].to_vec();
            prop_assert_eq!(end(&after.bytes), end(&bytes));
        }
        if before.ids().is_sorted() {
            prop_assert!(after.ids().is_sorted());
        }
        let alignment = if target.1 == Platform::GameCube { 32 } else { 2048 };
        for old in &before.offsets.assets {
            let now = after.offsets.assets.iter().find(|now| now.id == old.id);
            if let Some(now) = now.filter(|now| now.size > 0) {
                prop_assert_eq!(old.offset % alignment, now.offset % alignment);
                prop_assert_eq!(old.flags, now.flags);
            }
        }
        for layer in 0..layers.len() {
            // Layers with shared assets were never contiguous.
            let shared = |id: &u32| old_layers.iter().filter(|layer| layer.contains(id)).count() > 1;
            // Nor are those that list an asset twice, whose data has another order.
            let listed = &hip.layers[layer].1;
            let is_repeated = listed.iter().collect::<BTreeSet<_>>().len() < listed.len();
            let is_shared = is_repeated || old_layers[layer].iter().any(shared);
            prop_assert!(
                is_shared || !before.is_in_one_piece(layer) || after.is_in_one_piece(layer),
                "layer {}", layer
            );
        }
        for asset in after.offsets.assets.iter().filter(|asset| !ids.contains(&asset.id)) {
            prop_assert!(asset.size == 0 || asset.offset % 16 == 0);
            if let Some((_, checksum)) = asset.checksum.filter(|(_, checksum)| *checksum != 0) {
                prop_assert_eq!(checksum, CHECKSUM.checksum(&after.assets()[&asset.id]));
            }
        }
    }
}

/// Returns an archive with two layers: three texts, and two models.
fn example() -> Vec<u8> {
    let mut hip = Hip::default();
    let text = |name: &str, fill: u8| Asset::new(b"TEXT", name, &[0, 0, 0, 2, fill, fill, 0, 0]);
    hip.layer(0)
        .add(text("one", b'1'))
        .add(text("two", b'2'))
        .add(text("three", b'3'));
    hip.layer(2)
        .add(Asset::new(b"MODL", "rock.dff", &noise(1, 500)));
    hip.add(Asset::new(b"MODL", "tree.dff", &noise(2, 70)));
    hip.build()
}

const TEXT: &[u8] = &[0, 0, 0, 3, b'n', b'e', b'w', 0];

fn change(path: &str, bytes: &[u8]) -> (String, Option<Vec<u8>>) {
    (path.to_owned(), Some(bytes.to_vec()))
}

fn deletion(path: &str) -> (String, Option<Vec<u8>>) {
    (path.to_owned(), None)
}

/// Returns `Settings.ini` of an archive.
fn settings(archive: &[u8]) -> String {
    let work = tempdir().unwrap();
    let path = work.path().join("a.HIP");
    fs::write(&path, archive).unwrap();
    let vfs = testkit::walked::open(path, hpimount::mount::Options::default()).unwrap();
    let types = vfs.lookup(Ino::ROOT, "types").unwrap();
    let settings = vfs.lookup(types.ino, "Settings.ini").unwrap();
    String::from_utf8(vfs.read(settings.ino, 0, 1 << 20).unwrap().to_vec()).unwrap()
}

fn id(name: &str) -> u32 {
    asset_id(name.as_bytes())
}

#[test]
fn an_asset_moves_to_the_layer_to_whose_folder_its_file_is_moved() {
    let archive = example();
    let changes = [
        deletion("layers/00-DEFAULT/two.text"),
        change("layers/02-MODEL/two.text", TEXT),
    ];
    // The second layer is called by its number.
    let folders = folders(&archive);
    let [first, second] = &folders[..] else {
        panic!("{folders:?}");
    };
    let to = |(path, bytes): (String, Option<Vec<u8>>)| {
        let path = path
            .replace("00-DEFAULT", first)
            .replace("02-MODEL", second);
        (path, bytes)
    };
    let after = Read::new(applied(&archive, &changes.map(to)).unwrap());
    let layers = [
        vec![id("one"), id("three")],
        vec![id("rock.dff"), id("tree.dff"), id("two")],
    ];
    assert_eq!(after.layers(), layers);
    assert_eq!(after.assets()[&id("two")], TEXT);
    assert!(after.is_in_one_piece(0) && after.is_in_one_piece(1));
}

#[test]
fn a_layer_whose_list_has_another_order_than_its_data_stays_in_one_piece() {
    let mut hip = Hip::default();
    let model = |name: &str, size| Asset::new(b"MODL", name, &noise(3, size));
    hip.layer(2)
        .add(model("a", 16))
        .add(model("b", 16))
        .add(model("c", 4));
    hip.layers[0].1.swap(1, 2);
    let archive = hip.build();
    assert!(Read::new(archive.clone()).is_in_one_piece(0));
    for name in ["a", "b", "c"] {
        let path = format!("ids/{:08X}", id(name));
        let after = Read::new(applied(&archive, &[change(&path, &[9; 33])]).unwrap());
        assert!(after.is_in_one_piece(0), "{name}");
    }
}

/// Returns an archive with two layers of textures. Some names contain the extension,
/// and one id is not the hash of the name.
fn mixed() -> Vec<u8> {
    let mut hip = Hip::default();
    let texture = |name: &str, fill: u8| Asset::new(b"RWTX", name, &[fill; 40]);
    let mut renamed = texture("renamed.RW3", 3);
    renamed.id = 0x1234_5678;
    hip.layer(1)
        .add(texture("plain", 1))
        .add(texture("shiny_flowers.RW3", 2))
        .add(renamed);
    hip.layer(1).add(texture("sand.RW3", 4));
    hip.build()
}

#[test]
fn a_moved_file_keeps_the_id_of_its_asset() {
    let archive = mixed();
    let before = Read::new(archive.clone());
    let folders = folders(&archive);
    let sand = id("sand.RW3");
    for (name, id, fill) in [
        ("shiny_flowers.RW3", id("shiny_flowers.RW3"), 2),
        ("renamed.RW3", 0x1234_5678, 3),
        ("plain.txd", id("plain"), 1),
    ] {
        let changes = [
            deletion(&format!("layers/{}/{name}", folders[0])),
            change(&format!("layers/{}/{name}", folders[1]), &[fill; 40]),
        ];
        let after = Read::new(applied(&archive, &changes).unwrap());
        assert_eq!(after.assets(), before.assets(), "{name}");
        assert_eq!(after.layers()[1], [sand, id], "{name}");
    }
}

#[test]
fn an_extension_that_is_not_the_own_one_of_the_type_belongs_to_the_name() {
    let archive = mixed();
    let path = |name: &str| format!("layers/{}/{name}", folders(&archive)[0]);
    let changes = [
        change(&path("new.RW3"), &[5; 40]),
        change(&path("other.txd"), &[6; 40]),
    ];
    let after = Read::new(applied(&archive, &changes).unwrap());
    let assets = after.assets();
    assert_eq!(assets[&id("new.RW3")], [5; 40]);
    // Most names have an extension.
    assert_eq!(assets[&id("other.txd")], [6; 40]);
}

#[test]
fn a_new_asset_is_like_those_of_its_type() {
    let archive = example();
    let folders = folders(&archive);
    let path = format!("layers/{}/bush.dff", folders[1]);
    let after = Read::new(applied(&archive, &[change(&path, b"a bush")]).unwrap());
    // Names of models contain the extension, so it is part of the hash.
    let new = after
        .offsets
        .assets
        .iter()
        .find(|asset| asset.id == id("bush.dff"))
        .unwrap();
    assert_eq!((new.size, new.flags), (6, 2));
    assert_eq!(new.checksum.unwrap().1, CHECKSUM.checksum(b"a bush"));
    assert_eq!(after.layers()[1].last(), Some(&id("bush.dff")));
}

#[test]
fn settings_decide_layers_and_what_tables_say_of_assets() {
    let archive = example();
    let old = settings(&archive);
    let line = |name: &str| {
        let id = format!("Asset={:08X};", id(name));
        old.lines()
            .find(|line| line.starts_with(&id))
            .unwrap()
            .to_owned()
    };
    let new = format!("Asset={:08X};Text;2;0;four;;1", id("four"));
    // One asset is deleted, one is renamed with other flags, one is new.
    let renamed = line("three").replace(";2;", ";6;").replace("three", "drei");
    let now = old
        .replace(&format!("{}\n", line("two")), "")
        .replace(&line("three"), &format!("{new}\n{renamed}"));
    let four = format!("types/Text/[{:08X}] four", id("four"));
    let changes = [
        change("types/Settings.ini", now.as_bytes()),
        change(&four, TEXT),
    ];
    let bytes = applied(&archive, &changes).unwrap();
    let after = Read::new(bytes.clone());
    assert_eq!(after.layers()[0], [id("one"), id("four"), id("three")]);
    assert_eq!(after.assets()[&id("four")], TEXT);
    assert!(after.is_in_one_piece(0));
    let three = after
        .offsets
        .assets
        .iter()
        .find(|asset| asset.id == id("three"))
        .unwrap();
    assert_eq!(three.flags, 6);
    let shown = settings(&bytes);
    assert!(shown.contains(";Text;6;0;drei;;"), "{shown}");
    // The other layer is moved, and otherwise unchanged.
    let before = Read::new(archive);
    assert_eq!(after.layers()[1], before.layers()[1]);
    assert_eq!(
        after.assets()[&id("rock.dff")],
        before.assets()[&id("rock.dff")]
    );
}

#[test]
fn settings_may_have_another_layer() {
    let archive = example();
    let old = settings(&archive);
    let layer = "LayerType=2 MODEL\nAssetAmount=0\nLHDR.LDBG=-1\nEndLayer\n\n";
    let at = old.find("LayerType").unwrap();
    let now = format!("{}{layer}{}", &old[..at], &old[at..]);
    let changes = [change("types/Settings.ini", now.as_bytes())];
    let after = Read::new(applied(&archive, &changes).unwrap());
    let before = Read::new(archive);
    assert_eq!(after.layers()[1..], before.layers());
    assert_eq!(after.assets(), before.assets());
}

#[test]
fn an_unchanged_copy_of_settings_changes_nothing() {
    let archive = example();
    let copy = [change("types/Settings.ini", settings(&archive).as_bytes())];
    assert!(applied(&archive, &copy).unwrap() == archive);
}

#[test]
fn what_an_archive_cannot_have_is_refused() {
    let archive = example();
    let folders = folders(&archive);
    let in_first = |name: &str| format!("layers/{}/{name}", folders[0]);
    let one = id("one");
    let old = settings(&archive);
    let without_plat = old.replace("PACK.PFLG=", "PACK.PFLG=1");
    let unlisted = format!("{old}Unlayered=11111111;Text;0;0;gone;;0\n");
    let refused = [
        (vec![change("info.json", b"{}")], "info.json: is generated"),
        (vec![deletion("assets.tsv")], "assets.tsv: is generated"),
        (
            vec![deletion("types/Settings.ini")],
            "types/Settings.ini: is generated",
        ),
        (vec![deletion("ids")], "ids: is generated"),
        (
            vec![change("layers/09-NEW/a.text", TEXT)],
            "layers/09-NEW: no layer of this name",
        ),
        (
            vec![change("types/toolongname/[11111111] a", TEXT)],
            "types/toolongname: is no type",
        ),
        (
            vec![change("types/Text/[11111111] a", TEXT)],
            "types/Text/[11111111] a: no layer: add a line to types/Settings.ini",
        ),
        (
            vec![change("ids/11111111", TEXT)],
            "ids/11111111: no type: add a line to types/Settings.ini",
        ),
        (
            vec![change(&in_first("a.xyz"), TEXT)],
            "a.xyz: no type: add a line",
        ),
        (
            vec![change(&in_first("a.txd"), b"x")],
            "may be of type RWTX or TEXS",
        ),
        (
            vec![change(&in_first("日.text"), TEXT)],
            "no name for a HIP archive",
        ),
        (
            vec![change(&in_first("new.text"), b"plain")],
            "is plain text",
        ),
        (
            vec![change("ids/names", TEXT)],
            "ids/names: names no asset: call it types/FOLDER/[ID] NAME",
        ),
        (
            vec![
                change(&in_first("one [11111111].text"), TEXT),
                change("ids/11111111", b"x"),
            ],
            "asset 11111111 is changed differently by",
        ),
        (
            vec![
                deletion(&format!("ids/{one:08X}")),
                change(&format!("types/Text/[{one:08X}] one"), TEXT),
            ],
            "is deleted by another name",
        ),
        (
            vec![change(&format!("layers/{}/one.text", folders[1]), TEXT)],
            "is in the archive already: delete it where it is to move it",
        ),
        (
            vec![change("types/Settings.ini", b"Game=what")],
            "types/Settings.ini: line 1: what",
        ),
        (
            vec![change("types/Settings.ini", without_plat.as_bytes())],
            "types/Settings.ini: changes more than assets and layers",
        ),
        (
            vec![change("types/Settings.ini", unlisted.as_bytes())],
            "lists asset 11111111, and types/Text has no such file",
        ),
    ];
    for (changes, expected) in refused {
        let told = applied(&archive, &changes).unwrap_err();
        assert!(told.contains(expected), "{changes:?}: {told}");
    }
}

#[test]
fn a_mount_and_a_file_have_the_same_added_and_deleted_assets() {
    let work = tempdir().unwrap();
    let original = work.path().join("a.HIP");
    fs::write(&original, example()).unwrap();
    let folder = work.path().join("changes");
    let first = &folders(&example())[0];
    write(&folder, &format!("layers/{first}/new.text"), TEXT);
    write(&folder, &format!("layers/{first}/.wh.two.text"), b"");
    let out = work.path().join("out.HIP");
    let ran = hpi_apply(&[], &folder, &original, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let mounted = open_changed(&original, &folder).unwrap();
    let image = read_at(&mounted, ".hpimount/image/a.HIP");
    assert!(image == fs::read(&out).unwrap());
    let layers = mounted.lookup(Ino::ROOT, "layers").unwrap();
    let layer = mounted.lookup(layers.ino, first).unwrap();
    assert_eq!(
        names(&mounted, layer.ino),
        ["one.text", "three.text", "new.text"]
    );
    assert_eq!(read_at(&mounted, &format!("layers/{first}/new.text")), TEXT);
}

#[test]
fn changing_all_of_very_many_assets_takes_little_time() {
    const ASSETS: u32 = 40_000;
    const LAYERS: u32 = 4;
    let mut hip = Hip::default();
    for layer in 0..LAYERS {
        hip.layer(layer);
        for number in 0..ASSETS / LAYERS {
            let name = format!("{layer} {number}");
            hip.add(Asset::new(b"MRKR", &name, &noise(number.into(), 40)));
        }
    }
    let archive = hip.build();
    let ids = Read::new(archive.clone()).ids();
    let new = |id: u32| noise(id.into(), 20 + id as usize % 40);
    let path = |id: u32| format!("ids/{id:08X}");
    let replaced = ids.iter().map(|&id| (path(id), Some(new(id))));
    let replaced: Vec<_> = replaced.collect();
    // Every second one is deleted, and layers are written again.
    let halved = ids.iter().enumerate();
    let halved = halved.map(|(at, &id)| (path(id), (at % 2 == 0).then(|| new(id))));
    let halved: Vec<_> = halved.collect();
    for changes in [replaced, halved] {
        let begun = processor_time();
        let result = applied(&archive, &changes).unwrap();
        let time = processor_time() - begun;
        let expected = ids.iter().zip(&changes);
        let expected = expected.filter_map(|(&id, (_, new))| Some((id, new.clone()?)));
        assert!(Read::new(result).assets() == expected.collect());
        assert!(time < Duration::from_secs(4), "{time:?}");
    }
}

#[test]
fn very_many_assets_are_added_to_an_archive_moved_and_deleted_by_their_layers() {
    const ASSETS: usize = 20_000;
    let mut names: Vec<String> = (0..ASSETS).map(|number| format!("old {number}")).collect();
    names.sort_by_key(|name| id(name));
    let mut hip = Hip::default();
    for (layer, names) in (0..).zip(names.chunks(ASSETS / 2)) {
        hip.layer(layer);
        for name in names {
            hip.add(Asset::new(b"MRKR", name, &noise(id(name).into(), 40)));
        }
    }
    let archive = hip.build();
    let old = Read::new(archive.clone());
    let [first, second] = [0, 1].map(|layer| folders(&archive)[layer].clone());
    let mut expected = old.assets();
    let mut changes = Vec::new();
    // New ones.
    for number in 0..ASSETS {
        let name = format!("new {number}");
        let bytes = noise(number as u64, 30);
        expected.insert(id(&name), bytes.clone());
        changes.push((format!("layers/{first}/{name}.mrkr"), Some(bytes)));
    }
    for (number, name) in names[..ASSETS / 2].iter().enumerate() {
        let path = |folder: &str| format!("layers/{folder}/{name}.mrkr");
        changes.push((path(&first), None));
        match number % 2 {
            // It moves to the other layer.
            0 => changes.push((path(&second), Some(expected[&id(name)].clone()))),
            _ => drop(expected.remove(&id(name))),
        }
    }
    let new = Read::new(applied(&archive, &changes).unwrap());
    assert!(new.assets() == expected);
    assert!(new.ids().is_sorted());
    let lengths: Vec<usize> = new.layers().iter().map(Vec::len).collect();
    assert_eq!(lengths, [20_000, 15_000]);
    assert!((0..2).all(|layer| new.is_in_one_piece(layer)));
}
