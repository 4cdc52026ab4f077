//! Keyframe animations of both kinds: the transformation of each object in each frame
//! (FORMATS, PSX 6).

use super::ExportPlan;
use super::axes::turn_of;
use crate::psx::{self, AngleTransform, AnimationV1, AnimationV2, Content, Psx};
use hpimount_assets::model::MAX_POSES;
use hpimount_assets::model::math::{Transform, rotate, subtract};

/// Frames per second in the games. The file does not contain it.
const RATE: f32 = 30.0;

/// The keyframe animations that the game would use: those in the last chunk with any.
pub(super) struct Clips<'a> {
    list: List<'a>,
    objects: usize,
}

enum List<'a> {
    Matrices(&'a [AnimationV1]),
    Angles(&'a [AnimationV2]),
}

impl<'a> Clips<'a> {
    pub(super) fn of(psx: &'a Psx) -> Self {
        let chunks = psx.chunks.iter().rev();
        let mut lists = chunks.filter_map(|chunk| match &chunk.content {
            Content::AnimationsV1(list) => Some(List::Matrices(list)),
            Content::AnimationsV2(list) => Some(List::Angles(list)),
            _ => None,
        });
        Self {
            list: lists.next().unwrap_or(List::Matrices(&[])),
            objects: psx.objects.len(),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self.list {
            List::Matrices(list) => list.len(),
            List::Angles(list) => list.len(),
        }
    }

    /// Returns the number of poses of an animation, one per object and frame.
    pub(super) fn poses(&self, index: usize) -> usize {
        match self.list {
            List::Matrices(list) => list.get(index).map_or(0, AnimationV1::pose_count),
            List::Angles(list) => list.get(index).map_or(0, |a| a.pose_count(self.objects)),
        }
    }

    /// Returns the reason why an animation cannot be shown. `work` is the remaining
    /// number of bytes to examine for all animations, which may share bytes.
    pub(super) fn problem(&self, index: usize, work: &mut u64) -> Option<String> {
        let poses = self.poses(index);
        if poses == 0 {
            return Some("it has no frames".into());
        }
        let List::Angles(list) = self.list else {
            return None;
        };
        if poses > MAX_POSES {
            return Some(format!("it has {poses} poses, more than {MAX_POSES}"));
        }
        if *work == 0 {
            return Some("too many animations share their bytes".into());
        }
        match list.get(index)?.streams_size(self.objects) {
            Ok(size) => {
                *work = work.saturating_sub(size as u64);
                None
            }
            Err(error) => {
                // At most the headers of all streams were read.
                *work = work.saturating_sub(6 * self.objects as u64);
                Some(error.to_string())
            }
        }
    }

    /// Returns an animation, or `None` if it has a [`Clips::problem`].
    pub(super) fn get(&self, index: usize) -> Option<Clip<'a>> {
        let (poses, tween) = match self.list {
            List::Matrices(list) => {
                let animation = list.get(index)?;
                (Poses::Matrices(animation), animation.tween)
            }
            List::Angles(list) => {
                let decoded = list.get(index)?.decode(self.objects, MAX_POSES).ok()?;
                let is_still = decoded.iter().all(|pose| pose.translation == [0; 3]);
                match is_still {
                    true => (Poses::Rotations(decoded), 0),
                    false => (Poses::Angles(decoded), 0),
                }
            }
        };
        Some(Clip {
            poses,
            objects: self.objects,
            frames: self.poses(index) / self.objects.max(1),
            interval: (f32::from(tween) + 1.0) / RATE,
        })
    }
}

/// An animation.
pub(super) struct Clip<'a> {
    poses: Poses<'a>,
    objects: usize,
    /// Number of frames that are stored.
    pub(super) frames: usize,
    /// Seconds between frames.
    pub(super) interval: f32,
}

enum Poses<'a> {
    /// Translations are in the space of the character.
    Matrices(&'a AnimationV1),
    /// Translations are in the space of the parent; in the space of the character if
    /// there are no parents.
    Angles(Vec<AngleTransform>),
    /// Objects keep the translations of the rest pose, because all stored translations
    /// are 0.
    Rotations(Vec<AngleTransform>),
}

impl Clip<'_> {
    /// Returns the transformation of an object in a frame, relative to its parent.
    /// `rest` is its translation in the rest pose.
    pub(super) fn transform(
        &self,
        plan: &ExportPlan,
        frame: usize,
        object: usize,
        parent: Option<usize>,
        rest: [f32; 3],
    ) -> Transform {
        let mut own = self.pose(plan, frame, object);
        if let Poses::Rotations(_) = self.poses {
            own.translation = rest;
        }
        let Some(parent) = parent.map(|parent| self.pose(plan, frame, parent)) else {
            return own;
        };
        let [x, y, z, w] = parent.rotation;
        let back = Transform {
            rotation: [-x, -y, -z, w],
            ..Transform::IDENTITY
        };
        let translation = match self.poses {
            Poses::Matrices(_) => {
                let between = subtract(own.translation, parent.translation);
                rotate(back.rotation, between)
            }
            Poses::Angles(_) | Poses::Rotations(_) => own.translation,
        };
        Transform {
            rotation: back.after(&own).rotation,
            ..Transform::at(translation)
        }
    }

    /// Returns the rotation in the space of the character, and the translation in its
    /// stored space, both with y up.
    fn pose(&self, plan: &ExportPlan, frame: usize, object: usize) -> Transform {
        let index = frame * self.objects + object;
        match &self.poses {
            Poses::Matrices(animation) => {
                let pose = animation.pose(index);
                pose.map_or(Transform::IDENTITY, |pose| of_matrix(plan, &pose))
            }
            Poses::Angles(poses) | Poses::Rotations(poses) => {
                let pose = poses.get(index).copied().unwrap_or_default();
                Transform::turned(turn_of(pose.angles), plan.scaled(pose.translation))
            }
        }
    }
}

fn of_matrix(plan: &ExportPlan, pose: &psx::Transform) -> Transform {
    let m = pose
        .matrix
        .map(|row| row.map(|part| f32::from(part) / 4096.0));
    let flip = [1.0, -1.0, -1.0];
    let rows = std::array::from_fn(|row| {
        std::array::from_fn(|column| flip[row] * m[row][column] * flip[column])
    });
    Transform::turned(rows, plan.scaled(pose.translation))
}
