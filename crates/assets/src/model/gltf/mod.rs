//! GLB: glTF 2.0 in one file, by the `gltf-json` crate.

mod accessor;
mod buffer;
mod file;
mod geometry;
mod nodes;
mod read;

pub use self::geometry::bytes_of;
pub use self::read::read;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};

use gltf_json::animation::{Channel, Interpolation, Property, Sampler, Target};
use gltf_json::extensions::material::{Material as MaterialExtensions, Unlit};
use gltf_json::material::{
    AlphaCutoff, AlphaMode, PbrBaseColorFactor, PbrMetallicRoughness, StrengthFactor,
};
use gltf_json::texture::{Info, MagFilter, MinFilter, WrappingMode};
use gltf_json::validation::Checked::Valid;
use gltf_json::{Image, Index, Material, Root, Texture};

use self::buffer::Buffer;
use super::math::linear;
use super::scene::{self, Alpha, Wrap};
use super::{Picture, PixelsLeft, Reserve, Scene, Transform, png, reduced};

/// Maximum number of pixels of all pictures of a file. Map files of the games have a
/// quarter of it.
const MAX_PIXELS: u64 = 1 << 28;

/// The notes in files whose pictures were reduced.
const TOO_MANY_PIXELS: &str =
    "Pictures are smaller than in the game, or omitted, because there are many large ones.";
const TOO_LITTLE_MEMORY: &str =
    "Pictures are smaller than in the game, or omitted, for lack of memory in the budget.";

/// A function that returns the picture for a [`scene::Texture::picture`].
pub type Pictures<'a> = &'a dyn Fn(usize) -> Option<Picture>;

/// Writes the whole scene as a GLB file. The notes are in `asset.extras.notes`.
/// The JSON part comes first and contains the sizes of the binary part, which
/// is therefore held in memory as a whole; the limits of [`export`](super)
/// bound it, and `reserve` accounts for it as it grows.
///
/// # Errors
/// Returns the errors of `out` and of `reserve`.
pub fn write(
    scene: &Scene<'_>,
    pictures: Pictures<'_>,
    reserve: Reserve<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = Writer {
        root: Root::default(),
        buffer: Buffer::new(reserve),
        copies: BTreeMap::new(),
        pixels_left: PixelsLeft(MAX_PIXELS),
        small_pictures: BTreeSet::new(),
    };
    let meshes = writer.meshes(scene);
    writer.nodes(scene, &meshes);
    writer.animations(scene);
    writer.motions(scene);
    // Pictures get the remaining memory.
    writer.materials(&scene.materials, pictures);
    writer.asset(scene);
    let Writer {
        mut root, buffer, ..
    } = writer;
    let binary = buffer.finish(&mut root)?;
    pack(&root, binary.bytes(), out)
}

/// A file under construction.
struct Writer<'a> {
    root: Root,
    buffer: Buffer<'a>,
    /// Copies of the nodes above hidden ones.
    copies: BTreeMap<usize, usize>,
    pixels_left: PixelsLeft,
    /// The notes why pictures were reduced or omitted.
    small_pictures: BTreeSet<&'static str>,
}

