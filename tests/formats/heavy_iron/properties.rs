//! Synthetic assets of Heavy Iron's games: parsing returns the written values,
//! and if Python is available, independent readers agree.

use bytes::Bytes;
use fixtures::heavy_iron as build;
use hpimount_heavy_iron::object::{self, Link};
use hpimount_heavy_iron::record::Value;
use hpimount_heavy_iron::text::credits;
use hpimount_heavy_iron::texture;
use hpimount_heavy_iron::{Facts, Game, Platform, model, tables, text};
use proptest::prelude::*;
use testkit::decoded::{first, read_sound};

fn number() -> impl Strategy<Value = f32> {
    -1000.0_f32..1000.0
}

fn link() -> impl Strategy<Value = Link> {
    let ids = (any::<u32>(), any::<u32>(), any::<u32>());
    (any::<u16>(), any::<u16>(), ids, any::<[u32; 4]>()).prop_map(
        |(source, sent, ids, parameters)| Link {
            source_event: source,
            target_event: sent,
            target: ids.0,
            parameters,
            parameter_asset: ids.1,
            check_asset: ids.2,
        },
    )
}

fn link_bytes(is_big: bool, link: &Link) -> Vec<u8> {
    let (source, sent) = (u32::from(link.source_event), u32::from(link.target_event));
    let events = if is_big {
        source << 16 | sent
    } else {
        sent << 16 | source
    };
    let [a, b, c, d] = link.parameters;
    build::words(
        is_big,
        &[
            events,
            link.target,
            a,
            b,
            c,
            d,
            link.parameter_asset,
            link.check_asset,
        ],
    )
}

fn facts(is_big: bool) -> Facts {
    let platform = if is_big {
        Platform::GameCube
    } else {
        Platform::Xbox
    };
    Facts::new(platform, Game::Bfbb)
}

/// Returns the header of an object with this base type.
fn header(is_big: bool, id: u32, base_type: u8, links: usize, flags: u16) -> Vec<u8> {
    let flags = if is_big {
        flags.to_be_bytes()
    } else {
        flags.to_le_bytes()
    };
    [
        &build::words(is_big, &[id])[..],
        &[base_type, links as u8],
        &flags,
    ]
    .concat()
}

proptest! {
    #[test]
    fn links_are_read_as_they_are_written(
        is_big: bool, id: u32, flags: u16, seconds in number(),
        links in prop::collection::vec(link(), 0..256),
    ) {
        let fields = if is_big { build::big_floats(&[seconds, 0.5]) } else { build::floats(&[seconds, 0.5]) };
        let stored = links.iter().flat_map(|link| link_bytes(is_big, link)).collect::<Vec<u8>>();
        let bytes = [header(is_big, id, 14, links.len(), flags), fields, stored].concat();
        let object = object::parse(&bytes.into(), &facts(is_big), *b"TIMR").unwrap();
        prop_assert!(object.warnings.is_empty(), "{:?}", object.warnings);
        prop_assert_eq!((object.id, object.flags), (id, flags));
        prop_assert_eq!(object.field("seconds"), Some(Value::Float(seconds)));
        prop_assert_eq!(object.links, links);
    }

    #[test]
    fn groups_are_read_as_they_are_written(is_big: bool, ids in prop::collection::vec(any::<u32>(), 0..500)) {
        let count = ids.len() as u32;
        let head = if is_big { count << 16 } else { count };
        let bytes = [header(is_big, 1, 17, 0, 0), build::words(is_big, &[head]), build::words(is_big, &ids)];
        let object = object::parse(&bytes.concat().into(), &facts(is_big), *b"GRUP").unwrap();
        prop_assert!(object.warnings.is_empty(), "{:?}", object.warnings);
        let found: Vec<_> = object.list.iter().map(|row| row.number("id").unwrap()).collect();
        prop_assert_eq!(found, ids);
    }

    #[test]
    fn lists_are_read_as_they_are_written(is_big: bool, rows in prop::collection::vec(any::<[u32; 3]>(), 0..300)) {
        let bytes = [build::words(is_big, &[rows.len() as u32]), build::words(is_big, rows.as_flattened())];
        let list = tables::parse_list(&bytes.concat().into(), &facts(is_big), *b"COLL").unwrap();
        prop_assert!(list.warnings.is_empty(), "{:?}", list.warnings);
        let names = ["model", "collision", "camera_collision"];
        let found: Vec<_> = list.rows.iter().map(|row| names.map(|name| row.number(name).unwrap())).collect();
        prop_assert_eq!(found, rows);
    }

    #[test]
    fn texts_are_read_as_they_are_written(is_big: bool, written in "[ -~]{0,300}") {
        let mut bytes = build::words(is_big, &[written.len() as u32]);
        bytes.extend(written.as_bytes());
        bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
        let found = text::parse(&bytes.into(), &facts(is_big)).unwrap();
        prop_assert!(found.warnings.is_empty(), "{:?}", found.warnings);
        prop_assert_eq!(found.text, written);
    }

    #[test]
    fn models_are_read_as_they_are_written(
        vertices in prop::collection::vec((prop::array::uniform3(number()), prop::array::uniform2(number())), 3..80),
        corners in prop::collection::vec(any::<[prop::sample::Index; 3]>(), 0..80),
    ) {
        let (positions, uvs): (Vec<_>, Vec<_>) = vertices.into_iter().unzip();
        let index = |at: prop::sample::Index| at.index(positions.len()) as u16;
        let triangles: Vec<[u16; 3]> = corners.into_iter().map(|corners| corners.map(index)).collect();
        let model = model::parse(&build::plain_model(&positions, &uvs, &triangles).into()).unwrap();
        prop_assert!(model.warnings.is_empty(), "{:?}", model.warnings);
        let clump = &model.clumps[0];
        prop_assert_eq!(clump.placements()[0].placed([0.0; 3]), [5.0, 6.0, 7.0]);
        let texture = clump.geometries[0].materials[0].texture.as_ref().unwrap();
        prop_assert_eq!(&*texture.name, "wood");
        let mesh = clump.geometries[0].mesh().unwrap();
        let position = |corner: &u16| positions[usize::from(*corner)];
        let has_area = |[a, b, c]: &&[u16; 3]| {
            let [a, b, c] = [position(a), position(b), position(c)];
            a != b && b != c && a != c
        };
        let expected: Vec<_> = triangles.iter().filter(has_area).map(|t| t.map(u32::from)).collect();
        let found: Vec<_> = mesh.parts.into_iter().flat_map(|part| part.triangles).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!((mesh.positions, mesh.uvs), (positions, vec![uvs]));
    }

    #[test]
    fn plain_samples_are_read_as_they_are_written(samples in prop::collection::vec(any::<i16>(), 1..500)) {
        let data: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        let table = build::xbox_table(1, 1, 1, 22_050, data.len() as u32);
        prop_assert_eq!(read_sound(Platform::Xbox, table, data).pcm(), samples);
    }

    #[test]
    fn levels_are_found_consecutively(log_width in 0..7_u32, log_height in 0..7_u32, count in 1..8_u8) {
        let (width, height) = (1_u16 << log_width, 1_u16 << log_height);
        let count = count.min(log_width.max(log_height) as u8 + 1);
        let sizes = (0..count).map(|n| usize::from((width >> n).max(1)) * usize::from((height >> n).max(1)));
        // Every pixel of level n is n.
        let pixels: Vec<u8> = sizes.enumerate().flat_map(|(n, size)| vec![n as u8; 4 * size]).collect();
        let texture = first(build::xbox(0x500, 0, [width, height], &[], &pixels, count));
        prop_assert_eq!(texture.levels.len(), usize::from(count));
        for number in 0..count {
            let found = texture.rgba(number.into()).unwrap();
            prop_assert!(found.iter().all(|pixel| *pixel == [number; 4]));
        }
    }
}

