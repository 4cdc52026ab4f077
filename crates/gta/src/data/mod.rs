//! The files in the folder `data` of a game (FORMATS, GTA 7).

pub mod colors;
pub mod files;
pub mod groups;
pub mod handling;
pub mod texts;
mod view;
pub mod water;
pub mod waterpro;

pub use view::{
    COLORS_FORMAT, FILES_FORMAT, GROUPS_FORMAT, HANDLING_FORMAT, TEXTS_FORMAT, WATER_FORMAT,
    WATERPRO_FORMAT,
};

/// Maximum number of rows of these files, ten times as many as the games' files have.
const MAX_ROWS: usize = 1 << 16;
