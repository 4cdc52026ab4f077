//! The references of every unit, and whether they exist: model, script and pictures,
//! and through these textures, weapons, sounds, wrecks and sequences of sprites.

use std::collections::{HashMap, HashSet};
use std::io;
use std::rc::Rc;

use super::library::{Definition, Library};
use super::place::{Origin, Place};
use crate::tdf::Section;
use crate::tdo::export::drawn_textures;
use crate::tdo::textures::Textures;
use crate::{gaf, tdo};
use hpimount_assets::view::report::{self, VisitReference};
use hpimount_assets::view::{AssetContext, AssetKey, AssetRef, TableSink};
use hpimount_containers::text::{has_extension, stem};

/// Maximum number of references of a unit, ten times as many as the largest real unit
/// has.
const MAX_OF_UNIT: usize = 4096;

/// Maximum number of references of all units.
const MAX_REFERENCES: usize = 1 << 20;

/// Keys of weapons with the names of sounds.
const WEAPON_SOUNDS: [&str; 4] = ["soundstart", "soundhit", "soundwater", "soundtrigger"];

/// Keys of weapons with the names of a sprite file and of a sequence in it.
const WEAPON_SEQUENCES: [[&str; 2]; 3] = [
    ["explosiongaf", "explosionart"],
    ["waterexplosiongaf", "waterexplosionart"],
    ["lavaexplosiongaf", "lavaexplosionart"],
];

/// Keys of features with the names of sequences in their sprite file.
const FEATURE_SEQUENCES: [&str; 8] = [
    "seqname",
    "seqnameshad",
    "seqnameburn",
    "seqnameburnshad",
    "seqnamedie",
    "seqnamedieshad",
    "seqnamereclamate",
    "seqnamereclamateshad",
];

/// Keys of features with the names of their successors.
const NEXT_FEATURES: [&str; 3] = ["FeatureDead", "FeatureReclamate", "FeatureBurnt"];

/// Maximum number of weapons in the file of a Kingdoms unit.
const OWN_WEAPONS: usize = 8;

/// The directory for units in Kingdoms, which Total Annihilation lacks.
pub(super) const KINGDOMS: &str = "unitscb/";

/// A direct or indirect reference of a unit.
pub(super) struct Reference<'n> {
    pub(super) kind: &'static str,
    /// Path from the root of the game, or the name of a section or sequence.
    pub(super) name: &'n str,
    /// The file that it was found in.
    pub(super) found: Option<AssetRef>,
    /// The origin.
    pub(super) from: Origin,
}

/// A function that is called with each reference.
type Visit<'v> = &'v mut dyn FnMut(Reference<'_>) -> io::Result<()>;

/// The references of all units of a game.
pub(super) struct References<'a> {
    context: &'a dyn AssetContext,
    library: &'a Library,
    textures: Textures<'a>,
    /// The textures of models that were read.
    of_models: HashMap<AssetRef, Rc<[String]>>,
    /// The sequences of known sprite files, in lower case.
    of_sprites: HashMap<AssetRef, Rc<HashSet<String>>>,
    left: usize,
}

impl<'a> References<'a> {
    pub(super) fn new(context: &'a dyn AssetContext, library: &'a Library) -> Self {
        Self {
            context,
            library,
            textures: Textures::new(context),
            of_models: HashMap::new(),
            of_sprites: HashMap::new(),
            left: MAX_REFERENCES,
        }
    }

    /// Visits the references of a unit without duplicates.
    pub(super) fn of_unit(&mut self, unit: &Definition, visit: Visit<'_>) -> io::Result<()> {
        let mut walk = Walk {
            seen: HashSet::new(),
            from: self.library.origin(unit.place),
            all: self,
            visit,
            result: Ok(()),
        };
        walk.unit(unit);
        walk.result
    }

    fn textures_of(&mut self, model: AssetRef) -> Rc<[String]> {
        if let Some(known) = self.of_models.get(&model) {
            return known.clone();
        }
        let bytes = self.context.read(model);
        let parsed = bytes.map(|bytes| tdo::parse(&bytes).unwrap_or_else(|lost| lost.model));
        let names = parsed.iter().flat_map(drawn_textures);
        let names: Rc<[String]> = names.map(|(name, _)| name).collect();
        self.of_models.insert(model, names.clone());
        names
    }

    fn sequences_of(&mut self, sprites: AssetRef) -> Rc<HashSet<String>> {
        if let Some(known) = self.of_sprites.get(&sprites) {
            return known.clone();
        }
        let bytes = self.context.read(sprites);
        let parsed = bytes.map(|bytes| gaf::parse(&bytes).unwrap_or_else(|lost| lost.model));
        let sequences = parsed.iter().flat_map(|gaf| &gaf.sequences);
        let names = sequences.map(|sequence| sequence.name.to_ascii_lowercase());
        let names: Rc<HashSet<String>> = Rc::new(names.collect());
        self.of_sprites.insert(sprites, names.clone());
        names
    }
}

