//! Assets: their models, and the files that are generated from them.

pub(super) mod beside;
pub(super) mod checks;
pub(super) mod context;
pub(super) mod converted;
pub(super) mod find;
pub(super) mod folder_ids;
pub(super) mod game;
pub(super) mod picture;
pub(super) mod render;
pub(super) mod view;
