//! `Settings.ini`, which tells HipHopTool how to repack an archive (FORMATS,
//! HIP 11).

use std::fmt::Write;

use super::toc::Asset;
use super::{Game, Hip, Platform};

/// Value of a field of PVER, PFLG, PCRT, AINF or LINF that is missing from the
/// archive.
const NOTHING: u32 = 0;

/// Value of a missing LDBG or DHDR.
const NO_DEBUG: u32 = u32::MAX;

/// Returns the text for this archive.
///
/// HipHopTool reads every asset of a layer from the folders beside the file and
/// lays out the data again. It refuses an asset in two layers, so only the
/// first one lists it. Data that HipHopTool does not preserve is in lines that
/// it skips and `hpipack` reads: `Platform`, `Shared`, `Unlayered`, `HIPB` and
/// `HIPB.LayerName`.
pub(super) fn ini(hip: &Hip) -> String {
    let mut text = String::new();
    write_settings(hip, &mut text).expect("writing to a String cannot fail");
    text
}

fn write_settings(hip: &Hip, text: &mut String) -> std::fmt::Result {
    write_package(hip, text)?;
    let toc = &hip.contents.toc;
    let info = toc.asset_info.unwrap_or(NOTHING).cast_signed();
    writeln!(text, "\nDICT.ATOC.AINF={info}")?;
    let info = toc.layer_info.unwrap_or(NOTHING).cast_signed();
    writeln!(text, "DICT.LTOC.LINF={info}\n")?;
    let mut written = vec![false; toc.assets.len()];
    for number in 0..hip.layout.layers.len() {
        write_layer(hip, number, &mut written, text)?;
    }
    write_unlayered(hip, text)?;
    write_hipb(hip, text)?;
    let stream = hip.contents.stream.and_then(|stream| stream.debug);
    let debug = stream.unwrap_or(NO_DEBUG).cast_signed();
    writeln!(text, "STRM.DHDR={debug}\n")
}

fn write_package(hip: &Hip, text: &mut String) -> std::fmt::Result {
    let package = &hip.contents.package;
    writeln!(text, "Game={}", hip.game.value.hiphoptool_name())?;
    writeln!(text, "IniVersion=2")?;
    let has_plat = !plat_fields(hip.game.value).is_empty();
    if !has_plat && hip.platform.value != Platform::Unknown {
        writeln!(text, "Platform={}", hip.platform.value.name())?;
    }
    let version = package.version.map_or([NOTHING; 3], |version| {
        [version.sub, version.client, version.compat]
    });
    let [sub, client, compat] = version.map(u32::cast_signed);
    writeln!(text, "PACK.PVER={sub};{client};{compat}")?;
    let flags = package.flags.unwrap_or(NOTHING).cast_signed();
    writeln!(text, "PACK.PFLG={flags}")?;
    let (time, words) = match &package.created {
        // Scooby-Doo's dates end with a newline, which a line cannot contain.
        Some(created) => (
            created.time.cast_signed(),
            value(created.text.trim_ascii_end()),
        ),
        None => (0, String::new()),
    };
    writeln!(text, "PACK.PCRT={time};{words}")?;
    for &(field, index) in plat_fields(hip.game.value) {
        let strings = package.plat.as_deref().unwrap_or_default();
        let string = strings.get(index).map(|string| value(string));
        writeln!(text, "PACK.PLAT.{field}={}", string.unwrap_or_default())?;
    }
    Ok(())
}

/// Returns HipHopTool's names for the strings of PLAT, and the index of each.
fn plat_fields(game: Game) -> &'static [(&'static str, usize)] {
    match game {
        Game::Bfbb => &[
            ("Target", 0),
            ("RegionFormat", 2),
            ("Language", 3),
            ("TargetGame", 4),
            ("TargetPlatformName", 1),
        ],
        Game::Incredibles | Game::Rotu | Game::RatProto => &[
            ("Target", 0),
            ("RegionFormat", 2),
            ("Language", 1),
            ("TargetGame", 3),
        ],
        Game::Scooby | Game::ScoobyPrototype | Game::Unknown => &[],
    }
}

fn write_layer(
    hip: &Hip,
    number: usize,
    written: &mut [bool],
    text: &mut String,
) -> std::fmt::Result {
    let layer = hip.contents.toc.layers[number];
    let kind = layer.kind.cast_signed();
    match super::layer_name(hip.game.value, layer.kind) {
        Some(name) => writeln!(text, "LayerType={kind} {name}")?,
        None => writeln!(text, "LayerType={kind} {kind}")?,
    }
    let members = &hip.layout.layers[number];
    if members.iter().all(|&asset| written[asset as usize]) {
        writeln!(text, "AssetAmount=0")?;
    }
    let debug = layer.debug.unwrap_or(NO_DEBUG).cast_signed();
    writeln!(text, "LHDR.LDBG={debug}")?;
    for &number in members {
        let asset = hip.asset(number);
        match std::mem::replace(&mut written[number as usize], true) {
            false => write_asset(hip, "Asset", asset, text)?,
            true => writeln!(text, "Shared={:08X}", asset.id)?,
        }
    }
    writeln!(text, "EndLayer\n")
}

/// Writes the assets that are in no layer. One that repeats the id of an
/// earlier asset is omitted, because a line identifies an asset by its id.
fn write_unlayered(hip: &Hip, text: &mut String) -> std::fmt::Result {
    let first = |&&number: &&u32| hip.layout.find(hip.asset(number).id) == Some(number);
    for &number in hip.layout.unlayered.iter().filter(first) {
        write_asset(hip, "Unlayered", hip.asset(number), text)?;
    }
    Ok(())
}

fn write_hipb(hip: &Hip, text: &mut String) -> std::fmt::Result {
    let Some(hipb) = &hip.contents.hipb else {
        return Ok(());
    };
    let hidden = u8::from(hipb.no_layers);
    let numbers = (hipb.version, hidden, hipb.scooby_platform, hipb.game);
    let (version, hidden, platform, game) = numbers;
    writeln!(text, "HIPB={version};{hidden};{platform};{game}")?;
    for (layer, name) in &hipb.layer_names {
        writeln!(text, "HIPB.LayerName={layer};{}", value(name))?;
    }
    Ok(())
}

fn write_asset(hip: &Hip, key: &str, asset: &Asset, text: &mut String) -> std::fmt::Result {
    let toc = &hip.contents.toc;
    writeln!(
        text,
        "{key}={:08X};{};{};{};{};{};{:08X}",
        asset.id,
        asset.kind.folder(),
        asset.flags.cast_signed(),
        asset.align.unwrap_or_default(),
        value(toc.name(asset)),
        value(toc.source_file(asset)),
        asset.checksum.unwrap_or_default(),
    )
}

/// Returns a string in the form that HipHopTool reads: every byte is the
/// character with that number. HipHopTool splits lines at `=` and `;`, so these
/// and newlines become `_`, as HipHopTool does for `;` in names.
fn value(string: &[u8]) -> String {
    string
        .iter()
        .map(|&byte| match byte {
            b';' | b'=' | b'\n' | b'\r' => '_',
            other => char::from(other),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_survive_hiphoptools_splitting() {
        assert_eq!(value(b"{sound:a;b=c}\xe9\x99"), "{sound:a_b_c}\u{e9}\u{99}");
        assert_eq!(value(b"two\r\nlines"), "two__lines");
    }
}
