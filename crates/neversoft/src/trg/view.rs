//! View of a level's nodes: JSON, a table, the scripts as text, and the level itself.

use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};

use bytes::Bytes;
use hpimount_record::Value;

use super::level::{self, Heading};
use crate::trg::{self, Argument, Command, Flags, Trg, kind_name};
use crate::view::{hash_text, place_cell, stored};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::edit::Form;
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::node::{Node, Nodes, Rule, known, map};
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, Opened, Preview, ViewFormat, hex};
use hpimount_containers::file_type::{FileType, Magic};

/// Nodes of levels.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: trg::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[
        ConvertedFile::named("json", "nodes.json"),
        ConvertedFile::first("glb"),
    ])),
    preview: Some(Preview::new(5, &["preview.png"])),
    matches: Some(|bytes| bytes.starts_with(trg::MAGIC) && trg::parse(bytes).is_ok()),
    types: &[FileType {
        magic: &[Magic::at(0, trg::MAGIC)],
        patterns: &["*.trg"],
        ..FileType::new("application/x-neversoft-trg", Some("Neversoft level nodes"))
    }],
    edits: &[
        Editable::new(
            "nodes.json",
            "numbers of nodes; not types, labels, commands and scripts",
        ),
        Editable::new(
            "nodes.tsv",
            "subtype, x, y, z, angles, links, flags and checksum",
        ),
    ],
    ..ViewFormat::new("TRG", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let trg = trg::parse(bytes)?;
    let [major, minor] = trg.version;
    let heading = format!("Nodes of a level (version {major}.{minor})");
    let mut page = Page::new(FORMAT.name, heading, trg.warnings.clone());
    for (name, fact) in facts(&trg) {
        page.fact(name, fact);
    }
    page.pretty_values("nodes.json", |trg: &Trg, _| {
        let format = [("format", FORMAT.name.into())];
        let facts = facts(trg).map(|(name, fact)| (name, fact.into()));
        let warnings = Node::texts(trg.warnings.texts());
        let lists = [
            ("warnings", warnings.ruled(Rule::Remark)),
            ("rails", Node::each(&trg.rails, |rail| Node::numbers(rail))),
            ("nodes", Node::Each(Box::new(|| nodes(trg)))),
        ];
        map(format.into_iter().chain(facts).chain(lists))
    });
    page.table("nodes.tsv", node_rows)
        .cells(&[&["index"]], node_cell);
    if trg.nodes().any(|(_, node)| has_steps(&node)) {
        page.file("scripts.txt", |trg, _, out| scripts(trg, out));
    }
    page.file("level.glb", level::write)
        .file("preview.png", level::draw);
    Ok(page.show(trg, None))
}

/// Returns the facts about the whole file.
fn facts(trg: &Trg) -> [(&'static str, Value); 4] {
    let kinds = trg.kinds.iter();
    let kinds = kinds.map(|(kind, &count)| (kind.clone().into(), count.into()));
    [
        ("version", trg.version.into_iter().collect()),
        ("count", trg.len().into()),
        ("kinds", Value::Map(kinds.collect())),
        ("rails_count", trg.rails.len().into()),
    ]
}

fn nodes(trg: &Trg) -> Nodes<'_> {
    Box::new((0..trg.len()).map(|number| match trg.node(number) {
        Ok(node) => node_facts(node),
        Err(error) => map([("error", error.to_string().into())]),
    }))
}

fn node_facts<'a>(node: trg::Node) -> Node<'a> {
    let commands = |list: &Vec<Command>| list.iter().map(command).collect::<Value>();
    let number = |name, value: Option<Value>, form| match (value, node.place(name)) {
        (Some(value), Some(place)) => stored(value, place, form),
        (value, _) => value.into(),
    };
    let numbers = |name, values: Option<Vec<Value>>, form| match (values, node.place(name)) {
        (Some(values), Some(place)) => list(values, place, form),
        (values, _) => values.map(Value::List).into(),
    };
    let hash = |&hash: &u32| Value::text(hash_text(hash));
    let [radius, mode] = [0, 1].map(|number| match (node.camera, node.place("camera")) {
        (Some(camera), Some(place)) => stored(camera[number], place + 2 * number, Form::U16),
        _ => Value::Null.into(),
    });
    let flags = match node.flags.as_ref().map(flags) {
        Some(flags) if node.is_rail() => Node::Value(flags).derived("is words[0]: edit this"),
        Some(Value::List(flags)) => numbers("flags", Some(flags), Form::U8),
        flags => number("flags", flags, Form::U16),
    };
    let checksums = node
        .checksums
        .as_deref()
        .map(|hashes| hashes.iter().map(hash).collect());
    let rest = Form::Hex(node.rest.as_ref().map_or(0, Vec::len));
    known([
        ("type", node.kind.into()),
        ("name", kind_name(node.kind).into_owned().into()),
        ("error", node.problem.clone().into()),
        (
            "subtype",
            number("subtype", node.subtype.map(Value::from), Form::U16),
        ),
        (
            "priority",
            number("priority", node.priority.map(Value::from), Form::U16),
        ),
        (
            "links",
            numbers("links", node.links.as_deref().map(values), Form::U16),
        ),
        ("flags", flags),
        (
            "position",
            numbers(
                "position",
                node.position.map(|place| values(&place)),
                Form::I32,
            ),
        ),
        (
            "angles",
            numbers(
                "angles",
                node.angles.map(|angles| values(&angles)),
                Form::I16,
            ),
        ),
        (
            "checksum",
            number("checksum", node.checksum.as_ref().map(hash), Form::U32),
        ),
        ("checksums", numbers("checksums", checksums, Form::U32)),
        ("label", node.label.clone().into()),
        ("radius", radius),
        ("mode", mode),
        (
            "words",
            numbers("words", node.words.as_deref().map(values), Form::U16),
        ),
        ("commands", node.commands.as_ref().map(commands).into()),
        ("script", node.script.as_ref().map(commands).into()),
        (
            "rest",
            number(
                "rest",
                node.rest.as_deref().map(|rest| hex(rest).into()),
                rest,
            ),
        ),
    ])
}

