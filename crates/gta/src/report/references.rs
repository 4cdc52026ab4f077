//! The requirements of the models of a game, and where they are met.

use std::collections::{HashMap, HashSet};
use std::io;

use super::{cell, each_document, each_file};
use crate::col;
use crate::data::groups::{self, Groups};
use crate::document::schema::{IDE, IPL};
use crate::document::{self, Named};
use crate::map::binary;
use crate::models::SECTIONS;
use hpimount_assets::view::report::{Reference, VisitReference};
use hpimount_assets::view::{AssetContext, TableSink};
use hpimount_containers::text::stem;
use hpimount_record::Value;

/// A file that a definition needs.
struct Need<'a> {
    /// Purpose of the file.
    kind: &'static str,
    /// Name, without extension.
    name: &'a str,
    /// Its path; empty if it is missing.
    found: &'a str,
}

/// A definition, and its required files.
struct Definition<'a> {
    path: &'a str,
    line: u32,
    section: &'static str,
    id: &'a str,
    model: &'a str,
    needs: Vec<Need<'a>>,
}

/// The files of a game, by extension and by lower-case name without extension.
struct Present {
    files: HashMap<(&'static str, String), String>,
    /// Paths of collision models, by lower-case name.
    collision: HashMap<String, String>,
    groups: Groups,
}

const EXTENSIONS: [&str; 3] = ["dff", "txd", "ifp"];

impl Present {
    fn new(context: &dyn AssetContext) -> io::Result<Self> {
        let mut files = HashMap::new();
        for extension in EXTENSIONS {
            for file in context.find_extensions("", &[extension]) {
                let path = context.path_of(file);
                let stem = stem(&path).to_ascii_lowercase();
                files.insert((extension, stem), path);
            }
        }
        let mut collision = HashMap::new();
        each_file(context, "col", |path, bytes| {
            let found = col::parse(&bytes);
            for model in found.iter().flat_map(|found| &found.models) {
                collision.insert(model.name.to_ascii_lowercase(), path.to_owned());
            }
            Ok(())
        })?;
        let mut groups = Groups::default();
        each_file(context, "dat", |path, bytes| {
            if stem(path).eq_ignore_ascii_case("animgrp") {
                groups = groups::parse(&bytes).unwrap_or_default();
            }
            Ok(())
        })?;
        Ok(Self {
            files,
            collision,
            groups,
        })
    }

    /// Returns the path of a file, or an empty path.
    fn find(&self, extension: &'static str, name: &str) -> &str {
        let found = self.files.get(&(extension, name.to_ascii_lowercase()));
        found.map_or("", String::as_str)
    }

