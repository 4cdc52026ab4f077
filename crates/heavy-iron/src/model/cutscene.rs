//! A model that a cutscene moves as a scene with its animation, which is stored in spans of
//! time (FORMATS, HIP assets 7).

use std::io::{self, Write};

use bytes::Bytes;

use super::animated::tracks;
use super::level::{self, Level};
use super::set::{Attached, add_model, file_of};
use crate::Facts;
use crate::record::{Layout, Record, Value, layout, size};
use crate::tables::parse_animation;
use hpimount_assets::model::math::finite;
use hpimount_assets::model::scene::Track;
use hpimount_assets::model::{Scene, gltf};
use hpimount_assets::view::AssetContext;
use hpimount_renderware::export::{Motions, TextureUse};

/// Maximum length of the animations of a model. Spans may overlap; those of the games have
/// some kilobytes.
const MAX_BYTES: usize = 1 << 24;

/// What precedes the animation of a span.
const HEAD: Layout = layout!(root: U32, translation: Vec3);

/// A model and its animation.
#[derive(Debug)]
pub(crate) struct Moved {
    /// The id of the model.
    pub(crate) id: u32,
    /// The model, if the cutscene contains it.
    pub(crate) model: Option<Bytes>,
    /// The starts of its spans in seconds, and the animation of each with its head.
    pub(crate) spans: Vec<(f32, Bytes)>,
}

/// Writes the model with its animation as a GLB file.
pub(crate) fn write(
    moved: &Moved,
    facts: &Facts,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (scene, textures) = scene_of(moved, facts, context);
    let pictures = |number| level::picture_of(&textures, number, context);
    gltf::write(&scene, &pictures, &|bytes| context.reserve(bytes), out)
}

/// Returns the scene of a model, and the textures by their numbers.
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
        // The game turns a model without bones the other way.
        let rotations = tracks.iter_mut().flat_map(|track| &mut track.rotations);
        rotations.for_each(|[.., w]| *w = -*w);
    }
    motions.add("cutscene", tracks);
    motions.put_into(&mut scene);
    (scene, textures)
}

/// Returns the tracks of these nodes through all spans. Those that cannot be read are
/// omitted with a note.
fn joined(
    moved: &Moved,
    nodes: &[usize],
    facts: &Facts,
    motions: &mut Motions,
) -> Result<Vec<Track>, String> {
    let mut joined: Vec<Track> = Vec::new();
    let mut left = MAX_BYTES;
    for (start, bytes) in &moved.spans {
        left = left
            .checked_sub(bytes.len())
            .ok_or_else(|| format!("it has more than {MAX_BYTES} bytes"))?;
        let span = match start.is_finite() {
            true => of_span(bytes, nodes, facts),
            false => Err("its start is not a number".to_owned()),
        };
        match span {
            Ok(tracks) => tracks
                .into_iter()
                .for_each(|track| append(&mut joined, track, *start)),
            Err(why) => motions.note(format!("The animation from {start} s is omitted: {why}.")),
        }
    }
    joined.retain(|track| !track.times.is_empty());
    match joined.is_empty() {
        true => Err("it has no keys".to_owned()),
        false => Ok(joined),
    }
}

/// Returns the tracks of a span, from time 0 on.
fn of_span(bytes: &Bytes, nodes: &[usize], facts: &Facts) -> Result<Vec<Track>, String> {
    let head = Record::new(HEAD, facts.endian, bytes);
    let Some(Value::Vec3(translation)) = head.get("translation").filter(|_| head.is_whole()) else {
        return Err("it is cut".to_owned());
    };
    let animation = parse_animation(&bytes.slice(size(HEAD)..), facts);
    let animation = animation.map_err(|incomplete| incomplete.error.to_string())?;
    let mut tracks = tracks(&animation, nodes)?;
    // All bones are below the first one.
    if let Some(first) = tracks.first_mut() {
        for place in &mut first.translations {
            *place = std::array::from_fn(|axis| place[axis] + finite(translation[axis]));
        }
    }
    Ok(tracks)
}

/// Adds the keys of a track to that of its node, later by `start`. The first one of a span is
/// the last one of the span before.
fn append(joined: &mut Vec<Track>, track: Track, start: f32) {
    let known = joined.iter().position(|known| known.node == track.node);
    let index = known.unwrap_or_else(|| {
        joined.push(Track {
            node: track.node,
            times: Vec::new(),
            translations: Vec::new(),
            rotations: Vec::new(),
        });
        joined.len() - 1
    });
    let whole = &mut joined[index];
    for (key, time) in track.times.into_iter().enumerate() {
        let time = time + start;
        if whole.times.last().is_none_or(|&last| time > last) && time.is_finite() {
            whole.times.push(time);
            whole.translations.push(track.translations[key]);
            whole.rotations.push(track.rotations[key]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{Archives, floats, id, words};
    use crate::{Game, Platform};
    use fixtures::heavy_iron as hi;

    /// Returns the animation of a span: bones that are at 0, and at x after a second.
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
}
