//! GLB: glTF 2.0 in one file, by the `gltf-json` crate.

mod buffer;
mod geometry;

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};

use gltf_json::animation::{Channel, Interpolation, Property, Sampler, Target};
use gltf_json::extensions::material::{Material as MaterialExtensions, Unlit};
use gltf_json::extensions::scene::Node as NodeExtensions;
use gltf_json::material::{
    AlphaCutoff, AlphaMode, PbrBaseColorFactor, PbrMetallicRoughness, StrengthFactor,
};
use gltf_json::texture::{Info, MagFilter, MinFilter, WrappingMode};
use gltf_json::validation::Checked::Valid;
use gltf_json::{Image, Index, Material, Node, Root, Scene as GltfScene, Skin, Texture};

use self::buffer::Buffer;
use super::math::linear;
use super::scene::{self, Alpha, Wrap};
use super::{Picture, Scene, Transform, png};
use crate::model::Reservation;

/// Hides nodes with `visible` set to false. It is not required: a viewer
/// without support shows a few additional lines.
const VISIBILITY: &str = "KHR_node_visibility";

/// Name of the common root of joints with several roots.
const COMMON_ROOT: &str = "skeleton";

/// A function that returns the picture with the number of a
/// [`scene::Texture::picture`].
pub type Pictures<'a> = &'a dyn Fn(usize) -> Option<Picture>;

/// A function that reserves this number of bytes of memory.
pub type Reserve<'a> = &'a dyn Fn(usize) -> io::Result<Option<Reservation>>;

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
    };
    writer.asset(scene);
    writer.materials(&scene.materials, pictures);
    let meshes = writer.meshes(scene);
    writer.nodes(scene, &meshes);
    writer.animations(scene);
    writer.motions(scene);
    let Writer { mut root, buffer } = writer;
    let binary = buffer.finish(&mut root)?;
    pack(&root, binary.bytes(), out)
}

/// A file under construction.
struct Writer<'a> {
    root: Root,
    buffer: Buffer<'a>,
}

