//! Properties of all files in the formats of Total Annihilation: parsing
//! returns the written values, and other bytes are refused without a panic.

use fixtures::ta;
use fixtures::ta::gaf::Body;
use hpimount_assets::parse::pcx;
use hpimount_total_annihilation::{cob, gaf, tdf, tdo, tnt};
use proptest::collection::vec;
use proptest::prelude::*;
use testkit::fuzz;

/// Returns a name that fits into a field of 32 bytes.
fn name() -> impl Strategy<Value = String> {
    "[A-Za-z0-9_ ]{1,20}"
}

/// Pixels of a frame, `None` if it is transparent.
type Pixels = Vec<Option<u8>>;

/// Returns a frame without layers: its size and origin, its pixels, and whether
/// they are runs. The key is 9.
fn frame() -> impl Strategy<Value = (ta::gaf::Frame, Pixels)> {
    let pixel = || prop_oneof![Just(None), Just(Some(7)), any::<u8>().prop_map(Some)];
    (0..40_u16, 0..9_u16, any::<[i16; 2]>(), any::<bool>())
        .prop_flat_map(move |(width, height, origin, is_rle)| {
            let count = usize::from(width) * usize::from(height);
            let head = Just((width, height, origin, is_rle));
            (head, vec(pixel(), count))
        })
        .prop_map(|((width, height, [x, y], is_rle), mut pixels)| {
            let mut frame = if is_rle {
                ta::gaf::Frame::rle(width, height, &pixels)
            } else {
                // The key means transparency here.
                for pixel in &mut pixels {
                    *pixel = pixel.filter(|&index| index != 9);
                }
                let raw = pixels.iter().map(|pixel| pixel.unwrap_or(9));
                ta::gaf::Frame::new(width, height, Body::Raw(raw.collect()))
            };
            (frame.x, frame.y) = (x, y);
            (frame, pixels)
        })
}

/// Returns the indices and mask of pixels.
fn planes(pixels: &Pixels) -> (Vec<u8>, Vec<u8>) {
    let planes = pixels.iter().map(|pixel| match pixel {
        Some(index) => (*index, 255),
        None => (9, 0),
    });
    planes.unzip()
}

/// Draws layers into a frame a pixel at a time.
fn drawn(frame: &ta::gaf::Frame, layers: &[(ta::gaf::Frame, Pixels)]) -> Pixels {
    let (width, height) = (i32::from(frame.width), i32::from(frame.height));
    let mut pixels = vec![None; (width * height) as usize];
    for (layer, from) in layers {
        for (number, pixel) in from.iter().enumerate().filter(|(_, pixel)| pixel.is_some()) {
            let layer_width = usize::from(layer.width);
            let (column, row) = (number % layer_width, number / layer_width);
            let x = column as i32 + i32::from(frame.x) - i32::from(layer.x);
            let y = row as i32 + i32::from(frame.y) - i32::from(layer.y);
            if (0..width).contains(&x) && (0..height).contains(&y) {
                pixels[(y * width + x) as usize] = *pixel;
            }
        }
    }
    pixels
}

fn object() -> impl Strategy<Value = ta::tdo::Object> {
    let primitive = (
        any::<u32>(),
        vec(any::<u16>(), 0..6),
        proptest::option::of(name()),
        any::<u32>(),
    )
        .prop_map(|(color, indices, texture, flag)| ta::tdo::Primitive {
            color,
            indices,
            texture,
            flag,
        });
    let fields = (name(), any::<[i32; 3]>(), -1..4_i32);
    let lists = (vec(any::<[i32; 3]>(), 0..5), vec(primitive, 0..4));
    let leaf = (fields, lists).prop_map(|((name, position, selection), (vertices, primitives))| {
        ta::tdo::Object {
            name,
            position,
            selection,
            vertices,
            primitives,
            children: Vec::new(),
        }
    });
    let leaf = leaf.boxed();
    leaf.clone().prop_recursive(4, 20, 4, move |inner| {
        (leaf.clone(), vec(inner, 0..4))
            .prop_map(|(object, children)| ta::tdo::Object { children, ..object })
    })
}

