//! Entry points for fuzzers. Each accepts arbitrary bytes, runs the code under test,
//! and asserts its invariants.
//!
//! The crate in `fuzz/` runs them under libFuzzer; `tests/hostile/fuzz_targets.rs` calls
//! them on seeds, on findings and on damaged seeds.

mod archive;
mod asset;
mod changed;
mod chunk;
pub mod container;
mod dat;
mod edited;
mod gta;
mod heavy_iron;
mod http;
mod listing;
mod mount;
mod nested;
mod ops;
mod patches;
mod reports;
pub mod seeds;
mod serve;
mod settings;
mod ta;

pub use archive::{hip, hpi_v1, hpi_v2};
pub use asset::{bon, ddm, kat, psh, pvr, qb, rle, tim, trg, vab, vag, xa};
pub use asset::{col, consoles, dff, gxt, hgo, ifp, map, psx, txd};
pub use changed::changed;
pub use chunk::{chunk, lz77};
pub use container::{
    compressed, gcm, image, img, inno, iso, pkr, pre, seven_zip, tar, udf, wad, xdvdfs, zip,
};
pub use dat::dat;
pub use edited::edited;
pub use gta::{gta_data, gta_game};
pub use heavy_iron::{hi_models, hi_objects, hi_sounds, hi_textures};
pub use http::http;
pub use listing::listing;
pub use mount::vfs;
pub use nested::nested;
pub use ops::ops;
pub use patches::patches;
pub use reports::hi_reports;
pub use serve::{serve_propfind, serve_range, serve_route, serve_rpc};
pub use settings::settings;
pub use ta::{bos, cob, gaf, pcx, ta_small, tdf, tdo, tnt};

/// An entry point, and inputs to begin with.
pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All entry points.
pub const TARGETS: [Target; 68] = [
    target("hpi_v1", hpi_v1, seeds::hpi_v1),
    target("hpi_v2", hpi_v2, seeds::hpi_v2),
    target("chunk", chunk, seeds::chunk),
    target("lz77", lz77, seeds::lz77),
    target("hip", hip, seeds::hip),
    target("psx", psx, seeds::psx),
    target("tim", tim, seeds::tim),
    target("vag", vag, seeds::vag),
    target("vab", vab, seeds::vab),
    target("qb", qb, seeds::qb),
    target("trg", trg, seeds::trg),
    target("rle", rle, seeds::rle),
    target("pvr", pvr, seeds::pvr),
    target("psh", psh, seeds::psh),
    target("kat", kat, seeds::kat),
    target("xa", xa, seeds::xa),
    target("ddm", ddm, seeds::ddm),
    target("bon", bon, seeds::bon),
    target("consoles", consoles, seeds::consoles),
    target("hgo", hgo, seeds::hgo),
    target("ifp", ifp, seeds::ifp),
    target("txd", txd, seeds::txd),
    target("col", col, seeds::col),
    target("dff", dff, seeds::dff),
    target("map", map, seeds::map),
    target("gxt", gxt, seeds::gxt),
    target("gta_data", gta_data, seeds::gta_data),
    target("gta_game", gta_game, gta::seeds),
    target("gaf", gaf, seeds::gaf),
    target("tdo", tdo, seeds::tdo),
    target("cob", cob, seeds::cob),
    target("bos", bos, seeds::bos),
    target("tnt", tnt, seeds::tnt),
    target("pcx", pcx, seeds::pcx),
    target("tdf", tdf, seeds::tdf),
    target("ta_small", ta_small, seeds::ta_small),
    target("hi_textures", hi_textures, seeds::hi_textures),
    target("hi_sounds", hi_sounds, seeds::hi_sounds),
    target("hi_models", hi_models, seeds::hi_models),
    target("hi_objects", hi_objects, seeds::hi_objects),
    target("hi_reports", hi_reports, reports::reports_seeds),
    target("img", img, container::img_seeds),
    target("wad", wad, container::wad_seeds),
    target("pkr", pkr, container::pkr_seeds),
    target("pre", pre, container::pre_seeds),
    target("zip", zip, container::zip_seeds),
    target("xdvdfs", xdvdfs, container::xdvdfs_seeds),
    target("settings", settings, settings::seeds),
    target("seven_zip", seven_zip, container::seven_zip_seeds),
    target("inno", inno, container::inno_seeds),
    target("tar", tar, container::tar_seeds),
    target("compressed", compressed, container::compressed_seeds),
    target("gcm", gcm, container::gcm_seeds),
    target("iso", iso, container::iso_seeds),
    target("udf", udf, container::udf_seeds),
    target("image", image, container::image_seeds),
    target("dat", dat, dat::seeds),
    target("http", http, http::seeds),
    target("listing", listing, listing::seeds),
    target("edited", edited, edited::edited_seeds),
    target("nested", nested, nested::nested_seeds),
    target("vfs", vfs, seeds::vfs),
    target("ops", ops, seeds::ops),
    target("patches", patches, patches::patches_seeds),
    target("serve_route", serve_route, serve::route_seeds),
    target("serve_range", serve_range, serve::range_seeds),
    target("serve_propfind", serve_propfind, serve::propfind_seeds),
    target("serve_rpc", serve_rpc, serve::rpc_seeds),
];

const fn target(name: &'static str, run: fn(&[u8]), seeds: fn() -> Vec<Vec<u8>>) -> Target {
    Target { name, run, seeds }
}
