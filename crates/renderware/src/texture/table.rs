//! Textures as rows of tables.

use super::{Sampling, Texture};
use hpimount_assets::view::Table;

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

/// Adds the cells of [`COLUMNS`] to a row.
pub fn cells(texture: &Texture, table: &mut Table<'_>) {
    let sampling = texture.sampling;
    table
        .text(&texture.mask)
        .cell(texture.format.platform())
        .cell(texture.format.name())
        .optional(texture.format.palette_name())
        .cell(texture.width)
        .cell(texture.height)
        .cell(texture.depth)
        .cell(texture.declared_levels)
        .cell(texture.levels.len())
        .optional(texture.has_alpha)
        .optional(sampling.filter_name())
        .optional(Sampling::address_name(sampling.address_u))
        .optional(Sampling::address_name(sampling.address_v))
        .cell(format_args!("{:#x}", texture.raster))
        .cell(texture.offset);
}
