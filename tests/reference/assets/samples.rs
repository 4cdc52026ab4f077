//! The sample assets, and their known contents.

use std::fs;

use hpimount::formats::VIEW_FORMATS;
use hpimount_assets::view::{self, Alone, Bytes, View, ViewFormat};
use serde_json::{Value, json};

use crate::shared;
use testkit::facts::differences;
use testkit::views::rendering;

/// The folders of samples, by format.
pub(super) const FOLDERS: [&str; 4] = [
    "psx/generated",
    "hgo/generated",
    "ifp/generated",
    "ifp/real",
];

/// A sample, and the known facts about it.
pub(super) struct Sample {
    pub name: String,
    pub bytes: Bytes,
    /// Facts, or an `error`.
    pub known: Value,
}

/// Returns the samples in a folder, sorted by name; none if the folder does not
/// exist.
pub(super) fn samples(folder: &str) -> Vec<Sample> {
    let (Some(samples), Some(goldens)) = (
        shared(&format!("samples/{folder}")),
        shared(&format!("golden/{folder}")),
    ) else {
        return Vec::new();
    };
    let entries = fs::read_dir(samples).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let sample = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let known = fs::read_to_string(goldens.join(format!("{name}.json"))).unwrap();
        // Our fields are spelled as in America.
        let mut known = serde_json::from_str(&known.replace("colour", "color")).unwrap();
        adapt(&name, &mut known);
        let bytes = fs::read(path).unwrap().into();
        Sample { name, bytes, known }
    };
    paths.into_iter().map(sample).collect()
}

impl Sample {
    /// Returns whether it is damaged, so that there is an error and no facts.
    pub(super) fn is_damaged(&self) -> bool {
        self.known.get("error").is_some()
    }

    /// Returns the format of its name.
    pub(super) fn format(&self) -> &'static ViewFormat {
        let mut formats = VIEW_FORMATS.iter();
        let format = formats.find(|format| format.shows(self.name.as_bytes()));
        format.expect("a sample has the extension of its format")
    }

    /// Opens it as the mount does, by its name.
    pub(super) fn open(&self) -> Box<dyn View> {
        view::open(self.format(), &self.bytes, &Alone)
    }

    /// Opens a damaged sample, and returns the error and the known facts.
    pub(super) fn damage(&self) -> (String, Value) {
        let view = self.open();
        let error = view.failure().unwrap().to_string();
        let info = rendered(&*view, "info.json");
        (error, serde_json::from_str(&info).unwrap())
    }

    /// Returns the differences between `info.json` and the known facts, one per
    /// line. Differences in form and meaning are handled by [`adapt`].
    pub(super) fn differences(&self, info: &[u8]) -> Vec<String> {
        let mut known = self.known.clone();
        let mut ours: Value = serde_json::from_slice(info).unwrap();
        let mut found = compare_warnings(&mut known, &mut ours);
        found.extend(differences(&known, &ours));
        let named = found.iter().map(|line| format!("{}: {line}", self.name));
        named.collect()
    }
}

/// Converts known facts to the form of ours.
fn adapt(name: &str, known: &mut Value) {
    if known.is_array() {
        // The known facts of a block table are a bare list.
        *known = json!({"blocks": known.take(), "warnings": []});
    }
    if name == "anpk_zero_markers.ifp" {
        // For zeroed tags, the known offset is the end of their section's body
        // less 8; ours is the offset of the tag.
        let warnings = known["warnings"].as_array_mut().unwrap().iter_mut();
        let markers = warnings.filter(|w| w.as_str().unwrap().starts_with("marker"));
        for (warning, tag) in markers.zip(ZERO_MARKERS) {
            *warning = json!(format!("section tag at {tag:#x}"));
        }
    }
    if name.ends_with(".hgo") {
        adapt_hgo(known);
    }
    if name.ends_with(".psx") && known.get("error").is_none() {
        adapt_psx(known);
    }
    // In the known facts, each package of a list has its own warnings; ours are in one
    // list for the file.
    let packages = known.get_mut("packages").and_then(Value::as_array_mut);
    for package in packages.into_iter().flatten() {
        let warnings = package.as_object_mut().unwrap().remove("warnings");
        assert_eq!(warnings, Some(json!([])));
    }
}

