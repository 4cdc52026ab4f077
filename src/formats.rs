//! The lists of asset formats, and of the reports and checks that combine many
//! assets.

#[cfg(test)]
mod made_up_asset;

use std::sync::LazyLock;

use hpimount_assets::consoles;
use hpimount_assets::view::ViewFormat;
use hpimount_assets::view::report::{Check, References, Report};
use hpimount_crash as crash;
use hpimount_gta as gta;
use hpimount_heavy_iron as heavy_iron;
use hpimount_neversoft as neversoft;
use hpimount_total_annihilation as ta;

/// The asset formats that have views. A format is identified by its index; there are at
/// most 256.
pub static VIEW_FORMATS: LazyLock<Vec<ViewFormat>> = LazyLock::new(|| FORMATS.concat());

/// The asset formats of the families.
const FORMATS: &[&[ViewFormat]] = &[
    consoles::FORMATS,
    crash::FORMATS,
    gta::FORMATS,
    neversoft::FORMATS,
    heavy_iron::FORMATS,
    ta::FORMATS,
    #[cfg(test)]
    made_up_asset::FORMATS,
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
