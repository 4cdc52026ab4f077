//! Parses an asset by its type and calls all methods of the model.

// The programs that include this use a part of it.
#![allow(dead_code, unreachable_pub)]

use bytes::Bytes;
use hpimount_containers::io::Warnings;
use hpimount_heavy_iron::text::credits;
use hpimount_heavy_iron::{Facts, Parsed, model, object, sound, tables, text, texture};
use hpimount_renderware::clump::Mesh;

/// The result of reading an asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// There are no warnings.
    Fine,
    /// There are warnings.
    Odd,
    /// There is an error.
    Bad,
}

impl Verdict {
    /// Returns the verdict for a word in the manifest of the samples.
    pub fn of(expect: &str) -> Self {
        match expect {
            "ok" => Self::Fine,
            "odd" => Self::Odd,
            "bad" => Self::Bad,
            other => panic!("{other}"),
        }
    }
}

/// A verdict and its reasons.
#[derive(Debug)]
pub struct Finding {
    pub verdict: Verdict,
    pub text: String,
}

/// Returns the verdict on the result of a parser, and calls `see` with its model, even
/// if the parser failed.
fn found<M>(
    parsed: Parsed<M>,
    warnings: impl Fn(&M) -> &Warnings,
    mut see: impl FnMut(&M),
) -> Finding {
    match parsed {
        Ok(model) => {
            see(&model);
            let texts = warnings(&model).texts();
            Finding {
                verdict: if texts.is_empty() {
                    Verdict::Fine
                } else {
                    Verdict::Odd
                },
                text: texts.join("; "),
            }
        }
        Err(incomplete) => {
            see(&incomplete.model);
            Finding {
                verdict: Verdict::Bad,
                text: incomplete.error.to_string(),
            }
        }
    }
}

/// Returns a type of four characters.
pub fn code(text: &str) -> [u8; 4] {
    let mut code = *b"    ";
    code[..text.len()].copy_from_slice(text.as_bytes());
    code
}

/// Returns the entries that can be read.
pub fn entries(bytes: &Bytes, facts: &Facts) -> sound::SoundTable {
    match sound::parse_table(bytes, facts) {
        Ok(table) => table,
        Err(incomplete) => incomplete.model,
    }
}

/// Reads an asset that is neither a sound nor the info of a level.
pub fn look_at(facts: &Facts, code: [u8; 4], bytes: &Bytes) -> Finding {
    match &code {
        b"RWTX" | b"TEXS" => found(texture::parse(bytes), |m| &m.warnings, see_textures),
        b"SNDI" => found(sound::parse_table(bytes, facts), |m| &m.warnings, |_| {}),
        b"TEXT" => found(
            text::parse(bytes, facts),
            |m| &m.warnings,
            |text| {
                assert!(text.tags().count() <= text.text.len());
            },
        ),
        b"CRDT" => found(credits::parse(bytes, facts), |m| &m.warnings, see_credits),
        b"MODL" | b"JSP " | b"BSP " => found(model::parse(bytes), |m| &m.warnings, see_model),
        b"LKIT" => found(
            tables::parse_light_kit(bytes, facts),
            |m| &m.warnings,
            |kit| {
                let _ = kit
                    .lights
                    .iter()
                    .map(|light| light.fields().count())
                    .sum::<usize>();
            },
        ),
        b"MRKR" => found(tables::parse_marker(bytes, facts), |m| &m.warnings, |_| {}),
        b"MINF" => found(
            tables::parse_model_info(bytes, facts),
            |m| &m.warnings,
            |info| {
                assert!(
                    info.parameters
                        .iter()
                        .all(|p| p.value().len() <= 3 * p.stored.len())
                );
            },
        ),
        b"ATBL" => found(
            tables::parse_animation_table(bytes, facts),
            |m| &m.warnings,
            |table| {
                let listed = (0..table.files.len()).map(|file| table.list(file).count());
                assert!(listed.sum::<usize>() <= bytes.len() / 4);
                assert!(24 * table.effects.len() <= bytes.len());
            },
        ),
        b"ANIM" => found(
            tables::parse_animation(bytes, facts),
            |m| &m.warnings,
            |animation| {
                if let Ok(tracks) = animation.tracks() {
                    let known = |&key: &u16| usize::from(key) < animation.keys.len();
                    assert!(tracks.iter().flatten().all(known));
                }
            },
        ),
        b"FLY " => found(
            tables::parse_flythrough(bytes),
            |m| &m.warnings,
            |fly| {
                assert_eq!(fly.frames.iter().count(), bytes.len() / 64);
            },
        ),
        b"JAW " => found(
            tables::parse_jaw(bytes, facts),
            |m| &m.warnings,
            |jaw| {
                let values: usize = jaw.curves.iter().map(|curve| curve.values.len()).sum();
                assert!(values <= bytes.len());
            },
        ),
        b"SHRP" => found(
            tables::parse_shrapnel(bytes, facts),
            |m| &m.warnings,
            |shrapnel| {
                let parts = shrapnel.fragments.iter().map(|one| one.parts.len());
                assert!(parts.sum::<usize>() <= bytes.len() / 4);
            },
        ),
        code if tables::is_list(*code) => found(
            tables::parse_list(bytes, facts, *code),
            |m| &m.warnings,
            |list| {
                assert_eq!(list.rows.iter().count(), list.rows.len());
            },
        ),
        code => found(
            object::parse(bytes, facts, *code),
            |m| &m.warnings,
            |object| {
                let _ = object.references().count() + object.fields().count();
                let tiles = object.floor.iter().flat_map(|floor| floor.states());
                assert!(tiles.map(|state| state.len()).sum::<usize>() <= 4 * bytes.len());
                for link in &object.links {
                    let _ = (link.event_names(facts.game), link.parameter(3));
                }
            },
        ),
    }
}