/// Converts the known facts of a model to the form of records.
fn adapt_hgo(known: &mut Value) {
    let mut each = |list: &str, adapt: fn(&mut serde_json::Map<String, Value>)| {
        let items = known.get_mut(list).and_then(Value::as_array_mut);
        for item in items.into_iter().flatten() {
            adapt(item.as_object_mut().unwrap());
        }
    };
    each("materials", |material| {
        let number = material["attributes"].as_u64().unwrap();
        let mut attributes = material.remove("flags").unwrap();
        attributes["value"] = json!(format!("{number:#010x}"));
        material.insert("attributes".to_owned(), attributes);
    });
    // The names alone tell as much.
    each("texture_animations", |animation| {
        animation.remove("name_ofs");
        animation.remove("script_ofs");
    });
    each("joints", |joint| {
        if joint["parent"] == json!(-1) {
            joint["parent"] = Value::Null;
        }
    });
}

/// Converts the known facts of a PSX file to the form of tables.
fn adapt_psx(known: &mut Value) {
    add_psx_sums(known);
    let known = known.as_object_mut().unwrap();
    for absent in ["v3_has_lod", "gouraud_palette_size"] {
        known.entry(absent).or_insert(Value::Null);
    }
    for object in known["objects"].as_array_mut().unwrap() {
        // Both are one number in the known facts.
        let flags = object["flags"].as_u64().unwrap();
        object["flags"] = hex(flags & 0xFFFF, 4);
        object["inquiry"] = hex(flags >> 16, 4);
    }
    for model in known["models"].as_array_mut().unwrap() {
        model["name"] = hex(model["name"].as_u64().unwrap(), 8);
        model["radius"] = (model["radius"].as_f64().unwrap() / 4096.0).into();
        let bounds = ["min", "max"].map(|end| model["bounds"][end].take());
        let bounds = bounds.iter().flat_map(|corner| corner.as_array().unwrap());
        model["bounds"] = bounds.cloned().collect();
        let model = model.as_object_mut().unwrap();
        model.entry("lod_distance").or_insert(Value::Null);
        let next = model.entry("next_lod").or_insert(Value::Null);
        if *next == 0xFFFF {
            *next = Value::Null;
        }
    }
    for name in known["texture_names"].as_array_mut().unwrap() {
        *name = hex(name.as_u64().unwrap(), 8);
    }
    let textures = known["textures"].as_array_mut().unwrap();
    for (row, texture) in textures.iter_mut().enumerate() {
        texture["name_index"] = texture["index"].take();
        texture["index"] = row.into();
        for id in ["name", "palette"] {
            texture[id] = hex(texture[id].as_u64().unwrap(), 8);
        }
        let texture = texture.as_object_mut().unwrap();
        texture.entry("pixel_format").or_insert(Value::Null);
    }
    let chunks = known["chunks"].as_array_mut().unwrap().iter_mut();
    let items = chunks.filter_map(|chunk| chunk.get_mut("items")?.as_array_mut());
    for checksum in items.flatten().filter_map(|item| item.get_mut("checksum")) {
        *checksum = hex(checksum.as_u64().unwrap(), 8);
    }
}

/// Adds sums of the known facts of a PSX file, and replaces the two lists of its
/// palettes by one.
fn add_psx_sums(known: &mut Value) {
    for count in ["vertices", "triangles", "quads", "invisible"] {
        let models = known["models"].as_array().unwrap().iter();
        let sum: u64 = models.map(|model| model[count].as_u64().unwrap()).sum();
        known[count] = sum.into();
    }
    let chunks = known["chunks"].as_array().unwrap().iter();
    let lists = chunks.filter_map(|chunk| chunk.get("animations").or(chunk.get("sprites")));
    let animations: usize = lists.map(|list| list.as_array().unwrap().len()).sum();
    known["animations"] = animations.into();
    let mut found = 0;
    let mut palettes = Vec::new();
    for (list, colors, bits) in [("palettes_16", 16, 4), ("palettes_256", 256, 8)] {
        let ids = known.as_object_mut().unwrap().remove(list).unwrap();
        let ids = ids.as_array().unwrap();
        let textures = known["textures"].as_array_mut().unwrap().iter_mut();
        for texture in textures.filter(|texture| texture["colors"] == colors) {
            texture["bits"] = bits.into();
            texture["palette_found"] = ids.contains(&texture["palette"]).into();
        }
        for id in ids {
            let textures = known["textures"].as_array().unwrap().iter();
            let uses = textures.filter(|one| one["colors"] == colors && one["palette"] == *id);
            let uses = uses.count();
            found += uses;
            palettes.push(json!({
                "index": palettes.len(),
                "id": hex(id.as_u64().unwrap(), 8),
                "colors": colors,
                "textures": uses,
            }));
        }
    }
    let textures = known["textures"].as_array().unwrap().iter();
    let indexed = textures.filter(|texture| texture.get("bits").is_some());
    known["palettes_missing"] = (indexed.count() - found).into();
    known["palettes"] = palettes.into();
}

