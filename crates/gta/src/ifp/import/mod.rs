//! Import of edited keys and names of animations.

use std::collections::BTreeMap;

use super::keys::{keys, object_keys};
use super::parse::{self, Animation, Ifp, Key, KeyKind, Object, Package, Version};
use hpimount_assets::view::ViewFormat;
use hpimount_assets::view::edit::{is_same, value_of_json};
use hpimount_assets::view::edited_table::{Rules, of_view};
use hpimount_assets::view::import::{Changed, Edit, Imported, NOT_THIS_FILE, Problems};
use hpimount_assets::view::node::Node;
use hpimount_assets::view::patches::Patches;
use hpimount_containers::text::windows_1252_byte;
use hpimount_record::{Field, Value};

/// Encodes the edited keys of an animation, or edited names of animations.
pub(super) fn import(
    edit: &Edit<'_>,
    format: &ViewFormat,
    folder: &str,
) -> Result<Imported, String> {
    let ifp = parse::parse(edit.asset).map_err(|incomplete| incomplete.error.to_string())?;
    let mut edited = EditedPackage {
        asset: edit.asset,
        patches: Patches::default(),
        growth: BTreeMap::new(),
        problems: Problems::default(),
    };
    let json = edit.part.name.strip_suffix(".json");
    let mut warnings = Vec::new();
    match (edit.part.folder.as_deref(), json) {
        (Some(found), Some(name)) if found == folder => {
            let number = name
                .split(' ')
                .next()
                .and_then(|number| number.parse().ok());
            let number: usize = number.ok_or(NOT_THIS_FILE)?;
            let (package, animation) = places(&ifp).nth(number).ok_or(NOT_THIS_FILE)?;
            edited.keys((number, package, animation), &value_of_json(edit.file)?);
        }
        (None, None) if edit.part.name == TABLE => {
            let found = of_view(format, edit, &RULES)?;
            for change in &found.changes {
                let place = places(&ifp).nth(change.row).ok_or(NOT_THIS_FILE)?;
                if let Err(problem) = edited.rename(place, &change.text) {
                    edited.problems.add(change.problem(problem));
                }
            }
            warnings = found.warnings;
        }
        _ => return Err(NOT_THIS_FILE.to_owned()),
    }
    let Some(asset) = edited.finish()? else {
        return Ok(Imported::Unchanged);
    };
    let read_again = parse::parse(&asset.clone().into());
    if read_again.is_ok_and(|new| new.animations().count() == ifp.animations().count()) {
        return Ok(Imported::Changed(Changed {
            asset,
            warnings,
            ..Changed::default()
        }));
    }
    Err("would not be stored as written".to_owned())
}

/// The table with the names of animations.
const TABLE: &str = "animations.tsv";

/// Rules for editing it.
const RULES: Rules<'_> = Rules {
    keys: &[&["index"]],
    name: None,
    is_editable: &|column| column == "name",
    ..Rules::FIXED_ROWS
};

/// Returns all animations with their packages.
fn places(ifp: &Ifp) -> impl Iterator<Item = (&Package, &Animation)> {
    let packages = ifp.packages.iter();
    packages.flat_map(|package| package.animations.iter().map(move |one| (package, one)))
}

/// A file during the edit of its keys and names.
struct EditedPackage<'a> {
    asset: &'a [u8],
    patches: Patches,
    /// Increments of the 32-bit numbers at these offsets.
    growth: BTreeMap<usize, i64>,
    problems: Problems,
}

/// Bytes of the tag and the length of a section.
const HEADER: usize = 8;

/// Length of a name in `ANP2` and `ANP3`.
const NAME_SIZE: usize = 24;

