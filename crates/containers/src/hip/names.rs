//! Names of the folders and files that show an archive.
//!
//! They are raw bytes, like the assets' names; the sink escapes invalid
//! characters.

use std::borrow::Cow;
use std::collections::HashMap;

use super::detect::{Game, Platform};
use super::kinds::Extensions;
use super::layer;
use super::toc::{Asset, Toc};
use crate::text::windows_1252;
use crate::volume::AssetName;

/// Number of comparisons of all names. The first one finds assets with equal
/// names, the second one finds a name that equals another name with an id
/// added.
const ROUNDS: usize = 2;

/// Length of most names in bytes, at most.
const USUAL_LENGTH: usize = 32;

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
pub(super) fn files(toc: &Toc, members: &[u32], platform: Platform) -> Names {
    let names = distinct(toc, members, platform, FileName::append_to);
    Names::of(&names, FileName::append_to)
}

/// Like [`files`], but names that are equal except for their extensions get `
/// [ID]` too.
pub(super) fn with_own_stems(toc: &Toc, members: &[u32], platform: Platform) -> Vec<AssetName> {
    let text = |bytes: &[u8]| windows_1252(bytes).into_owned();
    let names = distinct(toc, members, platform, FileName::append_stem_to);
    let stems = Names::of(&names, FileName::append_stem_to);
    let extensions = Names::of(&names, FileName::append_extension_to);
    let names = stems.iter().zip(extensions.iter());
    let names = names.map(|(stem, extension)| AssetName {
        stem: text(stem),
        extension: text(extension),
    });
    names.collect()
}

/// Many names in one piece of memory.
#[derive(Default)]
pub(super) struct Names {
    bytes: Vec<u8>,
    /// The end of each name in `bytes`.
    ends: Vec<usize>,
}

impl Names {
    /// Returns a part of each name, which `append` adds to its argument.
    fn of<'a>(names: &[FileName<'a>], append: fn(&FileName<'a>, &mut Vec<u8>)) -> Self {
        let mut all = Self::default();
        all.ends.reserve_exact(names.len());
        all.bytes.reserve(names.len() * USUAL_LENGTH);
        for name in names {
            append(name, &mut all.bytes);
            all.ends.push(all.bytes.len());
        }
        all
    }

    /// Returns the names in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.bytes[start..end])
    }
}

/// Returns the names of files, made unique by a part of them, which `part` adds to
/// its argument, ignoring ASCII case.
fn distinct<'a>(
    toc: &'a Toc,
    members: &[u32],
    platform: Platform,
    part: fn(&FileName<'a>, &mut Vec<u8>),
) -> Vec<FileName<'a>> {
    let mut names: Vec<FileName> = Vec::with_capacity(members.len());
    let asset = |index: u32| &toc.assets[index as usize];
    // Most assets of a layer have the type of the asset before them.
    for same in members.chunk_by(|&left, &right| asset(left).kind == asset(right).kind) {
        let extensions = asset(same[0]).kind.extensions(platform);
        let same = same.iter();
        names.extend(same.map(|&index| FileName::new(toc, asset(index), &extensions)));
    }
    for _ in 0..ROUNDS {
        let mut folded = Names::of(&names, part);
        folded.bytes.make_ascii_lowercase();
        let mut count: HashMap<&[u8], u32> = HashMap::with_capacity(names.len());
        for name in folded.iter() {
            *count.entry(name).or_default() += 1;
        }
        if count.len() == names.len() {
            break;
        }
        for (name, folded) in names.iter_mut().zip(folded.iter()) {
            name.with_id |= count[folded] > 1;
        }
    }
    names
}

/// The parts of a file's name.
struct FileName<'a> {
    stem: &'a [u8],
    /// The extension that the asset's name has, with its dot.
    own: &'a [u8],
    /// The extension of its type if the name has none; empty for a type without one.
    of_type: Cow<'static, str>,
    id: u32,
    with_id: bool,
}

impl<'a> FileName<'a> {
    fn new(toc: &'a Toc, asset: &Asset, extensions: &Extensions) -> Self {
        let name = toc.name(asset);
        let carried = extensions.carried(name);
        let (stem, own) = name.split_at(name.len() - carried);
        Self {
            stem,
            own,
            of_type: match own {
                [] => extensions.own.clone(),
                _ => "".into(),
            },
            id: asset.id,
            with_id: name.is_empty(),
        }
    }

    /// Appends the name without its extension to `out`.
    fn append_stem_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.stem);
        if self.with_id {
            if !self.stem.is_empty() {
                out.push(b' ');
            }
            out.extend_from_slice(format!("[{:08X}]", self.id).as_bytes());
        }
    }

    /// Appends the name to `out`.
    fn append_to(&self, out: &mut Vec<u8>) {
        self.append_stem_to(out);
        self.append_extension_to(out);
    }

    /// Appends the extension to `out`, with its dot.
    fn append_extension_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.own);
        if !self.of_type.is_empty() {
            out.push(b'.');
            out.extend_from_slice(self.of_type.as_bytes());
        }
    }
}
