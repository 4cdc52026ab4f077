//! Effects of geometries: lights, particles, places for pedestrians, signs and others
//! (FORMATS, GTA 5.5).

use get_size2::GetSize;

use hpimount_assets::parse::count::count;
use hpimount_assets::parse::floats;
use hpimount_containers::io::{Cursor, Endian, Result, Warnings};
use hpimount_record::{Field, Pad, Text, Value};
use hpimount_renderware::Chunk;

/// An effect.
#[derive(Debug, Clone, GetSize)]
pub struct Effect {
    /// Number of the clump.
    pub clump: usize,
    /// Number of the geometry in it.
    pub geometry: usize,
    /// Position in the space of the geometry.
    pub position: [f32; 3],
    /// Number of its type.
    pub kind: u32,
    /// Bytes of its fields.
    pub size: u32,
    /// Fields by name; none for an unknown type.
    pub fields: Vec<(&'static str, Value)>,
}

/// Creates an empty field.
type NewField = fn() -> Box<dyn Field>;

fn field<F: Field + Default>() -> Box<dyn Field> {
    Box::new(F::default())
}

/// The fields of a type. Fields without a name are not shown.
type Fields = &'static [(&'static str, NewField)];

const LIGHT: Fields = &[
    ("color", field::<[u8; 4]>),
    ("corona_far_clip", field::<f32>),
    ("light_range", field::<f32>),
    ("corona_size", field::<f32>),
    ("shadow_size", field::<f32>),
    ("show_mode", field::<u8>),
    ("reflection", field::<u8>),
    ("flare", field::<u8>),
    ("shadow_multiplier", field::<u8>),
    ("flags", field::<u8>),
    ("corona", field::<Text<24>>),
    ("shadow", field::<Text<24>>),
    ("shadow_distance", field::<u8>),
    ("flags_2", field::<u8>),
    ("look", field::<[i8; 3]>),
];

const ATTRACTOR: Fields = &[
    ("attractor", field::<u32>),
    ("queue", field::<[f32; 3]>),
    ("use", field::<[f32; 3]>),
    ("forward", field::<[f32; 3]>),
    ("script", field::<Text<8>>),
    ("probability", field::<u32>),
    ("", field::<Pad<4>>),
];

const ENTER_EXIT: Fields = &[
    ("enter_angle", field::<f32>),
    ("radius", field::<[f32; 2]>),
    ("exit", field::<[f32; 3]>),
    ("exit_angle", field::<f32>),
    ("interior", field::<i16>),
    ("flags", field::<u8>),
    ("sky_color", field::<u8>),
    ("name", field::<Text<8>>),
    ("time_on", field::<u8>),
    ("time_off", field::<u8>),
    ("flags_2", field::<u8>),
];

const ROAD_SIGN: Fields = &[
    ("size", field::<[f32; 2]>),
    ("rotation", field::<[f32; 3]>),
    ("flags", field::<u16>),
    ("line_1", field::<Text<16>>),
    ("line_2", field::<Text<16>>),
    ("line_3", field::<Text<16>>),
    ("line_4", field::<Text<16>>),
];

/// The types of effects: number, name and fields.
const KINDS: [(u32, &str, Fields); 9] = [
    (0, "light", LIGHT),
    (1, "particle", &[("effect", field::<Text<24>>)]),
    (3, "ped attractor", ATTRACTOR),
    (4, "sun glare", &[]),
    (6, "enter exit", ENTER_EXIT),
    (7, "road sign", ROAD_SIGN),
    (8, "trigger point", &[("id", field::<i32>)]),
    (
        9,
        "cover point",
        &[("direction", field::<[f32; 2]>), ("usage", field::<u32>)],
    ),
    (
        10,
        "escalator",
        &[
            ("bottom", field::<[f32; 3]>),
            ("top", field::<[f32; 3]>),
            ("end", field::<[f32; 3]>),
            ("direction", field::<u32>),
        ],
    ),
];

impl Effect {
    /// Returns the name of the effect's type.
    pub fn kind_name(&self) -> Option<&'static str> {
        let mut kinds = KINDS.iter();
        let found = kinds.find(|(kind, ..)| *kind == self.kind);
        found.map(|(_, name, _)| *name)
    }
}

/// Bytes of an effect without its fields.
const HEADER: usize = 20;

/// Reads the effects of a geometry. An error ends them with a warning.
pub(super) fn read(
    plugin: &Chunk,
    at: (usize, usize),
    effects: &mut Vec<Effect>,
    warnings: &mut Warnings,
) {
    let mut cursor = plugin.cursor(Endian::Little);
    let read = count(&mut cursor, HEADER, "effect count").and_then(|count| {
        (0..count).try_for_each(|_| {
            effects.push(effect(&mut cursor, at)?);
            Ok(())
        })
    });
    if let Err(error) = read {
        warnings.push(error.to_string());
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

/// Reads the existing fields; older files lack the last ones.
fn values(mut body: Cursor<'_>, fields: Fields) -> Vec<(&'static str, Value)> {
    let mut values = Vec::new();
    for &(name, field) in fields {
        let mut field = field();
        if field.read(&mut body, "effect").is_err() {
            break;
        }
        if !name.is_empty() {
            values.push((name, field.value()));
        }
    }
    values
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
        assert_eq!(effects[1].fields, [("effect", Value::from("fire"))]);
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