impl EditedPackage<'_> {
    /// Returns the edited file, or `None` if nothing changes.
    fn finish(mut self) -> Result<Option<Vec<u8>>, String> {
        std::mem::take(&mut self.problems).check()?;
        for (&offset, &growth) in self.growth.iter().filter(|(_, growth)| **growth != 0) {
            let old = self.number(offset).map(i64::from);
            let new = old.and_then(|old| u32::try_from(old + growth).ok());
            let new = new.ok_or("becomes larger than 4 GiB")?;
            self.patches.replace(offset..offset + 4, new.to_le_bytes());
        }
        if self.patches.is_empty() {
            return Ok(None);
        }
        let asset = self.patches.apply(self.asset);
        Ok(Some(asset.ok_or("has keys that are not in the file")?))
    }

    /// Returns the stored number at an offset.
    fn number(&self, offset: usize) -> Option<u32> {
        let bytes = self.asset.get(offset..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    }

    /// Adds to the number at an offset.
    fn grow(&mut self, offset: usize, by: i64) {
        *self.growth.entry(offset).or_default() += by;
    }

    /// Returns the padded length of a section's body at an offset.
    fn section(&self, offset: usize) -> usize {
        let length = self.number(offset + 4).unwrap_or_default();
        (length as usize).next_multiple_of(4)
    }

    fn rename(
        &mut self,
        (package, animation): (&Package, &Animation),
        name: &str,
    ) -> Result<(), String> {
        let letters: Option<Vec<u8>> = name.chars().map(windows_1252_byte).collect();
        let is_name = |name: &Vec<u8>| (1..NAME_SIZE).contains(&name.len()) && !name.contains(&0);
        let mut name = letters
            .filter(is_name)
            .ok_or_else(|| format!("must have 1 to {} letters", NAME_SIZE - 1))?;
        let start = animation.offset as usize;
        if package.version != Version::Anpk {
            name.resize(NAME_SIZE, 0);
            self.patches.replace(start..start + NAME_SIZE, name);
            return Ok(());
        }
        let old = self.section(start);
        let length = name.len() as u32 + 1;
        name.resize(name.len() + 1, 0);
        name.resize(name.len().next_multiple_of(4), 0);
        self.grow(package.offset as usize + 4, name.len() as i64 - old as i64);
        self.patches
            .replace(start + 4..start + HEADER, length.to_le_bytes());
        self.patches
            .replace(start + HEADER..start + HEADER + old, name);
        Ok(())
    }

    /// Changes the keys of the animation with this number.
    fn keys(
        &mut self,
        (number, package, animation): (usize, &Package, &Animation),
        edited: &Value,
    ) {
        let shown = keys(number, animation);
        let Some(objects) = self.list("", edited, &shown, "objects") else {
            return;
        };
        if objects.len() != animation.objects.len() {
            let (has, needs) = (objects.len(), animation.objects.len());
            self.problems
                .add(format!("objects: has {has}, needs {needs}"));
            return;
        }
        let mut growth = 0;
        for (index, (object, edited)) in animation.objects.iter().zip(objects).enumerate() {
            let path = format!("objects[{index}]");
            let Some(keys) = self.list(&path, edited, &object_keys(object), "keys") else {
                continue;
            };
            growth += self.object(package.version, object, &path, keys);
        }
        self.grow(package.offset as usize + 4, growth);
        let start = animation.offset as usize;
        match package.version {
            Version::Anpk => {
                let group = start + HEADER + self.section(start);
                self.grow(group + 4, growth);
            }
            Version::Anp3 => self.grow(start + NAME_SIZE + 4, growth),
            Version::Anp2 => {}
        }
    }

    /// Returns a list in a map. The other values of the map are derived.
    fn list<'v>(
        &mut self,
        path: &str,
        map: &'v Value,
        shown: &Node<'_>,
        list: &str,
    ) -> Option<&'v [Value]> {
        let place = |name: &str| match path {
            "" => name.to_owned(),
            _ => format!("{path}.{name}"),
        };
        let entries = match map {
            Value::Map(entries) => entries,
            _ => {
                self.problems.add(format!("{}: is no object", place("")));
                return None;
            }
        };
        let mut found = None;
        for (name, value) in entries {
            if *name == list {
                match value {
                    Value::List(values) => found = Some(&values[..]),
                    _ => self.problems.add(format!("{}: is no list", place(name))),
                }
                continue;
            }
            let mut known = None;
            shown.for_each(&mut |field, shown| {
                if field == Some(name) {
                    known = Some(shown.to_value());
                }
            });
            let problem = match known {
                Some(known) if is_same(&known, value) => continue,
                Some(known) => format!("is derived; was {known}"),
                None => "is not a field here".to_owned(),
            };
            self.problems.add(format!("{}: {problem}", place(name)));
        }
        found
    }

    /// Changes the keys of an object, and returns their growth in bytes.
    fn object(&mut self, version: Version, object: &Object, path: &str, edited: &[Value]) -> i64 {
        let Some(old) = &object.keys else {
            if !edited.is_empty() {
                self.problems
                    .add(format!("{path}.keys: has no keys, and none can be added"));
            }
            return 0;
        };
        let kind = old.kind();
        let mut given = Vec::with_capacity(edited.len());
        for (index, key) in edited.iter().enumerate() {
            match EditedKey::read(key, kind) {
                Ok(key) => given.push(key),
                Err(problem) => self.problems.add(format!("{path}.keys[{index}]{problem}")),
            }
        }
        if given.len() < edited.len() {
            return 0;
        }
        let shown: Vec<Key> = old.iter().collect();
        let size = kind.size();
        let mut bytes = Vec::with_capacity(given.len() * size);
        let mut before: Option<(f32, bool)> = None;
        let pairs = pairs(&shown, &given);
        for (index, (given, pair)) in given.iter().zip(pairs).enumerate() {
            let path = format!("{path}.keys[{index}]");
            let (stored, key) = match pair {
                Some(pair) => (
                    &old.bytes()[pair * size..][..size],
                    Ok(given.over(&shown[pair])),
                ),
                None => (&NEW_KEY[..size], given.whole(kind)),
            };
            let key = match key {
                Ok(key) => key,
                Err(missing) => {
                    self.problems.add(format!("{path}.{missing}: is missing"));
                    continue;
                }
            };
            let is_edited = pair.is_none_or(|pair| shown[pair].time != key.time);
            if let Some((time, was_edited)) = before
                && (is_edited || was_edited)
                && key.time <= time
            {
                self.problems
                    .add(format!("{path}.time: {} is not after {time}", key.time));
            }
            before = Some((key.time, is_edited));
            let start = bytes.len();
            bytes.extend_from_slice(stored);
            if let Err((name, value)) = kind.store(&key, &mut bytes[start..]) {
                self.problems
                    .add(format!("{path}.{name}: {value} is too large"));
            }
        }
        self.replace(version, object, old.bytes(), bytes, given.len())
    }

    /// Replaces the bytes of an object's keys.
    fn replace(
        &mut self,
        version: Version,
        object: &Object,
        old: &[u8],
        new: Vec<u8>,
        count: usize,
    ) -> i64 {
        let start = object.offset as usize;
        let added = count as i64 - object.frames() as i64;
        let growth = new.len() as i64 - old.len() as i64;
        let keys = match version {
            Version::Anpk => {
                let keys = start + HEADER + HEADER + self.section(start + HEADER) + HEADER;
                self.grow(start + 4, growth);
                self.grow(keys - 4, growth);
                let frames = start + 2 * HEADER + 28;
                self.grow(frames, added);
                // The number of the last key, after a 0.
                if object.extra.get(1).map(|&last| i64::from(last) + 1)
                    == Some(object.frames() as i64)
                {
                    self.grow(frames + 8, added);
                }
                keys
            }
            Version::Anp2 | Version::Anp3 => {
                self.grow(start + NAME_SIZE + 4, added);
                start + NAME_SIZE + 12
            }
        };
        if new != old {
            self.patches.replace(keys..keys + old.len(), new);
        }
        growth
    }
}

