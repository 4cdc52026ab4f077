//! `info.txt`: a summary.

use std::io::{self, Write};

use super::facts;
use super::tables::{tag, units};
use crate::psx::{Content, Psx, Version};
use hpimount_assets::view::Summary;

/// Writes `info.txt`.
pub(super) fn text(psx: &Psx, out: &mut dyn Write) -> io::Result<()> {
    let mut summary = Summary::new(heading(psx));
    summary.line("file size", format!("{} bytes", psx.file_size));
    summary.line("objects", psx.objects.len());
    geometry(psx, &mut summary);
    textures(psx, &mut summary);
    chunks(psx, &mut summary);
    summary.write(&psx.warnings, out)
}

fn heading(psx: &Psx) -> String {
    let games = match (psx.version, psx.v3_has_lod) {
        (Version::V3, Some(false)) => "Apocalypse",
        (Version::V3, Some(true)) => "Tony Hawk's Pro Skater",
        (Version::V3, None) => "Apocalypse or Tony Hawk's Pro Skater",
        (Version::V4, _) => "THPS 2 to 4, Spider-Man, Mat Hoffman's Pro BMX, some ports",
        (Version::V6, _) => "Dreamcast, PC and Xbox ports",
    };
    let (kind, version) = (facts::kind(psx.kind()), psx.version.number());
    format!("PSX {kind} (version {version}: {games})")
}

fn geometry(psx: &Psx, summary: &mut Summary) {
    summary.line("models", psx.models.len());
    if psx.models.is_empty() {
        return;
    }
    let models = || psx.models.iter();
    let vertices: usize = models().map(|model| model.vertices.len()).sum();
    let counts = || models().map(|model| model.face_counts());
    let triangles: usize = counts().map(|counts| counts.triangles).sum();
    let quads: usize = counts().map(|counts| counts.quads).sum();
    let invisible: usize = counts().map(|counts| counts.invisible).sum();
    let faces = triangles + quads;
    summary.line("vertices", vertices).line(
        "faces",
        format!("{faces} (triangles {triangles}, quads {quads}, invisible {invisible})"),
    );
    if let Some(bounds) = bounds(psx) {
        let [x, y, z] = bounds.map(|[min, max]| format!("{min} to {max}"));
        summary.line("bounds", format!("x {x}, y {y} (down), z {z}"));
    }
}

/// Returns the box around all objects, as minimum and maximum x, y and z in the
/// unit of object positions. Angles, which are almost always 0, are ignored.
fn bounds(psx: &Psx) -> Option<[[f64; 2]; 3]> {
    let scale = f64::from(psx.vertex_scale());
    let mut whole: Option<[[f64; 2]; 3]> = None;
    for (object, model) in psx.objects.iter().zip(psx.shown_models()) {
        let Some(model) = psx.models.get(model) else {
            continue;
        };
        let (min, max) = (model.bounds.min, model.bounds.max);
        let part: [[f64; 2]; 3] = std::array::from_fn(|axis| {
            let coordinate = units(object.position[axis].into());
            [min, max].map(|corner| coordinate + f64::from(corner[axis]) / scale)
        });
        let known = whole.unwrap_or(part);
        whole = Some(std::array::from_fn(|axis| {
            let ([min, max], [low, high]) = (known[axis], part[axis]);
            [min.min(low), max.max(high)]
        }));
    }
    whole
}

fn textures(psx: &Psx, summary: &mut Summary) {
    let (records, ids) = (psx.textures.len(), psx.texture_ids.len());
    summary.line("textures", format!("{records} (ids {ids})"));
    let large = psx.palettes.iter().filter(|p| p.colors.len() == 256);
    let large = large.count();
    let small = psx.palettes.len() - large;
    let textures = psx.textures.iter();
    let missing = textures.filter(|t| t.palette_found() == Some(false));
    summary.line(
        "palettes",
        format!(
            "{small} of 16 colors, {large} of 256, {} missing",
            missing.count()
        ),
    );
}

fn chunks(psx: &Psx, summary: &mut Summary) {
    let (mut keyframe, mut compressed, mut sprite) = (0, 0, 0);
    for chunk in &psx.chunks {
        match &chunk.content {
            Content::AnimationsV1(list) => keyframe += list.len(),
            Content::AnimationsV2(list) => compressed += list.len(),
            Content::Sprites(list) => sprite += list.len(),
            _ => {}
        }
    }
    let total = keyframe + compressed + sprite;
    let animations =
        format!("{total} (keyframes {keyframe}, compressed {compressed}, sprites {sprite})");
    summary.line("animations", animations);
    summary.list("chunks", psx.chunks.iter().map(|chunk| tag(chunk.tag)));
}
