//! Effects of geometries: lights, particles, places for passers-by, signs and
//! others (FORMATS, GTA 5.5).

use hpimount_assets::parse::count::count;
use hpimount_assets::parse::floats;
use hpimount_assets::parse::name::until_nul;
use hpimount_containers::io::{Cursor, Endian, Result, Warnings};
use hpimount_renderware::Chunk;

/// An effect.
#[derive(Debug, Clone)]
pub struct Effect {
    /// Number of the clump.
    pub clump: usize,
    /// Number of the geometry in it.
    pub geometry: usize,
    /// Its position in the space of the geometry.
    pub position: [f32; 3],
    /// Number of its type.
    pub kind: u32,
    /// Bytes of its fields.
    pub size: u32,
    /// Its fields by their names; none of an unknown type.
    pub fields: Vec<(&'static str, Value)>,
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Integers.
    Integers(Vec<i64>),
    /// Floats.
    Floats(Vec<f32>),
    /// A text.
    Text(String),
}

impl Value {
    /// Returns the number of its values; `None` for a text.
    pub fn count(&self) -> Option<usize> {
        match self {
            Self::Integers(values) => Some(values.len()),
            Self::Floats(values) => Some(values.len()),
            Self::Text(_) => None,
        }
    }
}

/// How a field is stored.
#[derive(Debug, Clone, Copy)]
enum Field {
    U8(usize),
    I8(usize),
    U16(usize),
    I16(usize),
    U32(usize),
    I32(usize),
    F32(usize),
    Text(usize),
    /// Bytes without a meaning.
    Skip(usize),
}

type Fields = &'static [(&'static str, Field)];

const LIGHT: Fields = &[
    ("color", Field::U8(4)),
    ("corona_far_clip", Field::F32(1)),
    ("light_range", Field::F32(1)),
    ("corona_size", Field::F32(1)),
    ("shadow_size", Field::F32(1)),
    ("show_mode", Field::U8(1)),
    ("reflection", Field::U8(1)),
    ("flare", Field::U8(1)),
    ("shadow_multiplier", Field::U8(1)),
    ("flags", Field::U8(1)),
    ("corona", Field::Text(24)),
    ("shadow", Field::Text(24)),
    ("shadow_distance", Field::U8(1)),
    ("flags_2", Field::U8(1)),
    ("look", Field::I8(3)),
];

const ATTRACTOR: Fields = &[
    ("attractor", Field::U32(1)),
    ("queue", Field::F32(3)),
    ("use", Field::F32(3)),
    ("forward", Field::F32(3)),
    ("script", Field::Text(8)),
    ("probability", Field::U32(1)),
    ("", Field::Skip(4)),
];

const ENTER_EXIT: Fields = &[
    ("enter_angle", Field::F32(1)),
    ("radius", Field::F32(2)),
    ("exit", Field::F32(3)),
    ("exit_angle", Field::F32(1)),
    ("interior", Field::I16(1)),
    ("flags", Field::U8(1)),
    ("sky_color", Field::U8(1)),
    ("name", Field::Text(8)),
    ("time_on", Field::U8(1)),
    ("time_off", Field::U8(1)),
    ("flags_2", Field::U8(1)),
];

const ROAD_SIGN: Fields = &[
    ("size", Field::F32(2)),
    ("rotation", Field::F32(3)),
    ("flags", Field::U16(1)),
    ("line_1", Field::Text(16)),
    ("line_2", Field::Text(16)),
    ("line_3", Field::Text(16)),
    ("line_4", Field::Text(16)),
];

/// The types of effects: number, name and fields.
const KINDS: [(u32, &str, Fields); 9] = [
    (0, "light", LIGHT),
    (1, "particle", &[("effect", Field::Text(24))]),
    (3, "ped attractor", ATTRACTOR),
    (4, "sun glare", &[]),
    (6, "enter exit", ENTER_EXIT),
    (7, "road sign", ROAD_SIGN),
    (8, "trigger point", &[("id", Field::I32(1))]),
    (
        9,
        "cover point",
        &[("direction", Field::F32(2)), ("usage", Field::U32(1))],
    ),
    (
        10,
        "escalator",
        &[
            ("bottom", Field::F32(3)),
            ("top", Field::F32(3)),
            ("end", Field::F32(3)),
            ("direction", Field::U32(1)),
        ],
    ),
];

impl Effect {
    /// Returns the name of its type, if it is known.
    pub fn kind_name(&self) -> Option<&'static str> {
        let mut kinds = KINDS.iter();
        let found = kinds.find(|(kind, ..)| *kind == self.kind);
        found.map(|(_, name, _)| *name)
    }
}

/// Bytes of an effect without its fields.
const HEADER: usize = 20;

