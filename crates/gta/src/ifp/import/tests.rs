use super::super::view::FORMAT;
use super::*;
use fixtures::ifp::{self as build, Tail, floats, shorts};
use hpimount_assets::view::import::edited;
use hpimount_assets::view::rendered_text;
use proptest::prelude::*;
use proptest::sample::Index;

const WALK: &str = "animations/000 walk.json";

fn with(asset: &[u8], file: &str, edits: &[(&str, &str)]) -> Result<Vec<u8>, String> {
    let text = rendered_text(&FORMAT, asset, file).unwrap();
    let text = edits.iter().fold(text, |text, (old, new)| {
        assert!(text.contains(old), "{old:?} is not in {text}");
        text.replacen(old, new, 1)
    });
    match edited(&FORMAT, asset, file, text.as_bytes())? {
        Imported::Unchanged => Ok(asset.to_vec()),
        Imported::Changed(changed) => Ok(changed.asset),
    }
}

const ONE: [f32; 8] = [-0.0, 0.0, -0.5, 1.0, 1.0, 2.0, 3.0, 0.5];
const TWO: [f32; 8] = [-0.0, -0.0, -0.0, 1.0, 1.0, 2.0, 3.0, 1.5];

/// Returns a package of two animations; the first has these keys.
fn anpk(name: &str, keys: &[[f32; 8]]) -> Vec<u8> {
    let keys = floats(keys.as_flattened());
    let root = build::anpk_object("Root", Tail::Bone(0), Some((b"KRT0", &keys)));
    let other = build::anpk_object("Arm", Tail::Siblings(1, -1), None);
    build::anpk("ped", &[(name, &[root.clone(), other]), ("run", &[root])])
}

/// Returns a package of one animation with these keys of 16-bit numbers.
fn anp(is_anp3: bool, keys: &[[i16; 8]]) -> Vec<u8> {
    let root = build::anp_object("Root", 4, 0, &shorts(keys.as_flattened()));
    let arm = build::anp_object("Arm", 3, 1, &shorts(&[0, 0, 0, 4096, 0]));
    build::anp(is_anp3, "ped", &[("walk", vec![root, arm])])
}

proptest! {
    #[test]
    fn an_edited_translation_of_a_key_is_all_that_changes(
        places in proptest::collection::vec(proptest::array::uniform3(-100_i8..100), 1..8),
        (key, axis, new) in (any::<Index>(), 0..3_usize, -1e6_f32..1e6),
    ) {
        let keys = places.iter().zip(0_i16..).map(|(&[x, y, z], number)| {
            let time = f32::from(number) / 2.0;
            [-0.0, -0.0, -0.0, 1.0, x.into(), y.into(), z.into(), time]
        });
        let mut keys: Vec<[f32; 8]> = keys.collect();
        let bytes = anpk("walk", &keys);
        let mut expected = bytes.clone();
        let old = floats(keys.as_flattened());
        let key = key.index(keys.len());
        keys[key][4 + axis] = new;
        let [.., x, y, z, time] = keys[key];
        let text = rendered_text(&FORMAT, &bytes, WALK).unwrap();
        let line = text.lines().find(|line| line.contains(&format!("\"time\": {time:?},")));
        let line = line.unwrap();
        let start = line.find("\"translation\"").unwrap();
        let end = line.rfind('}').unwrap();
        let translation = format!("\"translation\": [{x}, {y}, {z}]");
        let new = [&line[..start], &translation, &line[end..]].concat();
        let changed = with(&bytes, WALK, &[(line, &new)]).map_err(TestCaseError::fail)?;
        // The other animation has the same keys, and keeps them.
        let place = bytes.windows(old.len()).position(|part| part == old).unwrap();
        expected[place..][..old.len()].copy_from_slice(&floats(keys.as_flattened()));
        prop_assert_eq!(changed, expected);
    }
}

#[test]
fn only_the_edited_numbers_of_keys_change() {
    let bytes = anpk("walk", &[ONE, TWO]);
    assert_eq!(with(&bytes, WALK, &[]).unwrap(), bytes);
    let edits = [("0.5, 1.0]", "0.25, 1.0]"), ("2.0", "-2")];
    let mut one = ONE;
    (one[2], one[5]) = (-0.25, -2.0);
    // The other animation has the same keys, and keeps them.
    let changed = with(&bytes, WALK, &edits).unwrap();
    let place = bytes
        .windows(64)
        .position(|keys| keys == floats([ONE, TWO].as_flattened()));
    let mut expected = bytes.clone();
    expected[place.unwrap()..][..32].copy_from_slice(&floats(&one));
    assert_eq!(changed, expected);
    let short = anp(true, &[[0, 0, 0, 4096, 0, 1024, 0, 0]]);
    let changed = with(&short, WALK, &[("1.0]", "0.30002]"), ("[1.0", "[0.5")]).unwrap();
    assert_eq!(changed, anp(true, &[[0, 0, 0, 1229, 0, 512, 0, 0]]));
}

#[test]
fn a_derived_number_may_be_written_otherwise() {
    let bytes = anpk("walk", &[ONE, TWO]);
    let edits = [("\"index\": 0", "\"index\": 0.0")];
    assert_eq!(with(&bytes, WALK, &edits).unwrap(), bytes);
}

