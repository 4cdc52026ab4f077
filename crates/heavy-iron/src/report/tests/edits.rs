//! Tests of edited objects: every edited value changes only its own bytes.

use bytes::Bytes;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::object::view::FORMAT;
use crate::report::tests::objects::{move_point, platform};
use crate::report::tests::{floats, object, words};
use hpimount_assets::view::edit::{self, Edit, Form, Place, Problem, Rule, What};
use hpimount_assets::view::node::Node;
use hpimount_assets::view::{Alone, AssetContext, AssetKey, AssetRef, MakeShared, Shared, View};
use hpimount_containers::io::Endian;
use hpimount_containers::volume::{AssetType, Game, Platform};
use hpimount_record::Value;
use std::sync::Arc;

/// An archive with an object of this type, in this game and byte order.
pub(super) struct OfType(pub(super) [u8; 4], pub(super) Game, pub(super) Endian);

impl AssetContext for OfType {
    fn name(&self) -> &str {
        "object"
    }

    fn find(&self, _: AssetKey<'_>) -> Option<AssetRef> {
        None
    }

    fn read(&self, _: AssetRef) -> Option<Bytes> {
        None
    }

    fn shared(&self, name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        Alone.shared(name, make)
    }

    fn asset(&self) -> Option<AssetType> {
        Some(AssetType {
            code: self.0,
            id: 1,
            platform: match self.2 {
                Endian::Big => Platform::GameCube,
                Endian::Little => Platform::Xbox,
            },
            endian: self.2,
            subtype: 0,
            game: self.1,
        })
    }
}

/// Adds the stored values below a path.
pub(super) fn stored(node: &Node<'_>, path: &str, found: &mut Vec<(String, Place)>) {
    let mut index = 0;
    let inner = match node {
        Node::Ruled(_, Rule::Stored(place)) => return found.push((path.to_owned(), *place)),
        Node::Ruled(node, _) => &**node,
        node => node,
    };
    inner.for_each(&mut |name, child| {
        let path = match name {
            Some(name) if path.is_empty() => name.to_owned(),
            Some(name) => format!("{path}.{name}"),
            None => format!("{path}[{index}]"),
        };
        index += 1;
        stored(child, &path, found);
    });
}

/// Returns a value of the form.
fn value_for(form: Form, number: u32) -> Value {
    match form {
        Form::Integer { size, is_signed } => {
            let bits = 8 * size as u32;
            let number = i64::from(number) & ((1_i64 << bits) - 1);
            let half = 1_i64 << (bits - 1);
            Value::Integer(if is_signed { number - half } else { number })
        }
        Form::Float | Form::Parameter(_) => Value::text(format!("0x{number:08X}")),
        Form::Code | Form::Own { .. } => Value::text("AB12"),
        Form::Hex(size) => Value::text(format!("{:02x}", number as u8).repeat(size)),
        Form::Flag { .. } => Value::Bool(number.is_multiple_of(2)),
        Form::Named { .. } => Value::Integer(i64::from(number % 6)),
        Form::Reference(_) => Value::text(format!("{number:08X}")),
    }
}

pub(super) fn open(asset: &Bytes, archive: &OfType) -> Box<dyn View> {
    (FORMAT.open)(asset, archive).unwrap()
}

/// Applies edits to an asset.
pub(super) fn edited(asset: &Bytes, archive: &OfType, what: What) -> Result<Vec<u8>, Vec<Problem>> {
    edited_by(asset, archive, vec![what])
}

fn edited_by(asset: &Bytes, archive: &OfType, edits: Vec<What>) -> Result<Vec<u8>, Vec<Problem>> {
    let view = open(asset, archive);
    let (_, values) = view.values(archive).expect("objects have values");
    let place = "a test".to_owned();
    let edits: Vec<_> = edits
        .into_iter()
        .map(|what| Edit::new(place.clone(), what))
        .collect();
    let edited = edit::edited(&values, asset, &edits, archive)?;
    let Some(edited) = edited else {
        return Ok(asset.to_vec());
    };
    let new = Bytes::from(edited.asset.clone());
    let view = open(&new, archive);
    let (_, values) = view.values(archive).expect("objects have values");
    edited.check(&values, &new, archive)?;
    Ok(edited.asset)
}

