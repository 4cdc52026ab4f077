//! Tables of all objects of a type with all their parts, such as the motion of
//! platforms (FORMATS, HIP assets 10).

use std::collections::HashMap;
use std::io;

use super::placements::{self, Placed};
use super::shapes::Extent;
use crate::archive::{Archive, Member};
use crate::fields::{Words, cells, columns, plain};
use crate::names::{Names, hex};
use crate::object::is_entity;
use crate::object::view::{RecordWords, Typed};
use crate::parts::{BODY, DYNA, ENTITY, Part};
use crate::record::{Column, Value};
use crate::table_view::sheet::MAX_LISTED;
use hpimount_assets::view::{AssetContext, TableSink, or_null};
use hpimount_record::Value as Cell;

/// Maximum number of move points in the path of a platform.
const MAX_PATH: usize = 64;

/// The columns of entities before the columns of the type.
pub(super) const PLACE: [&str; 8] = ["x", "y", "z", "yaw", "pitch", "roll", "model", "model_name"];

/// Sends a row for each object of a type. The columns are the fields of any of them.
pub(super) fn write(
    context: &dyn AssetContext,
    code: [u8; 4],
    out: &mut dyn TableSink,
) -> io::Result<()> {
    let reader = Reader::new(context, code);
    let groups = reader.groups()?;
    let paths = reader.paths()?;
    let mut columns = vec!["asset".to_owned(), "asset_name".to_owned()];
    let is_entity = is_entity(code);
    if is_entity {
        columns.extend(PLACE.map(str::to_owned));
    }
    match &code {
        b"TRIG" => columns.extend(Extent::COLUMNS.map(str::to_owned)),
        b"PLAT" => columns.extend(Path::COLUMNS.map(str::to_owned)),
        _ => {}
    }
    groups
        .iter()
        .for_each(|group| group.add_names(&mut columns));
    let has_list = matches!(&code, b"GRUP" | b"MVPT");
    if has_list {
        columns.extend(["list", "list_name"].map(str::to_owned));
    }
    out.columns(&columns.iter().map(String::as_str).collect::<Vec<_>>())?;
    let names = reader.archive.names();
    reader.each(|member, typed| {
        let mut row = Vec::from(reader.archive.key(member));
        if is_entity {
            row.extend(place(Placed::of(&typed.object).as_ref(), names));
        }
        match &code {
            b"TRIG" => row.extend(Extent::of(&typed.object).cells()),
            b"PLAT" => row.extend(Path::of(typed, &paths).cells(names)),
            _ => {}
        }
        for group in &groups {
            let parts = typed.object.parts.iter();
            let parts: Vec<_> = parts.filter(|part| group.is_of(part)).collect();
            group.add_cells(&parts, typed, names, &mut row);
        }
        if has_list {
            let list = typed.object.list.iter().take(MAX_LISTED);
            let list: Vec<_> = list.filter_map(|record| record.number("id")).collect();
            row.extend(names.pair_of_all(&list));
        }
        out.row(row)
    })
}

/// Sends a row for each field of each object of a type.
pub(super) fn fields(
    context: &dyn AssetContext,
    code: [u8; 4],
    out: &mut dyn TableSink,
) -> io::Result<()> {
    let reader = Reader::new(context, code);
    let names = reader.archive.names();
    let columns = [
        "asset",
        "asset_name",
        "kind",
        "field",
        "value",
        "value_name",
    ];
    out.columns(&columns)?;
    reader.each(|member, typed| {
        let key = reader.archive.key(member);
        let kind = typed.object.dyna.map(|dyna| dyna.name);
        let parts = typed.object.parts.iter();
        let fields = parts.flat_map(|part| part.record.placed().map(move |field| (part, field)));
        for (part, (column, _, value)) in fields {
            let mut row = key.to_vec();
            row.extend([kind.into(), (prefix(part) + column.name).into()]);
            let words = typed.meaning(column, value);
            match (value, words.filter(|meaning| meaning.beside.is_none())) {
                (_, Some(words)) => row.push(words.text),
                (Value::Id(id), None) => row.extend(names.pair(id)),
                (value, None) => row.push(cell(value, names)),
            }
            out.row(row)?;
        }
        Ok(())
    })
}

/// Returns the prefix of a part's fields in a table of fields: nothing for the fields
/// of the type, otherwise the path of the part in `object.json`.
fn prefix(part: &Part) -> String {
    match (part.name, part.item) {
        (BODY | DYNA, _) => String::new(),
        (name, None) => format!("{name}."),
        (name, Some(item)) => format!("{name}[{item}]."),
    }
}

/// Sends a row for each list part of a type's objects, such as the commands of
/// particle systems.
pub(super) fn items(
    context: &dyn AssetContext,
    code: [u8; 4],
    out: &mut dyn TableSink,
) -> io::Result<()> {
    elements(context, code, out, |typed, visit| {
        let parts = typed.object.parts.iter();
        let mut parts = parts.filter_map(|part| Some((usize::from(part.item?), part)));
        parts.try_for_each(|(index, part)| visit(index, part, typed))
    })
}

