//! The models of a game, with the sources of their textures and animations (FORMATS,
//! GTA 6.4 and 6.6).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use get_size2::GetSize;

use super::data::colors;
use super::data::files::{self, load_order};
use super::data::groups::{self, Group, Groups};
use super::document::schema::IDE;
use super::document::{self, Document};
use super::txd::{self, Txd};
use hpimount_assets::view::context::shared;
use hpimount_assets::view::{AssetContext, AssetKey, AssetRef, Shared};

/// Maximum length of a chain of texture dictionaries.
const MAX_PARENTS: usize = 16;

/// Dictionaries for all models, after their own ones.
const GENERIC: [&str; 2] = ["generic", "particle"];

/// The dictionary that all vehicles may use.
const VEHICLES: &str = "vehicle";

/// Name of the file of animation groups, without extension.
const GROUPS: &str = "animgrp";

/// Name of the file with the paints of vehicles, without extension.
const PAINTS: &str = "carcols";

/// Flag of an object: it is visible from behind.
const NO_CULLING: u32 = 1 << 21;

/// The definition of a model.
#[derive(Debug, Clone, PartialEq, GetSize)]
pub(crate) struct Definition {
    /// Section of its row.
    pub(crate) section: &'static str,
    /// Number in the game.
    pub(crate) id: String,
    pub(crate) dictionary: String,
    /// The package of its animations; may be empty.
    pub(crate) animations: String,
    /// Group of animations; empty without one.
    pub(crate) group: String,
    /// Flags of an object.
    pub(crate) flags: u32,
    /// The maximum draw distance.
    pub(crate) draw: f32,
}

impl Definition {
    /// Returns whether the model is visible from behind.
    pub(crate) fn is_double_sided(&self) -> bool {
        let is_object = ["objs", "tobj", "anim"].contains(&self.section);
        is_object && self.flags & NO_CULLING != 0
    }
}

/// Sections that define models.
pub(crate) const SECTIONS: [&str; 7] = ["objs", "tobj", "anim", "weap", "hier", "cars", "peds"];

/// The definitions and dictionaries for the models of an archive.
#[derive(Debug, Default, GetSize)]
pub(crate) struct Models {
    /// Definitions by lower-case model name.
    definitions: HashMap<String, Definition>,
    /// Names of models by their numbers.
    names: HashMap<i64, String>,
    /// Files of models by lower-case name without extension.
    files: HashMap<String, AssetRef>,
    /// Parents of dictionaries, in lower case.
    parents: HashMap<String, String>,
    /// Dictionaries by lower-case name without extension.
    dictionaries: HashMap<String, AssetRef>,
    /// Packages of animations, likewise.
    packages: BTreeMap<String, AssetRef>,
    groups: Groups,
    /// The first choice of paints of vehicles.
    paints: HashMap<String, Vec<[u8; 3]>>,
}

/// Animations that a model is given.
#[derive(Debug, Clone, GetSize)]
pub(crate) struct AnimationPackage {
    /// Name of their package, without extension.
    pub(crate) package: String,
    /// The package, or `None` if it does not exist.
    pub(crate) file: Option<AssetRef>,
    /// The names of the animations, or `None` for the whole package.
    pub(crate) names: Option<Vec<String>>,
}

impl Shared for Models {
    fn memory(&self) -> usize {
        self.get_heap_size()
    }
}

/// Returns the models of the game around an asset.
pub(crate) fn models(context: &dyn AssetContext) -> Arc<Models> {
    shared(context, "models of Grand Theft Auto", Models::read).unwrap_or_default()
}

