//! The lists of asset formats, and of the reports and checks that combine many
//! assets.

use std::sync::{LazyLock, OnceLock};

use crate::view::ViewFormat;
use crate::view::report::{Check, Report};
use crate::{consoles, crash, gta, heavy_iron, neversoft, total_annihilation as ta};

/// The asset formats that have views: first the formats of this crate, then the
/// ones added with [`add`]. A format is identified by its index; there are at
/// most 256.
pub static VIEW_FORMATS: LazyLock<Vec<ViewFormat>> =
    LazyLock::new(|| [OWN_FORMATS, ADDED.get_or_init(|| &[])].concat());

/// The formats that the program has added.
static ADDED: OnceLock<&[ViewFormat]> = OnceLock::new();

/// Adds formats of the calling program to [`VIEW_FORMATS`]. Returns whether
/// they were added: not if the list has already been used, or other formats
/// have been added.
pub fn add(formats: &'static [ViewFormat]) -> bool {
    let fits = OWN_FORMATS.len() + formats.len() <= 256;
    fits && ADDED.set(formats).is_ok()
}

/// The asset formats of this crate.
const OWN_FORMATS: &[ViewFormat] = &[
    consoles::banner::FORMAT,
    consoles::save::FORMAT,
    consoles::xbox::FORMAT,
    consoles::xbox::XPR_FORMAT,
    crash::hgo::FORMAT,
    crash::hgo::BLK_FORMAT,
    gta::col::FORMAT,
    gta::data::COLORS_FORMAT,
    gta::data::FILES_FORMAT,
    gta::data::GROUPS_FORMAT,
    gta::data::HANDLING_FORMAT,
    gta::data::TEXTS_FORMAT,
    gta::data::WATER_FORMAT,
    gta::data::WATERPRO_FORMAT,
    gta::dff::FORMAT,
    gta::gxt::FORMAT,
    gta::ifp::FORMAT,
    gta::map::IDE_FORMAT,
    gta::map::IPL_FORMAT,
    gta::map::ZON_FORMAT,
    gta::txd::FORMAT,
    neversoft::bon::FORMAT,
    neversoft::ddm::FORMAT,
    neversoft::ddm::DDX_FORMAT,
    neversoft::kat::FORMAT,
    neversoft::kat::CUE_FORMAT,
    neversoft::psh::FORMAT,
    neversoft::psx::FORMAT,
    neversoft::pvr::FORMAT,
    neversoft::qb::FORMAT,
    neversoft::rle::FORMAT,
    neversoft::tim::FORMAT,
    neversoft::trg::FORMAT,
    neversoft::vab::FORMAT,
    neversoft::vag::FORMAT,
    neversoft::xa::FORMAT,
    neversoft::xa::MOVIE_FORMAT,
    heavy_iron::texture::FORMAT,
    heavy_iron::sound::FORMAT,
    heavy_iron::sound::TABLE_FORMAT,
    heavy_iron::text::FORMAT,
    heavy_iron::text::CREDITS_FORMAT,
    heavy_iron::model::FORMAT,
    heavy_iron::object::FORMAT,
    heavy_iron::tables::FORMAT,
    ta::pcx::FORMAT,
    ta::bmp::FORMAT,
    ta::pal::FORMAT,
    ta::pal::BLEND_FORMAT,
    ta::fnt::FORMAT,
    ta::gaf::FORMAT,
    ta::tdo::FORMAT,
    ta::cob::FORMAT,
    ta::tnt::FORMAT,
    ta::sct::FORMAT,
    ta::tdf::FORMAT,
    ta::wav::FORMAT,
    ta::other::FORMAT,
];

/// All reports.
pub const REPORTS: &[&[Report]] = &[
    heavy_iron::report::REPORTS,
    gta::report::REPORTS,
    ta::tables::REPORTS,
];

/// All checks that combine many assets.
pub const CHECKS: &[Check] = &[ta::tables::CHECK];