/// Sends a row for each list record of a type's objects, such as the events of
/// scripts.
pub(super) fn records(
    context: &dyn AssetContext,
    (code, list): ([u8; 4], &str),
    out: &mut dyn TableSink,
) -> io::Result<()> {
    elements(context, code, out, |typed, visit| {
        let lists = typed.object.lists.iter();
        let rows = lists.filter(|(name, _)| *name == list);
        let mut records = rows.flat_map(|(_, rows)| rows.iter()).enumerate();
        records.try_for_each(|(index, record)| {
            visit(index, &Part::plain(BODY, record), &RecordWords(typed))
        })
    })
}

/// A function that is called with each element of a list: its number, its fields, and
/// words for them.
type VisitElement<'v> = &'v mut dyn FnMut(usize, &Part, &dyn Words) -> io::Result<()>;

/// Sends a row for each element that `each` visits of a type's objects. The columns
/// are the fields of any of them.
fn elements(
    context: &dyn AssetContext,
    code: [u8; 4],
    out: &mut dyn TableSink,
    each: impl Fn(&Typed, VisitElement<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let reader = Reader::new(context, code);
    let mut group = Group {
        name: BODY,
        ..Group::default()
    };
    reader.each(|_, typed| {
        each(typed, &mut |_, part, words| {
            group.add_fields(part, words);
            Ok(())
        })
    })?;
    let mut columns = ["asset", "asset_name", "index"].map(str::to_owned).to_vec();
    group.add_names(&mut columns);
    out.columns(&columns.iter().map(String::as_str).collect::<Vec<_>>())?;
    let names = reader.archive.names();
    reader.each(|member, typed| {
        let key = reader.archive.key(member);
        each(typed, &mut |index, part, words| {
            let mut row = key.to_vec();
            row.push(index.into());
            group.add_cells(&[part], words, names, &mut row);
            out.row(row)
        })
    })
}

/// Returns a value as one cell.
fn cell(value: Value, names: Names<'_>) -> Cell {
    if let Value::Id(id) = value {
        return hex(id);
    }
    let mut parts = Vec::new();
    plain(value, names).into_leaves(&mut |part| {
        parts.push(match part {
            Cell::Float(number) => or_null(number),
            part => part,
        });
    });
    match parts.len() {
        1 => parts.remove(0),
        _ => Cell::List(parts),
    }
}

/// Returns the cells of [`PLACE`].
fn place(placed: Option<&Placed>, names: Names<'_>) -> impl Iterator<Item = Cell> {
    let triples = [
        placed.map(|placed| placed.position),
        placed.and_then(|placed| placed.angles),
    ];
    let model = names.pair(placed.map_or(0, |placed| placed.model));
    triples.into_iter().flat_map(placements::parts).chain(model)
}

/// Reads the objects of a type.
struct Reader<'a> {
    archive: Archive<'a>,
    code: [u8; 4],
}

impl<'a> Reader<'a> {
    fn new(context: &'a dyn AssetContext, code: [u8; 4]) -> Self {
        let archive = Archive::new(context);
        Self { archive, code }
    }

    /// Calls `visit` with each object.
    fn each(&self, mut visit: impl FnMut(&Member, &Typed) -> io::Result<()>) -> io::Result<()> {
        for file in self.archive.context.find_type(self.code) {
            let Some(member) = self.archive.member(file) else {
                continue;
            };
            if let Some(object) = self.archive.object(&member)? {
                let facts = member.origin().facts;
                visit(&member, &Typed::new(self.code, &facts, object))?;
            }
        }
        Ok(())
    }

    /// Returns the fields of the parts of all objects; for a list, the fields of the
    /// first elements. Omits the fields common to all entities.
    fn groups(&self) -> io::Result<Vec<Group>> {
        let mut groups: Vec<Group> = Vec::new();
        self.each(|_, typed| {
            for part in &typed.object.parts {
                let is_late = |item| usize::from(item) >= MAX_LISTED;
                if part.name == ENTITY || part.item.is_some_and(is_late) {
                    continue;
                }
                let known = groups.iter().position(|group| group.is_of(part));
                let index = known.unwrap_or_else(|| {
                    groups.push(Group {
                        name: part.name,
                        item: part.item,
                        ..Group::default()
                    });
                    groups.len() - 1
                });
                groups[index].add_fields(part, typed);
            }
            Ok(())
        })?;
        Ok(groups)
    }

    /// Returns the places of the move points for platforms, and their successors.
    fn paths(&self) -> io::Result<Paths> {
        let mut paths = Paths::default();
        if self.code != *b"PLAT" {
            return Ok(paths);
        }
        let points = Reader {
            archive: Archive::new(self.archive.context),
            code: *b"MVPT",
        };
        points.each(|member, typed| {
            if let Some(placed) = Placed::of(&typed.object) {
                let next = typed.object.list.iter().next();
                let next = next.and_then(|record| record.number("id"));
                paths.insert(member.asset.id, (placed.position, next));
            }
            Ok(())
        })?;
        Ok(paths)
    }
}