/// The references of one unit.
struct Walk<'w, 'a, 'v> {
    all: &'w mut References<'a>,
    visit: Visit<'v>,
    /// The known references: kinds, and names in lower case.
    seen: HashSet<(&'static str, String)>,
    /// The origin of the next references.
    from: Origin,
    result: io::Result<()>,
}

impl Walk<'_, '_, '_> {
    fn unit(&mut self, unit: &Definition) {
        let library = self.all.library;
        let section = library.section(unit.place);
        let path = self
            .all
            .context
            .path_of(self.from.file)
            .to_ascii_lowercase();
        let is_kingdoms = path.contains(KINGDOMS);
        self.add("unit", &unit.name, Some(self.from.file));
        let object = value(section, "Objectname").unwrap_or_else(|| unit.name.clone());
        self.model(&object);
        self.file("script", &[format!("scripts/{object}.cob")]);
        let menu = library.menu.iter();
        let mut menu = menu.filter(|entry| entry.unit.eq_ignore_ascii_case(&unit.name));
        if !is_kingdoms {
            let pictures = ["pcx", "bmp"];
            let pictures = pictures.map(|one| format!("unitpics/{}.{one}", unit.name));
            self.file("unit picture", &pictures);
            if menu.clone().next().is_some() {
                let picture = format!("anims/{}_gadget.gaf", unit.name);
                self.file("build picture", &[picture]);
            }
        }
        self.sounds(section);
        if let Some(class) = value(section, "MovementClass") {
            let found = library.movement.find(&class);
            self.add(
                "movement class",
                &class,
                found.map(|one| library.file(one.place)),
            );
        }
        for key in [
            "Weapon1",
            "Weapon2",
            "Weapon3",
            "ExplodeAs",
            "SelfDestructAs",
        ] {
            if let Some(weapon) = value(section, key) {
                self.weapon(&weapon);
            }
        }
        for number in 1..=OWN_WEAPONS {
            let name = format!("{}.WEAPON{number}", unit.name);
            if library.weapons.find(&name).is_some() {
                self.weapon(&name);
            }
        }
        if let Some(corpse) = value(section, "Corpse") {
            self.feature("corpse", &corpse);
        }
        for entry in menu.by_ref() {
            self.from = library.origin(entry.place);
            self.add("menu", &entry.builder, Some(self.from.file));
            let builder = library.units.find(&entry.builder);
            let found = builder.map(|builder| library.file(builder.place));
            self.add("builder", &entry.builder, found);
        }
    }

    /// Visits a reference, unless it was visited before. Returns true if it is new.
    fn add(&mut self, kind: &'static str, name: &str, found: Option<AssetRef>) -> bool {
        let is_full = self.seen.len() >= MAX_OF_UNIT || self.all.left == 0;
        if is_full || self.result.is_err() || !self.seen.insert((kind, name.to_ascii_lowercase())) {
            return false;
        }
        self.all.left -= 1;
        self.result = (self.visit)(Reference {
            kind,
            name,
            found,
            from: self.from,
        });
        self.result.is_ok()
    }

    /// Visits a file at the first existing path.
    fn file(&mut self, kind: &'static str, paths: &[String]) -> Option<AssetRef> {
        let find = |path: &String| self.all.context.find(AssetKey::Path(path));
        let at = paths.iter().position(|path| find(path).is_some());
        let path = paths.get(at.unwrap_or(0))?;
        let file = find(path);
        self.add(kind, path, file).then_some(file).flatten()
    }

    fn model(&mut self, name: &str) {
        let Some(model) = self.file("model", &[tdo::path_of(name)]) else {
            return;
        };
        let textures = self.all.textures_of(model);
        let origin = Origin {
            file: model,
            place: None,
        };
        self.within(origin, |walk| {
            for texture in textures.iter() {
                let found = walk.all.textures.find(texture);
                walk.add("texture", texture, found.map(|found| found.texture_file));
            }
        });
    }

    fn sounds(&mut self, unit: Section<'_>) {
        let library = self.all.library;
        let Some(category) = value(unit, "SoundCategory") else {
            return;
        };
        let found = library.sounds.find(&category);
        let file = found.map(|found| library.file(found.place));
        self.add("sound category", &category, file);
        if let Some(found) = found {
            self.within(library.origin(found.place), |walk| {
                for key in library.section(found.place).keys() {
                    walk.sound(&key.value());
                }
            });
        }
    }

    fn sound(&mut self, name: &str) {
        // Some names have an extension; numbers are volumes.
        let name = match has_extension(name.as_bytes(), "wav") {
            true => stem(name),
            false => name,
        };
        if !name.is_empty() && name.parse::<f64>().is_err() {
            self.file("sound", &[format!("sounds/{name}.wav")]);
        }
    }

    fn weapon(&mut self, name: &str) {
        let library = self.all.library;
        let Some(place) = self.definition("weapon", name, library.weapons.find(name)) else {
            return;
        };
        let section = library.section(place);
        self.within(library.origin(place), |walk| {
            if let Some(model) = value(section, "model") {
                walk.model(&model);
            }
            for key in WEAPON_SOUNDS {
                if let Some(sound) = value(section, key) {
                    walk.sound(&sound);
                }
            }
            for [file, sequence] in WEAPON_SEQUENCES {
                if let (Some(file), Some(sequence)) =
                    (value(section, file), value(section, sequence))
                {
                    walk.sequence(&file, &sequence);
                }
            }
        });
    }

    fn feature(&mut self, kind: &'static str, name: &str) {
        let library = self.all.library;
        // Not recursive: a chain of wrecks may be long.
        let mut open = vec![(kind, name.to_owned(), self.from)];
        while let Some((kind, name, from)) = open.pop() {
            let found = library.features.find(&name);
            let mut definition = None;
            self.within(from, |walk| {
                definition = walk.definition(kind, &name, found)
            });
            let Some(place) = definition else {
                continue;
            };
            let section = library.section(place);
            self.within(library.origin(place), |walk| {
                if let Some(model) = value(section, "object") {
                    walk.model(&model);
                }
                if let Some(file) = value(section, "filename") {
                    let names = FEATURE_SEQUENCES.iter();
                    for sequence in names.filter_map(|key| value(section, key)) {
                        walk.sequence(&file, &sequence);
                    }
                }
            });
            let next = NEXT_FEATURES.iter().rev();
            let next = next.filter_map(|key| value(section, key));
            open.extend(next.map(|name| ("feature", name, library.origin(place))));
        }
    }

    /// Visits a definition. Returns it if it exists and is new.
    fn definition(
        &mut self,
        kind: &'static str,
        name: &str,
        found: Option<&Definition>,
    ) -> Option<Place> {
        let place = found.map(|found| found.place);
        let file = place.map(|place| self.all.library.file(place));
        let is_new = self.add(kind, name, file);
        place.filter(|_| is_new)
    }

    fn sequence(&mut self, file: &str, name: &str) {
        let path = format!("anims/{file}.gaf");
        let found = self.all.context.find(AssetKey::Path(&path));
        let found = found.filter(|&sprites| {
            let names = self.all.sequences_of(sprites);
            names.contains(&name.to_ascii_lowercase())
        });
        self.add("sequence", &format!("{path}: {name}"), found);
    }

    /// Visits references that are elsewhere.
    fn within(&mut self, origin: Origin, visit: impl FnOnce(&mut Self)) {
        let from = std::mem::replace(&mut self.from, origin);
        visit(self);
        self.from = from;
    }
}