/// The old bytes for a new key, in the maximum length. They are NaN, which equals no
/// number, so that all numbers are stored.
const NEW_KEY: [u8; 44] = [0xFF; 44];

/// The parts of a key in an edited file.
#[derive(Debug, Default)]
struct EditedKey {
    time: Option<f32>,
    rotation: Option<[f32; 4]>,
    translation: Option<[f32; 3]>,
    scale: Option<[f32; 3]>,
}

impl EditedKey {
    fn read(key: &Value, kind: KeyKind) -> Result<Self, String> {
        fn part<F: Field + Default>(value: &Value, name: &str) -> Result<Option<F>, String> {
            let mut part = F::default();
            let set = part.set(value);
            set.map_err(|problem| format!(".{}", problem.within(name)))?;
            Ok(Some(part))
        }
        let Value::Map(entries) = key else {
            return Err(": is no key".to_owned());
        };
        let mut given = Self::default();
        for (name, value) in entries {
            match &**name {
                "time" => given.time = part(value, name)?,
                "rotation" => given.rotation = part(value, name)?,
                "translation" if kind.has_translation() => given.translation = part(value, name)?,
                "scale" if kind.has_scale() => given.scale = part(value, name)?,
                _ => return Err(format!(".{name}: keys of type {} have none", kind.name())),
            }
        }
        Ok(given)
    }

    /// Returns a key where the given parts replace its own.
    fn over(&self, key: &Key) -> Key {
        Key {
            time: self.time.unwrap_or(key.time),
            rotation: self.rotation.unwrap_or(key.rotation),
            translation: self.translation.or(key.translation),
            scale: self.scale.or(key.scale),
        }
    }

    /// Returns a new key.
    fn whole(&self, kind: KeyKind) -> Result<Key, &'static str> {
        let key = Key {
            time: self.time.ok_or("time")?,
            rotation: self.rotation.ok_or("rotation")?,
            translation: self.translation,
            scale: self.scale,
        };
        match (kind.has_translation(), kind.has_scale()) {
            (true, _) if key.translation.is_none() => Err("translation"),
            (_, true) if key.scale.is_none() => Err("scale"),
            _ => Ok(key),
        }
    }
}

/// Pairs edited keys with shown ones: equal keys from both ends, and the keys between
/// them in order.
fn pairs(shown: &[Key], given: &[EditedKey]) -> Vec<Option<usize>> {
    let is_equal = |(old, new): &(&Key, &EditedKey)| {
        let key = new.over(old);
        // Also works for NaN, which does not equal itself.
        key == **old || format!("{key:?}") == format!("{old:?}")
    };
    let first = shown.iter().zip(given).take_while(is_equal).count();
    let ends = shown[first..].iter().rev().zip(given[first..].iter().rev());
    let last = ends.take_while(is_equal).count();
    let pair = |index: usize| match index {
        index if index + last >= given.len() => Some(index + shown.len() - given.len()),
        index => (index + last < shown.len()).then_some(index),
    };
    (0..given.len()).map(pair).collect()
}

#[cfg(test)]
mod tests;
