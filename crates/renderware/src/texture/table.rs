//! Textures as rows of tables.

use super::{Sampling, Texture};
use hpimount_record::Value;

/// The columns of the facts about a texture, without its name.
pub const COLUMNS: [&str; 15] = [
    "mask",
    "platform",
    "format",
    "palette",
    "width",
    "height",
    "depth",
    "declared_levels",
    "levels",
    "alpha",
    "filter",
    "address_u",
    "address_v",
    "raster",
    "offset",
];

/// Returns the values of [`COLUMNS`].
pub fn values(texture: &Texture) -> [Value; COLUMNS.len()] {
    let sampling = texture.sampling;
    [
        texture.mask.clone().into(),
        texture.format.platform().into(),
        texture.format.name().into(),
        texture.format.palette_name().into(),
        texture.width.into(),
        texture.height.into(),
        texture.depth.into(),
        texture.declared_levels.into(),
        texture.levels.len().into(),
        texture.has_alpha.into(),
        sampling.filter_name().into(),
        Sampling::address_name(sampling.address_u).into(),
        Sampling::address_name(sampling.address_v).into(),
        format!("{:#x}", texture.raster).into(),
        texture.offset.into(),
    ]
}
