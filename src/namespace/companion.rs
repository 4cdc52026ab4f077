//! Directories beside files that show what is inside them: `X.d` for an
//! archive, `X.meta` for an asset.

use crate::source::image::IMAGES;
use crate::text::has_extension;
use crate::view::{VIEW_FORMATS, ViewFormat};
use crate::volume::FORMATS;

/// What a companion shows of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shows {
    /// The tree of an archive.
    Inside,
    /// What the asset format of this number in [`VIEW_FORMATS`] makes of it.
    Meta(u8),
}

impl Shows {
    /// Name of the companion of the file `name`.
    pub fn name_beside(self, name: &str) -> String {
        match self {
            Self::Inside => format!("{name}.d"),
            Self::Meta(_) => format!("{name}.meta"),
        }
    }
}

/// Which companions of assets are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Meta {
    /// They are listed in folders and in containers that are folders in all
    /// but name, and found by name elsewhere.
    #[default]
    Usual,
    /// They are listed everywhere.
    Visible,
    /// They are found by name and listed nowhere.
    Hidden,
    /// There are none.
    Off,
}

/// Which files of a tree have companions that are listed.
#[derive(Debug, Clone, Copy)]
pub struct Companions {
    /// Whether archives have them.
    pub inside: bool,
    /// Whether assets have them.
    pub meta: bool,
    /// What every other file has: set for a lone asset that does not have the
    /// extension of its format.
    pub others: Option<Shows>,
}

impl Companions {
    /// No file has one.
    pub const NONE: Self = Self {
        inside: false,
        meta: false,
        others: None,
    };

    /// What the companion of a file with this name shows, if it has one. Only
    /// the extension counts: listing a directory opens no file.
    pub fn of(self, name: &str) -> Option<Shows> {
        if self.inside && is_archive_name(name) {
            return Some(Shows::Inside);
        }
        if self.meta
            && let Some(format) = view_format(name)
        {
            return Some(Shows::Meta(format));
        }
        self.others
    }
}

fn is_archive_name(name: &str) -> bool {
    // A file that is called `.hpi` has no extension.
    let has = |known: &&str| has_extension(name.as_bytes(), known) && name.len() > known.len() + 1;
    let volumes = FORMATS.iter().flat_map(|format| format.extensions);
    let images = IMAGES.iter().flat_map(|format| format.extensions);
    volumes.chain(images).any(has)
}

/// The number in [`VIEW_FORMATS`] of the format whose extension `name` has.
pub fn view_format(name: &str) -> Option<u8> {
    let shows = |format: &ViewFormat| format.shows(name.as_bytes());
    VIEW_FORMATS
        .iter()
        .position(shows)
        .map(|number| number as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companions_go_by_the_extension_in_any_case() {
        let all = Companions {
            inside: true,
            meta: true,
            others: None,
        };
        assert_eq!(all.of("totala1.HPI"), Some(Shows::Inside));
        assert!(matches!(all.of("ped.IFP"), Some(Shows::Meta(_))));
        assert_eq!(all.of("readme.txt"), None);
        assert_eq!(all.of(".hpi"), None);
        assert_eq!(Companions::NONE.of("totala1.HPI"), None);
        assert_eq!(Shows::Inside.name_beside("a.ufo"), "a.ufo.d");
    }
}
