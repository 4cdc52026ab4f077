//! The files of tables: their columns and rows.

use std::io::{self, Write};

use super::{Sheets, records};
use crate::model::{Branches, animated};
use crate::names::Names;
use crate::record::{self, Record, Rows as Records, Value};
use crate::tables::{AnimationTable, Marker, SOUND_EFFECT};
use hpimount_assets::view::{Table, hex};

/// A file of a table.
pub(crate) struct Sheet {
    /// Its name.
    pub(super) file: &'static str,
    columns: Columns,
    /// Writes its rows.
    rows: fn(&Sheets, Names<'_>, &mut Rows<'_, '_>) -> io::Result<()>,
}

/// Names of the columns of a file.
enum Columns {
    /// The same for all assets.
    Fixed(&'static [&'static str]),
    /// Those of the fields of an asset's records.
    OfRecords(fn(&Sheets) -> Vec<String>),
}

/// The destination of rows.
pub(crate) struct Rows<'t, 'w> {
    table: &'t mut Table<'w>,
    /// Id and name of the asset, in a table of several.
    asset: Option<(u32, &'t str)>,
}

impl<'t, 'w> Rows<'t, 'w> {
    /// Returns the rows of a table with the asset in its first two columns.
    pub(crate) fn of_asset(table: &'t mut Table<'w>, id: u32, name: &'t str) -> Self {
        let asset = Some((id, name));
        Self { table, asset }
    }

    /// Begins a row.
    fn begin(&mut self) -> &mut Table<'w> {
        if let Some((id, name)) = self.asset {
            self.table.cell(format_args!("{id:08X}")).text(name);
        }
        self.table
    }

    /// Begins a row with its number.
    fn numbered(&mut self, index: usize) -> &mut Table<'w> {
        self.begin().cell(index)
    }
}

impl Sheet {
    const PLAIN: Self = Self {
        file: "table.tsv",
        columns: Columns::OfRecords(|sheets| numbered_columns(records(sheets))),
        rows: |sheets, names, out| write_rows(records(sheets), names, out),
    };

    /// Returns the names of the columns.
    pub(crate) fn columns(&self, sheets: &Sheets) -> Vec<String> {
        match self.columns {
            Columns::Fixed(names) => names.iter().copied().map(str::to_owned).collect(),
            Columns::OfRecords(columns) => columns(sheets),
        }
    }

    /// Returns whether the columns are the same for all assets.
    pub(crate) fn has_fixed_columns(&self) -> bool {
        matches!(self.columns, Columns::Fixed(_))
    }

    /// Writes the rows.
    pub(crate) fn rows(
        &self,
        sheets: &Sheets,
        names: Names<'_>,
        out: &mut Rows<'_, '_>,
    ) -> io::Result<()> {
        (self.rows)(sheets, names, out)
    }

    pub(super) fn write(
        &self,
        sheets: &Sheets,
        names: Names<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut table = new_table(&self.columns(sheets), out)?;
        let table = &mut table;
        self.rows(sheets, names, &mut Rows { table, asset: None })
    }
}

/// Returns the files of a table, in order.
pub(super) fn sheets_of(sheets: &Sheets) -> &'static [Sheet] {
    const BRANCHES: Sheet = Sheet {
        file: "branches.tsv",
        columns: Columns::OfRecords(|sheets| numbered_columns(branches(sheets))),
        rows: |sheets, names, out| write_rows(branches(sheets), names, out),
    };
    const TRIANGLES: Sheet = Sheet {
        file: "triangles.tsv",
        columns: Columns::OfRecords(|sheets| numbered_columns(triangles(sheets))),
        rows: |sheets, names, out| write_rows(triangles(sheets), names, out),
    };
    const VECTORS: Sheet = Sheet {
        file: "vectors.tsv",
        columns: Columns::OfRecords(|sheets| numbered_columns(vectors(sheets))),
        rows: |sheets, names, out| write_rows(vectors(sheets), names, out),
    };
    const ANIMATIONS: Sheet = Sheet {
        file: "animations.tsv",
        ..Sheet::PLAIN
    };
    match sheets {
        Sheets::List(_) | Sheets::Lights(_) | Sheets::Frames(_) => &[Sheet::PLAIN],
        Sheets::Marker(_) => &[MARKER],
        Sheets::Shrapnel(_) => &[SHRAPNEL],
        Sheets::Models(_) => &[Sheet::PLAIN, PARAMETERS],
        Sheets::States(_) => &[STATES, FILES_OF_STATES, ANIMATIONS, EFFECTS],
        Sheets::Animation(_) => &[KEYS, TIMES],
        Sheets::Jaw(_) => &[JAW],
        Sheets::Level(_) => &[Sheet::PLAIN, BRANCHES, TRIANGLES, VECTORS],
    }
}

