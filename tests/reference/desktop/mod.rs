//! Types and thumbnails on desktops.

mod file_types;
mod thumbnailer;
