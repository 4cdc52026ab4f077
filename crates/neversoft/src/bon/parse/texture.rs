//! The textures inside of a character.

use bytes::Bytes;
use get_size2::GetSize;

use crate::dds::Dds;
use crate::pvr::{self, Pvr};
use hpimount_assets::model::Picture;

/// A texture.
#[derive(Debug, Clone, GetSize)]
pub struct Texture {
    /// Name.
    pub name: String,
    /// A byte without a known meaning.
    pub flag: u8,
    /// Wrapping outside of the picture; its values are unknown.
    pub wrap: [u8; 2],
    /// Offset of the file.
    pub offset: u64,
    /// The file.
    #[get_size(ignore)]
    pub bytes: Bytes,
    /// The file as a picture.
    pub file: TextureFile,
}

/// The kinds of files of textures.
#[derive(Debug, Clone, GetSize)]
pub enum TextureFile {
    /// A picture of Direct3D.
    Dds(Dds),
    /// A picture of the Dreamcast.
    Pvr(Pvr),
    /// An unreadable file, with the reason.
    Unknown(String),
}

impl TextureFile {
    pub(super) fn read(bytes: &Bytes) -> Self {
        if pvr::is_known(bytes) {
            return match pvr::parse(bytes) {
                Ok(pvr) => Self::Pvr(pvr),
                Err(error) => Self::Unknown(error.to_string()),
            };
        }
        match Dds::read(bytes) {
            Some(dds) => Self::Dds(dds),
            None => Self::Unknown("is no DDS or PVR file".to_owned()),
        }
    }

    /// Returns the reason why it cannot be shown.
    pub(super) fn problem(&self) -> Option<String> {
        match self {
            Self::Dds(dds) => dds.problem(),
            Self::Pvr(_) => None,
            Self::Unknown(problem) => Some(problem.clone()),
        }
    }

    /// Returns whether it can be shown.
    pub fn is_shown(&self) -> bool {
        self.problem().is_none()
    }

    /// Returns its width and height in pixels.
    pub fn size(&self) -> Option<[u32; 2]> {
        match self {
            Self::Dds(dds) => Some([dds.width, dds.height]),
            Self::Pvr(pvr) => Some([pvr.width.into(), pvr.height.into()]),
            Self::Unknown(_) => None,
        }
    }

    /// Decodes it.
    pub fn picture(&self) -> Option<Picture> {
        match self {
            Self::Dds(dds) => dds.picture(),
            Self::Pvr(pvr) => pvr.picture(),
            Self::Unknown(_) => None,
        }
    }
}
