//! Archives and assets on desktops.

mod file_types;
mod open;
mod thumbnailer;
