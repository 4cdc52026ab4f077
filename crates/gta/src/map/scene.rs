//! Maps as scenes: each model once, and one node per object (FORMATS, GTA 6.7).

use std::collections::{BTreeMap, HashMap};

use super::objects::{Object, Objects};
use crate::axes;
use crate::dff;
use crate::dff::export::sizes;
use crate::dff::plan::planned;
use crate::dff::textures::Source;
use crate::models::Models;
use crate::shear::Bender;
use hpimount_assets::model::scene::{Material, MaterialNames, Mesh, Node, Texture};
use hpimount_assets::model::{CORNER_BYTES, MAX_CORNERS, Reservation, Scene, Transform, gltf};
use hpimount_assets::view::{AssetContext, AssetRef};
use hpimount_containers::io::Warnings;
use hpimount_renderware::clump::Placement;

/// Maximum number of nodes of a map. A map file of the games has a thousand
/// objects.
const MAX_NODES: usize = 1 << 16;

/// Maximum number of corners of a map, with shared meshes counted once.
const MAX_MAP_CORNERS: usize = 4 * MAX_CORNERS;

/// Message for a model that is omitted because memory is short.
const NO_MEMORY: &str = "the memory budget has no room for it";

/// A mesh of a model, and its place in the model.
type Piece = (usize, Transform);

/// A map under construction.
struct Map<'a> {
    models: &'a Models,
    context: &'a dyn AssetContext,
    scene: Scene<'static>,
    /// The models, in order of first use.
    placed: Vec<Placed>,
    /// The node of each object.
    objects: Vec<Option<usize>>,
    /// Numbers of the models, by lower-case name.
    known: HashMap<String, usize>,
    sources: Vec<Source>,
    /// Numbers of the sources.
    pictures: HashMap<(AssetRef, usize), usize>,
    names: MaterialNames,
    /// Corners of the models that are written.
    corners: usize,
    /// Corners of those that are too large.
    left_out: usize,
    notes: Warnings,
    reserved: Vec<Reservation>,
    /// Memory for the meshes in the file.
    room: Vec<Reservation>,
}

/// A model of a map.
pub(super) struct Placed {
    pub(super) name: String,
    /// Number of the objects that show it.
    pub(super) objects: usize,
    /// Number of corners; 0 if the model cannot be read.
    pub(super) corners: usize,
    /// The reason why it is omitted, if it is.
    pub(super) problem: Option<String>,
    pieces: Vec<Piece>,
}

/// A map, the textures of its pictures, and its memory.
pub(super) struct Built {
    pub(super) scene: Scene<'static>,
    pub(super) models: Vec<Placed>,
    /// The node of each object; `None` if omitted.
    pub(super) objects: Vec<Option<usize>>,
    pub(super) sources: Vec<Source>,
    /// Memory for the meshes in the file, to be dropped before writing.
    pub(super) room: Vec<Reservation>,
    _reserved: Vec<Reservation>,
}

/// Returns the scene of objects.
pub(super) fn build(objects: &Objects, models: &Models, context: &dyn AssetContext) -> Built {
    let mut map = Map {
        models,
        context,
        scene: Scene::default(),
        placed: Vec::new(),
        objects: Vec::new(),
        known: HashMap::new(),
        sources: Vec::new(),
        pictures: HashMap::new(),
        names: MaterialNames::default(),
        corners: 0,
        left_out: 0,
        notes: Warnings::default(),
        reserved: Vec::new(),
        room: Vec::new(),
    };
    let root = map.node("map".to_owned(), None, axes::upright());
    let mut groups = BTreeMap::new();
    let mut omitted = 0;
    for object in &objects.objects {
        let group = *groups.entry(group_of(object)).or_insert_with_key(|name| {
            let group = map.node(name.clone(), Some(root), Transform::IDENTITY);
            if name != WORLD {
                map.scene.hidden.insert(group);
            }
            group
        });
        let node = map.put(object, group);
        omitted += usize::from(node.is_none());
        map.objects.push(node);
    }
    map.finish(objects.unplaced, omitted)
}