/// Reads the effects of a geometry. Those after an error are left out, with a
/// warning.
pub(super) fn read(
    plugin: &Chunk,
    at: (usize, usize),
    effects: &mut Vec<Effect>,
    warnings: &mut Warnings,
) {
    let mut cursor = plugin.cursor(Endian::Little);
    let read = count(&mut cursor, HEADER, "effect count")
        .and_then(|count| (0..count).try_for_each(|_| effects.push_read(effect(&mut cursor, at))));
    if let Err(error) = read {
        warnings.push(error.to_string());
    }
}

/// Pushes what could be read.
trait PushRead<T> {
    fn push_read(&mut self, item: Result<T>) -> Result<()>;
}

impl<T> PushRead<T> for Vec<T> {
    fn push_read(&mut self, item: Result<T>) -> Result<()> {
        item.map(|item| self.push(item))
    }
}

fn effect(cursor: &mut Cursor<'_>, at: (usize, usize)) -> Result<Effect> {
    let position = floats(cursor, "effect position")?;
    let kind = cursor.u32("effect type")?;
    let size = cursor.u32("effect size")?;
    let length = cursor.check_count(size.into(), 1, "effect size")?;
    let body = cursor.section(length, "effect")?;
    let known = KINDS.iter().find(|(number, ..)| *number == kind);
    let fields = known.map_or(&[][..], |(_, _, fields)| fields);
    Ok(Effect {
        clump: at.0,
        geometry: at.1,
        position,
        kind,
        size,
        fields: values(body, fields),
    })
}

/// Reads the fields that are there: older files end before the last ones.
fn values(mut body: Cursor<'_>, fields: Fields) -> Vec<(&'static str, Value)> {
    let mut values = Vec::new();
    for &(name, field) in fields {
        let Ok(value) = value(&mut body, field) else {
            break;
        };
        if !name.is_empty() {
            values.push((name, value));
        }
    }
    values
}

fn value(body: &mut Cursor<'_>, field: Field) -> Result<Value> {
    let name = "effect";
    let mut integers = |count: usize, read: fn(&mut Cursor<'_>) -> Result<i64>| {
        let values = (0..count).map(|_| read(body)).collect::<Result<_>>()?;
        Ok(Value::Integers(values))
    };
    match field {
        Field::U8(count) => integers(count, |body| Ok(body.u8("effect")?.into())),
        Field::I8(count) => integers(count, |body| Ok(body.u8("effect")?.cast_signed().into())),
        Field::U16(count) => integers(count, |body| Ok(body.u16("effect")?.into())),
        Field::I16(count) => integers(count, |body| Ok(body.u16("effect")?.cast_signed().into())),
        Field::U32(count) => integers(count, |body| Ok(body.u32("effect")?.into())),
        Field::I32(count) => integers(count, |body| Ok(body.i32("effect")?.into())),
        Field::F32(count) => {
            let values = (0..count).map(|_| body.f32(name)).collect::<Result<_>>()?;
            Ok(Value::Floats(values))
        }
        Field::Text(length) => Ok(Value::Text(until_nul(body.take(length, name)?))),
        Field::Skip(length) => body.take(length, name).map(|_| Value::Integers(Vec::new())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::clump as build;
    use hpimount_renderware::Chunks;

    fn found(count: u32, bodies: &[Vec<u8>]) -> (Vec<Effect>, usize) {
        let body = [build::words(&[count]), bodies.concat()].concat();
        let chunk = Chunks::new(build::chunk(1, &body).into(), 0)
            .next()
            .unwrap();
        let (mut effects, mut warnings) = (Vec::new(), Warnings::default());
        read(&chunk, (0, 3), &mut effects, &mut warnings);
        (effects, warnings.len())
    }

    fn stored(kind: u32, body: &[u8]) -> Vec<u8> {
        let head = build::words(&[kind, body.len() as u32]);
        [build::floats(&[1.0, 2.0, 3.0]), head, body.to_vec()].concat()
    }

    #[test]
    fn effects_have_their_fields_and_unknown_ones_are_skipped_by_size() {
        let mut name = b"fire".to_vec();
        name.resize(24, 0);
        let (effects, warnings) =
            found(3, &[stored(77, &[9; 5]), stored(1, &name), stored(4, &[])]);
        assert_eq!((effects.len(), warnings), (3, 0));
        assert_eq!(effects[0].kind_name(), None);
        assert_eq!(
            effects[1].fields,
            [("effect", Value::Text("fire".to_owned()))]
        );
        assert_eq!(effects[2].kind_name(), Some("sun glare"));
        assert_eq!(effects[2].geometry, 3);
    }

    #[test]
    fn a_cut_effect_is_a_warning_and_a_short_light_has_its_first_fields() {
        let light = stored(0, &[7; 10]);
        let (effects, warnings) = found(2, &[light.clone(), light[..25].to_vec()]);
        assert_eq!((effects.len(), warnings), (1, 1));
        let names: Vec<_> = effects[0].fields.iter().map(|field| field.0).collect();
        assert_eq!(names, ["color", "corona_far_clip"]);
        assert_eq!(found(u32::MAX, &[]).1, 1);
    }
}
