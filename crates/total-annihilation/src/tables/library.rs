//! The texts of a game that refer to other files and to each other: units, weapons,
//! features, sounds, movement classes and build menus. They are read once for all
//! tables about them.

use std::collections::HashMap;
use std::sync::Arc;

use get_size2::GetSize;

use super::menu_entries::{self, MenuEntry};
use super::place::{Origin, Place};
use super::rows::Source;
use super::{FEATURES, MOVEMENT, SOUNDS, UNITS, WEAPONS};
use crate::tdf::{self, Section, Tdf};
use hpimount_assets::view::context::shared;
use hpimount_assets::view::{AssetContext, AssetRef, Shared};
use hpimount_containers::text::stem;

/// The name under which the library is shared.
const SHARED: &str = "TA library";

/// Maximum number of bytes of texts to read, ten times as many as a large mod has.
const MAX_BYTES: usize = 64 << 20;

/// All definitions of a game.
#[derive(Default)]
pub(super) struct Library {
    texts: Vec<Text>,
    pub(super) units: Catalog,
    pub(super) weapons: Catalog,
    pub(super) features: Catalog,
    pub(super) sounds: Catalog,
    pub(super) movement: Catalog,
    pub(super) menu: Vec<MenuEntry>,
}

/// A text with definitions.
struct Text {
    file: AssetRef,
    tdf: Tdf,
}

/// A named section.
#[derive(Debug, GetSize)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) place: Place,
}

/// The definitions of one kind, in file order.
#[derive(Default, GetSize)]
pub(super) struct Catalog {
    pub(super) all: Vec<Definition>,
    /// The first definition of each name, in lower case.
    by_name: HashMap<String, u32>,
}

impl Catalog {
    /// Returns the definition with this name, ignoring case.
    pub(super) fn find(&self, name: &str) -> Option<&Definition> {
        let index = *self.by_name.get(&name.to_ascii_lowercase())?;
        self.all.get(index as usize)
    }

    fn add(&mut self, name: &str, place: Place) {
        let index = self.all.len() as u32;
        let key = name.to_ascii_lowercase();
        self.by_name.entry(key).or_insert(index);
        let name = name.to_owned();
        self.all.push(Definition { name, place });
    }
}

impl Shared for Library {
    fn memory(&self) -> usize {
        let texts = self.texts.iter().map(|text| text.tdf.get_size());
        let catalogs = [
            &self.units,
            &self.weapons,
            &self.features,
            &self.sounds,
            &self.movement,
        ];
        texts.sum::<usize>()
            + catalogs.map(GetSize::get_size).iter().sum::<usize>()
            + self.menu.get_size()
    }
}

impl Library {
    /// Returns the library of a game. It is shared if memory allows.
    pub(super) fn of(context: &dyn AssetContext) -> Arc<Self> {
        shared(context, SHARED, Self::new).unwrap_or_else(|| Arc::new(Self::new(context)))
    }

    fn new(context: &dyn AssetContext) -> Self {
        let mut reader = Reader {
            context,
            library: Self::default(),
            known: HashMap::new(),
            left: MAX_BYTES,
        };
        reader.catalog(UNITS, |library| &mut library.units);
        reader.catalog(WEAPONS, |library| &mut library.weapons);
        reader.catalog(FEATURES, |library| &mut library.features);
        reader.catalog(SOUNDS, |library| &mut library.sounds);
        reader.catalog(MOVEMENT, |library| &mut library.movement);
        reader.menus();
        reader.library
    }

    /// Returns the section of a definition.
    pub(super) fn section(&self, place: Place) -> Section<'_> {
        let text = &self.texts[place.text as usize];
        text.tdf.section_at(place.section as usize)
    }

    /// Returns the origin of a definition's references.
    pub(super) fn origin(&self, place: Place) -> Origin {
        Origin {
            file: self.file(place),
            place: Some(place),
        }
    }

    /// Returns the line of a definition in its file, if known.
    pub(super) fn line(&self, place: Place) -> Option<u32> {
        let text = &self.texts[place.text as usize];
        text.tdf.line_of(place.section as usize)
    }

    /// Returns the file of a definition.
    pub(super) fn file(&self, place: Place) -> AssetRef {
        self.texts[place.text as usize].file
    }
}

struct Reader<'a> {
    context: &'a dyn AssetContext,
    library: Library,
    /// The known texts: in Kingdoms, units and weapons are in the same files.
    known: HashMap<AssetRef, Option<u32>>,
    /// Remaining number of bytes to read.
    left: usize,
}

impl Reader<'_> {
    fn catalog(&mut self, sources: &[Source], catalog: fn(&mut Library) -> &mut Catalog) {
        for source in sources {
            for file in source.files(self.context) {
                let Some(text) = self.text(file) else {
                    continue;
                };
                let mut found = Vec::new();
                let path = self.context.path_of(file);
                let tdf = &self.library.texts[text as usize].tdf;
                let visited = (source.rows)(tdf, stem(&path), &mut |name, section| {
                    found.push((name.to_owned(), section.position() as u32));
                    Ok(())
                });
                debug_assert!(visited.is_ok(), "the visitor has no errors");
                for (name, section) in found {
                    catalog(&mut self.library).add(&name, Place { text, section });
                }
            }
        }
    }

    fn menus(&mut self) {
        for source in menu_entries::SOURCES {
            for file in source.files(self.context) {
                let Some(text) = self.text(file) else {
                    continue;
                };
                let path = self.context.path_of(file);
                let tdf = &self.library.texts[text as usize].tdf;
                let entries = (source.entries)(tdf, &path).into_iter();
                let entries = entries.map(|(entry, section)| {
                    let place = Place { text, section };
                    MenuEntry { place, ..entry }
                });
                self.library.menu.extend(entries);
            }
        }
    }

    /// Returns the number of the text in a file, or `None` if it cannot be read. Uses
    /// the part of an incomplete text before the error.
    fn text(&mut self, file: AssetRef) -> Option<u32> {
        if let Some(&known) = self.known.get(&file) {
            return known;
        }
        let bytes = self.context.read(file);
        let bytes = bytes.filter(|bytes| bytes.len() <= self.left);
        let text = bytes.map(|bytes| {
            self.left -= bytes.len();
            let tdf = tdf::parse(&bytes).unwrap_or_else(|lost| lost.model);
            self.library.texts.push(Text { file, tdf });
            (self.library.texts.len() - 1) as u32
        });
        self.known.insert(file, text);
        text
    }
}
