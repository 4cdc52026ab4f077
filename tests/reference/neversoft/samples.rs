//! The samples, with the results of an independent reader.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use hpimount::formats::VIEW_FORMATS;
use hpimount_assets::view::{
    AssetContext, AssetKey, AssetRef, Bytes, MakeShared, Opened, Shared, View,
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::shared;
use testkit::facts::differences;
use testkit::views::rendering;

/// A sample and its known facts.
pub(super) struct Sample {
    pub name: String,
    pub bytes: Bytes,
    /// Facts, or an `error`.
    pub known: Value,
    /// The files of its folder.
    beside: Vec<PathBuf>,
}

/// Returns the samples in a folder of the family with one of these extensions,
/// sorted by name; none without `../shared`.
pub(super) fn samples(folder: &str, extensions: &[&str]) -> Vec<Sample> {
    let (Some(samples), Some(goldens)) = (
        shared(&format!("samples/neversoft/{folder}")),
        shared(&format!("golden/neversoft/{folder}")),
    ) else {
        return Vec::new();
    };
    let entries = fs::read_dir(samples).unwrap();
    let mut beside: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    beside.sort();
    let mut paths = beside.clone();
    paths.retain(|path| {
        let extension = path.extension().unwrap_or_default();
        extensions.iter().any(|&wanted| extension == wanted)
    });
    assert!(!paths.is_empty());
    let sample = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let known = fs::read_to_string(goldens.join(format!("{name}.json"))).unwrap();
        // Our names of fields are in American spelling.
        let known = known.replace("colour", "color");
        Sample {
            name,
            bytes: fs::read(path).unwrap().into(),
            known: serde_json::from_str(&known).unwrap(),
            beside: beside.clone(),
        }
    };
    paths.into_iter().map(sample).collect()
}

impl Sample {
    /// Opens it as the mount does, by its name.
    pub(super) fn open(&self) -> Opened {
        let mut formats = VIEW_FORMATS.iter();
        let format = formats.find(|format| format.shows(self.name.as_bytes()));
        (format.expect("a known extension").open)(&self.bytes, self)
    }

    /// Returns the view of a sample that has no error; of a damaged one,
    /// asserts that the error is at the known offset.
    pub(super) fn whole(&self) -> Option<Box<dyn View>> {
        let opened = self.open();
        let Some(known) = self.known.get("error") else {
            let failed = |error| panic!("{}: {error}", self.name);
            return Some(opened.unwrap_or_else(failed));
        };
        let known = known.as_str().unwrap();
        let error = opened.err().expect(&self.name).to_string();
        let offset = known.rsplit_once(" at 0x").unwrap().1;
        let is_there = error.contains(&format!(" at 0x{offset}: "));
        assert!(is_there, "{}: {error}, known is {known}", self.name);
        None
    }

    /// Asserts that `info.json` has the known facts, and as many warnings.
    pub(super) fn assert_facts(&self, view: &dyn View) {
        let ours: Value = serde_json::from_slice(&file(view, "info.json")).unwrap();
        let mut known = self.known.clone();
        let quirks = known.as_object_mut().unwrap().remove("quirks");
        let found = differences(&known, &ours);
        assert!(found.is_empty(), "{}: {found:#?}", self.name);
        let count = |list: &Value| list.as_array().unwrap().len();
        let (quirks, warnings) = (quirks.unwrap(), &ours["warnings"]);
        let is_same = count(&quirks) == count(warnings);
        assert!(is_same, "{}: {quirks} and {warnings}", self.name);
    }
}

/// The other files of its folder.
impl AssetContext for Sample {
    fn name(&self) -> &str {
        &self.name
    }

    fn find(&self, wanted: AssetKey<'_>) -> Option<AssetRef> {
        let AssetKey::Sibling(name) = wanted else {
            return None;
        };
        let mut beside = self.beside.iter();
        let index = beside.position(|path| path.ends_with(name))?;
        Some(AssetRef(index as u64))
    }

    fn read(&self, file: AssetRef) -> Option<Bytes> {
        Some(fs::read(&self.beside[file.0 as usize]).unwrap().into())
    }

    fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        Some(make(self).into())
    }
}

/// Moves the facts about a sound from their nested object to its file or stream.
/// Returns the digest of its samples.
pub(super) fn flatten_sound(facts: &mut Map<String, Value>) -> Value {
    let Some(Value::Object(mut sound)) = facts.remove("sound") else {
        panic!("no sound in {facts:?}");
    };
    let digest = sound.remove("pcm_sha256").unwrap();
    for (name, value) in sound {
        let other = facts.insert(name, value.clone());
        assert!(other.is_none_or(|other| other == value), "{facts:?}");
    }
    digest
}

/// Returns the bytes of the file of a view with this name.
pub(super) fn file(view: &dyn View, name: &str) -> Vec<u8> {
    let index = view.position(&|file| file.name == name);
    rendering(view, index.unwrap_or_else(|| panic!("no {name}")))
}

/// Returns the bytes of all files of a view with this extension, in order.
pub(super) fn files(view: &dyn View, extension: &str) -> Vec<Vec<u8>> {
    let names = view.files().into_iter().enumerate();
    let wanted = names.filter(|(_, file)| file.name.ends_with(extension));
    wanted.map(|(index, _)| rendering(view, index)).collect()
}

/// Returns the SHA-256 of bytes in hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256 of the pixels of a PNG file: red, green, blue and alpha.
pub(super) fn pixels_sha256(png: &[u8]) -> String {
    let picture = hpimount_assets::model::png::read(png, 1 << 24).unwrap();
    sha256(picture.rgba().as_flattened())
}

/// Returns the SHA-256 of the samples of a WAV file.
pub(super) fn samples_sha256(wav: &[u8]) -> String {
    let (head, samples) = wav.split_at(44);
    let length = u32::from_le_bytes(head[40..].try_into().unwrap());
    sha256(&samples[..length as usize])
}