/// Returns the file that is used in a table of all assets of a type.
pub(crate) fn sheet_of_all(sheets: &Sheets) -> &'static Sheet {
    match sheets {
        Sheets::Lights(_) => &LIGHTS,
        Sheets::Models(_) => &MODELS,
        Sheets::Animation(_) => &DURATION,
        other => sheets_of(other).first().unwrap_or(&Sheet::PLAIN),
    }
}

fn collision(sheets: &Sheets) -> Option<&Branches> {
    match sheets {
        Sheets::Level(model) => model.collision.as_ref(),
        _ => None,
    }
}

fn branches(sheets: &Sheets) -> Option<&Records> {
    Some(&collision(sheets)?.branches)
}

fn triangles(sheets: &Sheets) -> Option<&Records> {
    Some(&collision(sheets)?.triangles)
}

fn vectors(sheets: &Sheets) -> Option<&Records> {
    match sheets {
        Sheets::Level(model) => Some(&model.vectors),
        _ => None,
    }
}

/// Returns the columns of records, preceded by their number.
fn numbered_columns(records: Option<&Records>) -> Vec<String> {
    let mut columns = vec!["index".to_owned()];
    if let Some(records) = records {
        add_columns(records.layout(), &mut columns);
    }
    columns
}

/// Writes records, preceded by their number.
fn write_rows(
    records: Option<&Records>,
    names: Names<'_>,
    out: &mut Rows<'_, '_>,
) -> io::Result<()> {
    for (index, record) in records.into_iter().flat_map(Records::iter).enumerate() {
        let table = out.numbered(index);
        add_cells(&record, names, table);
        table.end_row()?;
    }
    Ok(())
}

pub(crate) fn new_table<'w>(columns: &[String], out: &'w mut dyn Write) -> io::Result<Table<'w>> {
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    Table::new(out, &columns)
}

/// Adds the columns of a layout: two for an id, one for each component of a
/// vector.
pub(crate) fn add_columns(layout: &[record::Column], columns: &mut Vec<String>) {
    for column in layout {
        let name = column.name;
        let parts: &[&str] = match column.kind {
            record::Kind::Pad1 | record::Kind::Pad2 | record::Kind::Pad4 => continue,
            record::Kind::Id => &["", "_name"],
            record::Kind::Vec2 => &["_x", "_y"],
            record::Kind::Vec3 => &["_x", "_y", "_z"],
            record::Kind::Vec4 => &["_x", "_y", "_z", "_w"],
            record::Kind::Color => &["_r", "_g", "_b", "_a"],
            _ => &[""],
        };
        columns.extend(parts.iter().map(|part| format!("{name}{part}")));
    }
}

pub(crate) fn add_cells(record: &Record, names: Names<'_>, table: &mut Table<'_>) {
    for (_, value) in record.fields() {
        add_cell(value, names, table);
    }
}

/// Adds the cells of a value: two for an id, one for each component of a
/// vector.
pub(crate) fn add_cell(value: Value, names: Names<'_>, table: &mut Table<'_>) {
    match value {
        Value::Unsigned(value) => {
            table.cell(value);
        }
        Value::Signed(value) => {
            table.cell(value);
        }
        Value::Float(value) => add_floats(&[value], table),
        Value::Vec2(values) => add_floats(&values, table),
        Value::Vec3(values) => add_floats(&values, table),
        Value::Vec4(values) => add_floats(&values, table),
        Value::Id(id) => names.cells(id, table),
        Value::Color(parts) => parts.iter().for_each(|part| {
            table.cell(part);
        }),
        Value::Code(code) => {
            table.text(&code.escape_ascii().to_string());
        }
    }
}

