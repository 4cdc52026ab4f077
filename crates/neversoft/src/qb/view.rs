//! View of a script: its source text, and the names in it.

use std::collections::BTreeMap;

use bytes::Bytes;
use hpimount_record::Value;

use super::{names, text};
use crate::qb::{self, Qb};
use crate::view::hash_text;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, Opened, ViewFormat};

/// Compiled scripts.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: &[qb::EXTENSION, qb::PACKED_EXTENSION],
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::named("q", "source.q")])),
    left_out: &[Editable::new(
        "source.q",
        "is a listing that lacks parts of the script, so that no QB is compiled from it",
    )],
    ..ViewFormat::new("QB", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let is_packed = names::is_packed(context.name());
    let mut qb = qb::parse(bytes, is_packed)?;
    names::resolve(&mut qb, context);
    let heading = match qb.is_packed {
        true => "QB script, packed",
        false => "QB script",
    };
    let warnings = std::mem::take(&mut qb.warnings);
    let called = qb.scripts.iter().map(|&(_, hash)| match qb.name(hash) {
        Some(name) => name.to_owned(),
        None => hash_text(hash),
    });
    let unnamed = qb.unnamed.values().filter(|name| name.is_none());
    let mut page = Page::new(FORMAT.name, heading, warnings);
    page.fact("packed", qb.is_packed)
        .fact("size", qb.bytes.bytes().len())
        .fact("names", qb.names.len())
        .fact("names_with_wrong_hash", qb.wrong_names)
        .fact("other_hashes", qb.unnamed.len())
        .fact("unknown_hashes", unnamed.count())
        .fact("tokens", qb.tokens)
        .fact("scripts", called.collect::<Value>())
        .fact("weighted_random", qb.has_weights)
        .fact("short_jumps", qb.has_short_jumps)
        .fact("end", qb.end)
        .fact("error", qb.problem.clone())
        .table("names.tsv", names_table)
        .table("scripts.tsv", scripts)
        .file("source.q", |qb: &Qb, _, out| text::write(qb, out));
    Ok(page.show(qb, None))
}

fn names_table(qb: &Qb) -> Rows<'_> {
    let own = qb.names.iter();
    let own = own.map(|(&hash, name)| (hash, (Some(name), "file")));
    let others = qb.unnamed.iter().map(|(&hash, name)| {
        let from = name.as_ref().map_or("", |_| "other file");
        (hash, (name.as_ref(), from))
    });
    let all: BTreeMap<u32, (Option<&String>, &str)> = own.chain(others).collect();
    let rows = all
        .into_iter()
        .map(|(hash, (name, from))| [hash_text(hash).into(), name.cloned().into(), from.into()]);
    Rows::new(["hash", "name", "from"], rows)
}

fn scripts(qb: &Qb) -> Rows<'_> {
    let scripts = qb.scripts.iter().enumerate();
    let rows = scripts.map(|(index, &(offset, hash))| {
        let name = qb.name(hash).map(str::to_owned);
        [
            index.into(),
            name.into(),
            hash_text(hash).into(),
            offset.into(),
        ]
    });
    Rows::new(["index", "name", "hash", "offset"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qb::hash::hash;
    use crate::qb::parse::tests::{entry, name};
    use hpimount_assets::view::{AssetKey, AssetRef, MakeShared, Shared, rendered_text};
    use std::sync::Arc;

    #[test]
    fn the_tables_list_names_and_scripts() {
        let file = [vec![0x23], name("Go"), name("other"), entry("Go")].concat();
        let hashes = ["Go", "other"].map(|name| hash(name.as_bytes()));
        let mut rows = [
            format!("0x{:08X}\tGo\tfile\n", hashes[0]),
            format!("0x{:08X}\t\t\n", hashes[1]),
        ];
        rows.sort();
        assert_eq!(
            rendered_text(&FORMAT, &file, "names.tsv").unwrap(),
            format!("hash\tname\tfrom\n{}", rows.concat())
        );
        assert_eq!(
            rendered_text(&FORMAT, &file, "scripts.tsv").unwrap(),
            format!("index\tname\thash\toffset\n0\tGo\t0x{:08X}\t1\n", hashes[0])
        );
    }

    /// An archive with another script, which is packed.
    struct Archive;

    impl AssetContext for Archive {
        fn name(&self) -> &str {
            "a.qb"
        }

        fn path_of(&self, _file: AssetRef) -> String {
            "scripts/b.qb_compressed".into()
        }

        fn find(&self, _: AssetKey<'_>) -> Option<AssetRef> {
            None
        }

        fn find_extensions(&self, _folder: &str, _extensions: &[&str]) -> Vec<AssetRef> {
            vec![AssetRef(0)]
        }

        fn read(&self, _file: AssetRef) -> Option<Bytes> {
            // Literals only.
            let names = entry("Elsewhere");
            let pieces = names.chunks(8).map(|piece| [&[0xFF], piece].concat());
            Some(pieces.collect::<Vec<_>>().concat().into())
        }

        fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
            Some(make(self).into())
        }
    }

    #[test]
    fn names_are_found_in_other_scripts_of_the_archive() {
        let view = open(&name("Elsewhere").into(), &Archive).unwrap();
        let index = view.position(&|file| file.name == "source.q").unwrap();
        let mut text = Vec::new();
        view.render(index, &Archive, &mut text).unwrap();
        assert_eq!(text, b"Elsewhere\n");
    }
}
