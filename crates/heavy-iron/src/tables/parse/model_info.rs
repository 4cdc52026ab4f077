//! MINF: the models of a character, and its parameters.

use bytes::Bytes;

use crate::record::{Rows, layouts, size};
use crate::{Facts, Parsed, after_magic, read_into, slice_of};
use hpimount_assets::parse::name::until_nul;
use hpimount_containers::io::{Cursor, Result, Warnings};
use hpimount_containers::text::windows_1252_byte;
use hpimount_record::Value;

const MAGIC: u32 = 0x464E_494D;

layouts! {
    MODELS {
        model: Id, flags: U16, parent: U8, bone: U8, right: Vec3, up: Vec3, at: Vec3, position: Vec3
    }
}

/// The models and parameters of a character.
#[derive(Debug, Default)]
pub struct ModelInfo {
    /// Id of its animation table.
    pub animation_table: u32,
    /// Id of its combat settings.
    pub combat: u32,
    /// Id of its brain (AI settings); missing in Scooby-Doo.
    pub brain: Option<u32>,
    /// Models, each with its bone and a transform.
    pub models: Rows,
    /// Parameters.
    pub parameters: Vec<ModelParameter>,
    /// End of the parameters.
    pub end: usize,
    /// Warnings.
    pub warnings: Warnings,
}

/// A parameter of a character.
#[derive(Debug, Clone)]
pub struct ModelParameter {
    /// Id of its name.
    pub name: u32,
    /// Value as stored, with trailing NULs.
    pub stored: Bytes,
    /// Offset in the asset.
    pub offset: usize,
}

/// Maximum number of words after the first three bytes of a parameter.
const MAX_WORDS: usize = u8::MAX as usize;

impl ModelParameter {
    /// Returns its value.
    pub fn value(&self) -> String {
        until_nul(&self.stored)
    }

    /// Bytes of the name of a parameter.
    pub const NAME: usize = 4;

    /// Encodes a parameter value in at least `length` bytes after the name: the number
    /// of words, and the value with a NUL.
    ///
    /// # Errors
    /// Returns why no parameter has this value.
    pub fn encode(value: &Value, length: usize) -> std::result::Result<Vec<u8>, String> {
        let text = value.to_string();
        let letters = text.chars().map(|letter| {
            let byte = windows_1252_byte(letter).filter(|&byte| byte != 0);
            byte.ok_or_else(|| format!("{letter:?} cannot be in a value"))
        });
        let letters: Vec<u8> = letters.collect::<std::result::Result<_, _>>()?;
        let needed = (letters.len() + 1).max(length.saturating_sub(1));
        let words = needed.saturating_sub(3).div_ceil(4);
        if words > MAX_WORDS {
            let (has, most) = (letters.len(), 3 + 4 * MAX_WORDS - 1);
            return Err(format!("has {has} letters, at most {most} are possible"));
        }
        let mut bytes = vec![words as u8];
        bytes.extend(letters);
        bytes.resize(1 + 3 + 4 * words, 0);
        Ok(bytes)
    }
}

/// Parses a MINF asset.
///
/// # Errors
/// Returns [`Incomplete`](hpimount_assets::parse::Incomplete) if the magic is wrong or
/// the header is truncated.
pub fn parse_model_info(bytes: &Bytes, facts: &Facts) -> Parsed<ModelInfo> {
    read_into(bytes, ModelInfo::default(), |info| read(bytes, facts, info))
}

fn read(bytes: &Bytes, facts: &Facts, info: &mut ModelInfo) -> Result<()> {
    let mut cursor = after_magic(bytes, facts, MAGIC, &mut info.warnings)?;
    let count = cursor.u32("model count")?;
    info.animation_table = cursor.u32("animation table")?;
    info.combat = cursor.u32("combat")?;
    if has_brain(&cursor, facts) {
        info.brain = Some(cursor.u32("brain")?);
    }
    let (at, endian) = (cursor.offset(), cursor.endian());
    let mut rest = cursor.clone();
    let left = slice_of(bytes, rest.take(rest.remaining(), "models")?);
    info.models = Rows::new(MODELS, endian, &left, count as usize).at(at as usize);
    let found = info.models.len();
    if found < count as usize {
        info.warnings
            .push(format!("model count at 0x4: is {count}, found {found}"));
    }
    cursor.seek(at + info.models.bytes().len() as u64, "parameters")?;
    parameters(&mut cursor, bytes, info)
}

/// Returns whether a brain precedes the models, as in all games except Scooby-Doo.
/// There, it is detected by the transform of the first model, since tools may write it
/// regardless.
fn has_brain(cursor: &Cursor<'_>, facts: &Facts) -> bool {
    if !facts.game.is_scooby() {
        return true;
    }
    let likely = |skip: usize| -> usize {
        let mut cursor = cursor.clone();
        if cursor.take(skip + 8, "model").is_err() {
            return 0;
        }
        let floats = (0..12).map_while(|_| cursor.f32("transform of the model").ok());
        let is_likely = |value: &f32| *value == 0.0 || (1e-6..1e6).contains(&value.abs());
        floats.filter(is_likely).count()
    };
    likely(4) > likely(0)
}

fn parameters(cursor: &mut Cursor<'_>, bytes: &Bytes, info: &mut ModelInfo) -> Result<()> {
    while cursor.remaining() >= 8 {
        let at = cursor.offset();
        info.end = at as usize;
        let name = cursor.u32("parameter name")?;
        let length = 3 + 4 * usize::from(cursor.u8("parameter length")?);
        let left = cursor.remaining();
        if length > left {
            info.warnings.push(format!(
                "parameter at {at:#x}: needs {length} bytes, {left} are left"
            ));
            return Ok(());
        }
        let stored = slice_of(bytes, cursor.take(length, "parameter")?);
        info.parameters.push(ModelParameter {
            name,
            stored,
            offset: at as usize,
        });
    }
    let left = cursor.remaining();
    info.end = cursor.offset() as usize;
    if left > 0 {
        let at = cursor.offset();
        info.warnings
            .push(format!("{left} bytes at {at:#x} belong to no parameter"));
    }
    Ok(())
}

/// Length of a model in bytes.
const _: () = assert!(size(MODELS) == 56);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Game, Platform};

    fn info(game: Game, head: &[u32]) -> ModelInfo {
        let one = 0x3F80_0000;
        let transform = [one, 0, 0, 0, one, 0, 0, 0, one, one, one, one];
        let model = [&[0xDEAD_BEEF, 0xFF01][..], &transform].concat();
        let words = [&[MAGIC, 1][..], head, &model].concat();
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(b"\x01\0\0\0\x01ok\0\0\0\0\0");
        let facts = Facts::new(Platform::Xbox, game);
        parse_model_info(&bytes.into(), &facts).unwrap()
    }

    #[test]
    fn only_scooby_doo_may_lack_a_brain() {
        for (game, head, brain) in [
            (Game::Bfbb, &[2, 3, 0xFFEE_DDCC][..], Some(0xFFEE_DDCC)),
            (Game::Scooby, &[2, 3], None),
            (Game::Scooby, &[2, 3, 0], Some(0)),
        ] {
            let info = info(game, head);
            assert!(info.warnings.is_empty(), "{:?}", info.warnings);
            assert_eq!(
                (info.animation_table, info.combat, info.brain),
                (2, 3, brain)
            );
            let model = info.models.get(0).unwrap();
            assert_eq!(model.number("model"), Some(0xDEAD_BEEF));
            assert_eq!(info.parameters[0].value(), "ok");
        }
    }
}
