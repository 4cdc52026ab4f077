//! Models as programs save them.

use std::collections::BTreeSet;

use super::{Reservation, Scene};

/// An edited model, read from a file that nothing is known about.
#[derive(Default)]
pub struct Edited {
    /// The model. Of its materials only name, color and the name of the picture are
    /// known; it has no strokes, outlines and animations.
    pub scene: Scene<'static>,
    /// The meshes without colors of vertices.
    pub uncolored: BTreeSet<usize>,
    /// Whether the file has no hierarchy: every node is a root, and positions are those
    /// of the scene.
    pub is_flat: bool,
    /// The memory of the scene.
    pub memory: Option<Reservation>,
}