impl Writer<'_> {
    fn asset(&mut self, scene: &Scene<'_>) {
        self.root.extensions_used.sort_unstable();
        let small = self.small_pictures.iter().copied();
        let notes = scene.notes.iter().map(String::as_str).chain(small);
        let notes = serde_json::json!({ "notes": notes.collect::<Vec<_>>() });
        self.root.asset.generator = Some(concat!("hpimount ", env!("CARGO_PKG_VERSION")).into());
        self.root.asset.extras = serde_json::value::to_raw_value(&notes).ok();
    }

    /// Declares an extension that a reader should support.
    fn uses(&mut self, extension: &str) {
        let used = &mut self.root.extensions_used;
        if used.iter().all(|known| known != extension) {
            used.push(extension.to_owned());
        }
    }

    fn materials(&mut self, materials: &[scene::Material], pictures: Pictures<'_>) {
        let mut textures: Vec<(scene::Texture, Option<Index<Texture>>)> = Vec::new();
        let mut images = HashMap::new();
        for material in materials {
            let texture = material.texture.as_ref().and_then(|texture| {
                let known = textures.iter().find(|(known, _)| known == texture);
                if let Some((_, index)) = known {
                    return *index;
                }
                // Materials may use one picture in several ways.
                let image = *images
                    .entry(texture.picture)
                    .or_insert_with(|| self.image(&texture.file, pictures(texture.picture)?));
                let index = image.map(|image| self.texture(texture, image));
                textures.push((texture.clone(), index));
                index
            });
            self.material(material, texture);
        }
    }

    /// Adds a picture, reduced to fit the remaining pixels and memory. Returns `None`
    /// if it cannot be written.
    fn image(&mut self, name: &str, picture: Picture) -> Option<Index<Image>> {
        let width = picture.width;
        let taken = self.pixels_left.take(picture);
        if taken.as_ref().is_none_or(|taken| taken.width < width) {
            self.small_pictures.insert(TOO_MANY_PIXELS);
        }
        let mut picture = taken?;
        let mut bytes = Vec::new();
        png::write(&picture, &mut bytes).ok()?;
        while !self.buffer.fits(bytes.len()) {
            self.small_pictures.insert(TOO_LITTLE_MEMORY);
            let edge = picture.width.max(picture.height);
            if edge <= 1 {
                return None;
            }
            picture = reduced(picture, edge / 2);
            bytes.clear();
            png::write(&picture, &mut bytes).ok()?;
        }
        let view = self.buffer.view(&mut self.root, &bytes, None);
        Some(self.root.push(Image {
            buffer_view: Some(view),
            mime_type: Some(gltf_json::image::MimeType("image/png".into())),
            name: Some(name.to_owned()),
            uri: None,
            extensions: None,
            extras: None,
        }))
    }

    fn texture(&mut self, texture: &scene::Texture, image: Index<Image>) -> Index<Texture> {
        let sampler = self.sampler(texture);
        self.root.push(Texture {
            name: Some(texture.file.clone()),
            sampler: Some(sampler),
            source: image,
            extensions: None,
            extras: None,
        })
    }

    fn sampler(&mut self, texture: &scene::Texture) -> Index<gltf_json::texture::Sampler> {
        let wrap = |wrap| {
            Valid(match wrap {
                Wrap::Repeat => WrappingMode::Repeat,
                Wrap::Mirror => WrappingMode::MirroredRepeat,
                Wrap::Clamp => WrappingMode::ClampToEdge,
            })
        };
        let (mag, min) = if texture.sharp {
            (MagFilter::Nearest, MinFilter::NearestMipmapLinear)
        } else {
            (MagFilter::Linear, MinFilter::LinearMipmapLinear)
        };
        self.root.push(gltf_json::texture::Sampler {
            mag_filter: Some(Valid(mag)),
            min_filter: Some(Valid(min)),
            wrap_s: wrap(texture.wrap[0]),
            wrap_t: wrap(texture.wrap[1]),
            ..Default::default()
        })
    }

    fn material(&mut self, material: &scene::Material, texture: Option<Index<Texture>>) {
        let [r, g, b, alpha] = material.color;
        let color = [linear(r), linear(g), linear(b), alpha];
        if material.unlit {
            self.uses("KHR_materials_unlit");
        }
        let mode = match material.alpha {
            Alpha::Opaque => AlphaMode::Opaque,
            Alpha::Mask => AlphaMode::Mask,
            Alpha::Blend => AlphaMode::Blend,
        };
        self.root.push(Material {
            name: Some(material.name.clone()),
            alpha_cutoff: (material.alpha == Alpha::Mask).then_some(AlphaCutoff(0.5)),
            alpha_mode: Valid(mode),
            double_sided: material.double_sided,
            pbr_metallic_roughness: PbrMetallicRoughness {
                base_color_factor: PbrBaseColorFactor(color),
                base_color_texture: texture.map(|index| Info {
                    index,
                    tex_coord: 0,
                    extensions: None,
                    extras: None,
                }),
                metallic_factor: StrengthFactor(0.0),
                ..Default::default()
            },
            extensions: material.unlit.then_some(MaterialExtensions {
                unlit: Some(Unlit {}),
                ..Default::default()
            }),
            ..Default::default()
        });
    }

    fn animations(&mut self, scene: &Scene<'_>) {
        for animation in scene.animations.iter().filter(|one| one.frames > 0) {
            let mut channels = Vec::new();
            let mut samplers = Vec::new();
            let (frames, interval) = (animation.frames, animation.interval);
            let input = self.buffer.times(&mut self.root, frames, interval);
            for node in animation.nodes.clone() {
                let transforms = (0..frames).map(|frame| (animation.transform)(frame, node));
                let (moves, mut turns): (Vec<_>, Vec<_>) = transforms
                    .map(
                        |Transform {
                             translation,
                             rotation,
                             ..
                         }| (translation, rotation),
                    )
                    .unzip();
                take_shorter_arcs(&mut turns);
                let outputs = [
                    (
                        Property::Translation,
                        self.buffer.vectors(&mut self.root, &moves),
                    ),
                    (
                        Property::Rotation,
                        self.buffer.quaternions(&mut self.root, &turns),
                    ),
                ];
                for (path, output) in outputs {
                    channels.extend(self.channels(node, path, samplers.len()));
                    samplers.push(Sampler {
                        input,
                        interpolation: Valid(Interpolation::Linear),
                        output,
                        extensions: None,
                        extras: None,
                    });
                }
            }
            if !channels.is_empty() {
                self.root.push(gltf_json::Animation {
                    name: Some(animation.name.clone()),
                    channels,
                    samplers,
                    extensions: None,
                    extras: None,
                });
            }
        }
    }

    fn motions(&mut self, scene: &Scene<'_>) {
        for motion in &scene.motions {
            let (mut channels, mut samplers) = (Vec::new(), Vec::new());
            for track in motion.tracks.iter().filter(|track| !track.times.is_empty()) {
                let mut turns = track.rotations.clone();
                take_shorter_arcs(&mut turns);
                if !track.translations.is_empty() {
                    self.channel(
                        track,
                        Property::Translation,
                        &track.translations,
                        &mut channels,
                        &mut samplers,
                    );
                }
                self.channel(
                    track,
                    Property::Rotation,
                    &turns,
                    &mut channels,
                    &mut samplers,
                );
            }
            if !channels.is_empty() {
                self.root.push(gltf_json::Animation {
                    name: Some(motion.name.clone()),
                    channels,
                    samplers,
                    extensions: None,
                    extras: None,
                });
            }
        }
    }

    /// Adds the keys of one property of a node: a single key if all are equal.
    fn channel<const N: usize>(
        &mut self,
        track: &scene::Track,
        path: Property,
        keys: &[[f32; N]],
        channels: &mut Vec<Channel>,
        samplers: &mut Vec<Sampler>,
    ) {
        let is_still = keys.windows(2).all(|pair| pair[0] == pair[1]);
        let count = if is_still { 1 } else { keys.len() };
        let times = &track.times[..count];
        let sampler = Sampler {
            input: self.buffer.key_times(&mut self.root, times),
            interpolation: Valid(Interpolation::Linear),
            output: self.buffer.keys(&mut self.root, &keys[..count]),
            extensions: None,
            extras: None,
        };
        channels.extend(self.channels(track.node, path, samplers.len()));
        samplers.push(sampler);
    }

    /// Returns the channels that move a node and its copy.
    fn channels(&self, node: usize, path: Property, sampler: usize) -> Vec<Channel> {
        let nodes = [node].into_iter().chain(self.copies.get(&node).copied());
        nodes
            .map(|node| Channel {
                sampler: Index::new(sampler as u32),
                target: Target {
                    node: Index::new(node as u32),
                    path: Valid(path),
                    extensions: None,
                    extras: None,
                },
                extensions: None,
                extras: None,
            })
            .collect()
    }
}

