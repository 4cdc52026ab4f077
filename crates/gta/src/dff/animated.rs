//! The animations that a model's definition assigns, and the packages around the model
//! (FORMATS, GTA 6.6).

use get_size2::GetSize;

use super::Dff;
use crate::ifp::motion::Bones;
use crate::ifp::{self, Animation};
use crate::models::{AnimationPackage, Models};
use hpimount_assets::model::Scene;
use hpimount_assets::view::AssetContext;
use hpimount_renderware::clump::Clump;
use hpimount_renderware::export::{Motions, skeleton};

/// Maximum number of packages around a model whose animations are shown on it. The
/// games have some hundred.
const MAX_AROUND: usize = 1024;

/// The animations of a model.
#[derive(Debug, Default, GetSize)]
pub(super) struct Animations {
    /// Animations that the definition assigns. They may be missing.
    pub(super) given: Vec<AnimationPackage>,
    /// All packages around a model with a skeleton, for one file each.
    pub(super) around: Vec<AnimationPackage>,
}

impl Animations {
    /// Determines the animations of a model with this name.
    pub(super) fn new(model: &Dff, name: &str, models: &Models) -> Self {
        let given = models.animations(name);
        let first = model.clumps.first();
        let has_skeleton = first.is_some_and(|clump| skeleton::bones(clump).is_some());
        let around = match has_skeleton {
            true => models.packages().take(MAX_AROUND).collect(),
            false => Vec::new(),
        };
        Self { given, around }
    }
}

/// Adds animations to the scene of a clump. The node of frame n is `first + n`.
pub(super) fn animate(
    scene: &mut Scene<'_>,
    clump: &Clump,
    first: usize,
    all: &[AnimationPackage],
    context: &dyn AssetContext,
) {
    let mut bones = Bones::default();
    for (number, frame) in clump.frames.iter().enumerate() {
        let bone = frame.node.as_ref().map(|node| node.id);
        bones.add(first + number, bone, &frame.name);
    }
    let mut motions = Motions::default();
    for given in all {
        add(&mut motions, &bones, given, context);
    }
    motions.put_into(scene);
}

/// Adds the animations of a package.
fn add(motions: &mut Motions, bones: &Bones, given: &AnimationPackage, context: &dyn AssetContext) {
    let package = &given.package;
    let Some(bytes) = given.file.and_then(|file| context.read(file)) else {
        motions.note(format!("Package {package} of animations is missing."));
        return;
    };
    let ifp = match ifp::parse(&bytes) {
        Ok(ifp) => ifp,
        Err(incomplete) => {
            let error = incomplete.error;
            motions.note(format!("Package {package} cannot be read: {error}."));
            return;
        }
    };
    let is_same = |one: &Animation, name: &String| one.name.eq_ignore_ascii_case(name);
    match &given.names {
        // The package of a vehicle moves its passengers.
        None if !ifp.animations().any(|one| bones.moves(one)) => {
            motions.note(format!("Package {package} moves no part of the model."));
        }
        None => {
            for animation in ifp.animations() {
                motions.add(&animation.name, bones.tracks(animation));
            }
        }
        Some(names) => {
            for name in names {
                let animation = ifp.animations().find(|one| is_same(one, name));
                let tracks = match animation {
                    Some(animation) => bones.tracks(animation),
                    None => Err(format!("package {package} does not have it")),
                };
                motions.add(name, tracks);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dff;
    use fixtures::clump as build;

    #[test]
    fn only_a_model_with_a_skeleton_has_the_packages_around_it() {
        let around = |frames: &[u8], packages: &[&str]| {
            let square = build::square(&["skin"], &[]);
            let clump = build::clump(frames, &[square], &[build::atomic(0, 0)], &[]);
            let model = dff::parse(&clump.into()).unwrap();
            let models = Models::with_packages(packages);
            Animations::new(&model, "man", &models).around.len()
        };
        let names = [("root", -1), ("hand", 0)];
        let bones = build::bones(&names);
        assert_eq!(around(&build::frames(&names), &["dance"]), 0);
        let packages = (0..=MAX_AROUND).map(|n| n.to_string());
        let packages: Vec<_> = packages.collect();
        let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
        assert_eq!(around(&bones, &packages[..200]), 200);
        assert_eq!(around(&bones, &packages), MAX_AROUND);
    }
}