/// Group of the near objects of the outside world.
const WORLD: &str = "world";

fn group_of(object: &Object) -> String {
    match (object.interior, object.is_lod) {
        (0, false) => WORLD.to_owned(),
        (0, true) => "lod".to_owned(),
        (interior, _) => format!("interior {interior}"),
    }
}

impl Map<'_> {
    fn node(&mut self, name: String, parent: Option<usize>, transform: Transform) -> usize {
        self.scene.nodes.push(Node {
            name,
            parent,
            transform,
            mesh: None,
        });
        self.scene.nodes.len() - 1
    }

    /// Adds an object, and returns its node, or `None` if there are too many.
    fn put(&mut self, object: &Object, group: usize) -> Option<usize> {
        let key = object.model.to_ascii_lowercase();
        let number = self.known.get(&key).copied();
        let number = number.unwrap_or_else(|| {
            let model = self.model(&object.model);
            self.placed.push(model);
            self.known.insert(key, self.placed.len() - 1);
            self.placed.len() - 1
        });
        let placed = &mut self.placed[number];
        placed.objects += 1;
        let pieces = placed.pieces.clone();
        if self.scene.nodes.len() + 1 + pieces.len() > MAX_NODES {
            return None;
        }
        let transform = Transform {
            rotation: object.rotation,
            ..Transform::at(object.position)
        };
        let root = self.node(object.model.clone(), Some(group), transform);
        for (mesh, transform) in pieces {
            let is_free = self.scene.nodes[root].mesh.is_none();
            let node = match is_free && transform == Transform::IDENTITY {
                true => root,
                false => self.node(object.model.clone(), Some(root), transform),
            };
            self.scene.nodes[node].mesh = Some(mesh);
        }
        Some(root)
    }

    /// Adds a model.
    fn model(&mut self, name: &str) -> Placed {
        let mut placed = Placed {
            name: name.to_owned(),
            objects: 0,
            corners: 0,
            problem: None,
            pieces: Vec::new(),
        };
        match self.pieces(name, &mut placed.corners) {
            Ok(pieces) => placed.pieces = pieces,
            Err(why) => {
                self.notes.push(format!("Model {name} is omitted: {why}."));
                placed.problem = Some(why);
            }
        }
        placed
    }

    /// Adds the meshes of a model and counts its corners. Fails with the reason why it
    /// is omitted.
    fn pieces(&mut self, name: &str, corners: &mut usize) -> Result<Vec<Piece>, String> {
        let file = self.models.file_of(name).ok_or("it is nowhere")?;
        let bytes = self.context.read(file).ok_or("it cannot be read")?;
        let model = dff::parse(&bytes).map_err(|incomplete| incomplete.error.to_string())?;
        let (plan, sources) = planned(name, &model, self.models, self.context);
        let problem = plan.clumps.first().ok_or("it has no clump")?;
        if let Some(why) = problem {
            return Err(why.clone());
        }
        *corners = sizes(&model.clumps[0]).0;
        let reserved = self.reserve(*corners, *corners * CORNER_BYTES)?;
        let mut scene = plan.scene(&model.clumps[0]);
        // A node above all objects turns the axes.
        scene.nodes[0].transform = Transform::IDENTITY;
        let places = places(&mut scene);
        let room = self.reserve(*corners, scene.meshes.iter().map(gltf::bytes_of).sum())?;
        self.reserved.extend(reserved);
        self.room.extend(room);
        self.corners += *corners;
        let materials = std::mem::take(&mut scene.materials).into_iter();
        let materials: Vec<usize> = materials
            .map(|material| self.material(material, &sources))
            .collect();
        let first = self.scene.meshes.len();
        let meshes = std::mem::take(&mut scene.meshes).into_iter();
        self.scene.meshes.extend(meshes.map(|mesh| {
            Mesh {
                name: format!("{name} {}", mesh.name),
                // Placed objects are not skinned.
                weights: Vec::new(),
                parts: mesh
                    .parts
                    .into_iter()
                    .map(|mut part| {
                        part.material = materials.get(part.material).copied().unwrap_or_default();
                        part
                    })
                    .collect(),
                ..mesh
            }
        }));
        let places = places.into_iter();
        Ok(places.map(|(mesh, place)| (first + mesh, place)).collect())
    }

    /// Reserves memory for a model with this number of corners. All models together may
    /// have [`MAX_MAP_CORNERS`].
    fn reserve(&mut self, corners: usize, bytes: usize) -> Result<Option<Reservation>, String> {
        let reserved = match self.corners + corners <= MAX_MAP_CORNERS {
            true => self.context.reserve(bytes).map_err(|_| NO_MEMORY),
            false => Err("the map has too many corners with it"),
        };
        reserved.map_err(|why| {
            self.left_out += corners;
            why.to_owned()
        })
    }

    /// Adds a material, with a picture from `sources`.
    fn material(&mut self, mut material: Material, sources: &[Option<Source>]) -> usize {
        if let Some(texture) = material.texture.take() {
            let source = sources.get(texture.picture).cloned().flatten();
            material.texture = source.map(|source| Texture {
                picture: self.picture(source),
                ..texture
            });
        }
        material.name = self.names.unique(&material.name);
        self.scene.materials.push(material);
        self.scene.materials.len() - 1
    }

    /// Returns the number of a picture.
    fn picture(&mut self, source: Source) -> usize {
        let key = (source.file, source.number);
        *self.pictures.entry(key).or_insert_with(|| {
            self.sources.push(source);
            self.sources.len() - 1
        })
    }

    fn finish(mut self, unplaced: usize, omitted: usize) -> Built {
        let notes = &mut self.scene.notes;
        notes.push(axes::NOTE.to_owned());
        notes.push(
            "Interiors, and what replaces objects from afar, are below hidden nodes. An object \
             without a model is a node without a mesh."
                .to_owned(),
        );
        if unplaced > 0 {
            notes.push(format!("{unplaced} objects cannot be placed."));
        }
        if omitted > 0 {
            notes.push(format!(
                "{omitted} objects are omitted: the map has more than {MAX_NODES} nodes."
            ));
        }
        if self.left_out > 0 {
            let corners = self.corners + self.left_out;
            let memory = (corners * CORNER_BYTES).div_ceil(1 << 20);
            notes.push(format!(
                "The whole map has {corners} corners and takes {memory} MiB of the memory budget \
                 and the size of this file; at most {MAX_MAP_CORNERS} corners are written."
            ));
        }
        notes.extend(self.notes.texts());
        Built {
            scene: self.scene,
            models: self.placed,
            objects: self.objects,
            sources: self.sources,
            room: self.room,
            _reserved: self.reserved,
        }
    }
}

