//! Facts that a mount keeps about the block images around a source.

use hpimount_containers::image::CdTrack;
use hpimount_containers::volume::Volume;

/// Facts about the block images around a source, and about the compression of
/// one.
#[derive(Default)]
pub struct Images {
    /// Names of their formats, the outermost first.
    pub formats: Vec<&'static str>,
    /// Memory that they take without their blocks, in bytes.
    pub memory: usize,
    /// The tracks of a CD, from the innermost image.
    pub tracks: Vec<CdTrack>,
    /// Warnings about them.
    pub warnings: Vec<String>,
}

impl Images {
    /// Returns the warnings about them and about the volume in them.
    pub fn warnings_with<'a>(&'a self, volume: &'a dyn Volume) -> impl Iterator<Item = &'a String> {
        self.warnings.iter().chain(volume.warnings())
    }
}