/// The columns of the parts with one name.
#[derive(Default)]
struct Group {
    name: &'static str,
    item: Option<u16>,
    /// True if the fields depend on a kind, which has a column too.
    has_kind: bool,
    fields: Vec<GroupField>,
}

struct GroupField {
    column: Column,
    /// True if a second column has the meaning of a number.
    has_words: bool,
}

impl GroupField {
    /// Returns the names of its columns.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = columns(&[self.column]).collect();
        if self.has_words && names.len() == 1 {
            names.push(format!("{}_name", self.column.name));
        }
        names
    }
}

impl Group {
    fn is_of(&self, part: &Part) -> bool {
        (self.name, self.item) == (part.name, part.item)
    }

    fn add_fields(&mut self, part: &Part, words: &dyn Words) {
        self.has_kind |= part.kind.is_some();
        for &column in part.record.layout() {
            if column.kind.is_padding() {
                continue;
            }
            let value = part.record.get(column.name);
            let meaning = value.and_then(|value| words.meaning(&column, value));
            let has_words = meaning.is_some_and(|meaning| meaning.beside.is_some());
            let mut known = self.fields.iter_mut();
            match known.find(|field| field.column.name == column.name) {
                Some(field) => field.has_words |= has_words,
                None => self.fields.push(GroupField { column, has_words }),
            }
        }
    }

    fn add_names(&self, columns: &mut Vec<String>) {
        let item = self.item.map_or_else(String::new, |item| item.to_string());
        let is_body = self.name == BODY;
        if self.has_kind {
            columns.push(match is_body {
                true => "kind".to_owned(),
                false => format!("{}{item}", self.name),
            });
        }
        // `motion_type` is also a name without the part's prefix.
        let is_plain = |name: &str| is_body || item.is_empty() && name.starts_with(self.name);
        let names = self.fields.iter().flat_map(GroupField::names);
        columns.extend(names.map(|name| match is_plain(&name) {
            true => name,
            false => format!("{}{item}_{name}", self.name),
        }));
    }

    /// Adds the cells of parts of an object to its row.
    fn add_cells(&self, parts: &[&Part], words: &dyn Words, names: Names<'_>, row: &mut Vec<Cell>) {
        if self.has_kind {
            row.push(parts.iter().find_map(|part| part.kind).into());
        }
        for field in &self.fields {
            let name = field.column.name;
            let value = parts.iter().find_map(|part| part.record.get(name));
            let Some(value) = value else {
                row.extend(std::iter::repeat_n(Cell::Null, field.names().len()));
                continue;
            };
            match words.meaning(&field.column, value) {
                Some(meaning) => {
                    row.extend(meaning.beside.map(|_| cell(value, names)));
                    row.push(meaning.text);
                }
                None => {
                    row.extend(cells(value, names));
                    if field.has_words && !matches!(value, Value::Id(_)) {
                        row.push(Cell::Null);
                    }
                }
            }
        }
    }
}

/// The places of move points, and their first successors, by id.
type Paths = HashMap<u32, ([f32; 3], Option<u32>)>;

/// The path of a platform.
#[derive(Default)]
struct Path {
    /// The move points, if it follows some.
    ids: Vec<u32>,
    points: Vec<[f32; 3]>,
}

impl Path {
    const COLUMNS: [&'static str; 3] = ["path", "path_name", "path_points"];

    /// Returns the path of a platform along move points or between two places; empty
    /// for other platforms.
    fn of(typed: &Typed, paths: &Paths) -> Self {
        let vector = |name| match typed.object.field(name) {
            Some(Value::Vec3(vector)) => Some(vector),
            _ => None,
        };
        if let Some((start, way)) = vector("ret_pos").zip(vector("ext_dpos")) {
            let end = std::array::from_fn(|axis| start[axis] + way[axis]);
            return Self {
                ids: Vec::new(),
                points: vec![start, end],
            };
        }
        let mut path = Self::default();
        let mut next = match typed.object.field("movepoint") {
            Some(Value::Id(id)) => Some(id),
            _ => None,
        };
        while let Some(id) = next {
            let Some((point, after)) = paths.get(&id) else {
                break;
            };
            path.ids.push(id);
            path.points.push(*point);
            let is_new = |id: &u32| !path.ids.contains(id) && path.ids.len() < MAX_PATH;
            next = after.filter(is_new);
        }
        path
    }

    /// Returns the cells of [`Path::COLUMNS`].
    fn cells(&self, names: Names<'_>) -> [Cell; Self::COLUMNS.len()] {
        let [ids, shown] = names.pair_of_all(&self.ids);
        let point = |point: &[f32; 3]| point.map(|part| or_null(part).to_string()).join(" ");
        let points: Vec<_> = self.points.iter().map(point).collect();
        [ids, shown, points.join("; ").into()]
    }
}
