//! View of the nodes of a level: JSON, a table, the scripts as text, and the
//! level itself.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::level;
use super::text::{Heading, Statement, flags_text, hash_text, spaced};
use crate::trg::{self, Argument, Command, Flags, Node, Trg, kind_name};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::damaged::failure;
use hpimount_assets::view::json::Seq;
use hpimount_assets::view::listed::{Listed, ListedView, Render, whole_files};
use hpimount_assets::view::{
    AssetContext, Failure, Preview, Summary, Table, View, ViewFormat, hex, json,
};
use hpimount_containers::file_type::{FileType, Magic};

/// Nodes of levels.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: trg::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[
        ConvertedFile::named("json", "nodes.json"),
        ConvertedFile::first("glb"),
    ])),
    preview: Some(Preview {
        files: &["preview.png"],
        rank: 5,
    }),
    matches: Some(|bytes| bytes.starts_with(trg::MAGIC) && trg::parse(bytes).is_ok()),
    types: &[FileType {
        magic: &[Magic::at(0, trg::MAGIC)],
        patterns: &["*.trg"],
        ..FileType::new("application/x-neversoft-trg", Some("Neversoft level nodes"))
    }],
    ..ViewFormat::new("TRG", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let model = trg::parse(bytes).map_err(|error| failure(&FORMAT, bytes, error))?;
    let mut files = whole_files(&[
        ("info.json", info as _),
        ("info.txt", page),
        ("nodes.json", all_nodes),
        ("nodes.tsv", table),
    ]);
    if model.nodes().any(|(_, node)| has_steps(&node)) {
        files.push(Listed::whole("scripts.txt", scripts));
    }
    let level = Render::InContext(level::write, 0);
    files.push(Listed::new(None, "level.glb".to_owned(), level));
    let drawn = Render::InContext(level::draw, 0);
    files.push(Listed::new(None, "preview.png".to_owned(), drawn));
    Ok(Box::new(ListedView { model, files }))
}

fn info(trg: &Trg, out: &mut dyn Write) -> io::Result<()> {
    json::write_pretty(&Value::Object(head(trg)), out)
}

/// Returns the facts about the whole file.
fn head(trg: &Trg) -> Map<String, Value> {
    let facts = json!({
        "format": FORMAT.name,
        "version": trg.version,
        "count": trg.len(),
        "kinds": trg.kinds,
        "rails_count": trg.rails.len(),
        "warnings": trg.warnings.texts(),
    });
    match facts {
        Value::Object(facts) => facts,
        _ => Map::new(),
    }
}

fn all_nodes(trg: &Trg, out: &mut dyn Write) -> io::Result<()> {
    #[derive(serde::Serialize)]
    struct Facts<'a> {
        #[serde(flatten)]
        head: Map<String, Value>,
        rails: Seq<'a, [usize; 2]>,
        nodes: Seq<'a, Value>,
    }
    let facts = Facts {
        head: head(trg),
        rails: Seq::new(|| trg.rails.iter().copied()),
        nodes: Seq::new(|| (0..trg.len()).map(|number| node_facts(trg, number))),
    };
    json::write_pretty(&facts, out)
}

fn node_facts(trg: &Trg, number: usize) -> Value {
    let node = match trg.node(number) {
        Ok(node) => node,
        Err(error) => return json!({ "error": error.to_string() }),
    };
    let mut facts = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            facts.insert(name.to_owned(), value);
        }
    };
    put("type", Some(node.kind.into()));
    put("name", Some(kind_name(node.kind).into()));
    put("error", node.problem.map(Value::from));
    put("subtype", node.subtype.map(Value::from));
    put("priority", node.priority.map(Value::from));
    put("links", node.links.map(Value::from));
    let flags = node.flags.map(|flags| match flags {
        Flags::Bits(bits) => bits.into(),
        Flags::List(list) => list.into(),
    });
    put("flags", flags);
    put("position", node.position.map(|position| json!(position)));
    put("angles", node.angles.map(|angles| json!(angles)));
    put("checksum", node.checksum.map(|hash| hash_text(hash).into()));
    let hashes = |hashes: Vec<u32>| hashes.into_iter().map(hash_text).collect();
    put("checksums", node.checksums.map(hashes));
    put("label", node.label.map(Value::from));
    if let Some([radius, mode]) = node.camera {
        put("radius", Some(radius.into()));
        put("mode", Some(mode.into()));
    }
    put("words", node.words.map(Value::from));
    let list = |commands: Vec<Command>| commands.iter().map(command_facts).collect();
    put("commands", node.commands.map(list));
    put("script", node.script.map(list));
    put("rest", node.rest.map(|rest| hex(&rest).into()));
    Value::Object(facts)
}

