//! The tables of assets that are tables, and the tables by type.

use crate::fields::{cells, cells_of, columns};
use crate::model::animated;
use crate::names::Names;
use crate::record::Rows as Records;
use crate::table_view::Sheets;
use crate::tables::{AnimationTable, ModelInfo, SOUND_EFFECT, Shrapnel};
use hpimount_assets::view::hex;
use hpimount_assets::view::page::{self, Rows};
use hpimount_record::Value;

/// Maximum length of a list in a cell.
pub(crate) const MAX_LISTED: usize = 64;

/// Returns the files of an asset, in order, with their rows.
pub(super) fn tables<'a>(sheets: &'a Sheets, names: Names<'a>) -> Vec<(&'static str, Rows<'a>)> {
    let plain = |records| vec![("table.tsv", of_records(records, names))];
    match sheets {
        Sheets::List(model) => plain(&model.rows),
        Sheets::Lights(model) => plain(&model.lights),
        Sheets::Frames(model) => plain(&model.frames),
        Sheets::Marker(model) => {
            let row = model.position.map(|place| place.map(Value::from));
            vec![("table.tsv", Rows::new(["x", "y", "z"], row.into_iter()))]
        }
        Sheets::Shrapnel(model) => vec![("table.tsv", fragments(model, names))],
        Sheets::Models(model) => {
            vec![
                ("table.tsv", of_records(&model.models, names)),
                ("parameters.tsv", parameters(model, names)),
            ]
        }
        Sheets::States(model) => vec![
            ("table.tsv", states(model, names)),
            ("files.tsv", files(model, names)),
            ("animations.tsv", of_records(&model.animations, names)),
            ("effects.tsv", effects(model, names)),
        ],
        Sheets::Animation(model) => {
            let keys = model.keys.iter().enumerate().map(|(index, key)| {
                let [qx, qy, qz, qw] = key.rotation.map(Value::from);
                let [x, y, z] = key.translation.map(Value::from);
                let seconds = model.times.get(usize::from(key.time)).copied();
                let [index, time, seconds] = [index.into(), key.time.into(), seconds.into()];
                [index, time, seconds, qx, qy, qz, qw, x, y, z]
            });
            let mut firsts = model.first_keys.chunks(usize::from(model.bones).max(1));
            let times = model.times.iter().enumerate().map(move |(index, &time)| {
                let keys = joined(firsts.next().unwrap_or_default());
                [index.into(), time.into(), keys.into()]
            });
            let columns = [
                "index", "time", "seconds", "qx", "qy", "qz", "qw", "x", "y", "z",
            ];
            vec![
                ("table.tsv", Rows::new(columns, keys)),
                (
                    "times.tsv",
                    Rows::new(["index", "seconds", "first_keys"], times),
                ),
            ]
        }
        Sheets::Jaw(model) => {
            let curves = model.curves.iter().enumerate().map(move |(index, curve)| {
                let [sound, name] = names.pair(curve.sound);
                let samples = curve.values.len().into();
                let opening = joined(&curve.values).into();
                [
                    index.into(),
                    sound,
                    name,
                    curve.flags.into(),
                    samples,
                    opening,
                ]
            });
            let columns = [
                "index",
                "sound",
                "sound_name",
                "flags",
                "samples",
                "opening",
            ];
            vec![("table.tsv", Rows::new(columns, curves))]
        }
        Sheets::Level(model) => {
            let tree = model.collision.as_ref();
            let of_tree = |records: Option<&'a Records>| match records {
                Some(records) => of_records(records, names),
                None => Rows::new(["index"], std::iter::empty()),
            };
            vec![
                ("table.tsv", of_records(&model.nodes, names)),
                ("branches.tsv", of_tree(tree.map(|tree| &tree.branches))),
                ("triangles.tsv", of_tree(tree.map(|tree| &tree.triangles))),
                ("vectors.tsv", of_records(&model.vectors, names)),
            ]
        }
    }
}

/// Returns the parameters of a character.
pub(crate) fn parameters<'a>(model: &'a ModelInfo, names: Names<'a>) -> Rows<'a> {
    let parameters = model.parameters.iter().enumerate();
    let rows = parameters.map(move |(index, parameter)| {
        let [id, name] = names.pair(parameter.name);
        [index.into(), id, name, parameter.value().into()]
    });
    Rows::new(["index", "name", "name_name", "value"], rows)
}

/// Returns the rows of the asset with this id for the table of its type.
pub(crate) fn of_all<'a>(sheets: &'a Sheets, id: u32, names: Names<'a>) -> Rows<'a> {
    match sheets {
        Sheets::Lights(model) => of_records(&model.lights, names)
            .and(["group", "group_name"], move |_| names.pair(model.group)),
        Sheets::Models(model) => {
            let ids = [
                model.animation_table,
                model.combat,
                model.brain.unwrap_or_default(),
            ];
            let columns = [
                "animation_table",
                "animation_table_name",
                "combat",
                "combat_name",
                "brain",
                "brain_name",
            ];
            of_records(&model.models, names).and(columns, move |_| {
                let [
                    [table, table_name],
                    [combat, combat_name],
                    [brain, brain_name],
                ] = ids.map(|id| names.pair(id));
                [table, table_name, combat, combat_name, brain, brain_name]
            })
        }
        Sheets::Animation(model) => {
            let given = animated::of_animation(id, names.0);
            let models: Vec<u32> = given.iter().map(|given| given.model).collect();
            let [models, models_names] = names.pair_of_all(&models);
            let [scale_x, scale_y, scale_z] = model.scale.map(Value::from);
            let row = [
                ("duration", model.duration().into()),
                ("times", model.times.len().into()),
                ("bones", model.bones.into()),
                ("keys", model.keys.len().into()),
                ("flags", model.flags.into()),
                ("scale_x", scale_x),
                ("scale_y", scale_y),
                ("scale_z", scale_z),
                ("models", models),
                ("models_names", models_names),
            ];
            let columns = row.each_ref().map(|(column, _)| *column);
            Rows::new(columns, [row.map(|(_, value)| value)].into_iter())
        }
        other => tables(other, names).swap_remove(0).1,
    }
}