/// Adds empty cells.
pub(crate) fn add_blanks(count: usize, table: &mut Table<'_>) {
    for _ in 0..count {
        table.cell("");
    }
}

/// Adds cells with numbers.
pub(crate) fn add_floats(values: &[f32], table: &mut Table<'_>) {
    for &value in values {
        table.float(value);
    }
}

const MARKER: Sheet = Sheet {
    file: "table.tsv",
    columns: Columns::Fixed(&["x", "y", "z"]),
    rows: |sheets, _, out| {
        if let Sheets::Marker(Marker {
            position: Some(position),
            ..
        }) = sheets
        {
            let table = out.begin();
            add_floats(position, table);
            table.end_row()?;
        }
        Ok(())
    },
};

/// The fragments of SHRP.
const SHRAPNEL: Sheet = Sheet {
    file: "table.tsv",
    columns: Columns::Fixed(&[
        "index",
        "kind",
        "id",
        "id_name",
        "parent1",
        "parent1_name",
        "parent2",
        "parent2_name",
        "lifetime",
        "delay",
        "assets",
        "assets_names",
    ]),
    rows: |sheets, names, out| {
        let Sheets::Shrapnel(model) = sheets else {
            return Ok(());
        };
        for (index, fragment) in model.fragments.iter().enumerate() {
            let head = fragment.parts.first();
            let table = out.numbered(index);
            table.text(fragment.kind);
            let fields = head.into_iter().flat_map(|part| part.record.fields());
            fields
                .filter(|(name, _)| *name != "type")
                .for_each(|(_, value)| add_cell(value, names, table));
            let others = fragment.parts.iter().skip(1);
            let others = others.flat_map(|part| part.record.fields());
            let ids: Vec<u32> = others
                .filter_map(|(_, value)| match value {
                    Value::Id(id) if id != 0 => Some(id),
                    _ => None,
                })
                .collect();
            add_ids(&ids, names, table);
            table.end_row()?;
        }
        Ok(())
    },
};

/// Adds the cells of several ids: the ids separated by spaces, and their names
/// separated by `; `, because names have spaces.
pub(crate) fn add_ids(ids: &[u32], names: Names<'_>, table: &mut Table<'_>) {
    let hex = ids.iter().map(|id| format!("{id:08X}"));
    table.text(&hex.clone().collect::<Vec<_>>().join(" "));
    let shown = ids.iter().zip(hex);
    let shown = shown.map(|(&id, hex)| names.find(id).unwrap_or(hex));
    table.text(&shown.collect::<Vec<_>>().join("; "));
}

/// The lights of LKIT, with their group.
const LIGHTS: Sheet = Sheet {
    columns: Columns::OfRecords(|sheets| {
        let mut columns = numbered_columns(records(sheets));
        columns.extend(["group", "group_name"].map(str::to_owned));
        columns
    }),
    rows: |sheets, names, out| {
        let Sheets::Lights(model) = sheets else {
            return Ok(());
        };
        for (index, light) in model.lights.iter().enumerate() {
            let table = out.numbered(index);
            add_cells(&light, names, table);
            names.cells(model.group, table);
            table.end_row()?;
        }
        Ok(())
    },
    ..Sheet::PLAIN
};

/// The models of MINF, with the fields that all of them share.
const MODELS: Sheet = Sheet {
    columns: Columns::OfRecords(|sheets| {
        let mut columns = numbered_columns(records(sheets));
        for name in ["animation_table", "combat", "brain"] {
            columns.extend([name.to_owned(), format!("{name}_name")]);
        }
        columns
    }),
    rows: |sheets, names, out| {
        let Sheets::Models(model) = sheets else {
            return Ok(());
        };
        for (index, record) in model.models.iter().enumerate() {
            let table = out.numbered(index);
            add_cells(&record, names, table);
            let brain = model.brain.unwrap_or_default();
            for id in [model.animation_table, model.combat, brain] {
                names.cells(id, table);
            }
            table.end_row()?;
        }
        Ok(())
    },
    ..Sheet::PLAIN
};