/// Types that cover all kinds of fields, and lists.
const TYPES: [&[u8; 4]; 8] = [
    b"TIMR", b"SIMP", b"GRUP", b"COND", b"PARS", b"SURF", b"PORT", b"PKUP",
];

proptest! {
    #[test]
    fn an_edited_value_changes_its_own_bytes_and_is_shown(
        code in proptest::sample::select(&TYPES[..]),
        mut bytes in proptest::collection::vec(any::<u8>(), 40..320),
        (pick, number) in (any::<Index>(), any::<u32>()),
    ) {
        // At most two links.
        bytes[5] %= 3;
        let (asset, archive) = (Bytes::from(bytes), OfType(*code, Game::Bfbb, Endian::Big));
        let view = open(&asset, &archive);
        let (_, values) = view.values(&archive).unwrap();
        let mut all = Vec::new();
        stored(&values, "", &mut all);
        let (path, place) = pick.get(&all).clone();
        let what = What::Value(path.clone(), value_for(place.form, number));
        // A type field can select another layout that does not show the value.
        if let Ok(new) = edited(&asset, &archive, what) {
            let own = place.offset..place.offset + place.form.size();
            prop_assert_eq!(new.len(), asset.len());
            for (offset, (new, old)) in new.iter().zip(&asset).enumerate() {
                prop_assert!(new == old || own.contains(&offset), "{} at {:#x}", path, offset);
            }
        }
    }

    #[test]
    fn what_is_shown_changes_nothing(
        code in proptest::sample::select(&TYPES[..]),
        mut bytes in proptest::collection::vec(any::<u8>(), 40..320),
    ) {
        bytes[5] %= 3;
        let (asset, archive) = (Bytes::from(bytes), OfType(*code, Game::Bfbb, Endian::Big));
        let view = open(&asset, &archive);
        let (_, values) = view.values(&archive).unwrap();
        let json = serde_json::to_string(&values).unwrap();
        let shown = What::Values(edit::value_of_json(json.as_bytes()).unwrap());
        prop_assert_eq!(edited(&asset, &archive, shown), Ok(asset.to_vec()));
    }

    #[test]
    fn links_are_moved_added_and_deleted_as_in_an_edited_list(
        links in proptest::collection::vec(any::<[u8; 32]>(), 0..5),
        (order, kept) in (Just((0..5_usize).collect::<Vec<_>>()).prop_shuffle(), 0..5_usize),
        added in proptest::collection::vec((0..6_usize, any::<[u8; 32]>()), 0..4),
    ) {
        let timer = |links: &[[u8; 32]]| -> Vec<u8> {
            let head = [0, 0, 0, 1, 14, links.len() as u8, 0, 29, 64, 32, 0, 0, 62, 128, 0, 0];
            [&head, links.as_flattened()].concat()
        };
        let (asset, archive) = (Bytes::from(timer(&links)), OfType(*b"TIMR", Game::Bfbb, Endian::Big));
        let view = open(&asset, &archive);
        let (_, values) = view.values(&archive).unwrap();
        let json = serde_json::to_string(&values).unwrap();
        let shown: serde_json::Value = serde_json::from_str(&json).unwrap();
        let order = order.into_iter().filter(|&link| link < links.len()).take(kept);
        let mut new: Vec<_> =
            order.map(|link| (shown["links"][link].clone(), links[link])).collect();
        for (place, bytes) in added {
            new.insert(place.min(new.len()), (link_of(&bytes), bytes));
        }
        let (list, expected): (Vec<_>, Vec<_>) = new.into_iter().unzip();
        let json = serde_json::json!({"links": list}).to_string();
        let what = What::Values(edit::value_of_json(json.as_bytes()).unwrap());
        prop_assert_eq!(edited(&asset, &archive, what), Ok(timer(&expected)));
    }

    #[test]
    fn any_text_is_refused_or_taken(
        text in "(\\{\"(links|body|entity|header|list|rest|commands)\": )?[\\[\\]{}\":, a-z0-9.-]{0,40}",
        bytes in proptest::collection::vec(any::<u8>(), 8..100),
    ) {
        let (asset, archive) = (Bytes::from(bytes), OfType(*b"PARS", Game::Bfbb, Endian::Big));
        if let Ok(values) = edit::value_of_json(text.as_bytes()) {
            let _ = edited(&asset, &archive, What::Values(values));
        }
    }
}

