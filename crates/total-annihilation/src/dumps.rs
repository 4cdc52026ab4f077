//! Golden tests: the generated files of small assets, compared with `dumps/`.

use std::sync::Arc;

use fixtures::ta::{self, put};
use fixtures::{dumps, noise};
use hpimount_assets::view::{AssetContext, AssetKey, AssetRef, Bytes, MakeShared, Shared};

/// A game with the asset in its root.
struct Game {
    asset: &'static str,
    files: Vec<(&'static str, Vec<u8>)>,
}

impl AssetContext for Game {
    fn name(&self) -> &str {
        self.asset
    }

    fn find(&self, key: AssetKey<'_>) -> Option<AssetRef> {
        let (AssetKey::Path(wanted) | AssetKey::Sibling(wanted)) = key else {
            return None;
        };
        let mut files = self.files.iter();
        let number = files.position(|(path, _)| *path == wanted)?;
        Some(AssetRef(number as u64))
    }

    fn find_extensions(&self, folder: &str, extensions: &[&str]) -> Vec<AssetRef> {
        let files = (0..).zip(&self.files);
        let found = files.filter(|(_, (path, _))| {
            path.starts_with(folder) && extensions.iter().any(|one| path.ends_with(one))
        });
        found.map(|(number, _)| AssetRef(number)).collect()
    }

    fn list(&self, directory: &str) -> Vec<AssetRef> {
        self.find_extensions(directory, crate::gaf::EXTENSIONS)
    }

    fn path_of(&self, file: AssetRef) -> String {
        self.files[file.0 as usize].0.to_owned()
    }

    fn read(&self, file: AssetRef) -> Option<Bytes> {
        Some(self.files[file.0 as usize].1.clone().into())
    }

    fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        Some(make(self).into())
    }
}

/// The other files of the game.
fn game() -> Vec<(&'static str, Vec<u8>)> {
    let feature = b"[Tree]{filename=trees;seqname=tree;footprintx=1;footprintz=1;}";
    let start = b"[GlobalHeader]{[Schema 0]{[specials]{[special0]\
                  {specialwhat=StartPos1;XPos=100;ZPos=120;}}}}";
    vec![
        ("objects3d/unit.3do", model()),
        ("scripts/unit.cob", ta::cob::small(4).file()),
        ("textures/wall.gaf", sprites()),
        ("anims/trees.gaf", sprites()),
        ("features/all.tdf", feature.to_vec()),
        ("map.ota", start.to_vec()),
        ("palettes/palette.pal", noise(5, 1024)),
    ]
}

fn sprites() -> Vec<u8> {
    use ta::gaf::{Body, Frame, file, sequence};
    let pixels: Vec<_> = (0..60).map(|n| (n % 7 != 0).then_some(n / 5)).collect();
    let rle = Frame::rle(10, 6, &pixels);
    let raw = Frame::new(4, 3, Body::Raw((10..22).collect()));
    let color = Frame::new(3, 2, Body::TrueColor(4, vec![0xF00F; 6]));
    let layers = Frame::new(9, 9, Body::Layers(vec![rle.clone(), raw.clone()]));
    file(&[
        sequence("walk/run", vec![(rle.clone(), 2), (raw.clone(), 3)]),
        sequence("tree", vec![(layers, 0)]),
        sequence("Wall", vec![(raw, 0), (color, 0)]),
        sequence("none", vec![]),
    ])
}

fn model() -> Vec<u8> {
    let mut root = ta::tdo::object("base");
    ta::tdo::add_box(&mut root, [0; 3], [1 << 19; 3], |side, face| match side {
        0 => face.texture = Some("Wall".to_owned()),
        1 => face.texture = Some("lost".to_owned()),
        _ => (face.color, face.flag) = (side as u32, 1),
    });
    root.selection = 5;
    let mut arm = ta::tdo::object("arm");
    arm.position = [1 << 16, 1 << 15, -3];
    arm.children = vec![ta::tdo::object("hand")];
    root.children = vec![arm];
    ta::tdo::file(&root)
}

/// Returns a map of 16 x 16 cells, which is large enough for a minimap.
fn map(version: u32) -> Vec<u8> {
    let mut cells = vec![(1, 0xFFFF); 256];
    cells[200] = (90, 0);
    let map = ta::tnt::Map {
        width: 16,
        height: 16,
        map: vec![0; 64],
        cells,
        minimap: (252, 252, vec![3; 252 * 252]),
        ..ta::tnt::Map::small()
    };
    map.file(version)
}

/// Returns the bytes with 0xFF at an offset.
fn damaged(mut bytes: Vec<u8>, at: usize, length: usize) -> Vec<u8> {
    put(&mut bytes, at, &vec![0xFF; length]);
    bytes
}

fn sound() -> Vec<u8> {
    let mut sound = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    sound.extend(b"\x11\x2b\0\0\x11\x2b\0\0\x01\0\x08\0data\x04\0\0\0abcd");
    sound
}

fn font() -> Vec<u8> {
    let mut font = [&[5, 0, 0, 0][..], &[4, 2].repeat(255), &[99, 99]].concat();
    font.extend([7, 0xA5, 0x5A, 0xFF, 0x18, 0x81]);
    font
}

