//! The tree of a mount: inodes by their numbers, and the volumes of their files.

pub(super) mod asset;
pub(super) mod control;
pub(super) mod grafts;
pub(super) mod invalidate;
pub(super) mod merge;
pub(super) mod nodes;
pub(super) mod on_demand;
pub(super) mod place;
pub(super) mod plain;
pub(super) mod source_trees;
pub(super) mod subtree;
pub(super) mod volume;
