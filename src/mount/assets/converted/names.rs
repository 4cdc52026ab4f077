//! Names in converted trees.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use hpimount_assets::view::ViewFormat;
use hpimount_assets::view::converted::ConvertedFile;
use hpimount_containers::text::has_extension;

/// Number of times that all names are compared. The first finds assets with equal names, the
/// second an asset whose name equals a file of one of these.
const ROUNDS: usize = 2;

/// Memory that [`names`] takes for each name during the comparison, in bytes:
/// an entry of a hash table, where more than half of the entries may be free.
pub(super) const MEMORY_OF_NAME: usize = 3 * (size_of::<(u64, u32)>() + 1);

/// An asset in a directory of a converted tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'a> {
    /// Its full name.
    pub(super) name: &'a str,
    /// Its name without the extension.
    pub(super) stem: &'a str,
    /// The files that it is converted to.
    pub(super) files: &'static [ConvertedFile],
}

impl Named<'_> {
    /// Returns the name of one of its files, from the asset's stem or full
    /// name.
    fn file_name(&self, file: &ConvertedFile, whole: bool) -> String {
        let stem = if whole { self.name } else { self.stem };
        format!("{stem}.{}", file.extension)
    }
}

/// Returns the name of a file without the extension of its format, or of
/// another one.
pub(super) fn stem<'a>(name: &'a str, format: &ViewFormat) -> &'a str {
    let mut extensions = format.extensions.iter();
    let known = extensions
        .find(|known| has_extension(name.as_bytes(), known))
        .map(|known| name.len() - known.len() - 1);
    // A file called `.hgo` has no extension.
    let dot = known.or_else(|| name.rfind('.')).filter(|&dot| dot > 0);
    dot.map_or(name, |dot| &name[..dot])
}

/// Returns the names of the files of all assets of a directory, for each asset
/// in the order of its files.
///
/// A file is called `stem.ext`. If several would have the same name, ignoring
/// ASCII case, or a directory has it (`taken`), all of these files get the full
/// name of the asset instead of the stem.
pub(super) fn names<'a>(
    assets: &'a [Named<'a>],
    taken: &[&str],
) -> impl Iterator<Item = Vec<String>> + use<'a> {
    let taken: HashSet<u64> = taken.iter().map(|name| key(None, name)).collect();
    let files = || {
        let assets = assets.iter();
        assets.flat_map(|asset| asset.files.iter().map(move |file| (asset, file)))
    };
    // For each file, whether it gets the full name.
    let mut whole = vec![false; files().count()];
    let key_of = |(asset, file): (&Named<'_>, &ConvertedFile), whole: bool| {
        key(file.folder, &asset.file_name(file, whole))
    };
    for _ in 0..ROUNDS {
        let mut count: HashMap<u64, u32> = HashMap::new();
        for (file, &whole) in files().zip(&whole) {
            *count.entry(key_of(file, whole)).or_default() += 1;
        }
        for (file, whole) in files().zip(&mut whole) {
            let key = key_of(file, *whole);
            *whole |= taken.contains(&key) || count[&key] > 1;
        }
    }
    let mut whole = whole.into_iter();
    assets.iter().map(move |asset| {
        let files = asset.files.iter().zip(whole.by_ref());
        files
            .map(|(file, whole)| asset.file_name(file, whole))
            .collect()
    })
}

/// Returns a hash of a name in a folder, the same for names that differ only in
/// ASCII case. If two different names collide, their files get the full names
/// of their assets, which is harmless.
fn key(folder: Option<&str>, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (folder, name.to_ascii_lowercase()).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::VIEW_FORMATS;
    use crate::namespace::companion;

    const PNG: &[ConvertedFile] = &[ConvertedFile::first("png")];
    const MODEL: &[ConvertedFile] = &[ConvertedFile::first("png"), ConvertedFile::first("glb")];

    fn named(assets: &[(&str, &'static [ConvertedFile])], taken: &[&str]) -> Vec<String> {
        let stem = |name: &str| name.rfind('.').unwrap_or(name.len());
        let assets = assets.iter().map(|&(name, files)| Named {
            name,
            stem: &name[..stem(name)],
            files,
        });
        let assets: Vec<_> = assets.collect();
        names(&assets, taken).flatten().collect()
    }

    #[test]
    fn a_file_has_the_stem_of_its_asset() {
        let assets = [("ARMCOM.3do", MODEL), ("armlogo.PCX", PNG)];
        assert_eq!(
            named(&assets, &[]),
            ["ARMCOM.png", "ARMCOM.glb", "armlogo.png"]
        );
    }

    #[test]
    fn files_with_equal_names_get_the_full_name_of_their_asset() {
        let assets = [("a.3do", MODEL), ("A.pcx", PNG), ("b.pcx", PNG)];
        let expected = ["a.3do.png", "a.glb", "A.pcx.png", "b.png"];
        assert_eq!(named(&assets, &[]), expected);
    }

    #[test]
    fn a_file_named_like_the_full_name_of_another_gets_its_own_full_name() {
        let assets = [("a.pcx", PNG), ("a.gaf", PNG), ("a.pcx.gaf", PNG)];
        let expected = ["a.pcx.png", "a.gaf.png", "a.pcx.gaf.png"];
        assert_eq!(named(&assets, &[]), expected);
    }

    #[test]
    fn a_directory_keeps_its_name() {
        assert_eq!(named(&[("a.pcx", PNG)], &["A.PNG"]), ["a.pcx.png"]);
    }

    #[test]
    fn files_of_other_folders_do_not_collide() {
        const NATIVE: &[ConvertedFile] = &[ConvertedFile {
            folder: Some("native"),
            ..ConvertedFile::first("png")
        }];
        let assets = [("a.x", PNG), ("a.y", NATIVE)];
        assert_eq!(named(&assets, &["native"]), ["a.png", "a.png"]);
    }

    #[test]
    fn the_stem_lacks_the_extension_of_the_format() {
        let stem_of = |name: &'static str| {
            let format = companion::view_format(name, None).unwrap();
            stem(name, &VIEW_FORMATS[usize::from(format)])
        };
        assert_eq!(stem_of("crash.HGO"), "crash");
        assert_eq!(stem_of("crash.hgo.blk"), "crash");
        assert_eq!(stem_of("a.b.pcx"), "a.b");
        let psx = &VIEW_FORMATS[0];
        assert_eq!(stem("no extension", psx), "no extension");
        assert_eq!(stem(".odd", psx), ".odd");
    }
}
