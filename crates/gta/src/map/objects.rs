//! The placed objects of a map file, text or binary, for a scene.

use std::collections::HashSet;

use super::binary::{self, Binary};
use super::instance::{self, Instance};
use crate::document::Document;
use crate::models::Models;
use hpimount_assets::view::{AssetContext, AssetRef};

/// Area of objects that exist in all interiors.
const EVERYWHERE: u8 = 13;

/// Draw distance of objects that replace others in the distance, in the first games.
const FAR: f32 = 300.0;

/// Length of the distinguishing prefix of the names of an object and its distant
/// replacement.
const PREFIX: usize = 3;

/// Suffix that follows the text file's name in the names of binary files.
const STREAM: &str = "_stream";

/// A placed object.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Object {
    /// Number in the file.
    pub(super) row: usize,
    /// Name of its model.
    pub(super) model: String,
    /// Number of its interior; 0 for the outside world.
    pub(super) interior: u8,
    pub(super) position: [f32; 3],
    /// Rotation as it is drawn.
    pub(super) rotation: [f32; 4],
    /// True for a distant replacement of other objects.
    pub(super) is_lod: bool,
}

/// The objects of a file, and the number of those that cannot be placed.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub(super) objects: Vec<Object>,
    pub(super) unplaced: usize,
}

/// Returns the number of the interior; 0 for objects in all interiors.
fn interior(stored: i64) -> u8 {
    match (stored & 0xFF) as u8 {
        EVERYWHERE => 0,
        area => area,
    }
}

impl Objects {
    /// Returns the objects of a text file.
    pub(super) fn of_text(
        document: &Document,
        models: &Models,
        context: &dyn AssetContext,
    ) -> Self {
        let rows = document.rows("inst");
        let found: Vec<_> = rows
            .iter()
            .map(|row| instance::instance(document, row).ok())
            .collect();
        let mut lods: HashSet<usize> = found.iter().flatten().filter_map(|one| one.lod).collect();
        lods.extend(lods_of_streams(context));
        let name = |one: &Instance| match models.name_of(one.id) {
            Some(name) => name.to_owned(),
            None => one.model.clone(),
        };
        let names: Vec<_> = found
            .iter()
            .map(|one| one.as_ref().map(name).unwrap_or_default())
            .collect();
        let replaced: HashSet<&str> = names
            .iter()
            .filter(|name| !models.is_drawn_beyond(name, FAR))
            .filter_map(|name| name.get(PREFIX..))
            .collect();
        let is_lod = |number: usize, name: &str| {
            let is_far = || models.is_drawn_beyond(name, FAR);
            let has_near = || name.get(PREFIX..).is_some_and(|end| replaced.contains(end));
            lods.contains(&number) || (is_far() && has_near())
        };
        let objects = found.iter().zip(&names).enumerate();
        let objects = objects.filter_map(|(number, (one, name))| {
            let one = one.as_ref()?;
            Some(Object {
                row: number,
                model: name.clone(),
                interior: interior(one.interior.unwrap_or_default()),
                position: one.position,
                rotation: one.rotation,
                is_lod: is_lod(number, name),
            })
        });
        Self::new(objects.collect(), rows.len())
    }

    /// Returns the objects of a binary file. Their distant replacements are in the text
    /// file.
    pub(super) fn of_binary(binary: &Binary, models: &Models) -> Self {
        let objects = binary
            .instances
            .iter()
            .enumerate()
            .filter_map(|(row, one)| {
                let id = i64::from(one.id);
                Some(Object {
                    row,
                    model: models.name_of(id).map_or(id.to_string(), str::to_owned),
                    interior: interior(one.interior.into()),
                    position: one.position(),
                    rotation: instance::drawn(one.rotation())?,
                    is_lod: false,
                })
            });
        Self::new(objects.collect(), binary.instances.len())
    }

    fn new(objects: Vec<Object>, rows: usize) -> Self {
        Self {
            unplaced: rows - objects.len(),
            objects,
        }
    }
}

/// Returns the numbers of the objects in a text file that replace objects of its binary
/// files.
fn lods_of_streams(context: &dyn AssetContext) -> Vec<usize> {
    let streams = streams(context).into_iter();
    let binaries = streams.filter_map(|file| binary::parse(&context.read(file)?).ok());
    let placed = binaries.flat_map(|binary| binary.instances);
    placed
        .filter_map(|one| usize::try_from(one.lod).ok())
        .collect()
}

/// Returns the binary files of a text file, whose names begin with its name.
pub(super) fn streams(context: &dyn AssetContext) -> Vec<AssetRef> {
    let name = context.name();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let start = format!("{stem}{STREAM}");
    let is_stream = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        let beginning = name.get(..start.len());
        !stem.is_empty() && beginning.is_some_and(|text| text.eq_ignore_ascii_case(&start))
    };
    let files = context.find_extensions("", &["ipl"]).into_iter();
    files
        .filter(|file| is_stream(&context.path_of(*file)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;
    use crate::document::schema::{IDE, IPL};
    use hpimount_assets::view::Alone;

    fn objects(definitions: &str, placements: &str) -> Vec<(String, u8, bool)> {
        let mut models = Models::default();
        models.define(&document::parse(definitions.as_bytes(), &IDE).unwrap());
        let document = document::parse(placements.as_bytes(), &IPL).unwrap();
        let found = Objects::of_text(&document, &models, &Alone).objects;
        let found = found.into_iter();
        found
            .map(|one| (one.model, one.interior, one.is_lod))
            .collect()
    }

    #[test]
    fn objects_that_replace_others_from_afar_are_known() {
        let known = |name: &str, interior, is_lod| (name.to_owned(), interior, is_lod);
        assert_eq!(
            objects(
                "objs\n1, real, t, 100, 0\nend\n",
                "inst\n1, x, 0, 0, 0, 0, 0, 0, 0, 1, 1\n2, far, 13, 0, 0, 0, 0, 0, 0, 1, -1\n\
                 3, room, 1027, 0, 0, 0, 0, 0, 0, 1, -1\nend\n",
            ),
            [
                known("real", 0, false),
                known("far", 0, true),
                known("room", 3, false)
            ]
        );
        // The first games have names instead of numbers.
        assert_eq!(
            objects(
                "objs\n1, newhouse, t, 1, 150, 0\n2, LODhouse, t, 1, 900, 0\n\
                 3, LODtower, t, 1, 900, 0\nend\n",
                "inst\n1, newhouse, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1\n\
                 2, LODhouse, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1\n\
                 3, LODtower, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1\nend\n",
            ),
            [
                known("newhouse", 0, false),
                known("LODhouse", 0, true),
                known("LODtower", 0, false)
            ]
        );
    }
}
