//! Places in the texts of a game.

use get_size2::GetSize;

use hpimount_assets::view::AssetRef;

/// The place of a definition in the texts.
#[derive(Debug, Clone, Copy, Default, GetSize)]
pub(super) struct Place {
    /// Number of the text.
    pub(super) text: u32,
    /// Position of the section in the text.
    pub(super) section: u32,
}

/// The origin of a reference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    pub(super) file: AssetRef,
    /// The section, in a text.
    pub(super) place: Option<Place>,
}
