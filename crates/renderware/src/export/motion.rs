//! Animations of models as motions of a scene.

use hpimount_assets::model::scene::{Motion, Scene, Track};
use hpimount_assets::model::{MAX_CURVES, MAX_POSES};

/// The motions of a model, with notes about omitted motions.
#[derive(Debug, Default)]
pub struct Motions {
    motions: Vec<Motion>,
    /// A sentence for each omission.
    notes: Vec<String>,
    curves: usize,
    keys: usize,
}

impl Motions {
    /// Adds an animation with these tracks, or a note with the reason of its omission.
    /// All animations together have at most [`MAX_CURVES`] tracks and [`MAX_POSES`]
    /// keys.
    pub fn add(&mut self, name: &str, tracks: Result<Vec<Track>, String>) {
        match tracks.and_then(|tracks| self.counted(tracks)) {
            Ok(tracks) => self.motions.push(Motion {
                name: name.to_owned(),
                tracks,
            }),
            Err(why) => self.note(format!("Animation {name} is omitted: {why}.")),
        }
    }

    fn counted(&mut self, tracks: Vec<Track>) -> Result<Vec<Track>, String> {
        let curves = self.curves + tracks.len();
        let keys = tracks.iter().map(|track| track.times.len()).sum::<usize>() + self.keys;
        if curves > MAX_CURVES {
            return Err(format!("with it, there are more than {MAX_CURVES} curves"));
        }
        if keys > MAX_POSES {
            return Err(format!("with it, there are more than {MAX_POSES} keys"));
        }
        (self.curves, self.keys) = (curves, keys);
        Ok(tracks)
    }

    /// Adds a sentence for readers of the file.
    pub fn note(&mut self, sentence: String) {
        self.notes.push(sentence);
    }

    /// Adds the motions and the notes to a scene.
    pub fn put_into(self, scene: &mut Scene<'_>) {
        scene.motions.extend(self.motions);
        scene.notes.extend(self.notes);
    }
}

/// Normalizes a rotation. A rotation of length 0 becomes the identity.
pub fn unit_rotation(rotation: [f32; 4]) -> [f32; 4] {
    let length = rotation.iter().map(|part| part * part).sum::<f32>().sqrt();
    match length > 1e-6 && length.is_finite() {
        true => rotation.map(|part| part / length),
        false => [0.0, 0.0, 0.0, 1.0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn animations_with_too_many_keys_are_omitted_with_a_note() {
        let track = |keys: usize| Track {
            node: 0,
            times: vec![0.0; keys],
            translations: Vec::new(),
            rotations: Vec::new(),
        };
        let mut motions = Motions::default();
        motions.add("walk", Ok(vec![track(MAX_POSES - 1)]));
        motions.add("run", Ok(vec![track(2)]));
        motions.add("jump", Ok(vec![track(0); MAX_CURVES]));
        motions.add("turn", Ok(vec![track(1)]));
        let mut scene = Scene::default();
        motions.put_into(&mut scene);
        let names: Vec<_> = scene.motions.iter().map(|one| &one.name).collect();
        assert_eq!(names, ["walk", "turn"]);
        assert_eq!(
            scene.notes,
            [
                "Animation run is omitted: with it, there are more than 1048576 keys.",
                "Animation jump is omitted: with it, there are more than 8192 curves.",
            ]
        );
    }
}
