//! The animations of models: their assignment by the tables of an archive, and their
//! keys as motions of bones.
//!
//! The animations of a model are those in the table of each MINF that begins with the
//! model, and those named by each object that shows it (FORMATS, HIP assets 8).

use std::collections::{HashMap, HashSet};
use std::io;

use crate::Facts;
use crate::archive::{Archive, Member};
use crate::names::Names;
use crate::object::is_entity;
use crate::record::{Rows, Value};
use crate::tables::{
    Animation, parse_animation, parse_animation_table, parse_list, parse_model_info,
};
use hpimount_assets::model::math::finite;
use hpimount_assets::model::scene::{Scene, Track};
use hpimount_assets::model::{KEY_BYTES, MAX_POSES, Reservation};
use hpimount_assets::view::context::shared;
use hpimount_assets::view::{AssetContext, AssetKey, Shared};
use hpimount_renderware::export::{Motions, skeleton, unit_rotation};

/// An animation that a model is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ModelAnimation {
    /// Id of the model.
    pub(crate) model: u32,
    /// Id of the animation.
    pub(crate) animation: u32,
    /// Id of the asset with the reference: a MINF or an object.
    pub(crate) by: u32,
}

/// The fields of an object, or of an element of its lists, that hold a model and its
/// animations: an animation table, a list, or a single animation.
const PAIRS: [(&str, &str); 12] = [
    ("model", "anim_list"),
    ("model", "animation_list"),
    ("model", "anim"),
    ("model", "on_anim"),
    ("model", "anim0"),
    ("model", "anim1"),
    ("model", "anim2"),
    ("rest_model", "rest_anim"),
    ("bound_model", "idle_anim"),
    ("bound_model", "move_through_anim"),
    ("bound_model", "hit_anim"),
    ("burn_model", "burn_anim"),
];

/// The list with the animations of a part's model.
const ANIMATIONS: &str = "animations";

/// Returns whether objects of a type may name a model and its animations.
fn animates(code: [u8; 4]) -> bool {
    is_entity(code) || matches!(&code, b"DEST" | b"DUPC" | b"DYNA" | b"PRJT" | b"RANM")
}

/// Maximum number of animations of the models of an archive. An archive of the games
/// has a few hundred.
pub(crate) const MAX_GIVEN: usize = 1 << 16;

/// The assignments of animations to models in an archive and adjacent ones, without
/// duplicates.
struct ModelAnimations(Vec<ModelAnimation>);

impl Shared for ModelAnimations {
    fn memory(&self) -> usize {
        size_of::<Self>() + self.0.capacity() * size_of::<ModelAnimation>()
    }
}

/// Returns the animations of a model, in the order of discovery.
pub(crate) fn of_model(model: u32, context: &dyn AssetContext) -> Vec<ModelAnimation> {
    chosen(context, |given| given.model == model)
}

/// Returns the models of an animation.
pub(crate) fn of_animation(animation: u32, context: &dyn AssetContext) -> Vec<ModelAnimation> {
    chosen(context, |given| given.animation == animation)
}

fn chosen(
    context: &dyn AssetContext,
    is_chosen: impl Fn(&ModelAnimation) -> bool,
) -> Vec<ModelAnimation> {
    let all = shared(context, "HIP animations", ModelAnimations::new);
    all.map_or_else(Vec::new, |all| {
        all.0.iter().copied().filter(is_chosen).collect()
    })
}

impl ModelAnimations {
    fn new(context: &dyn AssetContext) -> Self {
        let mut finder = Finder {
            archive: Archive::new(context),
            given: Vec::new(),
            firsts: HashMap::new(),
        };
        // Keep the assignments found before too many bytes were read.
        let _ = finder.find();
        let mut known = HashSet::new();
        let mut given = finder.given;
        given.retain(|one| known.insert((one.model, one.animation)));
        given.shrink_to_fit();
        Self(given)
    }
}

/// Finds the animations of models.
struct Finder<'a> {
    archive: Archive<'a>,
    given: Vec<ModelAnimation>,
    /// The first model of each MINF.
    firsts: HashMap<u32, u32>,
}

