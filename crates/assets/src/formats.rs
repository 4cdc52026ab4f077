//! The lists of asset formats, and of the reports that combine many assets.

use crate::view::ViewFormat;
use crate::view::report::Report;
use crate::{crash, gta, heavy_iron, neversoft, total_annihilation as ta};

/// The asset formats that have views.
pub const VIEW_FORMATS: &[ViewFormat] = &[
    crash::hgo::FORMAT,
    crash::hgo::BLK_FORMAT,
    gta::col::FORMAT,
    gta::gxt::FORMAT,
    gta::ifp::FORMAT,
    gta::txd::FORMAT,
    neversoft::psx::FORMAT,
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
pub const REPORTS: &[&[Report]] = &[heavy_iron::report::REPORTS, ta::tables::REPORTS];
