//! View of a script: its source text, and the names in it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use bytes::Bytes;
use serde_json::json;

use super::{names, text};
use crate::qb::{self, Qb};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::damaged::failure;
use hpimount_assets::view::listed::{ListedView, whole_files};
use hpimount_assets::view::{AssetContext, Failure, Summary, Table, View, ViewFormat, json};

/// Compiled scripts.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: &[qb::EXTENSION, qb::PACKED_EXTENSION],
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::named("q", "source.q")])),
    ..ViewFormat::new("QB", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let is_packed = names::is_packed(context.name());
    let mut model = qb::parse(bytes, is_packed).map_err(|error| failure(&FORMAT, bytes, error))?;
    names::resolve(&mut model, context);
    let files = whole_files(&[
        ("info.json", info as _),
        ("info.txt", page),
        ("names.tsv", names_table),
        ("scripts.tsv", scripts),
        ("source.q", text::write),
    ]);
    Ok(Box::new(ListedView { model, files }))
}

fn info(qb: &Qb, out: &mut dyn Write) -> io::Result<()> {
    let scripts = qb.scripts.iter();
    let facts = json!({
        "format": FORMAT.name,
        "packed": qb.is_packed,
        "size": qb.bytes.bytes().len(),
        "names": qb.names.len(),
        "names_with_wrong_hash": qb.wrong_names,
        "unknown_hashes": unknown(qb),
        "tokens": qb.tokens,
        "scripts": scripts.map(|&(_, hash)| name_or_hash(qb, hash)).collect::<Vec<_>>(),
        "weighted_random": qb.has_weights,
        "short_jumps": qb.has_short_jumps,
        "end": qb.end,
        "error": qb.problem,
        "warnings": qb.warnings.texts(),
    });
    json::write_pretty(&facts, out)
}

/// Returns the number of hashes without a name.
fn unknown(qb: &Qb) -> usize {
    let unnamed = qb.unnamed.values();
    unnamed.filter(|name| name.is_none()).count()
}

fn name_or_hash(qb: &Qb, hash: u32) -> String {
    match qb.name(hash) {
        Some(name) => name.to_owned(),
        None => format!("{hash:#010x}"),
    }
}

fn page(qb: &Qb, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new(match qb.is_packed {
        true => "QB script, packed",
        false => "QB script",
    });
    page.list(
        "scripts",
        qb.scripts.iter().map(|&(_, hash)| name_or_hash(qb, hash)),
    );
    page.line("tokens", qb.tokens);
    page.line("names", qb.names.len());
    page.line("other hashes", qb.unnamed.len());
    page.line("without name", unknown(qb));
    page.write(&qb.warnings, out)
}

fn names_table(qb: &Qb, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["hash", "name", "from"])?;
    let own = qb.names.iter();
    let own = own.map(|(&hash, name)| (hash, (Some(name.as_str()), "file")));
    let others = qb.unnamed.iter().map(|(&hash, name)| {
        let from = name.as_ref().map_or("", |_| "other file");
        (hash, (name.as_deref(), from))
    });
    let all: BTreeMap<u32, (Option<&str>, &str)> = own.chain(others).collect();
    for (hash, (name, from)) in all {
        table
            .cell(format_args!("{hash:08x}"))
            .optional_text(name)
            .cell(from)
            .end_row()?;
    }
    Ok(())
}

fn scripts(qb: &Qb, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["index", "name", "hash", "offset"])?;
    for (index, &(offset, hash)) in qb.scripts.iter().enumerate() {
        table
            .cell(index)
            .optional_text(qb.name(hash))
            .cell(format_args!("{hash:08x}"))
            .cell(offset)
            .end_row()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qb::hash::hash;
    use crate::qb::parse::tests::{entry, name};
    use hpimount_assets::view::{AssetRef, MakeShared, Shared, Wanted, rendered_text};
    use std::sync::Arc;

    #[test]
    fn the_tables_list_names_and_scripts() {
        let file = [vec![0x23], name("Go"), name("other"), entry("Go")].concat();
        let hashes = ["Go", "other"].map(|name| hash(name.as_bytes()));
        let mut rows = [
            format!("{:08x}\tGo\tfile\n", hashes[0]),
            format!("{:08x}\t\t\n", hashes[1]),
        ];
        rows.sort();
        assert_eq!(
            rendered_text(&FORMAT, &file, "names.tsv").unwrap(),
            format!("hash\tname\tfrom\n{}", rows.concat())
        );
        assert_eq!(
            rendered_text(&FORMAT, &file, "scripts.tsv").unwrap(),
            format!("index\tname\thash\toffset\n0\tGo\t{:08x}\t1\n", hashes[0])
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

        fn find(&self, _wanted: Wanted<'_>) -> Option<AssetRef> {
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
