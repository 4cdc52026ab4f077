//! The lists of asset formats, and of the reports and checks that combine many
//! assets.

use std::sync::{LazyLock, OnceLock};

use hpimount_assets::consoles;
use hpimount_assets::view::ViewFormat;
use hpimount_assets::view::report::{Check, References, Report};
use hpimount_crash as crash;
use hpimount_gta as gta;
use hpimount_heavy_iron as heavy_iron;
use hpimount_neversoft as neversoft;
use hpimount_total_annihilation as ta;

/// The asset formats that have views: first the formats of the families, then the
/// ones added with [`add`]. A format is identified by its index; there are at
/// most 256.
pub static VIEW_FORMATS: LazyLock<Vec<ViewFormat>> = LazyLock::new(|| {
    [OWN_FORMATS, &[*ADDED.get_or_init(|| &[])]]
        .concat()
        .concat()
});

/// The formats that the program has added.
static ADDED: OnceLock<&[ViewFormat]> = OnceLock::new();

/// Adds formats of the calling program to [`VIEW_FORMATS`]. Returns whether
/// they were added: not if the list has already been used, or other formats
/// have been added.
pub fn add(formats: &'static [ViewFormat]) -> bool {
    let fits = OWN_FORMATS.concat().len() + formats.len() <= 256;
    fits && ADDED.set(formats).is_ok()
}

/// The asset formats of the families.
const OWN_FORMATS: &[&[ViewFormat]] = &[
    consoles::FORMATS,
    crash::FORMATS,
    gta::FORMATS,
    neversoft::FORMATS,
    heavy_iron::FORMATS,
    ta::FORMATS,
];

/// All reports.
pub const REPORTS: &[&[Report]] = &[
    heavy_iron::report::REPORTS,
    gta::report::REPORTS,
    ta::tables::REPORTS,
];

/// The references between the assets of an archive, game or folder.
pub const REFERENCES: &[&[References]] = &[
    heavy_iron::report::REFERENCES,
    &[gta::report::REFERENCES],
    &[ta::tables::REFERENCES],
];

/// All checks that combine many assets.
pub const CHECKS: &[Check] = &[ta::tables::CHECK];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_found_by_its_extension_or_name_in_any_case() {
        let format = |name: &str| {
            let mut formats = VIEW_FORMATS.iter();
            let format = formats.find(|format| format.shows(name.as_bytes()));
            format.map(|format| format.name)
        };
        assert_eq!(format("crash.hgo"), Some("HGO"));
        assert_eq!(format("CRASH.HGO.BLK"), Some("HGO block table"));
        assert_eq!(format("ped.Ifp"), Some("IFP"));
        assert_eq!(format("skhan.PSX"), Some("PSX"));
        assert_eq!(format("Water.dat"), Some("water"));
        for name in [
            "ped.blk",
            "hgo.blk",
            ".hgo",
            "hgo",
            "crash.hgo.txt",
            "sea.dat",
            "",
        ] {
            assert_eq!(format(name), None, "{name}");
        }
    }

    #[test]
    fn no_format_declares_a_conversion_twice() {
        for format in VIEW_FORMATS.iter() {
            let converted = format.converted.of(None);
            let mut names: Vec<_> = converted
                .files
                .iter()
                .map(|file| (file.folder, file.extension))
                .collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), converted.files.len(), "{}", format.name);
        }
    }
}