/// Returns whether all assets of this type have the same columns.
pub(crate) fn has_fixed_columns(sheets: &Sheets) -> bool {
    use Sheets::{Animation, Jaw, Marker, Shrapnel};
    matches!(sheets, Animation(_) | Jaw(_) | Marker(_) | Shrapnel(_))
}

/// Returns a table of records with their numbers.
fn of_records<'a>(records: &'a Records, names: Names<'a>) -> Rows<'a> {
    let index = std::iter::once("index".to_owned());
    Rows {
        columns: index
            .chain(columns(records.layout()))
            .map(Into::into)
            .collect(),
        rows: Box::new(records.iter().enumerate().map(move |(index, record)| {
            let mut row = vec![index.into()];
            row.extend(cells_of(&record, names));
            row
        })),
    }
}

/// Returns numbers separated by spaces.
fn joined<T: ToString>(numbers: &[T]) -> String {
    let texts: Vec<_> = numbers.iter().map(T::to_string).collect();
    texts.join(" ")
}

fn fragments<'a>(model: &'a Shrapnel, names: Names<'a>) -> Rows<'a> {
    let columns = [
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
    ];
    let rows = model
        .fragments
        .iter()
        .enumerate()
        .map(move |(index, fragment)| {
            let mut row = vec![index.into(), fragment.kind.into()];
            let mut parts = fragment.parts.iter();
            let head = parts
                .next()
                .into_iter()
                .flat_map(|part| part.record.fields());
            let head = head.filter(|(name, _)| *name != "type");
            row.extend(head.flat_map(|(_, value)| cells(value, names)));
            let ids = parts.flat_map(|part| part.record.ids());
            let ids: Vec<u32> = ids.map(|(_, id)| id).filter(|&id| id != 0).collect();
            row.extend(names.pair_of_all(&ids));
            row
        });
    Rows {
        columns: columns.map(Into::into).into_iter().collect(),
        rows: Box::new(rows),
    }
}

/// The states of an ATBL, with the animations of their files.
fn states<'a>(model: &'a AnimationTable, names: Names<'a>) -> Rows<'a> {
    of_records(&model.states, names).and(["animations"], move |index| {
        let state = model.states.get(index);
        let file = state.and_then(|state| state.number("file"));
        [animations_of(
            model,
            file.unwrap_or(u32::MAX) as usize,
            names,
        )]
    })
}

fn files<'a>(model: &'a AnimationTable, names: Names<'a>) -> Rows<'a> {
    of_records(&model.files, names).and(["numbers", "animations"], move |index| {
        let numbers: Vec<_> = model.list(index).take(MAX_LISTED).collect();
        [joined(&numbers).into(), animations_of(model, index, names)]
    })
}

fn effects<'a>(model: &'a AnimationTable, names: Names<'a>) -> Rows<'a> {
    let head = ["index", "state_index"].map(str::to_owned).into_iter();
    let fields = head.chain(columns(SOUND_EFFECT));
    let columns: page::Columns = fields.chain(["data".to_owned()]).map(Into::into).collect();
    let count = columns.len() - 1;
    let rows = model
        .effects
        .iter()
        .enumerate()
        .map(move |(index, effect)| {
            let mut row = vec![index.into(), effect.state.into()];
            row.extend(cells_of(&effect.record, names));
            // Effects other than sounds lack some fields.
            row.resize(count, Value::Null);
            row.push(hex(&effect.data[..effect.data.len().min(MAX_LISTED)]).into());
            row
        });
    Rows {
        columns,
        rows: Box::new(rows),
    }
}

/// Returns the animations of an ATBL file, by name or else by id.
fn animations_of(model: &AnimationTable, file: usize, names: Names<'_>) -> Value {
    let animations = model.list(file).take(MAX_LISTED).filter_map(|number| {
        let record = model.animations.get(number as usize)?;
        let id = record.number("animation").filter(|&id| id != 0)?;
        Some(names.name_or_id(id))
    });
    animations.collect::<Vec<_>>().join(" ").into()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::table_view::{FORMAT, parse};
    use crate::{Facts, Game, Platform};
    use hpimount_assets::view::Alone;

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
            for (_, rows) in tables(&sheets, Names(&Alone)) {
                let mut names = rows.columns.to_vec();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), rows.columns.len(), "{:?}", rows.columns);
            }
        }
        assert!(parsed >= 7, "{parsed}");
    }
}