fn see_textures(textures: &texture::Textures) {
    for texture in &textures.textures {
        let _ = (texture.format.name(), texture.format.palette_name());
        assert!(texture.levels.len() <= 13);
        for (number, level) in texture.levels.iter().enumerate() {
            let pixels = texture.rgba(number).unwrap();
            assert_eq!(pixels.len(), level.pixels());
        }
        assert!(texture.rgba(texture.levels.len()).is_none());
    }
}

fn see_credits(credits: &credits::Credits) {
    for section in &credits.sections {
        let texts = section.lines.iter().flat_map(|line| line.shown());
        assert!(texts.map(|text| text.len()).sum::<usize>() <= 3 * 256 * 2 * section.lines.len());
    }
}

fn see_model(model: &model::Model) {
    for clump in &model.clumps {
        assert_eq!(clump.placements().len(), clump.frames.len());
        assert!(clump.atomics.iter().all(|atomic| {
            atomic
                .geometry
                .is_none_or(|one| one < clump.geometries.len())
        }));
        for geometry in &clump.geometries {
            for mesh in &geometry.meshes {
                let _ = mesh.indices().count();
            }
            if let Some(skin) = &geometry.skin {
                let _ = skin.indices().count() + skin.weights().count() + skin.matrices().count();
            }
            let Some(mesh) = geometry.mesh() else {
                continue;
            };
            let _ = geometry.influences().len();
            see_mesh(&mesh);
        }
    }
    for world in &model.worlds {
        let mesh = world.mesh();
        see_mesh(&mesh);
        let materials = world.materials.len() as u32;
        assert!(mesh.parts.iter().all(|part| part.material < materials));
    }
}

fn see_mesh(mesh: &Mesh) {
    let vertices = mesh.positions.len() as u32;
    let corners = mesh
        .parts
        .iter()
        .flat_map(|part| part.triangles.iter().flatten());
    assert!(corners.into_iter().all(|&corner| corner < vertices));
}

/// Reads a sound by its entry.
pub fn look_at_sound(bytes: &Bytes, entry: &sound::Entry) -> Finding {
    found(
        sound::parse(bytes, entry),
        |m| &m.warnings,
        |sound| {
            let samples = sound.pcm();
            assert!(samples.len() <= 4 * sound.data.len());
            assert_eq!(samples.len(), sound.all_samples());
            let ends = sound.loops.map(|part| (part.start, part.end));
            assert!(ends.is_none_or(|(start, end)| start <= end && end < sound.samples));
            let _ = sound.native_header();
        },
    )
}

/// Reads the info of a level.
pub fn look_at_info(bytes: &Bytes, facts: &Facts) -> Finding {
    found(
        model::parse_jsp_info(bytes, facts),
        |m| &m.warnings,
        |info| {
            assert_eq!(info.nodes.iter().count(), info.nodes.len());
        },
    )
}
