//! `level.glb`: the geometry of a level with its placed objects.

use std::collections::HashMap;
use std::io::{self, Write};

use super::placements::Placed;
use super::shapes::Extent;
use crate::archive::{Archive, Member};
use crate::model;
use crate::model::level::{self, Level, Mark, Piece, object_transform};
use crate::model::set::{self, Attached, MAX_MODELS};
use crate::model::textures::{find_texture, state_of};
use crate::model::{blending, is_level_info};
use crate::object::Object;
use crate::record::Value;
use crate::tables::{parse_list, parse_model_info};
use hpimount_assets::model::math::{finite, subtract};
use hpimount_assets::model::scene::Identity;
use hpimount_assets::model::{Scene, Transform, gltf};
use hpimount_assets::view::context::shared;
use hpimount_assets::view::{AssetContext, AssetRef, Shared};
use hpimount_renderware::export::{TextureState, TextureUse};

/// Types of objects whose models are in a level.
const OBJECTS: [[u8; 4]; 9] = [
    *b"BOUL", *b"BUTN", *b"DSTR", *b"EGEN", *b"PKUP", *b"PLAT", *b"PLYR", *b"SIMP", *b"VIL ",
];

/// Geometry of levels.
const GEOMETRY: [[u8; 4]; 2] = [*b"JSP ", *b"BSP "];

/// Types of invisible objects that are shown as lines in a level.
const MARKS: [[u8; 4]; 2] = [*b"TRIG", *b"MVPT"];

/// Maximum number of successors of a move point.
const MAX_NEXT: usize = 64;

/// A note about objects.
const NOTE: &str = "Objects are at their initial positions; one without an available model is a node without a mesh.";

/// Returns whether assets of a type are part of a level.
pub(super) fn is_shown(code: [u8; 4]) -> bool {
    OBJECTS.contains(&code) || GEOMETRY.contains(&code) || MARKS.contains(&code)
}

/// Writes the level.
pub(super) fn write(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let level = shared(context, "HIP level", Finished::new);
    let level = level.ok_or(io::ErrorKind::OutOfMemory)?;
    if let Some(failed) = &level.failed {
        return Err(io::Error::other(failed.clone()));
    }
    let pictures = |number| level::picture_of(&level.textures, number, context);
    gltf::write(
        &level.scene,
        &pictures,
        &|bytes| context.reserve(bytes),
        out,
    )
}

/// A finished level.
pub(super) struct Finished {
    pub(super) scene: Scene<'static>,
    textures: Vec<TextureUse>,
    /// The reason why it is incomplete.
    pub(super) failed: Option<String>,
}

impl Finished {
    pub(super) fn new(context: &dyn AssetContext) -> Self {
        let mut reader = Reader::new(context);
        let failed = reader.read().err();
        let (scene, textures) = reader.level.finish(NOTE);
        Self {
            scene,
            textures,
            failed: failed.map(|error| error.to_string()),
        }
    }
}

impl Shared for Finished {
    fn memory(&self) -> usize {
        size_of::<Self>()
            + level::memory(&self.scene)
            + self.textures.capacity() * size_of::<TextureUse>()
            + self.textures.iter().map(TextureUse::memory).sum::<usize>()
    }
}

/// Builds a level from the assets of an archive.
struct Reader<'a> {
    archive: Archive<'a>,
    level: Level,
    /// The pieces of models and model sets, by id.
    known: HashMap<u32, Vec<Piece>>,
    /// The places of the models' bones, by model id.
    bones: HashMap<u32, Vec<Transform>>,
    /// Models of pickups, by pickup id.
    pickups: HashMap<u32, u32>,
}

impl<'a> Reader<'a> {
    fn new(context: &'a dyn AssetContext) -> Self {
        Self {
            archive: Archive::new(context),
            level: Level::default(),
            known: HashMap::new(),
            bones: HashMap::new(),
            pickups: HashMap::new(),
        }
    }

