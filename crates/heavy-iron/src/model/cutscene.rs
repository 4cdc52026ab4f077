//! A model in a cutscene as a scene with its animation, which is stored in time spans
//! (FORMATS, HIP assets 7).

use std::io::{self, Write};

use bytes::Bytes;

use super::animated::{keys, poses};
use super::level::{self, Level};
use super::set::{Attached, add_model, file_of};
use crate::Facts;
use crate::record::{Record, Value, layouts, size};
use crate::tables::{Animation, parse_animation};
use hpimount_assets::model::math::finite;
use hpimount_assets::model::scene::Track;
use hpimount_assets::model::{KEY_BYTES, MAX_POSES, Scene, gltf};
use hpimount_assets::view::AssetContext;
use hpimount_renderware::export::{Motions, TextureUse};

/// Maximum total size of the animations of a model in bytes. Spans may overlap. Spans
/// in the games have a few kilobytes.
const MAX_BYTES: usize = 1 << 24;

layouts! {
    /// The header of a time span's animation.
    HEAD { root: U32, translation: Vec3 }
}

/// A model and its animation.
#[derive(Debug)]
pub(crate) struct Moved {
    /// The id of the model.
    pub(crate) id: u32,
    /// The model, if the cutscene contains it.
    pub(crate) model: Option<Bytes>,
    /// The starts of its time spans in seconds, and the animation of each, with its
    /// header.
    pub(crate) spans: Vec<(f32, Bytes)>,
}

/// Writes the model with its animation as a GLB file.
pub(crate) fn write(
    moved: &Moved,
    facts: &Facts,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lengths = moved.spans.iter().map(|(_, bytes)| bytes.len());
    // A key takes at least one byte of an animation.
    let keys = lengths.sum::<usize>().min(MAX_POSES);
    let _memory = context.reserve(keys * KEY_BYTES)?;
    let (scene, textures) = scene_of(moved, facts, context);
    let pictures = |number| level::picture_of(&textures, number, context);
    gltf::write(&scene, &pictures, &|bytes| context.reserve(bytes), out)
}

/// Returns the scene of a model, and the textures by number.
fn scene_of(
    moved: &Moved,
    facts: &Facts,
    context: &dyn AssetContext,
) -> (Scene<'static>, Vec<TextureUse>) {
    let in_archive = || context.read(file_of(moved.id, context)?);
    let bytes = moved.model.clone().or_else(in_archive);
    let mut level = Level::default();
    let model = (moved.id, bytes);
    let part = add_model(model, Attached::ALONE, None, context, &mut level);
    let (mut scene, textures) = level.finish("The model is at its place in the cutscene.");
    let mut motions = Motions::default();
    let is_rigid = part.joints.is_empty();
    let nodes = match is_rigid {
        true => vec![part.node],
        false => part.joints,
    };
    let mut tracks = joined(moved, &nodes, facts, &mut motions);
    if let (true, Ok(tracks)) = (is_rigid, &mut tracks) {
        // The game faces a model without bones the other way.
        let rotations = tracks.iter_mut().flat_map(|track| &mut track.rotations);
        rotations.for_each(|[.., w]| *w = -*w);
    }
    motions.add("cutscene", tracks);
    motions.put_into(&mut scene);
    (scene, textures)
}

/// Returns the tracks of these nodes through all time spans. Unreadable spans are
/// omitted with a note.
fn joined(
    moved: &Moved,
    nodes: &[usize],
    facts: &Facts,
    motions: &mut Motions,
) -> Result<Vec<Track>, String> {
    let track = |&node| Track {
        node,
        times: Vec::new(),
        translations: Vec::new(),
        rotations: Vec::new(),
    };
    let mut joined: Vec<Track> = nodes.iter().map(track).collect();
    let (mut bytes_left, mut keys_left) = (MAX_BYTES, MAX_POSES);
    for (start, bytes) in &moved.spans {
        bytes_left = bytes_left
            .checked_sub(bytes.len())
            .ok_or_else(|| format!("it has more than {MAX_BYTES} bytes"))?;
        let span = match start.is_finite() {
            true => Span::parse(bytes, nodes.len(), facts),
            false => Err("its start is not a number".to_owned()),
        };
        match span {
            Ok(span) => {
                let keys = span.keys.iter().map(Vec::len).sum();
                keys_left = keys_left
                    .checked_sub(keys)
                    .ok_or_else(|| format!("it has more than {MAX_POSES} keys"))?;
                span.add_to(&mut joined, *start);
            }
            Err(why) => motions.note(format!("The animation from {start} s is omitted: {why}.")),
        }
    }
    joined.retain(|track| !track.times.is_empty());
    match joined.is_empty() {
        true => Err("it has no keys".to_owned()),
        false => Ok(joined),
    }
}

