//! Riivolution's file patches for discs, and Dolphin's game mod descriptor (section 9
//! of the specification).
//!
//! A [`Mod`] is parsed from XML. Together with the files of a disc and of the SD card,
//! it gives a [`Plan`]: the changed files, as ranges of old files and of files of the
//! card. Conversely, [`Output`] writes XML and descriptor for changed files. This
//! module does no I/O: the caller provides the files by a [`Card`].

mod descriptor;
mod disc;
mod model;
mod paths;
mod plan;
#[cfg(test)]
mod tests;
mod write;
mod xml;

pub use self::descriptor::{Descriptor, DescriptorPatch};
pub use self::disc::{Card, Disc, Entry};
pub use self::model::{Choice, Mod, Section, Selection, Switch};
pub use self::plan::{File, Part, Plan};
pub use self::write::{Output, check_path};

/// Message for mods of other consoles.
pub const ONLY_GAMECUBE: &str = "Riivolution's mods are for GameCube discs";
