#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod bon;
pub mod ddm;
pub mod dds;
#[cfg(test)]
mod dumps;
pub mod kat;
pub mod psh;
pub mod psx;
pub mod pvr;
pub mod qb;
pub mod rle;
pub mod tim;
pub mod trg;
pub mod vab;
pub mod vag;
mod view;
pub mod xa;

use hpimount_assets::view::ViewFormat;

/// The formats of this family. The first one that an asset belongs to shows it.
pub const FORMATS: &[ViewFormat] = &[
    bon::FORMAT,
    ddm::FORMAT,
    ddm::DDX_FORMAT,
    kat::FORMAT,
    kat::CUE_FORMAT,
    psh::FORMAT,
    psx::FORMAT,
    pvr::FORMAT,
    qb::FORMAT,
    rle::FORMAT,
    tim::FORMAT,
    trg::FORMAT,
    vab::FORMAT,
    vag::FORMAT,
    xa::FORMAT,
    xa::MOVIE_FORMAT,
];
