//! The contents of the XML.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use hpimount_containers::io::{Error, Result};

use super::disc::Disc;
use super::paths::Parameters;
use super::xml::Element;

/// A parsed Riivolution XML.
#[derive(Debug)]
pub struct Mod {
    filter: Filter,
    sections: Vec<Section>,
    /// By id; the first patch with an id counts.
    pub(super) patches: HashMap<String, PatchElement>,
    ignored: BTreeMap<String, usize>,
}

/// The discs of a mod. An empty field fits any disc.
#[derive(Debug, Default)]
struct Filter {
    /// Start of the ID.
    game: String,
    /// Characters 5 and 6 of the ID.
    developer: String,
    disc: Option<u32>,
    version: Option<u32>,
    /// Possible characters 4 of the ID.
    regions: Vec<String>,
}

/// A page of the menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The name of the page.
    pub name: String,
    /// The options on it.
    pub options: Vec<Switch>,
}

/// An option of the menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// The name in the menu.
    pub name: String,
    /// The identifier, which may be empty.
    pub id: String,
    /// The default choice: 0 is off, 1 is the first.
    pub default: u32,
    /// The choices.
    pub choices: Vec<Choice>,
}

/// A choice of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The name in the menu.
    pub name: String,
    /// The identifiers of the patches, with their parameters.
    pub(super) patches: Vec<(String, Parameters)>,
}

/// A selected choice that replaces the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The name of the section; `None` for any.
    pub section: Option<String>,
    /// The name or the identifier of the option.
    pub option: String,
    /// The choice: 0 is off, 1 is the first.
    pub choice: u32,
}

/// A `<patch>`.
#[derive(Debug)]
pub(super) struct PatchElement {
    pub(super) root: Option<String>,
    pub(super) files: Vec<FileElement>,
    pub(super) folders: Vec<FileElement>,
}

/// A `<file>` or `<folder>`.
#[derive(Debug)]
pub(super) struct FileElement {
    pub(super) disc: String,
    pub(super) external: String,
    pub(super) resize: bool,
    pub(super) create: bool,
    pub(super) recursive: bool,
    pub(super) offset: u32,
    pub(super) file_offset: u32,
    pub(super) length: u32,
}

impl Selection {
    /// Parses `Section/Option=2` or `option=2`; `None` if the text is neither.
    pub fn parse(text: &str) -> Option<Self> {
        let (option, choice) = text.rsplit_once('=')?;
        let (section, option) = match option.split_once('/') {
            Some((section, option)) => (Some(section.to_owned()), option),
            None => (None, option),
        };
        Some(Self {
            section,
            option: option.to_owned(),
            choice: choice.parse().ok()?,
        })
    }

    fn is_of(&self, section: &Section, option: &Switch) -> bool {
        let is_section = |name: &String| *name == section.name;
        let is_option = self.option == option.name || self.option == option.id;
        is_option && self.section.as_ref().is_none_or(is_section)
    }
}

impl Mod {
    /// Parses the XML.
    ///
    /// # Errors
    /// Returns an error if the XML is not well-formed, longer than 4 MiB, nested more
    /// than 64 levels deep, or has a document type. Likewise if it is not a `wiidisc` of
    /// version 1, or if a number is not valid.
    pub fn parse(document: &[u8]) -> Result<Self> {
        let root = Element::parse(document)?;
        if root.name != "wiidisc" || root.get("version") != Some("1") {
            let problem = "is not a wiidisc of version 1";
            return Err(Error::damaged(root.offset, "root", problem));
        }
        let mut parsed = Self {
            filter: Filter::default(),
            sections: Vec::new(),
            patches: HashMap::new(),
            ignored: BTreeMap::new(),
        };
        if let Some(id) = root.all("id").next() {
            parsed.filter = Filter::new(id)?;
        }
        for options in root.all("options").take(1) {
            let sections = options.all("section").map(section);
            parsed.sections = sections.collect::<Result<_>>()?;
            parsed.ignore(options, &["section"]);
        }
        for patch in root.all("patch") {
            let elements = |name| patch.all(name).map(file).collect::<Result<_>>();
            let found = PatchElement {
                root: patch.get("root").or(root.get("root")).map(str::to_owned),
                files: elements("file")?,
                folders: elements("folder")?,
            };
            parsed.patches.entry(patch.text("id")).or_insert(found);
            parsed.ignore(patch, &["file", "folder"]);
        }
        parsed.ignore(&root, &["id", "options", "patch"]);
        Ok(parsed)
    }

