//! Extended attributes of assets.

use crate::io::Result;
use crate::text::windows_1252;

use super::Hip;

/// The attributes that an asset can have.
const NAMES: [&str; 12] = [
    "user.hip.id",
    "user.hip.type",
    "user.hip.type_name",
    "user.hip.layer",
    "user.hip.layer_name",
    "user.hip.flags",
    "user.hip.alignment",
    "user.hip.offset",
    "user.hip.source_file",
    "user.hip.checksum",
    CHECKSUM_OK,
    "user.hip.name",
];

/// The attribute whose value is computed from all bytes of the asset.
const CHECKSUM_OK: &str = "user.hip.checksum_ok";

/// Returns the attributes of an asset. An asset without a layer or without ADBG
/// lacks the attributes that describe them.
pub(super) fn names(hip: &Hip, number: u32) -> Vec<&'static str> {
    let exists = |name: &&str| *name == CHECKSUM_OK || plain(hip, number, name).is_some();
    NAMES.into_iter().filter(exists).collect()
}

/// Returns the value of an attribute. If an asset is in several layers, `layer`
/// and `layer_name` list all of them, separated by commas.
pub(super) fn value(hip: &Hip, number: u32, name: &str) -> Result<Option<String>> {
    if name == CHECKSUM_OK {
        let fits = hip.checksum_fits(hip.asset(number))?;
        return Ok(Some(verdict(fits).to_owned()));
    }
    Ok(plain(hip, number, name))
}

/// Returns how the result of a checksum is shown. `None` is the result for an
/// asset without a checksum.
pub(super) fn verdict(fits: Option<bool>) -> &'static str {
    match fits {
        Some(true) => "true",
        Some(false) => "false",
        None => "unset",
    }
}

/// Returns the value of an attribute that is stored in the tables.
fn plain(hip: &Hip, number: u32, name: &str) -> Option<String> {
    let asset = hip.asset(number);
    let toc = &hip.contents.toc;
    Some(match name.strip_prefix("user.hip.")? {
        "id" => format!("{:08X}", asset.id),
        "type" => asset.kind.text(),
        "type_name" => asset.kind.folder().into_owned(),
        "layer" => list(hip, number, |layer| layer.to_string())?,
        "layer_name" => list(hip, number, |layer| hip.layer_type(layer))?,
        "flags" => asset.flags.to_string(),
        "alignment" => asset.align?.to_string(),
        "offset" => asset.offset.to_string(),
        "source_file" => {
            asset.align?;
            windows_1252(toc.source_file(asset)).into_owned()
        }
        "checksum" => format!("{:08X}", asset.checksum?),
        "name" => {
            asset.align?;
            windows_1252(toc.name(asset)).into_owned()
        }
        _ => return None,
    })
}

fn list(hip: &Hip, number: u32, show: impl Fn(usize) -> String) -> Option<String> {
    let layers: Vec<String> = hip.layout.layers_of(number).map(show).collect();
    (!layers.is_empty()).then(|| layers.join(","))
}
