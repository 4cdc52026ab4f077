//! What desktops show of archives and assets.

mod file_types;
mod open;
#[path = "../support/mod.rs"]
mod support;
mod thumbnailer;
