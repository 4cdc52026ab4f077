//! The root block, and the blocks in it (FORMATS, HGO 1).

use super::block::{BlockKind, HEADER_SIZE, read_blocks, read_header};
use super::{Hgo, NameTable, material, object, texture};
use hpimount_assets::parse::count::count;
use hpimount_containers::io::{Cursor, Result};

/// Reads the root block and everything in it.
pub(super) fn read(cursor: &mut Cursor<'_>, hgo: &mut Hgo) -> Result<()> {
    let root = read_header(cursor, 0)?;
    let declared = u64::from(root.size);
    hgo.blocks.push(root);
    // The size is rounded up to a multiple of 4, but the file is not padded.
    let expected = hgo.file_size().next_multiple_of(4);
    if declared != expected && declared != hgo.file_size() {
        hgo.warnings.push(format!(
            "block HGOF at 0x0: its size is {declared:#x}, that of the file {:#x}",
            hgo.file_size()
        ));
    }
    let inside = declared.saturating_sub(HEADER_SIZE) as usize;
    let mut inner = cursor.section(inside.min(cursor.remaining()), "block HGOF")?;
    let result = read_blocks(&mut inner, hgo, 1, read_block);
    hgo.blocks[0].consumed = inner.offset();
    result
}

/// Reads a block of the root. Returns `false` if it does not belong there.
fn read_block(kind: BlockKind, cursor: &mut Cursor<'_>, hgo: &mut Hgo) -> Result<bool> {
    match kind {
        BlockKind::Names => {
            let length = count(cursor, 1, "name table length")?;
            let bytes = cursor.take(length, "name table")?;
            hgo.names = NameTable::new(hgo.file.slice_ref(bytes));
        }
        BlockKind::Textures => texture::read_set(cursor, hgo)?,
        BlockKind::Materials => material::read_materials(cursor, hgo)?,
        BlockKind::TextureAnimations => material::read_texture_animations(cursor, hgo)?,
        BlockKind::Object => object::read(cursor, hgo)?,
        BlockKind::Root | BlockKind::TextureCount | BlockKind::Texture => return Ok(false),
    }
    Ok(true)
}