/// Checks an object and its children. `next` is the index of the first one.
fn check_object(
    model: &tdo::Model,
    written: &ta::tdo::Object,
    parent: Option<usize>,
    next: &mut usize,
) {
    let index = *next;
    *next += 1;
    let object = &model.objects[index];
    assert_eq!(object.name.text(), written.name);
    assert_eq!((object.parent, object.position), (parent, written.position));
    assert_eq!(object.selection, written.selection);
    assert_eq!(object.vertices, written.vertices);
    assert_eq!(object.primitives.len(), written.primitives.len());
    for (read, written) in object.primitives.iter().zip(&written.primitives) {
        assert_eq!((read.color, read.flag), (written.color, written.flag));
        assert_eq!(read.indices, written.indices);
        let texture = read.texture.as_ref().map(|name| name.to_string());
        assert_eq!(texture, written.texture);
    }
    for child in &written.children {
        check_object(model, child, Some(index), next);
    }
}

fn map() -> impl Strategy<Value = ta::tnt::Map> {
    (1..8_u32, 1..8_u32, 0..4_usize, vec(name(), 0..4), 1..9_u32).prop_flat_map(
        |(columns, rows, tiles, features, edge)| {
            let cells = 4 * (columns * rows) as usize;
            let pixels = (edge * 2) as usize;
            (
                vec(any::<u16>(), cells / 4),
                vec(any::<(u8, u16)>(), cells),
                vec(vec(any::<u8>(), 1024), tiles),
                vec(any::<u8>(), pixels),
                any::<u32>(),
            )
                .prop_map(move |(map, cells, tiles, pixels, sea_level)| ta::tnt::Map {
                    width: 2 * columns,
                    height: 2 * rows,
                    sea_level,
                    map,
                    cells,
                    tiles,
                    features: features.clone(),
                    minimap: (edge, 2, pixels),
                })
        },
    )
}

fn script() -> impl Strategy<Value = ta::cob::Cob> {
    let instruction = prop_oneof![
        any::<u32>().prop_map(|value| vec![ta::cob::PUSH, value]),
        any::<u32>().prop_map(|piece| vec![ta::cob::HIDE, piece]),
        any::<[u32; 2]>().prop_map(|[piece, axis]| vec![ta::cob::TURN, piece, axis]),
        any::<u32>().prop_map(|word| vec![ta::cob::JUMP, word]),
        Just(vec![ta::cob::RETURN]),
        // No opcode begins with these bits.
        (0..0x0FFF_FFFF_u32).prop_map(|word| vec![word]),
    ];
    let code = vec(instruction, 0..40).prop_map(|parts| parts.concat());
    let lists = (
        vec((name(), any::<u32>()), 0..5),
        vec(name(), 0..5),
        vec(name(), 0..5),
    );
    (prop_oneof![Just(4), Just(6)], any::<u32>(), lists, code).prop_map(
        |(version, statics, (scripts, pieces, strings), code)| ta::cob::Cob {
            version,
            statics,
            scripts,
            pieces,
            strings,
            code,
        },
    )
}

fn items() -> impl Strategy<Value = Vec<ta::tdf::Item>> {
    let word = || "[A-Za-z][A-Za-z0-9_]{0,9}";
    let value = "([A-Za-z0-9_=.\\[\\]{}*]( ?[A-Za-z0-9_=.\\[\\]{}*]){0,9})?";
    let key = (word(), value).prop_map(|(name, value)| ta::tdf::Item::Key(name, value));
    let item = key.prop_recursive(5, 40, 5, move |inner| {
        (word(), vec(inner, 0..5)).prop_map(|(name, items)| ta::tdf::Item::Section(name, items))
    });
    let section = (word(), vec(item, 0..6));
    vec(
        section.prop_map(|(name, items)| ta::tdf::Item::Section(name, items)),
        0..4,
    )
}