    /// Counts the children of an element with unknown names.
    fn ignore(&mut self, element: &Element, known: &[&str]) {
        for child in &element.children {
            if !known.contains(&&*child.name) {
                *self.ignored.entry(child.name.clone()).or_default() += 1;
            }
        }
    }

    /// Returns the menu.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Returns the elements that do not change files of a disc (`memory`, `savegame`,
    /// `shift`, …), with their counts.
    pub fn ignored(&self) -> impl Iterator<Item = (&str, usize)> {
        self.ignored.iter().map(|(name, count)| (&**name, *count))
    }

    /// Returns whether the mod is for a disc.
    pub fn fits(&self, disc: &Disc<'_>) -> bool {
        let Filter {
            game,
            developer,
            disc: number,
            version,
            regions,
        } = &self.filter;
        let is_or_empty = |text: &str, part| text.is_empty() || disc.id.get(part) == Some(text);
        disc.id.starts_with(&**game)
            && is_or_empty(developer, 4..6)
            && number.is_none_or(|number| number == u32::from(disc.number))
            && version.is_none_or(|version| version == u32::from(disc.version))
            && (regions.is_empty() || regions.iter().any(|region| is_or_empty(region, 3..4)))
    }

    /// Returns the patches of the active choices, in order, and the selections without
    /// a matching option or choice, which are ignored.
    pub(super) fn chosen<'a>(
        &self,
        selections: &'a [Selection],
    ) -> (Vec<&(String, Parameters)>, Vec<&'a Selection>) {
        let mut unknown: Vec<&Selection> = selections.iter().collect();
        let mut patches = Vec::new();
        for section in &self.sections {
            for option in &section.options {
                let is_known = |selection: &&Selection| {
                    let exists = selection.choice as usize <= option.choices.len();
                    exists && selection.is_of(section, option)
                };
                let selected = selections.iter().rfind(is_known);
                unknown.retain(|selection| !is_known(selection));
                let choice = selected.map_or(option.default, |selection| selection.choice);
                let choice = (choice as usize).checked_sub(1);
                let choice = choice.and_then(|choice| option.choices.get(choice));
                patches.extend(choice.iter().flat_map(|choice| &choice.patches));
            }
        }
        (patches, unknown)
    }
}

impl Filter {
    fn new(id: &Element) -> Result<Self> {
        let number = |name| -> Result<Option<u32>> {
            let text = id.get(name).filter(|text| !text.is_empty());
            text.map(|_| id.number(name)).transpose()
        };
        Ok(Self {
            game: id.text("game"),
            developer: id.text("developer"),
            disc: number("disc")?,
            version: number("version")?,
            regions: id.all("region").map(|region| region.text("type")).collect(),
        })
    }
}

fn section(element: &Element) -> Result<Section> {
    Ok(Section {
        name: element.text("name"),
        options: element.all("option").map(option).collect::<Result<_>>()?,
    })
}

fn option(element: &Element) -> Result<Switch> {
    let outer = parameters(element);
    let choices = element.all("choice").map(|choice| {
        let middle = parameters(choice);
        let patches = choice.all("patch").map(|patch| {
            let layers = [parameters(patch), middle.clone(), outer.clone()];
            (patch.text("id"), layers)
        });
        Choice {
            name: choice.text("name"),
            patches: patches.collect(),
        }
    });
    Ok(Switch {
        name: element.text("name"),
        id: element.text("id"),
        default: element.number("default")?,
        choices: choices.collect(),
    })
}

fn parameters(element: &Element) -> Arc<HashMap<String, String>> {
    let pairs = element.all("param");
    let pairs = pairs.map(|pair| (pair.text("name"), pair.text("value")));
    Arc::new(pairs.collect())
}

fn file(element: &Element) -> Result<FileElement> {
    Ok(FileElement {
        disc: element.text("disc"),
        external: element.text("external"),
        resize: element.flag("resize", true),
        create: element.flag("create", false),
        recursive: element.flag("recursive", true),
        offset: element.number("offset")?,
        file_offset: element.number("fileoffset")?,
        length: element.number("length")?,
    })
}