/// Returns a link with these bytes as it is written into JSON.
fn link_of(bytes: &[u8; 32]) -> serde_json::Value {
    let word = |at: usize| u32::from_be_bytes(*bytes[at..].first_chunk().unwrap());
    let id = |at: usize| format!("{:08X}", word(at));
    let bits = |at: usize| format!("0x{:08X}", word(at));
    serde_json::json!({
        "event_id": word(0) >> 16,
        "send_id": word(0) & 0xFFFF,
        "target": id(4),
        "params": [bits(8), bits(12), bits(16), bits(20)],
        "param_asset": id(24),
        "check_asset": id(28),
    })
}

#[test]
fn an_id_that_no_asset_has_is_taken_with_a_warning() {
    let asset = Bytes::from(platform("lift", [8, 1], &[1; 4], &[1; 44]));
    let archive = OfType(*b"PLAT", Game::Bfbb, Endian::Big);
    let view = open(&asset, &archive);
    let (_, values) = view.values(&archive).unwrap();
    let warnings = |json: &str| {
        let what = What::Values(edit::value_of_json(json.as_bytes()).unwrap());
        let edits = [Edit::new(String::new(), what)];
        let edited = edit::edited(&values, &asset, &edits, &archive).unwrap();
        edited.unwrap().warnings
    };
    let warning = "entity.surface: no asset here has the id DEADBEEF".to_owned();
    let unknown =
        warnings(r#"{"entity": {"surface": "DEADBEEF"}, "links": [{"params": [1, 2, 3, 4]}]}"#);
    assert_eq!(unknown, [(0, warning)]);
    let new = warnings(r#"{"links": [{"event": "Run", "target": "DEADBEEF"}]}"#);
    let warning = "links[0].target: no asset here has the id DEADBEEF".to_owned();
    assert_eq!(new, [(0, warning)]);
    assert_eq!(warnings(r#"{"entity": {"flags": 0}, "links": [{}]}"#), []);
}

#[test]
fn a_number_that_is_none_keeps_its_bits_unless_others_are_given() {
    let timer = |bits: u32| object("timer", 14, &words(&[bits, 0]), &[]);
    let old = timer(0x7FC0_0001);
    let edited = |seconds: &str| {
        let json = format!("{{\"body\": {{\"seconds\": {seconds}}}}}");
        with_json(&old, b"TIMR", &json)
    };
    for (seconds, bits) in [
        ("null", 0x7FC0_0001),
        ("\"NaN\"", 0x7FC0_0000),
        ("\"0xFFC00002\"", 0xFFC0_0002),
        ("\"-Infinity\"", 0xFF80_0000),
    ] {
        assert_eq!(edited(seconds), Ok(timer(bits)), "{seconds}");
    }
}

/// Applies an edited JSON file.
fn with_json(asset: &[u8], code: &[u8; 4], json: &str) -> Result<Vec<u8>, String> {
    with_json_in(Game::Bfbb, asset, code, json)
}

/// Applies an edited JSON file of a game.
fn with_json_in(game: Game, asset: &[u8], code: &[u8; 4], json: &str) -> Result<Vec<u8>, String> {
    let what = What::Values(edit::value_of_json(json.as_bytes()).unwrap());
    let asset = Bytes::copy_from_slice(asset);
    edited(&asset, &OfType(*code, game, Endian::Big), what)
        .map_err(|problems| problems[0].text.clone())
}

/// Returns the JSON file of an object.
fn shown(asset: &[u8], code: &[u8; 4]) -> String {
    let archive = OfType(*code, Game::Bfbb, Endian::Big);
    let view = open(&Bytes::copy_from_slice(asset), &archive);
    let (_, values) = view.values(&archive).unwrap();
    serde_json::to_string(&values).unwrap()
}

#[test]
fn another_kind_of_a_part_needs_exactly_its_fields() {
    let shape = |kind, fields: &[f32]| platform("lift", [8, kind], &[1; 4], &floats(fields));
    let orbit = shape(1, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let changed = |motion: &str| with_json(&orbit, b"PLAT", &format!("{{\"motion\": {motion}}}"));
    let fields = "\"mp_flags\": 0, \"movepoint\": null, \"speed\": 2.5";
    let new = shape(3, &[0.0, 0.0, 2.5]);
    assert_eq!(
        changed(&format!("{{\"motion_type\": 3, {fields}}}")),
        Ok(new.clone())
    );
    let with_others =
        format!("{{{fields}, \"motion_type\": 3, \"use_banking\": 1, \"kind\": \"orbit\"}}");
    let [differences, banking] = [new, changed(&with_others).unwrap()];
    let other: Vec<_> = (0..banking.len())
        .filter(|&n| banking[n] != differences[n])
        .collect();
    assert_eq!(other.len(), 1);
    assert_eq!(changed("{\"motion_type\": 6}"), Ok(shape(6, &[])));
    for (motion, reason) in [
        (
            "{\"motion_type\": 3}",
            "motion.motion_type: 3 needs the fields mp_flags, movepoint, speed",
        ),
        (
            "{\"motion_type\": 3, \"mp_flags\": 0, \"movepoint\": null, \"speed\": 1, \"period\": 1}",
            "motion.motion_type: 3 needs the fields mp_flags, movepoint, speed",
        ),
        (
            "{\"motion_type\": 6, \"period\": 1}",
            "motion.motion_type: 6 needs no fields of its own",
        ),
        (
            "{\"motion_type\": 99}",
            "motion.motion_type: 99 selects no known fields",
        ),
        (
            "{\"motion_type\": 300}",
            "motion.motion_type: 300 is no number from 0 to 255",
        ),
    ] {
        assert_eq!(changed(motion), Err(reason.to_owned()), "{motion}");
    }
    let cell = What::Value("motion.motion_type".to_owned(), Value::Integer(3));
    let problems = edited(
        &orbit.clone().into(),
        &OfType(*b"PLAT", Game::Bfbb, Endian::Big),
        cell,
    )
    .unwrap_err();
    assert_eq!(
        problems[0].text,
        "selects which fields follow: edit all of them as JSON"
    );
}

#[test]
fn a_number_that_selects_an_unknown_kind_stays() {
    let unknown = platform("lift", [8, 136], &[1; 4], &[1; 44]);
    let reason = "motion.motion_type: selects fields of an unknown kind, and cannot be changed";
    let edited = with_json(&unknown, b"PLAT", r#"{"motion": {"motion_type": 6}}"#);
    assert_eq!(edited, Err(reason.to_owned()));
    let edited = with_json(
        &unknown,
        b"PLAT",
        r#"{"motion": {"motion_type": 136, "use_banking": 2}}"#,
    );
    assert!(edited.is_ok_and(|edited| edited != unknown));
}

#[test]
fn a_platform_of_any_kind_becomes_one_of_any_other_as_that_is_shown() {
    let of = |kinds| platform("lift", kinds, &[1; 56], &[1; 44]);
    let [first, last] = [of([8, 1]), of([11, 5])];
    let kinds = (0..=13).map(|number| [number, 1]);
    for kinds in kinds.chain((0..=6).map(|number| [8, number])) {
        let wanted = shown(&of(kinds), b"PLAT");
        for old in [&first, &last] {
            let new = with_json(old, b"PLAT", &wanted);
            let new = new.unwrap_or_else(|reason| panic!("{kinds:?}: {reason}"));
            assert_eq!(shown(&new, b"PLAT"), wanted, "{kinds:?}");
        }
    }
}

#[test]
fn words_for_numbers_are_no_fields_that_another_kind_needs() {
    let lift = platform("lift", [8, 1], &[1; 4], &[]);
    let stored = "\"motion_type\": 4, \"mech_type\": 1, \"mech_flags\": 0, \"slide_axis\": 2, \
        \"rotate_axis\": 0, \"slide_dist\": 1, \"slide_time\": 0, \"slide_acc\": 0, \
        \"slide_dec\": 0, \"rotate_dist\": 0, \"rotate_time\": 0, \"rotate_acc\": 0, \
        \"rotate_dec\": 0, \"ret_delay\": 0, \"post_ret_delay\": 0";
    let changed = |motion: &str| with_json(&lift, b"PLAT", &format!("{{\"motion\": {motion}}}"));
    let new = [vec![1, 0, 2, 0], floats(&[1.0])].concat();
    let new = platform("lift", [8, 4], &[1; 4], &new);
    assert_eq!(changed(&format!("{{{stored}}}")), Ok(new.clone()));
    // The word for another number is derived from this one.
    let with_word = format!("{{{stored}, \"mech_type_name\": \"Slide\"}}");
    assert_eq!(changed(&with_word), Ok(new));
    let reason = changed("{\"motion_type\": 4}").unwrap_err();
    assert!(!reason.contains("_name"), "{reason}");
}

#[test]
fn a_number_that_selects_the_fields_of_several_parts_or_of_earlier_ones_stays() {
    let platform = object("lift", 6, &[0; 4 * 18 + 4 + 36 + 4 + 44], &[]);
    let camera = object("eye", 7, &[0; 88 + 24 + 16], &[]);
    for (asset, code, field) in [
        (platform, b"PLAT", "plat_type"),
        (camera, b"CAM ", "cam_type"),
    ] {
        let json = format!("{{\"body\": {{\"{field}\": 2}}}}");
        let found = with_json_in(Game::Scooby, &asset, code, &json);
        let reason = "selects the fields of other parts, and cannot be changed here";
        assert_eq!(found, Err(format!("body.{field}: {reason}")));
    }
}

#[test]
fn numbers_that_decide_which_fields_there_are_do_not_change_alone() {
    let volume = |kind: u32| {
        object(
            "box",
            0,
            &[words(&[0, kind << 24]), vec![0; 64]].concat(),
            &[],
        )
    };
    let camera = object("eye", 7, &[vec![0; 124], vec![9; 4]].concat(), &[]);
    let scene = [words(&[0xFABD_B3B3, 0x0001_0000]), vec![0; 36]].concat();
    let scene = object("scene", 0, &scene, &[]);
    let unknown = "selects fields of an unknown kind, and cannot be changed";
    for (game, asset, code, field, reason) in [
        (
            Game::Scooby,
            volume(1),
            b"VOLU",
            "body.volume_type",
            "2 needs the fields center, max, min",
        ),
        (
            Game::Scooby,
            volume(9),
            b"VOLU",
            "body.volume_type",
            unknown,
        ),
        (Game::Scooby, camera, b"CAM ", "body.cam_type", unknown),
        (
            Game::Incredibles,
            scene.clone(),
            b"DYNA",
            "body.version",
            "selects the fields, and cannot be changed",
        ),
        (
            Game::Incredibles,
            scene,
            b"DYNA",
            "dyna.idle03_offset",
            "is an offset",
        ),
    ] {
        let (part, name) = field.split_once('.').unwrap();
        let json = format!("{{\"{part}\": {{\"{name}\": 2}}}}");
        let found = with_json_in(game, &asset, code, &json);
        assert_eq!(found, Err(format!("{field}: {reason}")));
    }
}

#[test]
fn a_number_without_a_name_is_replaced_by_a_name() {
    let condition = |op| object("test", 31, &words(&[5, 0, op, 0]), &[]);
    let json = "{\"body\": {\"op\": \">=\"}}";
    assert_eq!(with_json(&condition(77), b"COND", json), Ok(condition(3)));
}

#[test]
fn an_added_command_has_the_fields_that_those_of_its_system_have() {
    let command = |value: f32| [words(&[14, 0]), floats(&[value; 4])].concat();
    let system = |commands: &[Vec<u8>]| {
        let all = commands.concat();
        let head = words(&[0, 0, 0, 0, commands.len() as u32, all.len() as u32]);
        object("dust", 39, &[head, all].concat(), &[])
    };
    let old = system(&[command(1.0)]);
    let json = "{\"commands\": [{}, {\"type\": 14, \"factor\": [2, 2, 2, 2]}]}";
    let new = system(&[command(1.0), command(2.0)]);
    assert_eq!(with_json_in(Game::Scooby, &old, b"PARS", json), Ok(new));
}

#[test]
fn whole_numbers_of_scripts_stay_whole() {
    let script = |number| {
        let event = words(&[0, 1, 0x3F80_0000, 9, 20, number, 0x3F80_0000, 0, 0, 0]);
        object("script", 0, &event, &[])
    };
    let json = "{\"events\": [{\"param0\": 11}]}";
    let new = with_json_in(Game::Incredibles, &script(10), b"SCRP", json);
    assert_eq!(new, Ok(script(11)));
}

#[test]
fn the_first_element_of_an_empty_list_can_be_given() {
    let point = |next: &[u32]| move_point("point", [1.0, 2.0, 3.0], next);
    let json = "{\"list\": [\"0000002A\"]}";
    assert_eq!(with_json(&point(&[]), b"MVPT", json), Ok(point(&[0x2A])));
    let archive = OfType(*b"MVPT", Game::Bfbb, Endian::Big);
    let view = open(&point(&[]).into(), &archive);
    let (_, values) = view.values(&archive).unwrap();
    assert_eq!(values.to_value().get("list"), None);
}

/// Returns a move point with links.
fn point_with_links(next: &[u32], links: &[[u8; 32]]) -> Vec<u8> {
    let mut point = move_point("point", [1.0, 2.0, 3.0], next);
    point[5] = links.len() as u8;
    point.extend(links.concat());
    point
}

#[test]
fn problems_of_changed_lists_name_the_edited_elements_and_rows() {
    let point = point_with_links(&[], &[[0xE1; 32], [0xE2; 32], [0xE3; 32]]);
    let json = "{\"links\": [{\"event\": 58082}, {\"event\": \"Nothing\"}]}";
    let problem = with_json(&point, b"MVPT", json).unwrap_err();
    assert!(problem.starts_with("links[1].event: "), "{problem}");

    let added = |json: &str| {
        let value = edit::value_of_json(json.as_bytes()).unwrap();
        What::Added("links".to_owned(), value)
    };
    let good = || added("{\"event\": 58082}");
    let refused = |last: What| {
        let edits = vec![good(), good(), last];
        edited_by(
            &point.clone().into(),
            &OfType(*b"MVPT", Game::Bfbb, Endian::Big),
            edits,
        )
        .unwrap_err()
    };
    for last in [
        added("{\"event\": \"Nothing\"}"),
        What::Deleted("links".to_owned(), 3),
    ] {
        let problems = refused(last);
        assert!(
            matches!(&problems[..], [Problem { edit: 2, .. }]),
            "{problems:?}"
        );
    }
    let many = (0..253).map(|_| good()).collect();
    let problems = edited_by(
        &point.into(),
        &OfType(*b"MVPT", Game::Bfbb, Endian::Big),
        many,
    )
    .unwrap_err();
    let reason = "links: has 256 elements, at most 255 are possible";
    assert_eq!(problems, [Problem::new(252, reason.to_owned())]);
}

#[test]
fn lists_that_begin_at_one_offset_grow_and_shrink_together() {
    let link = |byte: u8| [byte; 32];
    let point = point_with_links;
    let edit = |old: &[u8], json: &str| with_json(old, b"MVPT", json);
    let new = edit(
        &point(&[], &[link(0xE1), link(0xE2)]),
        "{\"list\": [\"0000002A\", \"0000002B\", \"0000002C\"], \"links\": [{\"event\": 58082}]}",
    );
    assert_eq!(new, Ok(point(&[0x2A, 0x2B, 0x2C], &[link(0xE2)])));
    let new = edit(
        &point(&[], &[]),
        "{\"list\": [\"0000002A\"], \"links\": [{\"event\": 58082}]}",
    );
    let mut first = [0; 32];
    first[..2].copy_from_slice(&[0xE2; 2]);
    assert_eq!(new, Ok(point(&[0x2A], &[first])));
}

#[test]
fn a_command_of_another_type_is_another_command() {
    let command = |kind: u32, fields: &[f32]| [words(&[kind, 0]), floats(fields)].concat();
    let system = |commands: &[Vec<u8>]| {
        let all = commands.concat();
        let head = words(&[0, 0, 0, 0, commands.len() as u32, all.len() as u32]);
        object("dust", 39, &[head, all].concat(), &[])
    };
    let old = system(&[command(18, &[1.0]), command(33, &[2.0])]);
    let json = "{\"commands\": [{\"type\": 0, \"dir\": [1, 2, 3]}, {\"damp_speed\": 4}]}";
    let new = system(&[command(0, &[1.0, 2.0, 3.0]), command(33, &[4.0])]);
    assert_eq!(with_json(&old, b"PARS", json), Ok(new));
}