fn read_items(section: tdf::Section<'_>) -> Vec<ta::tdf::Item> {
    let items = section.items().map(|item| match item {
        tdf::Item::Key(key) => ta::tdf::key(&key.name(), &key.value()),
        tdf::Item::Section(section) => ta::tdf::section(&section.name(), read_items(section)),
    });
    items.collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: 100,
        ..ProptestConfig::default()
    })]

    #[test]
    fn sprites_are_read_as_they_were_written(
        frames in vec((frame(), any::<u32>()), 0..5),
        name in name(),
        loop_word: u16,
    ) {
        let written = frames.iter().map(|((frame, _), ticks)| (frame.clone(), *ticks));
        let sequence = ta::gaf::Sequence { name, loop_word, frames: written.collect() };
        let bytes = ta::gaf::file(&[ta::gaf::sequence("none", vec![]), sequence.clone()]);
        let gaf = gaf::parse(&bytes.into()).unwrap();
        prop_assert!(gaf.warnings.is_empty());
        let read = &gaf.sequences[1];
        prop_assert_eq!((&read.name, read.loop_word), (&sequence.name, loop_word));
        prop_assert_eq!(read.len(), frames.len());
        for (reference, ((written, pixels), ticks)) in read.frames().zip(&frames) {
            let frame = gaf.frame(reference).unwrap();
            prop_assert_eq!(reference.ticks, *ticks);
            prop_assert_eq!((frame.width, frame.height), (written.width, written.height));
            prop_assert_eq!((frame.x, frame.y), (written.x, written.y));
            let picture = gaf.decode(&frame).unwrap();
            prop_assert!(picture.warnings.is_empty());
            let gaf::Pixels::Indexed(indexed) = picture.pixels else {
                panic!("colors");
            };
            prop_assert_eq!((indexed.indices, indexed.mask), planes(pixels));
        }
    }

    #[test]
    fn layers_are_drawn_as_if_pixel_by_pixel(
        layers in vec((frame(), -20..20_i16, -5..5_i16), 1..4),
        width in 1..30_u16,
        height in 1..9_u16,
    ) {
        let layers: Vec<_> = layers
            .into_iter()
            .map(|((layer, pixels), x, y)| (ta::gaf::Frame { x, y, ..layer }, pixels))
            .collect();
        let body = layers.iter().map(|(layer, _)| layer.clone()).collect();
        let mut frame = ta::gaf::Frame::new(width, height, Body::Layers(body));
        (frame.x, frame.y) = (3, -1);
        let expected = planes(&drawn(&frame, &layers));
        let bytes = ta::gaf::file(&[ta::gaf::sequence("layers", vec![(frame, 1)])]);
        let gaf = gaf::parse(&bytes.into()).unwrap();
        let frame = gaf.frame(gaf.sequences[0].get(0).unwrap()).unwrap();
        let gaf::Pixels::Indexed(indexed) = gaf.decode(&frame).unwrap().pixels else {
            panic!("colors");
        };
        prop_assert_eq!((indexed.indices, indexed.mask), expected);
    }

    #[test]
    fn models_are_read_as_they_were_written(root in object()) {
        let model = tdo::parse(&ta::tdo::file(&root).into()).unwrap();
        let mut next = 0;
        check_object(&model, &root, None, &mut next);
        prop_assert_eq!(model.objects.len(), next);
    }

    #[test]
    fn maps_are_read_as_they_were_written(map in map()) {
        let tnt = tnt::parse(&map.file(0x2000).into()).unwrap();
        prop_assert_eq!((tnt.width, tnt.height), (map.width, map.height));
        prop_assert_eq!(tnt.sea_level, map.sea_level);
        let words = (0..tnt.cells()).map(|cell| tnt.feature_word(cell).unwrap());
        let cells: Vec<_> = tnt.heights().zip(words).collect();
        prop_assert_eq!(cells, map.cells);
        let names: Vec<_> = tnt.features.iter().map(|feature| feature.name).collect();
        prop_assert_eq!(names, map.features);
        let minimap = tnt.minimap.unwrap();
        prop_assert_eq!((minimap.width, minimap.height), (map.minimap.0, map.minimap.1));
        prop_assert_eq!(minimap.pixels.to_vec(), map.minimap.2);
        let black = vec![0; 1024];
        for y in 0..16 * map.height {
            let mut row = Vec::new();
            tnt.terrain.row(y, 1, &mut row);
            for x in 0..16 * map.width {
                let offset = (y / 32 * (map.width / 2) + x / 32) as usize;
                let tile = map.tiles.get(usize::from(map.map[offset])).unwrap_or(&black);
                prop_assert_eq!(row[x as usize], tile[(y % 32 * 32 + x % 32) as usize]);
            }
        }
    }

    #[test]
    fn scripts_are_read_as_they_were_written(script in script()) {
        let cob = cob::parse(&script.file().into()).unwrap();
        prop_assert_eq!((cob.version, cob.statics), (script.version, script.statics));
        let pieces: Vec<_> = cob.pieces.iter().map(|name| name.to_string()).collect();
        prop_assert_eq!(pieces, script.pieces);
        let strings: Vec<_> = cob.strings.iter().map(|name| name.to_string()).collect();
        let written = if script.version == 6 { script.strings } else { vec![] };
        prop_assert_eq!(strings, written);
        let scripts = cob.scripts.iter().map(|name| name.to_string());
        let starts = (0..).map_while(|number| cob.script_start(number));
        prop_assert_eq!(scripts.zip(starts).collect::<Vec<_>>(), script.scripts);
        let mut code = Vec::new();
        for item in cob.items() {
            match item.content {
                cob::Content::Instruction(instruction) => {
                    code.push(instruction.operation.opcode);
                    code.extend(instruction.operands().map(|(_, value)| value));
                }
                cob::Content::Unknown(word) => code.push(word),
                cob::Content::Text(text) => {
                    let mut bytes = text.to_vec();
                    bytes.resize(bytes.len().next_multiple_of(4), 0);
                    code.extend(bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)));
                }
            }
        }
        prop_assert_eq!(code, script.code);
    }

    #[test]
    fn texts_are_read_as_they_were_written(items in items()) {
        let tdf = tdf::parse(&ta::tdf::file(&items).into()).unwrap();
        prop_assert_eq!(read_items(tdf.root()), items);
    }

    #[test]
    fn pictures_are_read_as_they_were_written(
        (width, height, rows) in (1..70_u16, 1..9_u16).prop_flat_map(|(width, height)| {
            let count = usize::from(width) * usize::from(height);
            (Just(width), Just(height), vec(prop_oneof![Just(7), any::<u8>()], count))
        }),
        encoding in 0..2_u8,
    ) {
        let picture = ta::pcx::Pcx { encoding, ..ta::pcx::Pcx::indexed(width, height, rows) };
        let pcx = pcx::parse(&picture.file().into()).unwrap();
        let read = pcx.decode().unwrap();
        prop_assert!(read.warnings.is_empty());
        prop_assert_eq!(read.pixels, pcx::Pixels::Indexed(picture.rows));
    }

    #[test]
    fn no_bytes_make_a_reader_panic(
        magic in prop::sample::select(vec![
            &b""[..], b"\0\x01\x01\0", b"\x01\0\0\0", b"\x04\0\0\0", b"\x06\0\0\0", b"\0\x20\0\0",
            b"\x20\x10\0\0", b"\0\x40\0\0", b"\x03\0\0\0", b"\x0a\x05\x01\x08", b"[a]{", b"RIFF",
            b"SMK2", b"\0\0\x80\x3f",
        ]),
        words in vec(prop_oneof![0..300_u32, Just(u32::MAX), any::<u32>()], 0..300),
    ) {
        let words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let bytes = [magic, &words].concat();
        for read in [
            fuzz::gaf, fuzz::tdo, fuzz::cob, fuzz::tnt, fuzz::pcx, fuzz::tdf, fuzz::ta_small,
        ] {
            read(&bytes);
        }
    }
}
