//! Seeds of the assets of Total Annihilation.

use super::{FULL, short};
use fixtures::{noise, ta};

pub fn gaf() -> Vec<Vec<u8>> {
    use ta::gaf::{Body, Frame, file, sequence};
    let pixels: Vec<_> = (0..60).map(|n| (n % 7 != 0).then_some(n / 5)).collect();
    let rle = Frame::rle(10, 6, &pixels);
    let raw = Frame::new(4, 3, Body::Raw((3..15).collect()));
    let colors = [4, 5].map(|format| {
        Frame::new(
            3,
            2,
            Body::TrueColor(format, (0..6).map(|n| n * 9999).collect()),
        )
    });
    let layers = Frame::new(9, 9, Body::Layers(vec![rle.clone(), raw.clone()]));
    let mut seeds: Vec<_> = [rle, raw, layers]
        .into_iter()
        .chain(colors)
        .map(|frame| file(&[sequence("Walk", vec![(frame, 2)])]))
        .collect();
    seeds.push(file(&[sequence("none", vec![]), sequence("none", vec![])]));
    short(seeds)
}

pub fn tdo() -> Vec<Vec<u8>> {
    let mut root = ta::tdo::object("base");
    root.vertices = vec![[65536, 0, -65536]; 5];
    root.selection = 0;
    root.primitives = vec![ta::tdo::primitive(&[0, 1, 2, 3]), ta::tdo::primitive(&[4])];
    root.primitives[1].texture = Some("Wall".to_owned());
    let plain = ta::tdo::file(&root);
    let mut arm = ta::tdo::object("arm");
    arm.children = vec![ta::tdo::object("hand"), root.clone()];
    root.children = vec![arm, ta::tdo::object("leg")];
    short(vec![plain, ta::tdo::file(&root)])
}

pub fn cob() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for version in [4, 6] {
        let mut cob = ta::cob::small(version);
        seeds.push(cob.file());
        cob.strings = vec!["BOOM".to_owned()];
        cob.code.extend(ta::cob::text("Build by somebody Ver4.0"));
        cob.scripts.push(("Fire".to_owned(), cob.code.len() as u32));
        cob.code.extend([ta::cob::PLAY_SOUND, 0, ta::cob::JUMP, 2]);
        seeds.push(cob.file());
    }
    let text = "static-var on; Go(a) { var b; while (on) { if (a == 1) { sleep a * 2; } else \
                { b = rand(1, a); call-script Go(b); } } return (0); }";
    let program = ta::bos::compile(text, &[]).unwrap();
    seeds.push(program.cob(&[]).file());
    short(seeds)
}

pub fn bos() -> Vec<Vec<u8>> {
    let texts = [
        "piece base, gun, arm; static-var s, t; Create() { ++t; hide arm; return (0); } \
         New(a, b) { while (a < b) { a = a + 1 * 2; if (!a) return; else sleep [1.5]; } }",
        "#define ON 1\n#ifdef ON\npiece base, gun;\n#endif\n#include \"sfxtype.h\"\n\
         Go() { emit-sfx SFXTYPE_WHITESMOKE from gun; L: jump L; }",
        "piece base; Create() { play-sound(\"a\", 1); get 7(1); turn gun to x-axis <-90> now; }",
    ];
    texts.map(|text| text.as_bytes().to_vec()).into()
}

pub fn tnt() -> Vec<Vec<u8>> {
    let map = ta::tnt::Map::small();
    let mut seeds = vec![map.file(0x2000), map.file(0x1020)];
    for is_wide in [false, true] {
        // Most of it is the minimap.
        let mut bytes = ta::tnt::Kingdoms::small(is_wide).file();
        bytes.truncate(FULL);
        seeds.push(bytes);
    }
    let sections = [2, 3].map(|version| {
        let mut bytes = ta::tnt::Section::small(version).file();
        bytes.truncate(2 * FULL);
        bytes
    });
    seeds.extend(sections);
    short(seeds)
}

pub fn pcx() -> Vec<Vec<u8>> {
    let plain = ta::pcx::Pcx::indexed(9, 4, (0..36).map(|n| n * 7).collect());
    let padded = ta::pcx::Pcx {
        bytes_per_line: 12,
        width: 10,
        height: 3,
        ..plain.clone()
    };
    let planes = ta::pcx::Pcx {
        planes: 3,
        width: 6,
        height: 2,
        bytes_per_line: 6,
        ..plain.clone()
    };
    let packed = ta::pcx::Pcx {
        bits: 1,
        planes: 4,
        width: 20,
        height: 3,
        bytes_per_line: 3,
        ..plain.clone()
    };
    short(
        [plain, padded, planes, packed]
            .map(|pcx| pcx.file())
            .to_vec(),
    )
}

pub fn tdf() -> Vec<Vec<u8>> {
    let texts = [
        "[UNITINFO]\r\n{\r\nName=a b; // note\r\n[WEAPON1]{range=10;}\r\n}\r\n",
        "[A]{x=1;X=2;;}[a]{x=http://y;\nz=3;}} junk [B] k=v; /* [C]{} */",
        "{[A][B]{a=1",
        "10 Menu 1 2",
    ];
    let mut seeds = texts.map(|text| text.as_bytes().to_vec()).to_vec();
    seeds.push(b"[a]{".repeat(70));
    short(seeds)
}

pub fn ta_small() -> Vec<Vec<u8>> {
    let mut font = [&[5, 0, 0, 0][..], &[4, 2].repeat(256)].concat();
    font.extend([7, 0xA5, 0x5A, 0xFF, 0x18, 0x81]);
    let mut sound = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    sound.extend(b"\x11\x2b\0\0\x11\x2b\0\0\x01\0\x08\0data\x04\0\0\0abcd");
    let scenario = [&[0, 0, 0x80, 0x3F, 0, 0, 0, 0, 1, 0, 0, 0][..], &[0; 570]].concat();
    let video = [&b"SMK2"[..], &[64, 1, 0, 0].repeat(4)].concat();
    let colors = noise(5, 1024);
    let table = vec![1; 8192];
    let picture = ta::bmp::Bmp {
        width: 5,
        height: -2,
        bits: 4,
        colors: vec![[1, 2, 3]; 16],
        rows: vec![0x12; 8],
    };
    let gimp = b"GIMP Palette\nName: x\n#\n1 2 3 one\n255 0 7\n".to_vec();
    short(vec![
        font,
        picture.file(),
        gimp,
        sound,
        scenario,
        video,
        colors,
        table,
        b"TMHF".to_vec(),
    ])
}