/// Returns a command as a list of its name and its arguments.
fn command_facts(command: &Command) -> Value {
    let arguments = command.arguments.iter().map(|argument| match argument {
        Argument::Number(number) => (*number).into(),
        Argument::Hash(hash) => hash_text(*hash).into(),
        Argument::Text(text) => text.as_str().into(),
        Argument::Box(corners) => json!(corners),
        Argument::Variable(variable) => command_facts(variable),
    });
    std::iter::once(command.name.into())
        .chain(arguments)
        .collect()
}

fn page(trg: &Trg, out: &mut dyn Write) -> io::Result<()> {
    let [major, minor] = trg.version;
    let mut page = Summary::new(format_args!("Nodes of a level (version {major}.{minor})"));
    page.line("nodes", trg.len());
    for (kind, count) in trg.kinds.iter().take(MAX_KINDS_SHOWN) {
        page.line(&format!("  {kind}"), count);
    }
    page.line("rail links", trg.rails.len());
    page.write(&trg.warnings, out)
}

/// Maximum number of kinds of nodes in the summary; there are twenty.
const MAX_KINDS_SHOWN: usize = 32;

fn table(trg: &Trg, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index", "type", "name", "subtype", "x", "y", "z", "angles", "links", "flags", "checksum",
        "label", "commands",
    ];
    let mut table = Table::new(out, &columns)?;
    for number in 0..trg.len() {
        let node = trg.node(number);
        table.cell(number);
        let Ok(node) = node else {
            table.cell("").cell("error");
            (0..10).for_each(|_| {
                table.cell("");
            });
            table.end_row()?;
            continue;
        };
        table.cell(node.kind).cell(kind_name(node.kind));
        table.optional(node.subtype);
        for axis in 0..3 {
            let units = |position: [i32; 3]| f64::from(position[axis]) / 4096.0;
            table.optional(node.position.map(units));
        }
        let degrees = |angle: i16| f64::from(angle) * 360.0 / 4096.0;
        table
            .optional(node.angles.map(|angles| spaced(&angles.map(degrees))))
            .optional(node.links.as_deref().map(spaced))
            .optional(node.flags.as_ref().map(flags_text))
            .optional(node.checksum.map(hash_text))
            .optional_text(node.label.as_deref())
            .cell(node.steps().len())
            .end_row()?;
    }
    Ok(())
}

/// Returns whether a node has commands or a script.
fn has_steps(node: &Node) -> bool {
    node.commands.is_some() || node.script.is_some()
}

fn scripts(trg: &Trg, out: &mut dyn Write) -> io::Result<()> {
    for (number, node) in trg.nodes().filter(|(_, node)| has_steps(node)) {
        writeln!(out, "node {number}: {}", Heading(&node))?;
        for step in node.steps() {
            writeln!(out, "\t{}", Statement(step))?;
        }
        if let Some(rest) = &node.rest {
            writeln!(out, "\tunknown: {}", hex(rest))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trg::parse::tests::{file, rail, words};
    use hpimount_assets::view::{Alone, rendered_text};

    #[test]
    fn the_table_has_positions_in_units() {
        let file = file(&[rail(1, [2, -3, 4]), words(&[4, 134, 5, 0xFFFF])]);
        assert_eq!(
            rendered_text(&FORMAT, &file, "nodes.tsv").unwrap(),
            "index\ttype\tname\tsubtype\tx\ty\tz\tangles\tlinks\tflags\tchecksum\tlabel\tcommands\n\
             0\t10\trail_def\t\t2\t-3\t4\t\t1\t0x0011\t\t\t0\n\
             1\t4\tautoexec\t\t\t\t\t\t\t\t\t\t1\n"
        );
    }

    #[test]
    fn a_level_has_a_preview() {
        let view = open(&file(&[rail(1, [2, -3, 4])]).into(), &Alone).unwrap();
        let index = view.position(&|file| file.name == "preview.png").unwrap();
        let mut picture = Vec::new();
        view.render(index, &Alone, &mut picture).unwrap();
        assert!(picture.starts_with(b"\x89PNG"));
    }

    #[test]
    fn scripts_are_text() {
        let script = words(&[0x4112, 0x2120, 1, 0xFFFB, 0x4777]);
        let place = [words(&[1000, 0]), vec![0; 12], words(&[0; 3]), script].concat();
        let commands = [words(&[4, 128]), b"SkTest\0\0".to_vec(), words(&[0xFFFF])].concat();
        assert_eq!(
            rendered_text(&FORMAT, &file(&[place, commands]), "scripts.txt").unwrap(),
            "node 0: script_point\n\tC_IF_GT (V_REGISTER 1) -5\n\tunknown: 7747\n\
             node 1: autoexec\n\tSpoolEnv \"SkTest\"\n"
        );
    }
}