/// Returns the meshes of a model's visible nodes, and their places in the model.
fn places(scene: &mut Scene<'_>) -> Vec<Piece> {
    let shown = scene.shown().map(|(node, ..)| {
        let wanted = Placement::of(|point| scene.point(node, point));
        (node, wanted, wanted.transform())
    });
    let shown: Vec<_> = shown.collect();
    let mut bender = Bender::new(scene);
    let mut places = Vec::new();
    for (node, wanted, place) in shown {
        let given = Placement::of(|point| place.apply(point));
        bender.bend(scene, node, &given, &wanted);
        places.extend(scene.nodes[node].mesh.map(|mesh| (mesh, place)));
    }
    places
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use bytes::Bytes;

    use super::*;
    use crate::document::parse;
    use crate::document::schema::IPL;
    use fixtures::clump as build;
    use hpimount_assets::view::{AssetKey, MakeShared, Shared};

    /// A game whose models are squares.
    struct Squares {
        /// Bytes of memory that are left.
        memory: Arc<AtomicUsize>,
    }

    impl Squares {
        fn new(memory: usize) -> Self {
            let memory = Arc::new(memory.into());
            Self { memory }
        }
    }

    /// Reserved memory.
    struct Reserved(Arc<AtomicUsize>, usize);

    impl Drop for Reserved {
        fn drop(&mut self) {
            self.0.fetch_add(self.1, Relaxed);
        }
    }

    impl AssetContext for Squares {
        fn name(&self) -> &str {
            "town.ipl"
        }

        fn find(&self, _: AssetKey<'_>) -> Option<AssetRef> {
            None
        }

        fn read(&self, _file: AssetRef) -> Option<Bytes> {
            let square = build::square(&["wood"], &[]);
            let frames = build::frames(&[("square", -1)]);
            Some(build::clump(&frames, &[square], &[build::atomic(0, 0)], &[]).into())
        }

        fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
            Some(make(self).into())
        }

        fn reserve(&self, bytes: usize) -> io::Result<Option<Reservation>> {
            let left = self.memory.load(Relaxed).checked_sub(bytes);
            let left = left.ok_or(io::ErrorKind::OutOfMemory)?;
            self.memory.store(left, Relaxed);
            Ok(Some(Box::new(Reserved(Arc::clone(&self.memory), bytes))))
        }
    }

    const PLACEMENTS: &str = "inst\n1 near 0 0 0 0 0 0 0 1 2\n2 other 0 0 0 0 0 0 0 1 -1\n\
                              3 far 0 0 0 0 0 0 0 1 -1\n4 near 0 9 9 9 0 0 0 1 -1\nend\n";

    #[test]
    fn a_map_is_written_with_any_memory() {
        let document = parse(PLACEMENTS.as_bytes(), &IPL).unwrap();
        let models = Models::with_files(&["near", "other", "far"]);
        let mut most = 0;
        for memory in (0..4096).step_by(32) {
            let game = Squares::new(memory);
            let objects = Objects::of_text(&document, &models, &game);
            let mut file = Vec::new();
            let written =
                super::super::view::write_map(&objects, &models, "map.glb", &game, &mut file);
            written.unwrap_or_else(|error| panic!("{memory}: {error}"));
            assert!(file.len() >= most, "{memory}");
            most = file.len();
            assert_eq!(game.memory.load(Relaxed), memory);
        }
    }

    #[test]
    fn a_map_beyond_the_memory_omits_models_and_says_what_it_takes() {
        let document = parse(PLACEMENTS.as_bytes(), &IPL).unwrap();
        let game = Squares::new(2 * 6 * (CORNER_BYTES + 50));
        let models = Models::with_files(&["near", "other", "far"]);
        let objects = Objects::of_text(&document, &models, &game);
        let built = build(&objects, &models, &game);
        let scene = &built.scene;
        let mesh_of = |name: &str| -> Vec<Option<usize>> {
            let named = scene.nodes.iter().filter(|node| node.name == name);
            named.map(|node| node.mesh).collect()
        };
        // Models are not duplicated when they are placed repeatedly.
        assert_eq!(scene.meshes.len(), 2);
        let is_shown = |name: &str| {
            let children = scene.nodes.iter().filter(|node| node.mesh.is_some());
            children.filter(|node| node.name == name).count()
        };
        assert_eq!(
            [is_shown("near"), is_shown("other"), is_shown("far")],
            [2, 1, 0]
        );
        assert_eq!(mesh_of("far"), [None]);
        let lod = scene.nodes.iter().position(|node| node.name == "lod");
        assert!(scene.hidden.contains(&lod.unwrap()));
        for note in [
            "Model far is omitted: the memory budget has no room for it.",
            "The whole map has 18 corners and takes 1 MiB of the memory budget and the \
             size of this file; at most 4194304 corners are written.",
        ] {
            assert!(
                scene.notes.iter().any(|known| known == note),
                "{:?}",
                scene.notes
            );
        }
        // The table takes as much memory as the map.
        drop(built);
        let mut table = Vec::new();
        super::super::view::write_map(&objects, &models, "models.tsv", &game, &mut table).unwrap();
        assert_eq!(
            String::from_utf8(table).unwrap(),
            format!(
                "model\tobjects\tcorners\tproblem\nnear\t2\t6\t\nother\t1\t6\t\n\
                 far\t1\t6\t{NO_MEMORY}\n"
            )
        );
    }
}
