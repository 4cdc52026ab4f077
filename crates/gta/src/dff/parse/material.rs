//! Material effects of plugins: reflections, bumps, second textures and animations
//! (FORMATS, GTA 5.4).

use hpimount_assets::parse::floats;
use hpimount_assets::parse::name::until_nul;
use hpimount_containers::io::{Cursor, Endian, Error, Result};
use hpimount_renderware::clump::Material;
use hpimount_renderware::{Chunk, Chunks, kind};

/// Types of plugins.
const EFFECTS: u32 = 0x120;
const REFLECTION: u32 = 0x253_F2FC;
const SPECULAR: u32 = 0x253_F2F6;
const UV_ANIMATION: u32 = 0x135;

/// Kinds of an effect.
const BUMP: u32 = 1;
const ENVIRONMENT: u32 = 2;
const DUAL: u32 = 4;
const UV: u32 = 5;

/// An effect on top of the color and the texture of a material.
#[derive(Debug, Clone, PartialEq)]
pub struct Coat {
    /// Kind of the effect.
    pub kind: &'static str,
    /// Strength, if stored.
    pub intensity: Option<f32>,
    /// Names of its textures or animations.
    pub names: Vec<String>,
}

/// Returns the effects of a material, up to the first error.
///
/// # Errors
/// Returns [`Error::Damaged`] with the coats before it.
pub fn coats(material: &Material) -> (Vec<Coat>, Option<Error>) {
    let mut coats = Vec::new();
    let mut plugins = material.plugins.iter();
    let result = plugins.try_for_each(|plugin| read(&plugin, &mut coats));
    (coats, result.err())
}

fn read(plugin: &Chunk, coats: &mut Vec<Coat>) -> Result<()> {
    let mut cursor = plugin.cursor(Endian::Little);
    match plugin.kind {
        EFFECTS => effects(plugin, cursor, coats)?,
        REFLECTION => {
            // Scale and offset of the environment picture.
            let _: [f32; 4] = floats(&mut cursor, "reflection")?;
            coats.push(Coat {
                kind: "reflection",
                intensity: Some(cursor.f32("reflection")?),
                names: Vec::new(),
            });
        }
        SPECULAR => {
            let intensity = Some(cursor.f32("specular")?);
            let name = cursor.take(cursor.remaining(), "specular")?;
            coats.push(Coat {
                kind: "specular",
                intensity,
                names: vec![until_nul(name)],
            });
        }
        UV_ANIMATION => {
            let fields = plugin.child(kind::STRUCT, "animation of coordinates")?;
            let mut cursor = fields.cursor(Endian::Little);
            let mask = cursor.u32("animation of coordinates")?;
            let count = cursor.check_count((mask & 0xFF).count_ones().into(), 32, "animations")?;
            let names = (0..count).map(|_| Ok(until_nul(cursor.take(32, "animation")?)));
            coats.push(Coat {
                kind: "moving coordinates",
                intensity: None,
                names: names.collect::<Result<_>>()?,
            });
        }
        _ => {}
    }
    Ok(())
}

/// Reads two effects; one of them is usually none.
fn effects(plugin: &Chunk, mut cursor: Cursor<'_>, coats: &mut Vec<Coat>) -> Result<()> {
    cursor.u32("material effects")?;
    for _ in 0..2 {
        let at = cursor.offset();
        let kind = cursor.u32("material effect")?;
        let mut coat = |kind, intensity| {
            coats.push(Coat {
                kind,
                intensity,
                names: Vec::new(),
            });
        };
        let textures = match kind {
            0 => 0,
            BUMP => {
                coat("bump", Some(cursor.f32("bump")?));
                2
            }
            ENVIRONMENT => {
                coat("environment", Some(cursor.f32("environment")?));
                cursor.u32("environment")?;
                1
            }
            DUAL => {
                cursor.take(8, "second texture")?;
                coat("second texture", None);
                1
            }
            UV => {
                coat("transformed coordinates", None);
                0
            }
            other => {
                let problem = format!("is {other}, which is unknown");
                return Err(Error::damaged(at, "material effect", problem));
            }
        };
        for _ in 0..textures {
            let name = texture(plugin, &mut cursor)?;
            if let Some(coat) = coats.last_mut() {
                coat.names.extend(name);
            }
        }
    }
    Ok(())
}

/// Reads a flag, and the name of a texture if it is set.
fn texture(plugin: &Chunk, cursor: &mut Cursor<'_>) -> Result<Option<String>> {
    if cursor.u32("effect texture")? == 0 {
        return Ok(None);
    }
    let start = (cursor.offset() - plugin.offset) as usize;
    let mut chunks = Chunks::new(plugin.body.slice(start..), cursor.offset());
    let texture = chunks.next().filter(|chunk| chunk.kind == kind::TEXTURE);
    let at = cursor.offset();
    let texture = texture.ok_or_else(|| Error::damaged(at, "effect texture", "is missing"))?;
    let length = (chunks.offset() - at) as usize;
    cursor.take(length, "effect texture")?;
    let mut children = texture.children();
    let name = children.find(|chunk| chunk.kind == kind::STRING);
    Ok(name.map(|name| name.string()))
}