impl Writer<'_> {
    fn asset(&mut self, scene: &Scene<'_>) {
        let notes = serde_json::json!({ "notes": scene.notes });
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
                    .or_insert_with(|| self.image(&texture.file, &pictures(texture.picture)?));
                let index = image.map(|image| self.texture(texture, image));
                textures.push((texture.clone(), index));
                index
            });
            self.material(material, texture);
        }
    }

    /// Adds a picture; `None` if it cannot be written.
    fn image(&mut self, name: &str, picture: &Picture) -> Option<Index<Image>> {
        let mut bytes = Vec::new();
        png::write(picture, &mut bytes).ok()?;
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

    fn nodes(&mut self, scene: &Scene<'_>, meshes: &[Option<Index<gltf_json::Mesh>>]) {
        let (mut children, mut roots) = scene.children();
        let outlines = (scene.nodes.len()..).zip(&scene.outlines);
        for (number, outline) in outlines {
            if let Some(siblings) = children.get_mut(outline.parent) {
                siblings.push(number);
            }
        }
        let mesh_of = |node: &scene::Node| node.mesh.and_then(|mesh| *meshes.get(mesh)?);
        // A hidden node hides its children. If it has any and a mesh, only a
        // further child with the mesh is hidden.
        let has_children = |&&node: &&usize| {
            let siblings: Option<&Vec<usize>> = children.get(node);
            let has_mesh = scene.nodes.get(node).is_some_and(|one| one.mesh.is_some());
            has_mesh && siblings.is_some_and(|siblings| !siblings.is_empty())
        };
        let apart: Vec<usize> = scene.hidden.iter().filter(has_children).copied().collect();
        let first = scene.nodes.len() + scene.outlines.len();
        for (number, &node) in (first..).zip(&apart) {
            children[node].push(number);
        }
        // glTF requires that joints have a common root.
        let bones = above_joints(scene);
        let of_joints: Vec<_> = roots.extract_if(.., |root| bones.contains(root)).collect();
        let has_common_root = of_joints.len() > 1;
        match has_common_root {
            true => roots.push(first + apart.len()),
            false => roots.extend(&of_joints),
        }
        roots.sort_unstable();
        let index = |node: &usize| Index::new(*node as u32);
        let skin = self.skin(scene);
        for ((number, node), children) in (0..).zip(&scene.nodes).zip(children) {
            let is_apart = apart.contains(&number);
            let mesh = mesh_of(node).filter(|_| !is_apart);
            let bent = node.mesh.and_then(|mesh| scene.meshes.get(mesh));
            let bent = mesh.is_some() && bent.is_some_and(|mesh| !mesh.weights.is_empty());
            let transform = &node.transform;
            let is_hidden = scene.hidden.contains(&number) && !is_apart
                || scene.hidden_groups.contains(&number);
            let extensions = is_hidden.then(|| self.hidden());
            self.root.push(Node {
                name: Some(node.name.clone()),
                children: (!children.is_empty()).then(|| children.iter().map(index).collect()),
                translation: (transform.translation != [0.0; 3]).then_some(transform.translation),
                rotation: (transform.rotation != [0.0, 0.0, 0.0, 1.0])
                    .then_some(gltf_json::scene::UnitQuaternion(transform.rotation)),
                scale: (transform.scale != [1.0; 3]).then_some(transform.scale),
                mesh,
                skin: skin.filter(|_| bent),
                extensions,
                extras: scene.identities.get(&number).and_then(extras),
                ..Default::default()
            });
        }
        for outline in &scene.outlines {
            self.outline(outline);
        }
        for node in apart {
            let node = &scene.nodes[node];
            let extensions = Some(self.hidden());
            self.root.push(Node {
                name: Some(node.name.clone()),
                mesh: mesh_of(node),
                extensions,
                ..Default::default()
            });
        }
        if has_common_root {
            self.root.push(Node {
                name: Some(COMMON_ROOT.to_owned()),
                children: Some(of_joints.iter().map(index).collect()),
                ..Default::default()
            });
        }
        let scene = self.root.push(GltfScene {
            name: None,
            nodes: roots.iter().map(index).collect(),
            extensions: None,
            extras: None,
        });
        self.root.scene = Some(scene);
    }

    /// Returns the extension of a hidden node.
    fn hidden(&mut self) -> NodeExtensions {
        self.uses(VISIBILITY);
        let hidden = serde_json::json!({ "visible": false });
        NodeExtensions {
            others: [(VISIBILITY.to_owned(), hidden)].into_iter().collect(),
        }
    }

    /// Adds the node of an outline.
    fn outline(&mut self, outline: &scene::Outline) {
        let mesh = self.line(outline);
        let extensions = outline.is_hidden.then(|| self.hidden());
        self.root.push(Node {
            name: Some(outline.name.clone()),
            mesh: Some(mesh),
            extensions,
            ..Default::default()
        });
    }

    /// Returns the skin that all skinned meshes share.
    fn skin(&mut self, scene: &Scene<'_>) -> Option<Index<Skin>> {
        if scene.joints.is_empty() {
            return None;
        }
        let joints = scene.joints.iter();
        let matrices: Vec<[f32; 16]> = joints.clone().map(|joint| joint.inverse_bind).collect();
        let matrices = self.buffer.matrices(&mut self.root, &matrices);
        Some(self.root.push(Skin {
            inverse_bind_matrices: Some(matrices),
            joints: joints.map(|joint| Index::new(joint.node as u32)).collect(),
            name: None,
            skeleton: None,
            extensions: None,
            extras: None,
        }))
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
                    channels.push(Channel {
                        sampler: Index::new(samplers.len() as u32),
                        target: Target {
                            node: Index::new(node as u32),
                            path: Valid(path),
                            extensions: None,
                            extras: None,
                        },
                        extensions: None,
                        extras: None,
                    });
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

    /// Adds the keys of one property of a node: one of them if all are equal.
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
        channels.push(Channel {
            sampler: Index::new(samplers.len() as u32),
            target: Target {
                node: Index::new(track.node as u32),
                path: Valid(path),
                extensions: None,
                extras: None,
            },
            extensions: None,
            extras: None,
        });
        samplers.push(sampler);
    }
}

/// Returns the joints of a scene and the nodes above them.
fn above_joints(scene: &Scene<'_>) -> BTreeSet<usize> {
    let mut above = BTreeSet::new();
    for joint in &scene.joints {
        let mut node = Some(joint.node);
        while let Some(one) = node.filter(|&one| above.insert(one)) {
            node = scene.nodes.get(one).and_then(|one| one.parent);
        }
    }
    above
}

/// Returns the id and type of an object.
fn extras(identity: &scene::Identity) -> gltf_json::Extras {
    let code = identity.code.escape_ascii().to_string();
    let extras = serde_json::json!({
        "id": format!("{:08X}", identity.id),
        "type": code.trim_end(),
    });
    serde_json::value::to_raw_value(&extras).ok()
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
mod tests;