/// `parameters.tsv` of MINF.
const PARAMETERS: Sheet = Sheet {
    file: "parameters.tsv",
    columns: Columns::Fixed(&["index", "name", "name_name", "value"]),
    rows: |sheets, names, out| {
        if let Sheets::Models(model) = sheets {
            for (index, parameter) in model.parameters.iter().enumerate() {
                let table = out.numbered(index);
                names.cells(parameter.name, table);
                table.text(&parameter.value()).end_row()?;
            }
        }
        Ok(())
    },
};

/// `table.tsv` of ATBL: the states, with the animations of their files.
const STATES: Sheet = Sheet {
    file: "table.tsv",
    columns: Columns::OfRecords(|sheets| match sheets {
        Sheets::States(model) => {
            let mut columns = numbered_columns(Some(&model.states));
            columns.push("animations".to_owned());
            columns
        }
        _ => Vec::new(),
    }),
    rows: |sheets, names, out| {
        let Sheets::States(model) = sheets else {
            return Ok(());
        };
        for (index, state) in model.states.iter().enumerate() {
            let table = out.numbered(index);
            add_cells(&state, names, table);
            let file = state.number("file").unwrap_or(u32::MAX);
            table.text(&animations_of(model, file as usize, names));
            table.end_row()?;
        }
        Ok(())
    },
};

/// `files.tsv` of ATBL.
const FILES_OF_STATES: Sheet = Sheet {
    file: "files.tsv",
    columns: Columns::OfRecords(|sheets| match sheets {
        Sheets::States(model) => {
            let mut columns = numbered_columns(Some(&model.files));
            columns.extend(["numbers", "animations"].map(str::to_owned));
            columns
        }
        _ => Vec::new(),
    }),
    rows: |sheets, names, out| {
        let Sheets::States(model) = sheets else {
            return Ok(());
        };
        for (index, file) in model.files.iter().enumerate() {
            let table = out.numbered(index);
            add_cells(&file, names, table);
            let numbers = model.list(index).take(MAX_LISTED);
            let numbers: Vec<_> = numbers.map(|number| number.to_string()).collect();
            table.text(&numbers.join(" "));
            table.text(&animations_of(model, index, names));
            table.end_row()?;
        }
        Ok(())
    },
};

/// `effects.tsv` of ATBL.
const EFFECTS: Sheet = Sheet {
    file: "effects.tsv",
    columns: Columns::OfRecords(|_| {
        let mut columns = ["index", "state_index"].map(str::to_owned).to_vec();
        add_columns(SOUND_EFFECT, &mut columns);
        columns.push("data".to_owned());
        columns
    }),
    rows: |sheets, names, out| {
        let Sheets::States(model) = sheets else {
            return Ok(());
        };
        for (index, effect) in model.effects.iter().enumerate() {
            let table = out.numbered(index).cell(effect.state);
            add_cells(&effect.record, names, table);
            // Other effects than sounds do not have all fields; an id has two cells.
            let missing = SOUND_EFFECT.len() - effect.record.layout().len();
            add_blanks(missing + usize::from(missing > 0), table);
            let data = effect.data.iter().take(MAX_LISTED);
            table.text(&hex(&data.copied().collect::<Vec<_>>()));
            table.end_row()?;
        }
        Ok(())
    },
};

/// Maximum length of a list in a cell.
pub(crate) const MAX_LISTED: usize = 64;

/// Returns the animations of a file of an ATBL by their names, or else their
/// ids.
fn animations_of(model: &AnimationTable, file: usize, names: Names<'_>) -> String {
    let animations = model.list(file).take(MAX_LISTED).filter_map(|number| {
        let record = model.animations.get(number as usize)?;
        let id = record.number("animation").filter(|&id| id != 0)?;
        Some(names.find(id).unwrap_or_else(|| format!("{id:08X}")))
    });
    animations.collect::<Vec<_>>().join(" ")
}