    fn read(&mut self) -> io::Result<()> {
        for code in GEOMETRY {
            for member in self.of_level(code) {
                self.geometry(&member)?;
            }
        }
        self.read_pickups()?;
        for code in OBJECTS {
            for member in self.of_level(code) {
                let Some(object) = self.archive.object(&member)? else {
                    continue;
                };
                self.object(&member, &object)?;
            }
        }
        for member in self.of_level(*b"TRIG") {
            if let Some(object) = self.archive.object(&member)? {
                self.mark("triggers", &member, Extent::of(&object).mark());
            }
        }
        self.paths()
    }

    /// Adds the move points, each joined to its successors.
    fn paths(&mut self) -> io::Result<()> {
        let mut points = Vec::new();
        for member in self.of_level(*b"MVPT") {
            let object = self.archive.object(&member)?;
            if let Some(place) = object.as_ref().and_then(Placed::of) {
                let next = object.iter().flat_map(|object| object.list.iter());
                let next = next.filter_map(|record| record.number("id"));
                let next: Vec<_> = next.take(MAX_NEXT).collect();
                points.push((member, place.position, next));
            }
        }
        let places = points.iter();
        let places: HashMap<u32, [f32; 3]> = places
            .map(|(member, place, _)| (member.asset.id, *place))
            .collect();
        for (member, place, next) in &points {
            let ends = next.iter().filter_map(|id| places.get(id));
            let lines = ends.flat_map(|&end| [[0.0; 3], subtract(end, *place).map(finite)]);
            let mark = Mark {
                transform: Transform::at(place.map(finite)),
                lines: lines.collect(),
            };
            self.mark("paths", member, Some(mark));
        }
        Ok(())
    }

    fn mark(&mut self, group: &'static str, member: &Member, mark: Option<Mark>) {
        if let Some(mark) = mark {
            let name = self.archive.name(member);
            self.level.mark(group, &name, identity(member), mark);
        }
    }

    /// Returns the assets of a type in this archive and in other archives of the same
    /// level, which have the same name.
    fn of_level(&self, code: [u8; 4]) -> Vec<Member> {
        let context = self.archive.context;
        let stem = |file: AssetRef| {
            let name = context.archive_of(file).to_ascii_lowercase();
            let stem = name.split('.').next().unwrap_or_default();
            stem.to_owned()
        };
        let own = context.assets().first().map(|&file| stem(file));
        let mut beside = context.find_type_beside(code);
        beside.retain(|&file| Some(stem(file)) == own);
        let files = context.find_type(code).into_iter().chain(beside);
        files.filter_map(|file| self.archive.member(file)).collect()
    }

    fn geometry(&mut self, member: &Member) -> io::Result<()> {
        let name = self.archive.name(member);
        let pieces = self.model(member, &name)?;
        if !pieces.is_empty() {
            let place = [Piece {
                meshes: pieces,
                parent: None,
                transform: Transform::IDENTITY,
            }];
            self.level
                .put(&name, identity(member), Transform::IDENTITY, &place);
        }
        Ok(())
    }

    /// Returns the meshes of a model.
    fn model(&mut self, member: &Member, name: &str) -> io::Result<Vec<usize>> {
        let Some(bytes) = self.archive.read(member)? else {
            return Ok(Vec::new());
        };
        if is_level_info(&bytes) {
            return Ok(Vec::new());
        }
        let Ok(model) = model::parse(&bytes) else {
            self.level.omit(format!("{name} cannot be read."));
            return Ok(Vec::new());
        };
        let bones = set::places_of_bones(&model);
        if !bones.is_empty() {
            self.bones.insert(member.asset.id, bones);
        }
        let archive = &self.archive;
        let state = |name: &str| {
            // Parsing counts as reading.
            let file = find_texture(name, archive.context);
            match file.map_or(Ok(()), |file| archive.count(file)) {
                Ok(()) => state_of(name, archive.context),
                Err(error) => TextureState::Unreadable(error.to_string()),
            }
        };
        let atomics = blending::of_atomics(member.asset.id, &model, archive.context);
        Ok(self.level.model(name, &model, &atomics, false, state))
    }