fn pcx(planes: u8) -> ta::pcx::Pcx {
    let rows = (0..36).map(|n| n * 7).collect();
    ta::pcx::Pcx {
        planes,
        ..ta::pcx::Pcx::indexed(9, 4, rows)
    }
}

fn bmp() -> Vec<u8> {
    let picture = ta::bmp::Bmp {
        width: 5,
        height: -2,
        bits: 4,
        colors: vec![[1, 2, 3]; 16],
        rows: vec![0x12; 8],
    };
    picture.file()
}

fn assets() -> Vec<(&'static str, Vec<u8>)> {
    let text = b"[UNITINFO]\r\n{\r\nName=a b; // note\r\n[WEAPON1]{range=10;Range=20;}\r\n}\r\n\
                 [A]{x=1;};";
    let menu = b"2 1 \r\n2 0 0 640 480 1 1 0 0 \r\n10 BattleMenu 1 2 \r\n";
    let scenario = [&[0, 0, 0x80, 0x3F, 0, 0, 0, 0, 1, 0, 0, 0][..], &[0; 570]].concat();
    let video = [&b"SMK2"[..], &[64, 1, 0, 0].repeat(4)].concat();
    let kingdoms = ta::tnt::Kingdoms::small(false).file();
    let mut text_in_code = ta::cob::small(6);
    text_in_code.strings = vec!["BOOM".to_owned()];
    let text_at = text_in_code.code.len() as u32;
    text_in_code.scripts.push(("Fire".to_owned(), text_at));
    text_in_code
        .code
        .extend([ta::cob::PLAY_SOUND, 0, ta::cob::RETURN]);
    let compiler = ta::cob::text("Build by somebody Ver4.0");
    text_in_code.code.extend(compiler);
    vec![
        ("sprites.gaf", sprites()),
        ("damaged.gaf", damaged(sprites(), 16, 4)),
        ("nothing.gaf", damaged(sprites(), 0, 4)),
        ("unit.3do", model()),
        ("empty.3do", ta::tdo::file(&ta::tdo::object("base"))),
        ("damaged.3do", ta::bombs::cycle(true)),
        ("partly.3do", damaged(model(), 48, 4)),
        ("unit.cob", ta::cob::small(4).file()),
        ("kingdoms.cob", text_in_code.file()),
        (
            "empty.cob",
            ta::cob::Cob {
                version: 4,
                ..Default::default()
            }
            .file(),
        ),
        ("damaged.cob", damaged(ta::cob::small(4).file(), 28, 4)),
        ("nothing.cob", damaged(ta::cob::small(4).file(), 0, 4)),
        ("map.tnt", map(0x2000)),
        ("early.tnt", map(0x1020)),
        ("kingdoms.tnt", kingdoms),
        ("damaged.tnt", damaged(map(0x2000), 0x20, 4)),
        ("nothing.tnt", damaged(map(0x2000), 0, 4)),
        ("section2.sct", ta::tnt::Section::small(2).file()),
        ("section.sct", ta::tnt::Section::small(3).file()),
        (
            "damaged.sct",
            damaged(ta::tnt::Section::small(3).file(), 4, 4),
        ),
        (
            "nothing.sct",
            damaged(ta::tnt::Section::small(3).file(), 0, 4),
        ),
        ("font.fnt", font()),
        ("damaged.fnt", font()[..99].to_vec()),
        ("sound.wav", sound()),
        ("cut.wav", sound()[..46].to_vec()),
        ("unknown.wav", b"TMHFabc".to_vec()),
        ("damaged.wav", damaged(sound(), 0, 1)),
        ("scenario.crt", scenario),
        ("video.smk", video),
        ("damaged.smk", b"SMK2".to_vec()),
        ("video.bik", b"BIKi".to_vec()),
        ("unknown.zrb", b"none".to_vec()),
        ("colors.pal", noise(5, 1030)),
        ("damaged.pal", noise(5, 1000)),
        ("shades.shd", noise(6, 8192)),
        ("damaged.alp", noise(6, 8193)),
        ("picture.bmp", bmp()),
        ("damaged.bmp", bmp()[..60].to_vec()),
        ("picture.pcx", pcx(1).file()),
        ("planes.pcx", pcx(3).file()),
        ("damaged.pcx", pcx(1).file()[..20].to_vec()),
        ("text.fbi", text.to_vec()),
        ("deep.tdf", b"[a]{b=1;".repeat(65)),
        ("menu.gui", menu.to_vec()),
    ]
}

#[test]
fn the_generated_files_are_as_in_their_dumps() {
    for (asset, bytes) in assets() {
        let files = game();
        let mut formats = crate::FORMATS.iter();
        let format = formats.find(|format| format.shows(asset.as_bytes()));
        let format = format.unwrap_or_else(|| panic!("{asset} has no format"));
        let folder = env!("CARGO_MANIFEST_DIR");
        dumps::check(folder, asset, format, bytes, &Game { asset, files });
    }
}