    /// Returns the requirements of a definition's row.
    fn needs<'a>(&'a self, row: &Named<'a>) -> Vec<Need<'a>> {
        let need = |kind, extension, name| Need {
            kind,
            name,
            found: self.find(extension, name),
        };
        let named = |column: &str| {
            let name = row.get(column);
            name.filter(|name| !name.eq_ignore_ascii_case("null"))
        };
        let model = named("model").map(|name| need("model", "dff", name));
        let textures = named("txd").map(|name| need("textures", "txd", name));
        let package = named("anim").or(named("anims"));
        let package = package.map(|name| need("animations", "ifp", name));
        let group = named("anim_group").and_then(|name| self.groups.find(name));
        let group = group.map(|group| need("group", "ifp", &group.package));
        let collision = named("model").and_then(|name| {
            let found = self.collision.get(&name.to_ascii_lowercase())?;
            Some(Need {
                kind: "collision",
                name,
                found,
            })
        });
        let needs = [model, textures, package, group, collision];
        needs.into_iter().flatten().collect()
    }
}

/// Calls `visit` with each definition of a model, and with the parents of dictionaries,
/// which have no model.
fn each_definition(
    context: &dyn AssetContext,
    mut visit: impl FnMut(&Definition<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let present = Present::new(context)?;
    each_document(context, "ide", &IDE, |path, document| {
        for section in SECTIONS {
            for row in document.rows(section) {
                let named = document.named(&IDE, section, row);
                visit(&Definition {
                    path,
                    line: row.line,
                    section,
                    id: named.get("id").unwrap_or_default(),
                    model: named.get("model").unwrap_or_default(),
                    needs: present.needs(&named),
                })?;
            }
        }
        for row in document.rows("txdp") {
            let names = document.fields(row).take(2);
            let needs = names.map(|name| Need {
                kind: "textures",
                name,
                found: present.find("txd", name),
            });
            visit(&Definition {
                path,
                line: row.line,
                section: "txdp",
                id: "",
                model: "",
                needs: needs.collect(),
            })?;
        }
        Ok(())
    })
}

const COLUMNS: [&str; 8] = [
    "file", "line", "section", "id", "model", "needs", "name", "found",
];

impl Definition<'_> {
    /// Returns the row about a required file.
    fn row(&self, need: &Need<'_>) -> Vec<Value> {
        let own = [self.section, self.id, self.model];
        let texts = [&own[..], &[need.kind, need.name, need.found]].concat();
        row(self.path, Some(self.line), &texts)
    }
}

/// Returns the row of a file at a line, with texts in the other cells.
fn row(path: &str, line: Option<u32>, texts: &[&str]) -> Vec<Value> {
    let texts = texts.iter().map(|text| cell(Some(text)));
    let place = [path.to_owned().into(), line.into()];
    place.into_iter().chain(texts).collect()
}

/// Sends `references.tsv`: a row for each required file of a definition.
pub(super) fn references(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    out.columns(&COLUMNS)?;
    each_definition(context, |definition| {
        let mut needs = definition.needs.iter();
        needs.try_for_each(|need| out.row(definition.row(need)))
    })
}

/// Visits the references of all definitions.
pub(super) fn each(context: &dyn AssetContext, visit: VisitReference<'_>) -> io::Result<()> {
    each_definition(context, |definition| {
        definition.needs.iter().try_for_each(|need| {
            visit(Reference {
                from: [definition.model, definition.path].map(str::to_owned),
                field: need.kind.to_owned(),
                to: [need.name, need.found].map(str::to_owned),
                resolved_in: None,
                is_missing: need.found.is_empty(),
            })
        })
    })
}

/// Sends `missing.tsv`: the rows of `references.tsv` with missing files, and a row for
/// each placed object without a definition.
pub(super) fn missing(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    out.columns(&COLUMNS[..7])?;
    let mut ids = HashSet::new();
    each_definition(context, |definition| {
        ids.extend(definition.id.parse::<i64>());
        let needs = definition.needs.iter();
        let mut needs = needs.filter(|need| need.found.is_empty());
        needs.try_for_each(|need| {
            let mut row = definition.row(need);
            row.pop();
            out.row(row)
        })
    })?;
    each_file(context, "ipl", |path, bytes| {
        let undefined = |id: &&str| id.parse().is_ok_and(|id: i64| !ids.contains(&id));
        if bytes.starts_with(binary::MAGIC) {
            let binary = binary::parse(&bytes).unwrap_or_default();
            return binary.instances.iter().try_for_each(|one| {
                let id = one.id.to_string();
                match undefined(&id.as_str()) {
                    true => out.row(row(path, None, &["inst", &id, "", "definition", &id])),
                    false => Ok(()),
                }
            });
        }
        let Ok(document) = document::parse(&bytes, &IPL) else {
            return Ok(());
        };
        document.rows("inst").iter().try_for_each(|one| {
            let named = document.named(&IPL, "inst", one);
            let model = named.get("model").unwrap_or_default();
            match named.get("id").filter(undefined) {
                Some(id) => {
                    let texts = ["inst", id, model, "definition", id];
                    out.row(row(path, Some(one.line), &texts))
                }
                None => Ok(()),
            }
        })
    })
}
