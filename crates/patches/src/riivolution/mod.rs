//! Riivolution's patches of the files of a disc, and Dolphin's game mod descriptor
//! (section 9 of the specification).
//!
//! A [`Mod`] is parsed from XML. With the files of a disc and of the SD card, it gives a
//! [`Plan`]: the files that change, as ranges of the old ones and of files of the card.
//! The other way, [`Output`] writes XML and descriptor for files that were changed.
//! Nothing here reads a file: the caller names them by a [`Card`].

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

/// Why there is no mod of anything else.
pub const ONLY_GAMECUBE: &str = "Riivolution's mods are for GameCube discs";