#[test]
fn pictures_that_are_large_only_by_their_headers_are_refused() {
    let refused = |bytes: Vec<u8>| texture::parse(&bytes.into()).unwrap_err().error.to_string();
    let error = refused(build::gamecube(14, 255, [4096, 4096], &[], &[0; 64], 1));
    assert!(
        error.contains("level 0") && error.contains("needs 8388608 bytes"),
        "{error}"
    );
    let error = refused(build::xbox(0x500, 0, [u16::MAX, 1], &[], &[0; 64], 1));
    assert!(error.contains("65535 by 1 pixels"), "{error}");
    let error = refused(build::playstation2(8, 2, 4096, &[0; 64], &[]));
    assert!(error.contains("level 0"), "{error}");
}

#[test]
fn an_index_above_the_palette_is_transparent_with_a_warning() {
    let levels = [200; 16];
    let bytes: Bytes = build::xbox(0x4500, 0, [4, 4], &[9; 128], &levels, 1).into();
    let model = texture::parse(&bytes).unwrap();
    assert_eq!(model.warnings.len(), 1);
    assert_eq!(model.textures[0].rgba(0).unwrap()[0], [0; 4]);
}

#[test]
fn display_lists_are_read_with_and_without_matrices() {
    for has_matrices in [false, true] {
        let model = model::parse(&build::gamecube_model(has_matrices).into()).unwrap();
        assert!(model.warnings.is_empty(), "{:?}", model.warnings);
        let mesh = model.clumps[0].geometries[0].mesh().unwrap();
        assert_eq!(mesh.parts[0].triangles, [[0, 1, 2], [2, 1, 3]]);
        assert_eq!(mesh.positions[3], [1.0, 1.0, 0.0]);
        assert_eq!(mesh.uvs, [[[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]]);
        let expected: &[u8] = if has_matrices { &[0, 3, 6, 9] } else { &[] };
        assert_eq!(mesh.matrices, expected);
    }
}

#[test]
fn level_info_and_credits_are_read_as_they_are_written() {
    let info = model::parse_jsp_info(&build::level_info().into(), &facts(true)).unwrap();
    assert!(info.warnings.is_empty(), "{:?}", info.warnings);
    let node = info.nodes.get(0).unwrap();
    let fields: Vec<_> = node.fields().map(|(_, value)| value).collect();
    assert_eq!(fields, [Value::Signed(5), Value::Signed(6)]);
    assert_eq!(
        (info.vectors.len(), info.collision.unwrap().triangles.len()),
        (1, 1)
    );
    let credits = credits::parse(&build::credits().into(), &facts(true)).unwrap();
    assert!(credits.warnings.is_empty(), "{:?}", credits.warnings);
    let texts: Vec<_> = credits.sections[0].lines[0].shown().collect();
    assert_eq!(texts, ["text"]);
}