/// Formats a number with this many digits.
fn hex(number: u64, digits: usize) -> Value {
    json!(format!("0x{number:0digits$X}"))
}

/// Offsets of the zeroed tags in `anpk_zero_markers.ifp`.
const ZERO_MARKERS: [u64; 16] = [
    0x8, 0x30, 0x40, 0x48, 0x124, 0x12c, 0x1a4, 0x1ac, 0x240, 0x248, 0x290, 0x2a0, 0x2a8, 0x328,
    0x330, 0x3d8,
];

/// Removes the warnings from the known facts and from ours, and compares them: the
/// wording may differ, but not the number, and ours must have the known offsets.
fn compare_warnings(known: &mut Value, ours: &mut Value) -> Vec<String> {
    let take = |facts: &mut Value| -> Vec<String> {
        let warnings = facts.as_object_mut().unwrap().remove("warnings");
        serde_json::from_value(warnings.expect("there are warnings")).unwrap()
    };
    let (known, mut ours) = (take(known), take(ours));
    // The known facts are about the file, not about the exports.
    ours.retain(|text| !text.contains(" is not shown: "));
    let mut found = Vec::new();
    if known.len() != ours.len() {
        found.push(format!("warnings: {known:?} are known, ours are {ours:?}"));
    }
    for (known, ours) in known.iter().zip(&ours) {
        let named = offsets(ours);
        if !offsets(known).iter().all(|offset| named.contains(offset)) {
            found.push(format!("warnings: {known:?} is known, ours is {ours:?}"));
        }
    }
    found
}

/// Returns every hexadecimal number in a text.
pub(super) fn offsets(text: &str) -> Vec<&str> {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric());
    words.filter(|word| word.starts_with("0x")).collect()
}

/// The beginning of the error of each damaged sample. The offsets point to the
/// damage, and equal known ones.
pub(super) const DAMAGE: [(&str, &str); 18] = [
    ("bad_anim_count.ifp", "animation count at 0x20: "),
    ("bad_anpk_truncated.ifp", "frame count at 0x6c: "),
    ("bad_frame_count.ifp", "frame count at 0x64: "),
    ("bad_frame_type.ifp", "frame type at 0x60: is 9"),
    ("bad_magic.ifp", "magic at 0x0: is \"ANP4\""),
    ("bad_truncated.ifp", "object count at 0x172: "),
    ("bad_chunk_size.hgo", "block NTBL at 0x8: its size is 3"),
    ("bad_magic.hgo", "magic at 0x0: is \"FOGX\""),
    ("bad_material_count.hgo", "material count at 0x1bc: "),
    (
        "bad_texture_len.hgo",
        "texture data at 0x84: needs 268435456 bytes",
    ),
    ("bad_truncated.hgo", "mesh count at 0x6bf: "),
    (
        "bad_chunk_length.psx",
        "chunk 73424752: length at 0x25c: is ",
    ),
    (
        "bad_face_length_zero.psx",
        "model 0: face 0: length at 0x112: is 0",
    ),
    ("bad_magic.psx", "magic at 0x0: "),
    ("bad_meta_offset.psx", "meta at 0x4: points to 0xae0"),
    (
        "bad_model_pointer.psx",
        "model 0: pointer at 0x7c: points to 0xfffffff0",
    ),
    ("bad_object_count.psx", "nobj at 0x8: 2147483647 items"),
    ("bad_truncated.psx", "chunk 73424752: length at 0x25c: is "),
];

/// Returns the beginning of the error of a damaged sample.
pub(super) fn damage(name: &str) -> &'static str {
    let known = DAMAGE.iter().find(|(file, _)| *file == name);
    known.unwrap_or_else(|| panic!("{name} is new")).1
}

/// Returns the text of the file of a view with this name.
pub(super) fn rendered(view: &dyn View, name: &str) -> String {
    let files = view.files();
    let index = files.iter().position(|file| file.name == name);
    let index = index.unwrap_or_else(|| panic!("no {name} in {files:?}"));
    String::from_utf8(rendering(view, index)).unwrap()
}
