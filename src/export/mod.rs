//! Writing what a model shows in formats that every desktop opens.
//!
//! A format of a game becomes a [`Picture`] or a [`Scene`] in a room of its
//! own ([`psx`], [`hgo`]); the writers ([`png`], [`obj`], [`gltf`], [`bvh`])
//! know nothing but those. What is written is proportional to what was read,
//! and bounded: a room tells beforehand, without decoding, what it cannot
//! write. [`ifp`] writes the format that it reads.

pub mod bvh;
pub mod gltf;
pub mod hgo;
pub mod ifp;
mod math;
pub mod obj;
mod picture;
pub mod png;
pub mod psx;
pub mod scene;

pub use math::Place;
pub use picture::{MAX_PIXELS, Picture, Pixels, size_problem};
pub use scene::Scene;

/// Most corners of faces that a written scene has, each counted as often as
/// it is shown. A level of the games has a tenth of them.
pub const MAX_CORNERS: usize = 1 << 18;

/// Most joints of a skeleton that is written.
pub const MAX_JOINTS: usize = 1024;

/// Most curves, each of one joint in one animation, that a scene has.
pub const MAX_CURVES: usize = 1 << 13;

/// Most poses, each of one joint in one frame, of all animations of a scene.
pub const MAX_POSES: usize = 1 << 20;

/// Most pixels of all pictures inside a scene.
pub const MAX_SCENE_PIXELS: u64 = 1 << 24;
