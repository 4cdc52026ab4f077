//! What desktops show of archives and assets.

mod file_types;
mod open;
mod thumbnailer;
