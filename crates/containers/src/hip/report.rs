//! The generated files of an archive: `info.json` and `assets.tsv`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::io::Result;
use crate::text::{Name, Table, file_name, windows_1252};

use super::contents::Stream;
use super::hipb::Hipb;
use super::package::Package;
use super::{Hip, attributes, names};

/// Columns of `assets.tsv`.
const COLUMNS: [&str; 14] = [
    "layer",
    "layer_name",
    "id",
    "type",
    "name",
    "file",
    "size",
    "offset",
    "plus",
    "flags",
    "alignment",
    "source_file",
    "checksum",
    "checksum_ok",
];

/// Returns `info.json`, with one field per line.
pub(super) fn info_file(hip: &Hip) -> Vec<u8> {
    let text = serde_json::to_string_pretty(&info(hip)).expect("a JSON value can be serialized");
    (text + "\n").into_bytes()
}

/// Returns the metadata of the archive.
pub(super) fn info(hip: &Hip) -> Value {
    let contents = &hip.contents;
    json!({
        "format": super::FORMAT.name,
        "game": hip.game.value.name(),
        "game_detected_by": hip.game.evidence,
        "platform": hip.platform.value.name(),
        "platform_detected_by": hip.platform.evidence,
        "size": hip.source.len(),
        "assets": contents.toc.assets.len(),
        "unlayered": hip.layout.unlayered.len(),
        "types": types(hip),
        "PACK": package(&contents.package),
        "DICT": {
            "AINF": contents.toc.asset_info,
            "LINF": contents.toc.layer_info,
        },
        "STRM": contents.stream.map(stream),
        "HIPB": contents.hipb.as_ref().map(hipb),
        "layers": layers(hip),
        "warnings": notes(hip).into_iter().chain(hip.warnings.iter().map(String::as_str)).collect::<Vec<_>>(),
    })
}

/// Returns a note about an irregularity that needs no warning, because editors
/// leave archives like this.
fn notes(hip: &Hip) -> Option<&'static str> {
    let is_sorted = hip.contents.toc.assets.is_sorted_by_key(|asset| asset.id);
    (!is_sorted).then_some("the assets are not sorted by id")
}

/// Returns the number of assets of each type.
fn types(hip: &Hip) -> BTreeMap<Cow<'static, str>, usize> {
    let mut types = BTreeMap::new();
    for asset in &hip.contents.toc.assets {
        *types.entry(asset.kind.folder()).or_default() += 1;
    }
    types
}

fn package(package: &Package) -> Value {
    json!({
        "PVER": package.version.map(|version| json!({
            "subVersion": version.sub,
            "clientVersion": format!("{:08X}", version.client),
            "compatVersion": version.compat,
        })),
        "PFLG": package.flags.map(|flags| format!("{flags:08X}")),
        "PCNT": package.counts.map(|counts| json!({
            "assetCount": counts.assets,
            "layerCount": counts.layers,
            "maxAssetSize": counts.max_asset,
            "maxLayerSize": counts.max_layer,
            "maxXformAssetSize": counts.max_xform,
        })),
        "PCRT": package.created.as_ref().map(|created| json!({
            "createdDate": created.time,
            "createdDateString": windows_1252(&created.text),
        })),
        "PMOD": package.modified,
        "PLAT": package.plat.as_ref().map(|strings| {
            strings.iter().map(|string| windows_1252(string)).collect::<Vec<_>>()
        }),
    })
}

fn stream(stream: Stream) -> Value {
    json!({
        "size": stream.size,
        "DHDR": stream.debug.map(u32::cast_signed),
        "DPAK": stream.data.map(|data| json!({
            "offset": data.body(),
            "size": data.size,
            "padding": stream.padding,
        })),
    })
}

fn hipb(hipb: &Hipb) -> Value {
    let names: BTreeMap<String, _> = hipb
        .layer_names
        .iter()
        .map(|(layer, name)| (layer.to_string(), windows_1252(name)))
        .collect();
    json!({
        "version": hipb.version,
        "noLayers": hipb.no_layers,
        "scoobyPlatform": hipb.scooby_platform,
        "layerNames": names,
        "game": hipb.game,
    })
}

fn layers(hip: &Hip) -> Vec<Value> {
    let layers = hip.contents.toc.layers.iter().zip(&hip.layout.layers);
    layers
        .enumerate()
        .map(|(number, (layer, members))| {
            json!({
                "number": number,
                "type": layer.kind,
                "name": hip.layer_type(number),
                "folder": file_name(Name::windows_1252(&hip.layer_folder(number))),
                "assets": members.len(),
                "missing": hip.layout.missing[number],
                "LDBG": layer.debug.map(u32::cast_signed),
            })
        })
        .collect()
}

/// Returns `assets.tsv`: a row for every file in `layers/`, in order, with
/// `file` as its name there. `checksum_ok` is empty unless checksums are
/// verified; it is `unreadable` for an asset that extends past the end of the
/// archive.
///
/// # Errors
/// Returns an error if checksums are verified and the source cannot be read.
pub(super) fn assets(hip: &Hip) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut table = Table::new(&mut text);
    let written = table.columns(&COLUMNS);
    written.expect("writing to memory cannot fail");
    for (number, members) in hip.layout.layers.iter().enumerate() {
        rows(hip, &mut table, Some(number), members)?;
    }
    rows(hip, &mut table, None, &hip.layout.unlayered)?;
    Ok(text)
}

fn rows(hip: &Hip, table: &mut Table<'_>, layer: Option<usize>, members: &[u32]) -> Result<()> {
    let toc = &hip.contents.toc;
    let layer_name = layer.map_or_else(String::new, |number| hip.layer_type(number));
    let files = names::files(toc, members, hip.platform.value);
    for (&number, file) in members.iter().zip(files.iter()) {
        let asset = hip.asset(number);
        table.optional(layer).text(&layer_name);
        table.cell(format_args!("{:08X}", asset.id));
        table.text(&asset.kind.text());
        table.text(&windows_1252(toc.name(asset)));
        table.text(&file_name(Name::windows_1252(file)));
        table.cell(asset.size).cell(asset.offset).cell(asset.plus);
        table.cell(asset.flags).optional(asset.align);
        table.text(&windows_1252(toc.source_file(asset)));
        table.optional(asset.checksum.map(|checksum| format!("{checksum:08X}")));
        let ends = u64::from(asset.offset) + u64::from(asset.size);
        let verdict = match hip.verify.then(|| hip.checksum_fits(asset)) {
            None => None,
            Some(Err(_)) if ends > hip.source.len() => Some("unreadable"),
            Some(fits) => Some(attributes::verdict(fits?)),
        };
        table.optional(verdict);
        table.end_row().expect("writing to memory cannot fail");
    }
    Ok(())
}