/// The animation of a time span, starting at 0.
struct Span {
    animation: Animation,
    /// The key numbers of each bone.
    keys: Vec<Vec<u16>>,
    /// The place of the first bone, the root of the others.
    translation: [f32; 3],
}

impl Span {
    fn parse(bytes: &Bytes, bones: usize, facts: &Facts) -> Result<Self, String> {
        let head = Record::new(HEAD, facts.endian, bytes);
        let Some(Value::Vec3(translation)) = head.get("translation").filter(|_| head.is_whole())
        else {
            return Err("it is cut".to_owned());
        };
        let animation = parse_animation(&bytes.slice(size(HEAD)..), facts);
        let animation = animation.map_err(|incomplete| incomplete.error.to_string())?;
        Ok(Self {
            keys: keys(&animation, bones)?,
            animation,
            translation: translation.map(finite),
        })
    }

    /// Adds the keys of each bone to its track, delayed by `start`. The first key of a
    /// span equals the last key of the previous span.
    fn add_to(&self, joined: &mut [Track], start: f32) {
        let mut origin = self.translation;
        for (keys, track) in self.keys.iter().zip(joined) {
            for (time, place, rotation) in poses(&self.animation, keys) {
                let time = time + start;
                let is_later = track.times.last().is_none_or(|&last| time > last);
                if is_later && time.is_finite() {
                    track.times.push(time);
                    let place = std::array::from_fn(|axis| place[axis] + origin[axis]);
                    track.translations.push(place);
                    track.rotations.push(rotation);
                }
            }
            origin = [0.0; 3];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{Archives, floats, id, words};
    use crate::{Game, Platform};
    use fixtures::heavy_iron as hi;

    /// Returns the animation of a time span: bones move from 0 to x within a second.
    fn span(bones: u32, place: [f32; 3], x: u32) -> Bytes {
        let head = [words(&[0]), floats(&place), words(&[0x3142_4B53, 0])].concat();
        let counts = [words(&[bones << 16 | 2, 2 * bones]), floats(&[1.0; 3])].concat();
        let one_key = |time: u32, x: u32| words(&[time << 16, 0, 32_767 << 16 | x, 0]);
        let keys: Vec<u8> = (0..bones)
            .flat_map(|_| [one_key(0, 0), one_key(1, x)].concat())
            .collect();
        let firsts: Vec<u8> = (0..bones)
            .flat_map(|bone| (2 * bone as u16).to_be_bytes())
            .collect();
        [head, counts, keys, floats(&[0.0, 1.0]), firsts]
            .concat()
            .into()
    }

    fn tracks(model: Option<Bytes>, spans: Vec<(f32, Bytes)>) -> (Scene<'static>, Vec<Track>) {
        let id = id("figure.dff");
        let moved = Moved { id, model, spans };
        let archives = Archives::new(&[("a.HIP", b"MODL", "figure.dff", hi::figure())]);
        let facts = Facts::new(Platform::GameCube, Game::Bfbb);
        let (mut scene, _) = scene_of(&moved, &facts, &archives);
        let tracks = scene.motions.pop().map(|motion| motion.tracks);
        (scene, tracks.unwrap_or_default())
    }

    #[test]
    fn spans_follow_each_other_from_where_the_model_stands() {
        let spans = vec![
            (0.0, span(2, [10.0, 0.0, 0.0], 4)),
            (1.0, span(2, [20.0, 0.0, 0.0], 6)),
        ];
        let (scene, tracks) = tracks(None, spans);
        assert_eq!(tracks.len(), 2);
        assert_eq!(tracks[0].times, [0.0, 1.0, 2.0]);
        let x = |track: &Track| -> Vec<_> { track.translations.iter().map(|one| one[0]).collect() };
        assert_eq!(x(&tracks[0]), [10.0, 14.0, 26.0]);
        assert_eq!(x(&tracks[1]), [0.0, 4.0, 6.0]);
        let nodes: Vec<_> = scene.joints.iter().map(|joint| joint.node).collect();
        assert_eq!(nodes, [tracks[0].node, tracks[1].node]);
    }

    #[test]
    fn a_model_without_bones_moves_as_a_whole() {
        let (scene, tracks) = tracks(
            Some(hi::pyramid().into()),
            vec![(2.0, span(1, [0.0; 3], 7))],
        );
        assert!(scene.joints.is_empty());
        assert_eq!((tracks.len(), &*tracks[0].times), (1, &[2.0, 3.0][..]));
        assert_eq!(tracks[0].translations[1], [7.0, 0.0, 0.0]);
        assert_eq!(tracks[0].rotations[1], [0.0, 0.0, 0.0, -1.0]);
    }

    #[test]
    fn spans_that_cannot_be_read_are_omitted_with_a_note() {
        let cut = span(2, [0.0; 3], 1).slice(..12);
        let good = (5.0, span(2, [0.0; 3], 1));
        let (scene, tracks) = tracks(None, vec![(0.0, cut), (f32::NAN, Bytes::new()), good]);
        assert_eq!(tracks[0].times, [5.0, 6.0]);
        let omitted = |start: &str| {
            let note = format!("The animation from {start} s is omitted");
            scene.notes.iter().any(|known| known.starts_with(&note))
        };
        assert!(omitted("0") && omitted("NaN"), "{:?}", scene.notes);
        let (scene, tracks) = self::tracks(None, Vec::new());
        assert!(tracks.is_empty() && scene.motions.is_empty());
        let last = scene.notes.last().unwrap();
        assert_eq!(last, "Animation cutscene is omitted: it has no keys.");
    }

    #[test]
    fn overlapping_spans_do_not_take_long() {
        let long: Bytes = vec![0; MAX_BYTES / 2].into();
        let (scene, tracks) = tracks(None, vec![(0.0, long); 4096]);
        assert!(tracks.is_empty());
        let last = scene.notes.last().unwrap();
        assert!(last.ends_with("bytes."), "{last}");
    }

    /// Returns the animation of a time span that is much larger decoded than encoded:
    /// each bone reuses one key at all times.
    fn dense(bones: u16, times: u16) -> Bytes {
        let counts = words(&[u32::from(bones) << 16 | u32::from(times), times.into()]);
        let head = [words(&[0; 4]), words(&[0x3142_4B53, 0]), counts].concat();
        let keys = (0..u32::from(times)).flat_map(|time| words(&[time << 16, 0, 32_767 << 16, 0]));
        let seconds: Vec<f32> = (0..times).map(f32::from).collect();
        let firsts = (1..times).flat_map(|time| (time - 1).to_be_bytes().repeat(bones.into()));
        let tail = [floats(&seconds), firsts.collect()].concat();
        [head, floats(&[1.0; 3]), keys.collect(), tail]
            .concat()
            .into()
    }

    #[test]
    fn memory_for_the_keys_is_reserved_before_they_are_read() {
        let bytes = dense(2, 1000);
        let moved = Moved {
            id: id("figure.dff"),
            model: None,
            spans: vec![(0.0, bytes.clone()), (1000.0, bytes.clone())],
        };
        let archives = Archives::new(&[("a.HIP", b"MODL", "figure.dff", hi::figure())]);
        let facts = Facts::new(Platform::GameCube, Game::Bfbb);
        write(&moved, &facts, &archives, &mut Vec::new()).unwrap();
        let (_, tracks) = tracks(None, moved.spans);
        let keys: usize = tracks.iter().map(|track| track.times.len()).sum();
        assert_eq!(keys, 2 * 2000);
        let reserved = archives.reserved.borrow()[0];
        assert_eq!(reserved, 2 * bytes.len() * KEY_BYTES);
        assert!(reserved >= keys * KEY_BYTES);
    }

    #[test]
    fn an_animation_with_too_many_keys_is_omitted_before_they_are_read() {
        let (scene, tracks) = tracks(None, vec![(0.0, dense(2, 32_000)); 17]);
        assert!(tracks.is_empty());
        let last = scene.notes.last().unwrap();
        let expected = "Animation cutscene is omitted: it has more than 1048576 keys.";
        assert_eq!(last, expected);
    }
}