/// Returns the value of a key, unless it is empty.
pub(super) fn value(section: Section<'_>, key: &str) -> Option<String> {
    let value = section.get(key)?;
    (!value.is_empty()).then(|| value.into_owned())
}

const COLUMNS: [&str; 6] = ["unit", "kind", "name", "path", "resolved_in", "from"];

/// Sends the table of all references.
pub(super) fn write_all(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    write(context, out, |_| true)
}

/// Sends the table of the missing references.
pub(super) fn write_missing(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    write(context, out, |reference| reference.is_missing)
}

fn write(
    context: &dyn AssetContext,
    out: &mut dyn TableSink,
    is_shown: fn(&report::Reference) -> bool,
) -> io::Result<()> {
    out.columns(&COLUMNS)?;
    each(context, &mut |reference| {
        if !is_shown(&reference) {
            return Ok(());
        }
        let [unit, from] = &reference.from;
        let [name, path] = &reference.to;
        let archive = reference.resolved_in.as_deref().unwrap_or_default();
        out.texts(&[unit, &reference.field, name, path, archive, from])
    })
}

/// Visits the references of all units.
pub(super) fn each(context: &dyn AssetContext, visit: VisitReference<'_>) -> io::Result<()> {
    let library = Library::of(context);
    let mut references = References::new(context, &library);
    for unit in &library.units.all {
        references.of_unit(unit, &mut |reference| {
            let path = reference.found.map(|file| context.path_of(file));
            visit(report::Reference {
                from: [unit.name.clone(), context.path_of(reference.from.file)],
                field: reference.kind.to_owned(),
                to: [reference.name.to_owned(), path.unwrap_or_default()],
                resolved_in: reference.found.map(|file| context.archive_of(file)),
                is_missing: reference.found.is_none(),
            })
        })?;
    }
    Ok(())
}
