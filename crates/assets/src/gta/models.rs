//! The models of a game: where their textures are (FORMATS, GTA 6.4).

use std::collections::HashMap;
use std::sync::Arc;

use super::map::document::{self, Document};
use super::map::schema::IDE;
use super::txd::{self, Txd};
use crate::view::context::shared;
use crate::view::{AssetContext, AssetRef, Shared, Wanted};

/// Maximum length of a chain of dictionaries with textures.
const MAX_PARENTS: usize = 16;

/// Dictionaries that all models may use, after their own.
const GENERIC: [&str; 2] = ["generic", "particle"];

/// The dictionary that all vehicles may use.
const VEHICLES: &str = "vehicle";

/// Flag of an object: it is visible from behind.
const NO_CULLING: u32 = 1 << 21;

/// The definition of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition {
    /// Section of its row.
    pub(crate) section: &'static str,
    /// Its number in the game.
    pub(crate) id: String,
    /// Its dictionary.
    pub(crate) dictionary: String,
    /// The package of its animations; empty without one.
    pub(crate) animations: String,
    /// Its group of animations; empty without one.
    pub(crate) group: String,
    /// Flags of an object.
    pub(crate) flags: u32,
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

/// The definitions and dictionaries that the models of an archive can use.
#[derive(Debug, Default)]
pub(crate) struct Models {
    /// Definitions by the names of models in lower case.
    definitions: HashMap<String, Definition>,
    /// Parents of dictionaries, in lower case.
    parents: HashMap<String, String>,
    /// Files by their names without extension, in lower case.
    dictionaries: HashMap<String, AssetRef>,
}

impl Shared for Models {
    fn memory(&self) -> usize {
        let definitions = self.definitions.iter().map(|(name, one)| {
            let texts = [&one.id, &one.dictionary, &one.animations, &one.group];
            let texts = texts.map(String::capacity).iter().sum::<usize>();
            size_of::<(String, Definition)>() + name.capacity() + texts
        });
        let parents = self.parents.iter();
        let parents = parents.map(|(name, parent)| 48 + name.capacity() + parent.capacity());
        let files = self.dictionaries.keys();
        let files = files.map(|name| size_of::<(String, AssetRef)>() + name.capacity());
        definitions.sum::<usize>() + parents.sum::<usize>() + files.sum::<usize>()
    }
}

/// Returns the models of the game around an asset.
pub(crate) fn models(context: &dyn AssetContext) -> Arc<Models> {
    shared(context, "models of Grand Theft Auto", Models::read).unwrap_or_default()
}

impl Models {
    fn read(context: &dyn AssetContext) -> Self {
        let mut models = Self::default();
        let extensions = ["txd", "ide"];
        let around = context.gta().find_outside(&extensions);
        // Files in the archive itself replace those around it.
        let own = context.find_extensions("", &extensions);
        for file in around.into_iter().chain(own) {
            let path = context.path_of(file);
            let name = path.rsplit('/').next().unwrap_or_default();
            let Some((stem, extension)) = name.rsplit_once('.') else {
                continue;
            };
            if extension.eq_ignore_ascii_case("txd") {
                models.dictionaries.insert(stem.to_ascii_lowercase(), file);
            } else if let Some(bytes) = context.read(file)
                && let Ok(document) = document::parse(&bytes, &IDE)
            {
                models.define(&document);
            }
        }
        models
    }

    /// Adds the definitions of a file. The last one of a model counts.
    fn define(&mut self, document: &Document) {
        for section in SECTIONS {
            for row in document.rows(section) {
                let fields: Vec<_> = document.fields(row).collect();
                let columns = IDE.columns(section, fields.len()).unwrap_or_default();
                let field = |name: &str| {
                    let place = columns.iter().position(|column| *column == name)?;
                    fields.get(place).copied()
                };
                let text = |name| match field(name) {
                    Some(text) if !text.eq_ignore_ascii_case("null") => text.to_ascii_lowercase(),
                    _ => String::new(),
                };
                let [Some(model), Some(dictionary)] = [fields.get(1), fields.get(2)] else {
                    continue;
                };
                let animations = [text("anim"), text("anims")];
                let flags = field("flags").and_then(|flags| flags.parse().ok());
                let definition = Definition {
                    section,
                    id: fields[0].to_owned(),
                    dictionary: dictionary.to_ascii_lowercase(),
                    animations: animations.concat(),
                    group: text("anim_group"),
                    flags: flags.unwrap_or_default(),
                };
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

    /// Returns the names of the dictionaries of a model in the order in which
    /// the game looks for a texture: that of its definition, or else the one of
    /// the same name, with their parents, and the generic ones.
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

    /// Returns the dictionaries of a model that exist, with their names.
    pub(crate) fn dictionaries(
        &self,
        model: &str,
        context: &dyn AssetContext,
    ) -> Vec<(String, AssetRef)> {
        let chain = self.chain(model).into_iter();
        let found = chain.filter_map(|name| {
            let beside = context.find(Wanted::Sibling(&format!("{name}.txd")));
            let file = beside.or_else(|| self.dictionaries.get(&name).copied())?;
            Some((name, file))
        });
        found.collect()
    }
}

/// Reads a dictionary.
pub(crate) fn read_dictionary(file: AssetRef, context: &dyn AssetContext) -> Option<Txd> {
    txd::parse(&context.read(file)?).ok()
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