impl Models {
    fn read(context: &dyn AssetContext) -> Self {
        let mut models = Self::default();
        let extensions = ["dff", "txd", "ide", "ifp", "dat"];
        let around = context.find_outside(&extensions);
        // Files in the archive itself replace files around it.
        let own = context.find_extensions("", &extensions);
        let (mut definitions, mut loaded) = (Vec::new(), Vec::new());
        for file in around.into_iter().chain(own) {
            let path = context.path_of(file).to_ascii_lowercase();
            let name = path.rsplit('/').next().unwrap_or_default();
            let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
            match extension {
                "dff" => {
                    models.files.insert(stem.to_owned(), file);
                }
                "txd" => {
                    models.dictionaries.insert(stem.to_owned(), file);
                }
                "ifp" => {
                    models.packages.insert(stem.to_owned(), file);
                }
                "ide" => definitions.push((path, file)),
                _ if stem == GROUPS => {
                    let bytes = context.read(file);
                    let groups = bytes.and_then(|bytes| groups::parse(&bytes).ok());
                    models.groups = groups.unwrap_or_default();
                }
                _ if stem == PAINTS => {
                    let bytes = context.read(file);
                    let paints = bytes.and_then(|bytes| colors::parse(&bytes).ok());
                    let paints = paints.as_ref().map(colors::first_choices);
                    models.paints = paints.unwrap_or_default();
                }
                _ if files::NAMES.contains(&name) => loaded.push(file),
                _ => {}
            }
        }
        let order = load_order(&loaded, context);
        definitions.sort_by_cached_key(|(path, _)| order.position(path));
        for (_, file) in definitions {
            let bytes = context.read(file);
            let document = bytes.and_then(|bytes| document::parse(&bytes, &IDE).ok());
            document.iter().for_each(|document| models.define(document));
        }
        models
    }

    /// Adds the definitions of a file. The last definition of a model counts.
    pub(super) fn define(&mut self, document: &Document) {
        for section in SECTIONS {
            for row in document.rows(section) {
                let named = document.named(&IDE, section, row);
                let text = |name| match named.get(name) {
                    Some(text) if !text.eq_ignore_ascii_case("null") => text.to_ascii_lowercase(),
                    _ => String::new(),
                };
                let &[id, model, dictionary, ..] = &named.fields[..] else {
                    continue;
                };
                let draw = ["draw1", "draw2", "draw3"].iter();
                let draw = draw.filter_map(|name| named.get(name)?.parse::<f32>().ok());
                let animations = [text("anim"), text("anims")];
                let flags = named.get("flags").and_then(|flags| flags.parse().ok());
                let definition = Definition {
                    section,
                    id: id.to_owned(),
                    dictionary: dictionary.to_ascii_lowercase(),
                    animations: animations.concat(),
                    group: text("anim_group"),
                    flags: flags.unwrap_or_default(),
                    draw: draw.fold(0.0, f32::max),
                };
                if let Ok(id) = id.parse() {
                    self.names.insert(id, model.to_owned());
                }
                self.definitions
                    .insert(model.to_ascii_lowercase(), definition);
            }
        }
        for row in document.rows("txdp") {
            let mut fields = document.fields(row).map(str::to_ascii_lowercase);
            if let Some((child, parent)) = fields.next().zip(fields.next()) {
                self.parents.insert(child, parent);
            }
        }
    }

    /// Returns the definition of a model.
    pub(crate) fn definition(&self, model: &str) -> Option<&Definition> {
        self.definitions.get(&model.to_ascii_lowercase())
    }

    /// Returns the name of the model with this number.
    pub(crate) fn name_of(&self, id: i64) -> Option<&str> {
        self.names.get(&id).map(String::as_str)
    }

    /// Returns the file of a model.
    pub(crate) fn file_of(&self, model: &str) -> Option<AssetRef> {
        self.files.get(&model.to_ascii_lowercase()).copied()
    }

    /// Returns whether a model is defined and drawn beyond a distance.
    pub(crate) fn is_drawn_beyond(&self, model: &str, distance: f32) -> bool {
        self.definition(model)
            .is_some_and(|one| one.draw > distance)
    }

    /// Returns the texture dictionaries of a model in the game's search order: the
    /// dictionary of its definition, or else of the model's name, then its parents,
    /// then the generic ones.
    fn chain(&self, model: &str) -> Vec<String> {
        let definition = self.definition(model);
        let own = definition.map_or(model, |definition| &definition.dictionary);
        let mut chain = vec![own.to_ascii_lowercase()];
        while let Some(parent) = chain.last().and_then(|last| self.parents.get(last)) {
            if chain.len() == MAX_PARENTS || chain.contains(parent) {
                break;
            }
            chain.push(parent.clone());
        }
        if definition.is_some_and(|definition| definition.section == "cars") {
            chain.push(VEHICLES.to_owned());
        }
        chain.extend(GENERIC.map(str::to_owned));
        chain
    }

