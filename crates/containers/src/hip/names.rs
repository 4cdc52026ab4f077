//! Names of the folders and files that show an archive.
//!
//! They are raw bytes, like the assets' names; the sink escapes invalid
//! characters.

use std::collections::HashMap;

use super::detect::{Game, Platform};
use super::layer;
use super::toc::{Asset, Toc};
use crate::text::windows_1252;
use crate::volume::AssetName;

/// Number of comparisons of all names. The first one finds assets with equal
/// names, the second one finds a name that equals another name with an id
/// added.
const ROUNDS: usize = 2;

/// Returns the name of a layer's type, or its number if it has no name.
pub(super) fn layer_type(game: Game, kind: u32) -> String {
    layer::name(game, kind).map_or_else(|| format!("TYPE_{kind}"), str::to_owned)
}

/// Returns the name of the folder of layer `number`, with the name `given` by
/// users.
pub(super) fn layer_folder(number: usize, kind: &str, given: Option<&[u8]>) -> Vec<u8> {
    let mut name = format!("{number:02}-{kind}").into_bytes();
    if let Some(given) = given.filter(|given| !given.is_empty()) {
        name.push(b' ');
        name.extend_from_slice(given);
    }
    name
}

/// Returns the name of an asset in HipHopTool's folders. On Linux HipHopTool
/// replaces only `/` and NUL, and adds no extension.
pub(super) fn hiphoptool_file(asset: &Asset, name: &[u8]) -> Vec<u8> {
    let name = name.iter().map(|&byte| match byte {
        b'/' | 0 => b'_',
        other => other,
    });
    format!("[{:08X}] ", asset.id)
        .into_bytes()
        .into_iter()
        .chain(name)
        .collect()
}

/// Returns the names of the files of one layer, for its assets `members`.
///
/// A name is the asset's name and the extension of its type, unless it already
/// has one. If names in a layer are equal except for ASCII case, all of them
/// get ` [ID]` before the extension. An asset without a name is called `[ID]`,
/// so that its file is not hidden.
pub(super) fn files(toc: &Toc, members: &[u32], platform: Platform) -> Vec<Vec<u8>> {
    let names = distinct(toc, members, platform, FileName::bytes);
    names.iter().map(FileName::bytes).collect()
}

/// Like [`files`], but names that are equal except for their extensions get `
/// [ID]` too.
pub(super) fn with_own_stems(toc: &Toc, members: &[u32], platform: Platform) -> Vec<AssetName> {
    let text = |bytes: &[u8]| windows_1252(bytes).into_owned();
    let names = distinct(toc, members, platform, FileName::stem);
    let names = names.iter().map(|name| AssetName {
        stem: text(&name.stem()),
        extension: text(&name.extension),
    });
    names.collect()
}

/// Returns the names of files, made unique by `part`, ignoring ASCII case.
fn distinct<'a>(
    toc: &'a Toc,
    members: &[u32],
    platform: Platform,
    part: fn(&FileName<'a>) -> Vec<u8>,
) -> Vec<FileName<'a>> {
    let mut names: Vec<FileName> = members
        .iter()
        .map(|&index| FileName::new(toc, &toc.assets[index as usize], platform))
        .collect();
    for _ in 0..ROUNDS {
        let folded = names.iter().map(|name| part(name).to_ascii_lowercase());
        let folded: Vec<Vec<u8>> = folded.collect();
        let mut count: HashMap<&[u8], u32> = HashMap::with_capacity(folded.len());
        for name in &folded {
            *count.entry(name).or_default() += 1;
        }
        if count.len() == names.len() {
            break;
        }
        for (name, folded) in names.iter_mut().zip(&folded) {
            name.with_id |= count[folded.as_slice()] > 1;
        }
    }
    names
}

/// The parts of a file's name.
struct FileName<'a> {
    stem: &'a [u8],
    extension: Vec<u8>,
    id: u32,
    with_id: bool,
}

impl<'a> FileName<'a> {
    fn new(toc: &'a Toc, asset: &Asset, platform: Platform) -> Self {
        let name = toc.name(asset);
        let carried = asset.kind.carried(name, platform);
        let (stem, own) = name.split_at(name.len() - carried);
        let extension = if own.is_empty() {
            match &*asset.kind.extension(platform) {
                "" => Vec::new(),
                extension => format!(".{extension}").into_bytes(),
            }
        } else {
            own.to_vec()
        };
        Self {
            stem,
            extension,
            id: asset.id,
            with_id: name.is_empty(),
        }
    }

    /// Returns the name without its extension.
    fn stem(&self) -> Vec<u8> {
        let mut name = self.stem.to_vec();
        if self.with_id {
            if !name.is_empty() {
                name.push(b' ');
            }
            name.extend_from_slice(format!("[{:08X}]", self.id).as_bytes());
        }
        name
    }

    fn bytes(&self) -> Vec<u8> {
        let mut name = self.stem();
        name.extend_from_slice(&self.extension);
        name
    }
}