/// The properties of an animation.
const DURATION: Sheet = Sheet {
    file: "table.tsv",
    columns: Columns::Fixed(&[
        "duration",
        "times",
        "bones",
        "keys",
        "flags",
        "scale_x",
        "scale_y",
        "scale_z",
        "models",
        "models_names",
    ]),
    rows: |sheets, names, out| {
        if let Sheets::Animation(model) = sheets {
            let id = out.asset.map_or(0, |(id, _)| id);
            let given = animated::of_animation(id, names.0);
            let models: Vec<u32> = given.iter().map(|given| given.model).collect();
            let table = out.begin();
            table.float(model.duration()).cell(model.times.len());
            table.cell(model.bones).cell(model.keys.len());
            table.cell(model.flags);
            add_floats(&model.scale, table);
            add_ids(&models, names, table);
            table.end_row()?;
        }
        Ok(())
    },
};

/// `table.tsv` of ANIM: the keys.
const KEYS: Sheet = Sheet {
    file: "table.tsv",
    columns: Columns::Fixed(&[
        "index", "time", "seconds", "qx", "qy", "qz", "qw", "x", "y", "z",
    ]),
    rows: |sheets, _, out| {
        if let Sheets::Animation(model) = sheets {
            for (index, key) in model.keys.iter().enumerate() {
                let table = out.numbered(index);
                table.cell(key.time);
                table.optional(model.times.get(usize::from(key.time)));
                add_floats(&key.rotation, table);
                add_floats(&key.translation, table);
                table.end_row()?;
            }
        }
        Ok(())
    },
};

/// `times.tsv` of ANIM: the times, each with the first keys of the bones.
const TIMES: Sheet = Sheet {
    file: "times.tsv",
    columns: Columns::Fixed(&["index", "seconds", "first_keys"]),
    rows: |sheets, _, out| {
        if let Sheets::Animation(model) = sheets {
            let mut firsts = model.first_keys.chunks(usize::from(model.bones).max(1));
            for (index, &seconds) in model.times.iter().enumerate() {
                let keys = firsts.next().unwrap_or_default().iter();
                let keys: Vec<_> = keys.map(ToString::to_string).collect();
                let table = out.numbered(index);
                table.float(seconds).cell(keys.join(" "));
                table.end_row()?;
            }
        }
        Ok(())
    },
};

const JAW: Sheet = Sheet {
    file: "table.tsv",
    columns: Columns::Fixed(&[
        "index",
        "sound",
        "sound_name",
        "flags",
        "samples",
        "opening",
    ]),
    rows: |sheets, names, out| {
        if let Sheets::Jaw(model) = sheets {
            for (index, curve) in model.curves.iter().enumerate() {
                let table = out.numbered(index);
                names.cells(curve.sound, table);
                let values: Vec<_> = curve.values.iter().map(ToString::to_string).collect();
                table
                    .optional(curve.flags)
                    .cell(curve.values.len())
                    .cell(values.join(" "))
                    .end_row()?;
            }
        }
        Ok(())
    },
};

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::table_view::{FORMAT, parse};
    use crate::{Facts, Game, Platform};

    #[test]
    fn no_table_has_two_columns_of_the_same_name() {
        let facts = Facts::new(Platform::GameCube, Game::Bfbb);
        let pickups = Bytes::from_static(b"KCIP\0\0\0\0");
        let zeros = Bytes::from_static(&[0; 4]);
        let mut parsed = 0;
        for &code in FORMAT.asset_types {
            let bytes = match &code {
                b"PICK" => pickups.clone(),
                _ => zeros.clone(),
            };
            let Ok(sheets) = parse(&bytes, &facts, code) else {
                continue;
            };
            parsed += 1;
            for sheet in sheets_of(&sheets) {
                let columns = sheet.columns(&sheets);
                let mut names = columns.clone();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), columns.len(), "{columns:?}");
            }
        }
        assert!(parsed >= 7, "{parsed}");
    }
}