    /// Returns the first paints of a vehicle; empty if they are unknown.
    pub(crate) fn paints(&self, model: &str) -> &[[u8; 3]] {
        let paints = self.paints.get(&model.to_ascii_lowercase());
        paints.map_or(&[], Vec::as_slice)
    }

    /// Returns the group of animations of a definition.
    pub(crate) fn group(&self, definition: &Definition) -> Option<&Group> {
        self.groups.find(&definition.group)
    }

    /// Returns the animations that a model's definition assigns: its whole package, and
    /// its group.
    pub(crate) fn animations(&self, model: &str) -> Vec<AnimationPackage> {
        let definition = self.definition(model);
        let own = definition.map(|definition| &definition.animations);
        let own = own.filter(|package| !package.is_empty());
        let own = own.map(|package| self.given(package, None));
        let group = definition.and_then(|definition| self.group(definition));
        let group = group.map(|group| self.given(&group.package, Some(group.animations.clone())));
        own.into_iter().chain(group).collect()
    }

    fn given(&self, package: &str, names: Option<Vec<String>>) -> AnimationPackage {
        let package = package.to_ascii_lowercase();
        AnimationPackage {
            file: self.packages.get(&package).copied(),
            package,
            names,
        }
    }

    /// Returns all packages of animations.
    pub(crate) fn packages(&self) -> impl Iterator<Item = AnimationPackage> {
        let names = self.packages.keys();
        names.map(|package| self.given(package, None))
    }

    /// Returns the existing dictionaries of a model, with their names.
    pub(crate) fn dictionaries(
        &self,
        model: &str,
        context: &dyn AssetContext,
    ) -> Vec<(String, AssetRef)> {
        let chain = self.chain(model).into_iter();
        let found = chain.filter_map(|name| {
            let beside = context.find(AssetKey::Sibling(&format!("{name}.txd")));
            let file = beside.or_else(|| self.dictionaries.get(&name).copied())?;
            Some((name, file))
        });
        found.collect()
    }
}

pub(crate) fn read_dictionary(file: AssetRef, context: &dyn AssetContext) -> Option<Txd> {
    txd::parse(&context.read(file)?).ok()
}

#[cfg(test)]
impl Models {
    /// Returns models of a game with these files of models.
    pub(crate) fn with_files(names: &[&str]) -> Self {
        let files = names.iter().zip(0..);
        Self {
            files: files
                .map(|(name, file)| ((*name).to_owned(), AssetRef(file)))
                .collect(),
            ..Self::default()
        }
    }

    /// Returns models of a game with these packages of animations.
    pub(crate) fn with_packages(names: &[&str]) -> Self {
        let packages = names.iter().zip(0..);
        Self {
            packages: packages
                .map(|(name, file)| ((*name).to_owned(), AssetRef(file)))
                .collect(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models(text: &str) -> Models {
        let mut models = Models::default();
        models.define(&document::parse(text.as_bytes(), &IDE).unwrap());
        models
    }

    #[test]
    fn textures_are_looked_for_in_the_dictionary_its_parents_and_the_generic_ones() {
        let models = models(
            "objs\n7, Crate, BOX, 100, 2097152\nend\n\
             cars\n400, landstal, land, car, LANDSTAL, LANDSTK, null, richfamily, 10, 0, 0, -1, 0.7, 0.7, 0\nend\n\
             txdp\nbox wood\nwood box\nend\n",
        );
        assert_eq!(
            models.chain("CRATE"),
            ["box", "wood", "generic", "particle"]
        );
        assert!(models.definition("crate").unwrap().is_double_sided());
        assert_eq!(
            models.chain("landstal"),
            ["land", "vehicle", "generic", "particle"]
        );
        assert_eq!(models.definition("landstal").unwrap().animations, "");
        assert_eq!(models.chain("Other"), ["other", "generic", "particle"]);
    }
}