#[test]
fn counts_and_sizes_follow_added_and_deleted_keys() {
    let two = anpk("walk", &[ONE, TWO]);
    let key =
        "{\"time\": 1.5, \"rotation\": [0.0, 0.0, 0.0, 1.0], \"translation\": [1.0, 2.0, 3.0]}";
    let text = rendered_text(&FORMAT, &two, WALK).unwrap();
    let shown = text
        .lines()
        .find(|line| line.contains("\"time\": 1.5"))
        .unwrap();
    let deleted = with(&two, WALK, &[(&format!(",\n{shown}"), "")]).unwrap();
    let ifp = parse::parse(&deleted.clone().into()).unwrap();
    assert!(ifp.warnings.is_empty(), "{:?}", ifp.warnings.texts());
    let walk = ifp.animations().next().unwrap();
    assert_eq!(
        (
            walk.frames(),
            walk.end_mismatch,
            walk.objects[0].end_mismatch
        ),
        (1, None, None)
    );
    assert_eq!(walk.objects[0].extra[1], 0);
    assert_eq!(ifp.animations().nth(1).unwrap().frames(), 2);
    let text = rendered_text(&FORMAT, &deleted, WALK).unwrap();
    let first = text.lines().find(|line| line.contains("\"time\"")).unwrap();
    let again = with(&deleted, WALK, &[(first, &format!("{first},{key}"))]).unwrap();
    assert_eq!(again, two);
    for is_anp3 in [true, false] {
        let keys = [[0, 0, 0, 4096, 6, 1024, 0, 0], [0, 0, 0, 4096, 12, 0, 0, 0]];
        let bytes = anp(is_anp3, &keys);
        let text = rendered_text(&FORMAT, &bytes, WALK).unwrap();
        let shown = text
            .lines()
            .find(|line| line.contains("\"time\": 0.2"))
            .unwrap();
        let deleted = with(&bytes, WALK, &[(&format!(",\n{shown}"), "")]).unwrap();
        assert_eq!(deleted, anp(is_anp3, &keys[..1]));
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_path() {
    let bytes = anpk("walk", &[ONE, TWO]);
    let refused = |edits: &[(&str, &str)]| with(&bytes, WALK, edits).unwrap_err();
    assert_eq!(
        refused(&[("\"time\": 1.5", "\"time\": 0.25")]),
        "objects[0].keys[1].time: 0.25 is not after 0.5"
    );
    assert_eq!(
        refused(&[("[1.0, 2.0, 3.0]", "[1.0, 2.0]"), ("Arm", "Leg")]),
        "objects[0].keys[0].translation: \"[1.0,2.0]\" is not a list of 3; \
         objects[1].name: is derived; was Arm"
    );
    assert_eq!(
        refused(&[
            ("\"bone_id\": 0", "\"bone_id\": 5"),
            ("\"index\": 0", "\"index\": 1")
        ]),
        "index: is derived; was 0; objects[0].bone_id: is derived; was 0"
    );
    assert_eq!(
        refused(&[
            ("\"type\": \"KRT0\"", "\"type\": \"KRTS\""),
            ("index", "number")
        ]),
        "number: is not a field here; objects[0].type: is derived; was KRT0"
    );
    assert_eq!(
        refused(&[("\"time\": 0.5", "\"scale\": 1")]),
        "objects[0].keys[0].scale: keys of type KRT0 have none"
    );
    let key = "\"keys\": [{\"time\": 0},";
    let text = rendered_text(&FORMAT, &bytes, WALK).unwrap();
    let added = text.replacen("\"keys\": [", key, 1);
    assert_eq!(
        edited(&FORMAT, &bytes, WALK, added.as_bytes()).unwrap_err(),
        "objects[0].keys[0].rotation: is missing"
    );
    assert!(
        edited(&FORMAT, &bytes, WALK, b"{\n x")
            .unwrap_err()
            .starts_with("2:2: is no JSON")
    );
    let short = anp(true, &[[0, 0, 0, 4096, 0, 1024, 0, 0]]);
    assert_eq!(
        with(&short, WALK, &[("[1.0", "[40.0")]).unwrap_err(),
        "objects[0].keys[0].translation: 40 is too large"
    );
    for part in [
        "animations/000 walk.ifp",
        "animations/007 x.json",
        "bones.tsv",
    ] {
        assert_eq!(
            edited(&FORMAT, &bytes, part, b"{}"),
            Err(NOT_THIS_FILE.to_owned())
        );
    }
}

#[test]
fn names_of_animations_change_with_the_lengths_of_their_sections() {
    let bytes = anpk("walk", &[ONE]);
    let changed = with(&bytes, TABLE, &[("0\twalk", "0\twalk_slowly")]).unwrap();
    assert_eq!(changed, anpk("walk_slowly", &[ONE]));
    assert_eq!(
        with(
            &bytes,
            TABLE,
            &[("0\twalk", "0\ta_name_of_25_letters_____")]
        )
        .unwrap_err(),
        "line 2, column name (0): must have 1 to 23 letters"
    );
    let changed = with(&anp(true, &[]), TABLE, &[("walk", "fly")]).unwrap();
    let ifp = parse::parse(&changed.into()).unwrap();
    assert_eq!(ifp.animations().next().unwrap().name, "fly");
}