impl Finder<'_> {
    fn find(&mut self) -> io::Result<()> {
        for member in self.members(*b"MINF") {
            self.model_info(&member)?;
        }
        let objects: Vec<_> = self.archive.of_type(animates).collect();
        objects.iter().try_for_each(|member| self.object(member))
    }

    /// Returns the assets of a type in this archive, and then in adjacent ones.
    fn members(&self, code: [u8; 4]) -> Vec<Member> {
        let context = self.archive.context;
        let files = context.find_type(code).into_iter();
        let files = files.chain(context.find_type_beside(code));
        files.filter_map(|file| self.archive.member(file)).collect()
    }

    fn model_info(&mut self, member: &Member) -> io::Result<()> {
        let bytes = self.archive.read(member)?.unwrap_or_default();
        let Ok(info) = parse_model_info(&bytes, &member.origin().facts) else {
            return Ok(());
        };
        let first = info.models.get(0).and_then(|row| row.number("model"));
        let Some(model) = first.filter(|&model| model != 0) else {
            return Ok(());
        };
        self.firsts.insert(member.asset.id, model);
        self.give(model, info.animation_table, member.asset.id)
    }

    fn object(&mut self, member: &Member) -> io::Result<()> {
        let Some(object) = self.archive.object(member)? else {
            return Ok(());
        };
        let by = member.asset.id;
        self.pairs(by, &|name| object.field(name))?;
        let rows = object.lists.iter().flat_map(|(_, rows)| rows.iter());
        for row in rows {
            self.pairs(by, &|name| row.get(name))?;
        }
        for part in &object.parts {
            if let (Some(model), Some((ANIMATIONS, rows))) =
                (part.record.number("model"), &part.list)
            {
                let animations = rows.iter().filter_map(|row| row.number("animation"));
                for animation in animations {
                    self.give(self.shown(model), animation, by)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the visible model of an asset: itself, or the first model of a MINF.
    fn shown(&self, model: u32) -> u32 {
        self.firsts.get(&model).copied().unwrap_or(model)
    }

    /// Assigns animations to the models in adjacent fields.
    fn pairs(&mut self, by: u32, field: &dyn Fn(&str) -> Option<Value>) -> io::Result<()> {
        for (model, animations) in PAIRS {
            if let (Some(Value::Id(model)), Some(Value::Id(animations))) =
                (field(model), field(animations))
            {
                self.give(self.shown(model), animations, by)?;
            }
        }
        Ok(())
    }

    /// Assigns an animation, or those in a table or list, to a model.
    fn give(&mut self, model: u32, animations: u32, by: u32) -> io::Result<()> {
        let member = self.archive.with_id(animations);
        let Some(member) = member.filter(|_| model != 0) else {
            return Ok(());
        };
        let code = member.asset.code;
        let facts = member.origin().facts;
        let bytes = || Ok::<_, io::Error>(self.archive.read(&member)?.unwrap_or_default());
        let ids = match &code {
            b"ANIM" => vec![animations],
            b"ATBL" => {
                ids_of(parse_animation_table(&bytes()?, &facts).map(|table| table.animations))
            }
            b"ALST" => ids_of(parse_list(&bytes()?, &facts, code).map(|list| list.rows)),
            _ => Vec::new(),
        };
        let left = MAX_GIVEN - self.given.len();
        let given = ids.into_iter().filter(|&id| id != 0).take(left);
        self.given.extend(given.map(|animation| ModelAnimation {
            model,
            animation,
            by,
        }));
        Ok(())
    }
}

/// Returns the animations in the readable rows of a table.
fn ids_of<E>(rows: Result<Rows, E>) -> Vec<u32> {
    let rows = rows.unwrap_or_default();
    let ids = rows.iter().filter_map(|row| row.number("animation"));
    ids.collect()
}

/// Adds bone animations to a scene, where `nodes` are the nodes of the bones. Ignores
/// other bones and leaves other nodes unchanged. Returns the memory for the keys, to be
/// held until the scene is written.
pub(crate) fn animate(
    scene: &mut Scene<'_>,
    nodes: &[usize],
    animations: impl IntoIterator<Item = u32>,
    context: &dyn AssetContext,
) -> io::Result<Vec<Reservation>> {
    let mut motions = Motions::default();
    let mut memory = Vec::new();
    for id in animations {
        memory.extend(add(&mut motions, id, nodes, context)?);
    }
    motions.put_into(scene);
    Ok(memory)
}

/// Adds a bone animation, and returns the memory for its keys.
fn add(
    motions: &mut Motions,
    id: u32,
    nodes: &[usize],
    context: &dyn AssetContext,
) -> io::Result<Option<Reservation>> {
    let name = Names(context).name_or_id(id);
    let name = name.strip_suffix(".anm").unwrap_or(&name);
    let animation = read(id, context);
    if let Ok(animation) = &animation
        && usize::from(animation.bones) != nodes.len()
    {
        let (bones, count) = (animation.bones, nodes.len());
        motions.note(format!(
            "Animation {name} has {bones} bones, the skeleton {count}."
        ));
    }
    let moved = animation.and_then(|animation| Ok((keys(&animation, nodes.len())?, animation)));
    let (keys, animation) = match moved {
        Ok(found) => found,
        Err(why) => {
            motions.add(name, Err(why));
            return Ok(None);
        }
    };
    let count: usize = keys.iter().map(Vec::len).sum();
    let memory = context.reserve(count * KEY_BYTES)?;
    motions.add(name, Ok(tracks(&animation, &keys, nodes)));
    Ok(memory)
}

/// Returns the skeleton of the first model of an animation that has one, moved by the
/// animation, and the memory for the keys.
pub(crate) fn skeleton_of(
    id: u32,
    context: &dyn AssetContext,
) -> io::Result<Option<(Scene<'static>, Vec<Reservation>)>> {
    let mut given = of_animation(id, context).into_iter();
    let found = given.find_map(|given| {
        let bytes = context.read(context.find(AssetKey::Id(given.model))?)?;
        let model = super::parse(&bytes).ok()?;
        let mut clumps = model.clumps.into_iter();
        clumps.find_map(|clump| Some((skeleton::bones(&clump)?, clump)))
    });
    let Some((nodes, clump)) = found else {
        return Ok(None);
    };
    let mut scene = Scene::default();
    skeleton::add_frames(&clump, None, &mut scene);
    let memory = animate(&mut scene, &nodes, [id], context)?;
    Ok((!scene.motions.is_empty()).then_some((scene, memory)))
}

/// Returns the animation with this id, or the reason why it is not available.
pub(crate) fn read(id: u32, context: &dyn AssetContext) -> Result<Animation, String> {
    let file = context.find(AssetKey::Id(id));
    let asset = file.and_then(|file| Some((file, context.asset_of(file)?)));
    let Some((file, asset)) = asset else {
        return Err("it is in no available archive".to_owned());
    };
    if asset.code != *b"ANIM" {
        return Err("it is another type of asset".to_owned());
    }
    let bytes = context.read(file).ok_or("it cannot be read")?;
    let facts = Facts {
        platform: asset.platform,
        endian: asset.endian,
        game: asset.game,
    };
    parse_animation(&bytes, &facts).map_err(|incomplete| incomplete.error.to_string())
}

/// Returns the key numbers of the first bones, at most [`MAX_POSES`] together.
pub(crate) fn keys(animation: &Animation, bones: usize) -> Result<Vec<Vec<u16>>, String> {
    let mut keys = animation.tracks()?;
    keys.truncate(bones);
    match keys.iter().map(Vec::len).sum() {
        0..=MAX_POSES => Ok(keys),
        count => Err(format!("it has {count} keys, more than {MAX_POSES}")),
    }
}

/// Returns the tracks of the bones with nodes, from their key numbers.
fn tracks(animation: &Animation, keys: &[Vec<u16>], nodes: &[usize]) -> Vec<Track> {
    let tracks = keys.iter().zip(nodes).map(|(keys, &node)| {
        let (times, translations, rotations) = poses(animation, keys).collect();
        Track {
            node,
            times,
            translations,
            rotations,
        }
    });
    tracks.collect()
}

/// Returns the time, translation and rotation of each key.
pub(crate) fn poses<'a>(
    animation: &'a Animation,
    keys: &'a [u16],
) -> impl Iterator<Item = (f32, [f32; 3], [f32; 4])> + 'a {
    keys.iter().filter_map(|&key| {
        let key = animation.keys.get(usize::from(key))?;
        let time = animation.times.get(usize::from(key.time))?;
        let place = key.translation.map(finite);
        Some((*time, place, unit_rotation(key.rotation)))
    })
}