fn values<T: Copy + Into<Value>>(numbers: &[T]) -> Vec<Value> {
    numbers.iter().map(|&number| number.into()).collect()
}

/// Returns consecutive values at an offset of the file.
fn list<'a>(values: Vec<Value>, offset: usize, form: Form) -> Node<'a> {
    let values = values.into_iter().enumerate();
    let nodes = values.map(|(number, value)| stored(value, offset + number * form.size(), form));
    Node::List(nodes.collect())
}

/// Returns bits as one number, or as the numbers of flags.
fn flags(flags: &Flags) -> Value {
    match flags {
        Flags::Bits(bits) => Value::text(format!("{bits:#06x}")),
        Flags::List(list) => list.iter().copied().collect(),
    }
}

/// Returns a command as a list of its name and its arguments.
fn command(step: &Command) -> Value {
    let arguments = step.arguments.iter().map(|argument| match argument {
        Argument::Number(number) => (*number).into(),
        Argument::Hash(hash) => hash_text(*hash).into(),
        Argument::Text(text) => text.clone().into(),
        Argument::Box(corners) => corners.iter().copied().collect(),
        Argument::Variable(variable) => command(variable),
    });
    std::iter::once(step.name.into()).chain(arguments).collect()
}

/// Returns the value of a text in a row of `nodes.tsv`.
fn node_cell(trg: &Trg, row: usize, column: &str, text: &str) -> Option<(String, Value)> {
    let (field, value) = match column {
        "flags" if trg.node(row).is_ok_and(|node| node.is_rail()) => {
            ("words[0]", Value::text(text.to_owned()))
        }
        "subtype" | "links" | "flags" | "checksum" => (column, Value::text(text.to_owned())),
        _ => place_cell(column, text)?,
    };
    Some((format!("nodes[{row}].{field}"), value))
}

fn node_rows(trg: &Trg) -> Rows<'_> {
    let columns = [
        "index", "type", "name", "subtype", "x", "y", "z", "angles", "links", "flags", "checksum",
        "label", "commands",
    ];
    let rows = (0..trg.len()).map(|number| {
        let Ok(node) = trg.node(number) else {
            let mut row = [const { Value::Null }; 13];
            (row[0], row[2]) = (number.into(), "error".into());
            return row;
        };
        let steps = node.steps().len();
        let units = |part: i32| Value::Double(f64::from(part) / 4096.0);
        let degrees = |angle: i16| Value::Double(f64::from(angle) * 360.0 / 4096.0);
        let place = node.position.map(|place| place.map(units));
        let [x, y, z] = place.unwrap_or([const { Value::Null }; 3]);
        let angles = node
            .angles
            .map(|angles| Value::from_iter(angles.map(degrees)));
        [
            number.into(),
            node.kind.into(),
            kind_name(node.kind).into_owned().into(),
            node.subtype.into(),
            x,
            y,
            z,
            angles.into(),
            node.links.map(Value::from_iter).into(),
            node.flags.as_ref().map(flags).into(),
            node.checksum.map(hash_text).into(),
            node.label.into(),
            steps.into(),
        ]
    });
    Rows::new(columns, rows)
}

/// Returns whether a node has commands or a script.
fn has_steps(node: &trg::Node) -> bool {
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

/// A command as text.
struct Statement<'a>(&'a Command);

impl Display for Statement<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(self.0.name)?;
        self.0.arguments.iter().try_for_each(|argument| {
            out.write_str(" ")?;
            match argument {
                Argument::Number(number) => write!(out, "{number}"),
                Argument::Hash(hash) => out.write_str(&hash_text(*hash)),
                Argument::Text(text) => write!(out, "\"{}\"", text.escape_debug()),
                Argument::Box(corners) => write!(out, "({})", spaced(corners)),
                Argument::Variable(variable) => write!(out, "({})", Statement(variable)),
            }
        })
    }
}

/// Returns values with spaces between them.
fn spaced<T: Display>(values: &[T]) -> String {
    let values: Vec<_> = values.iter().map(ToString::to_string).collect();
    values.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trg::parse::tests::{file, rail, words};
    use fixtures::edited_value;
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
    fn numbers_of_nodes_are_edited_and_the_layout_is_not() {
        let level = file(&[rail(1, [2, -3, 4]), words(&[4, 134, 5, 0xFFFF])]);
        let edited = |path, value| edited_value(&FORMAT, &level, path, value);
        let moved = file(&[rail(1, [2, 7, 4]), words(&[4, 134, 5, 0xFFFF])]);
        assert_eq!(
            edited("nodes[0].position", "[8192, 28672, 16384]"),
            Ok(Some(moved))
        );
        assert_eq!(edited("nodes[0].words", "[\"0x11\", 0]"), Ok(None));
        for (path, value, reason) in [
            ("nodes[0].type", "11", "cannot be edited"),
            ("nodes[0].links", "[1, 2]", "has 2 numbers, needs 1"),
            ("nodes[0].flags", "\"0x0012\"", "is words[0]: edit this"),
            ("nodes[1].commands", "[]", "has 0 numbers, needs 1"),
            ("nodes[0].links[0]", "-1", "-1 is no number from 0 to 65535"),
        ] {
            assert_eq!(edited(path, value), Err(reason.to_owned()), "{path}");
        }
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