/// Chooses the sign of each quaternion so that interpolation takes the shorter
/// arc.
fn take_shorter_arcs(turns: &mut [[f32; 4]]) {
    for next in 1..turns.len() {
        let parts = turns[next - 1].iter().zip(turns[next]);
        if parts.map(|(a, b)| a * b).sum::<f32>() < 0.0 {
            turns[next] = turns[next].map(|part| -part);
        }
    }
}

/// Writes the header and the chunks of a GLB file. Each chunk has a multiple of
/// 4 bytes, since all views in `binary` are padded to one.
fn pack(root: &Root, binary: &[u8], out: &mut dyn Write) -> io::Result<()> {
    const HEADER_SIZE: usize = 12;
    const CHUNK_HEADER_SIZE: usize = 8;
    let mut json = root.to_vec()?;
    json.resize(json.len().next_multiple_of(4), b' ');
    let chunks = [(b"JSON", &json[..]), (b"BIN\0", binary)];
    let chunks = chunks.iter().filter(|(_, chunk)| !chunk.is_empty());
    let sizes = chunks
        .clone()
        .map(|(_, chunk)| CHUNK_HEADER_SIZE + chunk.len());
    out.write_all(b"glTF")?;
    out.write_all(&2_u32.to_le_bytes())?;
    word(out, HEADER_SIZE + sizes.sum::<usize>())?;
    for (kind, chunk) in chunks {
        word(out, chunk.len())?;
        out.write_all(*kind)?;
        out.write_all(chunk)?;
    }
    Ok(())
}

/// Writes a length, which the limits keep far below 32 bits.
fn word(out: &mut dyn Write, value: usize) -> io::Result<()> {
    out.write_all(&(value as u32).to_le_bytes())
}

#[cfg(test)]
mod read_tests;
#[cfg(test)]
mod tests;