    /// Reads the models of pickups from a table shared by all levels.
    fn read_pickups(&mut self) -> io::Result<()> {
        let context = self.archive.context;
        let beside = context.find_type_beside(*b"PICK");
        for file in context.find_type(*b"PICK").into_iter().chain(beside) {
            let Some(member) = self.archive.member(file) else {
                continue;
            };
            let Some(bytes) = self.archive.read(&member)? else {
                continue;
            };
            let facts = member.origin().facts;
            let Ok(list) = parse_list(&bytes, &facts, *b"PICK") else {
                continue;
            };
            for row in list.rows.iter() {
                if let (Some(pickup), Some(model)) = (row.number("pickup"), row.number("model")) {
                    self.pickups.entry(pickup).or_insert(model);
                }
            }
        }
        Ok(())
    }

    fn object(&mut self, member: &Member, object: &Object) -> io::Result<()> {
        let Some(placed) = Placed::of(object) else {
            return Ok(());
        };
        let pickup = match object.field("pickup") {
            Some(Value::Id(id)) => self.pickups.get(&id).copied(),
            _ => None,
        };
        let mut pieces = self.pieces(placed.model)?;
        if let Some(pickup) = pickup.filter(|_| pieces.is_empty()) {
            pieces = self.pieces(pickup)?;
        }
        let place = object_transform(
            placed.position,
            placed.angles.unwrap_or_default(),
            placed.scale.unwrap_or_default(),
        );
        let name = self.archive.name(member);
        self.level.put(&name, identity(member), place, &pieces);
        Ok(())
    }

    /// Returns the pieces of the model or model set with this id.
    fn pieces(&mut self, id: u32) -> io::Result<Vec<Piece>> {
        if let Some(known) = self.known.get(&id) {
            return Ok(known.clone());
        }
        let pieces = match self.archive.with_id(id) {
            Some(member) if member.asset.code == *b"MODL" => self.single(&member)?,
            Some(member) if member.asset.code == *b"MINF" => self.set(&member)?,
            _ => Vec::new(),
        };
        self.known.insert(id, pieces.clone());
        Ok(pieces)
    }

    fn single(&mut self, member: &Member) -> io::Result<Vec<Piece>> {
        let name = self.archive.name(member);
        let meshes = self.model(member, &name)?;
        let piece = (!meshes.is_empty()).then_some(Piece {
            meshes,
            parent: None,
            transform: Transform::IDENTITY,
        });
        Ok(piece.into_iter().collect())
    }

    /// Returns the models of a MINF, each at a bone of another model.
    fn set(&mut self, member: &Member) -> io::Result<Vec<Piece>> {
        let bytes = self.archive.read(member)?.unwrap_or_default();
        let facts = member.origin().facts;
        let Ok(info) = parse_model_info(&bytes, &facts) else {
            return Ok(Vec::new());
        };
        let mut pieces: Vec<Piece> = Vec::new();
        let mut models = Vec::new();
        for row in info.models.iter().take(MAX_MODELS) {
            let id = row.number("model").unwrap_or_default();
            let model = self.archive.with_id(id);
            let model = model.filter(|model| model.asset.code == *b"MODL");
            let meshes = match (self.known.get(&id), model) {
                (Some(known), _) => known
                    .iter()
                    .flat_map(|piece| piece.meshes.clone())
                    .collect(),
                (None, Some(model)) => {
                    let found = self.single(&model)?;
                    let meshes = found
                        .iter()
                        .flat_map(|piece| piece.meshes.clone())
                        .collect();
                    self.known.insert(id, found);
                    meshes
                }
                (None, None) => Vec::new(),
            };
            let Attached { parent, bone, .. } = Attached::of(&row, pieces.len());
            let bones = parent.and_then(|parent| self.bones.get(&models[parent]));
            let place = bones.zip(bone).and_then(|(bones, bone)| bones.get(bone));
            models.push(id);
            pieces.push(Piece {
                meshes,
                parent,
                transform: place.copied().unwrap_or(Transform::IDENTITY),
            });
        }
        let has_meshes = pieces.iter().any(|piece| !piece.meshes.is_empty());
        Ok(if has_meshes { pieces } else { Vec::new() })
    }
}

/// Returns the asset of a node.
fn identity(member: &Member) -> Identity {
    Identity {
        id: member.asset.id,
        code: member.asset.code,
    }
}
