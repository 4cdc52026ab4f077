//! Models as programs save them.

use std::collections::BTreeSet;

use super::{Reservation, Scene};

/// Maximum number of bytes of a file.
pub(super) const MAX_FILE: usize = 256 << 20;

/// Maximum number of nodes.
pub(super) const MAX_NODES: usize = 1 << 16;

/// Maximum number of materials.
pub(super) const MAX_MATERIALS: usize = 1 << 16;

/// An edited model, read from an untrusted file.
#[derive(Default)]
pub struct Edited {
    /// The model. Materials have only a name, a color and the name of the picture.
    /// There are no strokes, outlines and animations.
    pub scene: Scene<'static>,
    /// The meshes without colors of vertices.
    pub uncolored: BTreeSet<usize>,
    /// True if the file has no hierarchy: every node is a root, and positions are in
    /// the space of the scene.
    pub is_flat: bool,
    /// The memory of the scene.
    pub memory: Option<Reservation>,
}
