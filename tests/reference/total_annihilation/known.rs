//! Facts about samples in the form of the independent readers.

// In a test program nothing is public.
#![allow(unreachable_pub)]

use std::collections::BTreeMap;

use bytes::Bytes;
use hpimount_assets::parse::{Incomplete, pcx};
use hpimount_containers::io::Warnings;
use hpimount_total_annihilation::pal::Palette;
use hpimount_total_annihilation::terrain::{Minimap, Terrain};
use hpimount_total_annihilation::{cob, fnt, gaf, other, pal, sct, tdf, tdo, tnt, wav};
use serde_json::{Map, Value, json};

/// Samples that the manifest calls odd or bad although the games' own files
/// are like them: names of compilers in the code, scripts with the same start,
/// layers that are clipped, and menus of TA: Kingdoms. They are healthy.
pub const HEALTHY: [&str; 4] = [
    "cob/v4_banner.cob",
    "cob/shared.cob",
    "gaf/layers_outside.gaf",
    "tdf/tak.gui",
];

/// The facts about a sample that were read.
#[derive(Default)]
pub struct Facts {
    pub json: Value,
    pub is_odd: bool,
    pub lost_frames: usize,
    /// By the end of the golden's name.
    pub pictures: Vec<(String, Picture)>,
    pub texts: Vec<(String, String)>,
}

#[derive(PartialEq, Eq)]
pub struct Picture {
    pub size: (u32, u32),
    pub pixels: Vec<u8>,
    pub palette: Option<Vec<u8>>,
}

impl Picture {
    fn new(width: u32, height: u32, pixels: Vec<u8>, palette: Option<&Palette>) -> Self {
        Self {
            size: (width, height),
            pixels,
            palette: palette.map(|palette| palette.0.as_flattened().to_vec()),
        }
    }
}

impl Facts {
    fn new(json: Value, warnings: &Warnings) -> Self {
        Self {
            json,
            is_odd: !warnings.is_empty(),
            ..Self::default()
        }
    }

    fn picture(mut self, suffix: &str, picture: Picture) -> Self {
        self.pictures.push((suffix.to_owned(), picture));
        self
    }
}

/// Returns the fields that are not compared.
pub fn not_compared(name: &str) -> &'static [&'static str] {
    match name.rsplit('.').next() {
        // The raw words; those with a meaning are fields of the model.
        Some("cob") => &["header"],
        // The start of a minimap's padding is determined by its color. Real
        // maps have this color in their corners, so the model does not guess.
        // For Kingdoms the other field was computed by the rule of Total
        // Annihilation, which does not apply there.
        Some("tnt") if name.ends_with("tak.tnt") => &["minimap_trim", "minimap_used"],
        Some("tnt") => &["minimap_trim"],
        // Scenarios are identified but not parsed; the tracks and flags of videos are
        // not shown.
        Some("crt") => &["players", "triggers", "word4"],
        Some("zrb") => &["tracks", "flags", "kind"],
        _ => &[],
    }
}

/// Converts known facts to the facts of the models.
pub fn adapt(name: &str, known: &mut Value) {
    match name.rsplit('.').next() {
        Some("gaf" | "taf") => {
            for sequence in known["sequences"].as_array_mut().unwrap() {
                for frame in sequence["frames"].as_array_mut().unwrap() {
                    adapt_frame(frame);
                }
            }
        }
        Some("crt") => {
            let units = known["units"].as_array().unwrap().len();
            known["units"] = json!(units);
        }
        // The rest of this minimap, according to the size of the map, is not padding.
        Some("tnt") if name == "tnt/wide.tnt" => {
            known["minimap_used"] = known["minimap"].clone();
        }
        _ => {}
    }
}

/// Converts known facts about a frame. They have the number of layers as 8 and
/// as 16 bits; which of them applies depends on the format. They also have the
/// end of the data, which the models do not have.
fn adapt_frame(frame: &mut Value) {
    let fields = frame.as_object_mut().unwrap();
    fields.remove("byte11");
    fields.remove("data_end");
    let wide = fields.remove("layers16").unwrap();
    if ![json!(4), json!(5)].contains(&fields["format"]) {
        fields["layers"] = wide;
    }
    for layer in fields
        .get_mut("sub")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        adapt_frame(layer);
    }
}

/// Converts a known listing: in it, texts of compilers have single quotes, and
/// lines without operands end with spaces.
pub fn adapt_text(known: &str) -> String {
    let lines = known
        .lines()
        .map(|line| match line.strip_prefix("    .ascii '") {
            Some(text) => format!("    .ascii \"{}\"\n", text.trim_end_matches('\'')),
            None => format!("{}\n", line.trim_end()),
        });
    lines.collect()
}

/// Reads a sample in the format of its name.
pub fn read(name: &str, bytes: &Bytes) -> Result<Facts, String> {
    match name.rsplit('.').next().unwrap() {
        "gaf" | "taf" => Ok(gaf_facts(&whole(gaf::parse(bytes))?)),
        "3do" => Ok(tdo_facts(&whole(tdo::parse(bytes))?)),
        "cob" => Ok(cob_facts(&whole(cob::parse(bytes))?)),
        "tnt" => Ok(tnt_facts(&whole(tnt::parse(bytes))?)),
        "sct" => Ok(sct_facts(&whole(sct::parse(bytes))?)),
        "pcx" => pcx_facts(&whole(pcx::parse(bytes))?),
        "tdf" | "fbi" | "ota" | "gui" => Ok(tdf_facts(&whole(tdf::parse(bytes))?)),
        "fnt" => Ok(fnt_facts(&whole(fnt::parse(bytes))?)),
        "pal" => Ok(pal_facts(&whole(pal::parse(bytes))?, bytes)),
        "alp" | "shd" => {
            let table = whole(pal::parse_blend(bytes))?;
            assert_eq!(table.rows, bytes);
            Ok(Facts::default())
        }
        "wav" => Ok(wav_facts(&whole(wav::parse(bytes))?)),
        "crt" | "zrb" => match other::recognize(bytes) {
            // The error for an unknown kind has no offset.
            Err(error) => Err(format!("at 0x0: {error}")),
            Ok(recognized) => Ok(recognized_facts(recognized)),
        },
        other => panic!("{other} is a new kind of sample"),
    }
}

fn whole<M>(result: Result<M, Box<Incomplete<M>>>) -> Result<M, String> {
    result.map_err(|incomplete| incomplete.error.to_string())
}

/// Returns the sequences, and each frame with the gray palette and its
/// transparency.
fn gaf_facts(gaf: &gaf::Gaf) -> Facts {
    let mut facts = Facts::new(Value::Null, &gaf.warnings);
    let mut sequences = Vec::new();
    let mut decoded = std::collections::HashSet::new();
    for (number, sequence) in gaf.sequences.iter().enumerate() {
        let mut frames = Vec::new();
        for (index, reference) in sequence.frames().enumerate() {
            let Ok(frame) = gaf.frame(reference) else {
                facts.lost_frames += 1;
                continue;
            };
            let mut known = frame_facts(&frame);
            known["ticks"] = json!(reference.ticks);
            if frame.layers > 0 {
                let layers = gaf.layers(&frame).unwrap_or_default();
                known["sub"] = layers.iter().map(frame_facts).collect();
            }
            frames.push(known);
            // Frames at one offset are the same frame; the goldens repeat it.
            if !decoded.insert(reference.frame) && index > 9 {
                continue;
            }
            let Ok(picture) = gaf.decode(&frame) else {
                facts.lost_frames += 1;
                continue;
            };
            facts.is_odd |= !picture.warnings.is_empty();
            if frame.pixels() > 0 {
                let name = &sequence.name;
                let suffix = format!(".d/{number:03}_{name}_{index:03}.png");
                facts.pictures.push((suffix, frame_picture(picture)));
            }
        }
        sequences.push(json!({
            "name": sequence.name,
            "loop_word": sequence.loop_word,
            "word4": sequence.unknown_4,
            "frames": frames,
        }));
    }
    facts.json = json!({"version": gaf.version, "sequences": sequences});
    facts
}

fn frame_facts(frame: &gaf::Frame) -> Value {
    json!({
        "at": frame.offset,
        "width": frame.width,
        "height": frame.height,
        "x": frame.x,
        "y": frame.y,
        "key": frame.key,
        "format": frame.format,
        "layers": frame.layers,
        "u12": frame.unknown_12,
        "data": frame.data,
        "u20": frame.unknown_20,
    })
}

fn frame_picture(picture: gaf::Picture) -> Picture {
    let pixels = match picture.pixels {
        gaf::Pixels::Rgba(pixels) => pixels,
        gaf::Pixels::Indexed(indexed) => {
            let pixels = indexed.indices.iter().zip(&indexed.mask);
            pixels
                .flat_map(|(&index, &mask)| [index, index, index, mask])
                .collect()
        }
    };
    Picture::new(picture.width.into(), picture.height.into(), pixels, None)
}

/// Returns the objects as a tree.
fn tdo_facts(model: &tdo::Model) -> Facts {
    let mut trees: Vec<Value> = model.objects.iter().map(object_facts).collect();
    let mut roots = Vec::new();
    // Children follow their parents.
    for (index, object) in model.objects.iter().enumerate().rev() {
        let tree = trees.pop().unwrap();
        assert_eq!(trees.len(), index);
        let siblings = match object.parent {
            Some(parent) => trees[parent]["children"].as_array_mut().unwrap(),
            None => &mut roots,
        };
        siblings.insert(0, tree);
    }
    let json = json!({"objects": model.objects.len(), "roots": roots});
    Facts::new(json, &model.warnings)
}

fn object_facts(object: &tdo::Object) -> Value {
    let primitive = |primitive: &tdo::Primitive| {
        json!({
            "color": primitive.color,
            "indices": primitive.indices,
            "texture": primitive.texture.as_ref().map(|name| name.text()),
            "flag": primitive.flag,
            "edit": primitive.editor,
            "kind": match primitive.surface() {
                tdo::Surface::Textured => "textured",
                tdo::Surface::Colored => "coloured",
                tdo::Surface::Invisible => "invisible",
            },
        })
    };
    json!({
        "at": object.offset,
        "name": object.name.text(),
        "pos": object.position,
        "selection": object.selection,
        "vertices": object.vertices,
        "primitives": object.primitives.iter().map(primitive).collect::<Vec<_>>(),
        "children": [],
    })
}

fn cob_facts(cob: &cob::Cob) -> Facts {
    let mut ops = BTreeMap::<&str, usize>::new();
    for item in cob.items() {
        if let cob::Content::Instruction(instruction) = item.content {
            *ops.entry(instruction.operation.mnemonic).or_default() += 1;
        }
    }
    let names = |names: &hpimount_total_annihilation::Names| -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    };
    let scripts = cob
        .scripts
        .iter()
        .enumerate()
        .map(|(number, name)| json!({"name": name.text(), "start": cob.script_start(number)}));
    let json = json!({
        "version": cob.version,
        "statics": cob.statics,
        "scripts": scripts.collect::<Vec<_>>(),
        "pieces": names(&cob.pieces),
        "sounds": names(&cob.strings),
        "code_words": cob.code_words(),
        "banner": cob.compiled_with(),
        "ops": ops,
    });
    let mut facts = Facts::new(json, &cob.warnings);
    let mut text = Vec::new();
    cob.disassemble(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    facts.texts.push((".asm".to_owned(), text));
    facts
}

fn tnt_facts(tnt: &tnt::Tnt) -> Facts {
    let (width, height) = (tnt.width, tnt.height);
    let heights: Vec<u8> = tnt.heights().collect();
    let without = tnt.cells_without_feature().into_iter();
    let without: BTreeMap<_, _> = without
        .map(|(word, count)| (format!("{word:04X}"), count))
        .collect();
    let placed = (0..tnt.cells()).filter(|&cell| tnt.feature(cell).is_some());
    let names = tnt.features.iter().map(|feature| feature.name);
    let mut json = json!({
        "cells": [width, height],
        "tiles": [width / 2, height / 2],
        "pixels": [width / 2 * 32, height / 2 * 32],
        "sea_level": tnt.sea_level,
        "features": names.collect::<Vec<_>>(),
        "features_placed": placed.count(),
        "feature_sentinels": without,
        "height_range": [heights.iter().min(), heights.iter().max()],
    });
    if let Some(minimap) = &tnt.minimap {
        json["minimap"] = json!([minimap.width, minimap.height]);
        json["minimap_used"] = json!(tnt.minimap_used());
    }
    json["kind"] = json!(match tnt.version {
        tnt::Version::Ta => "TA",
        tnt::Version::OldTa => "TA-old",
        tnt::Version::Kingdoms => "TAK",
    });
    match &tnt.ground {
        Some(ground) => {
            let places = (0..ground.len()).filter_map(|place| ground.get(place));
            let names = places.map(|place| format!("{:08X}.JPG", place.name));
            json["textures"] = json!(names.collect::<std::collections::BTreeSet<_>>());
        }
        None => {
            json["minimap_flag"] = json!(tnt.flags);
            json["tile_count"] = json!(tnt.terrain.tile_count());
        }
    }
    let heights = Picture::new(width, height, heights, None);
    let mut facts = Facts::new(json, &tnt.warnings).picture(".height.png", heights);
    if tnt.ground.is_none() {
        facts = facts.picture(".map.png", map(&tnt.terrain));
    }
    match &tnt.minimap {
        Some(minimap) => facts.picture(".minimap.png", minimap_picture(minimap)),
        None => facts,
    }
}

fn map(terrain: &Terrain) -> Picture {
    let mut pixels = Vec::new();
    let (width, height) = (32 * terrain.width, 32 * terrain.height);
    (0..height).for_each(|y| terrain.row(y, 1, &mut pixels));
    Picture::new(width, height, pixels, Some(&Palette::gray()))
}

fn minimap_picture(minimap: &Minimap) -> Picture {
    let pixels = minimap.pixels.to_vec();
    Picture::new(
        minimap.width,
        minimap.height,
        pixels,
        Some(&Palette::gray()),
    )
}

fn sct_facts(sct: &sct::Sct) -> Facts {
    let heights: Vec<u8> = sct.heights().collect();
    let (width, height) = (sct.terrain.width, sct.terrain.height);
    let json = json!({
        "kind": format!("SCT{}", sct.version),
        "cells": [sct.width(), sct.height()],
        "tiles": [width, height],
        "pixels": [32 * width, 32 * height],
        "tile_count": sct.terrain.tile_count(),
        "features": [],
        "height_range": [heights.iter().min(), heights.iter().max()],
    });
    let minimap = sct.minimap.as_ref().unwrap();
    Facts::new(json, &sct.warnings).picture(".minimap.png", minimap_picture(minimap))
}

fn pcx_facts(pcx: &pcx::Pcx) -> Result<Facts, String> {
    let issue = |issue: pcx::GameIssue| match issue {
        pcx::GameIssue::Version => "version is not 5: TA refuses it",
        pcx::GameIssue::Depth => "not 8-bit single plane: TA decodes it as if it were (garbage)",
        pcx::GameIssue::BytesPerLine => "bytes per line differs from width: TA skews the rows",
        pcx::GameIssue::Short => "shorter than 896 bytes: TA refuses it",
    };
    let issues: Vec<_> = pcx.game_issues().into_iter().map(issue).collect();
    let json = json!({
        "width": pcx.width,
        "height": pcx.height,
        "version": pcx.version,
        "encoding": pcx.encoding,
        "bpp": pcx.bits,
        "planes": pcx.planes,
        "bytes_per_line": pcx.bytes_per_line,
        "palette": if pcx.palette.is_some() { "trailer" } else { "none" },
        "game_issues": issues,
    });
    let picture = pcx.decode().map_err(|error| error.to_string())?;
    let mut facts = Facts::new(json, &pcx.warnings);
    facts.is_odd |= !picture.warnings.is_empty() || !issues.is_empty();
    let (pixels, palette) = match picture.pixels {
        pcx::Pixels::Rgb(pixels) => (pixels, None),
        // Without a palette the goldens have the gray one.
        pcx::Pixels::Indexed(pixels) => {
            let palette = pcx.palette.map_or_else(Palette::gray, Palette);
            (pixels, Some(palette))
        }
    };
    let picture = Picture::new(pcx.width, pcx.height, pixels, palette.as_ref());
    Ok(facts.picture(".png", picture))
}

/// Returns the tree. Block comments and letters beyond ASCII are facts, not
/// warnings.
fn tdf_facts(tdf: &tdf::Tdf) -> Facts {
    let mut json = section_facts(tdf.root());
    json["depth"] = json!(tdf.depth);
    json.as_object_mut().unwrap().remove("name");
    let mut facts = Facts::new(json, &tdf.warnings);
    facts.is_odd |= tdf.has_block_comments || tdf.non_ascii > 0;
    let mut text = String::new();
    flat(tdf.root(), "", &mut text);
    facts.texts.push((".flat".to_owned(), text));
    facts
}

fn section_facts(section: tdf::Section<'_>) -> Value {
    let mut fields = Map::new();
    fields.insert("name".to_owned(), json!(section.name()));
    let keys = section.keys().map(|key| json!([key.name(), key.value()]));
    fields.insert("keys".to_owned(), keys.collect());
    let sections = section.sections().map(section_facts);
    fields.insert("sections".to_owned(), sections.collect());
    Value::Object(fields)
}

/// Appends a line for each key, with the sections that contain it.
fn flat(section: tdf::Section<'_>, path: &str, out: &mut String) {
    for key in section.keys() {
        let value = key.value().replace('\r', "").replace('\n', "\\n");
        *out += &format!("{path}{}={value}\n", key.name().to_lowercase());
    }
    let mut seen = BTreeMap::<String, usize>::new();
    for inner in section.sections() {
        let name = inner.name().to_lowercase();
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        let ordinal = if *count > 1 {
            format!("#{count}")
        } else {
            String::new()
        };
        flat(inner, &format!("{path}{name}{ordinal}."), out);
    }
}

/// Returns the widths, and all glyphs in a table of 16 x 16.
fn fnt_facts(fnt: &fnt::Fnt) -> Facts {
    let characters =
        || (0..=u8::MAX).filter_map(|character| Some((character, fnt.glyph(character)?)));
    let widths: BTreeMap<_, _> = characters()
        .map(|(character, glyph)| (character.to_string(), glyph.width))
        .collect();
    let json = json!({"height": fnt.height, "flags": fnt.flags, "glyphs": widths});
    let widest = characters()
        .map(|(_, glyph)| glyph.width)
        .max()
        .unwrap_or(1);
    let (across, down) = (usize::from(widest) + 1, usize::from(fnt.height) + 1);
    let mut pixels = vec![0; 16 * across * 16 * down];
    for (character, glyph) in characters() {
        let (column, row) = (usize::from(character % 16), usize::from(character / 16));
        for (y, line) in glyph
            .pixels
            .chunks(usize::from(glyph.width).max(1))
            .enumerate()
        {
            let start = (row * down + y) * 16 * across + column * across;
            pixels[start..start + line.len()].copy_from_slice(line);
        }
    }
    let sheet = Picture::new(16 * across as u32, 16 * down as u32, pixels, None);
    Facts::new(json, &fnt.warnings).picture(".png", sheet)
}

fn pal_facts(pal: &pal::Pal, bytes: &[u8]) -> Facts {
    let colors = pal
        .palette
        .0
        .iter()
        .map(|[r, g, b]| format!("{r:02x}{g:02x}{b:02x}"));
    let padding: std::collections::BTreeSet<u8> = bytes
        .chunks_exact(4)
        .take(256)
        .map(|color| color[3])
        .collect();
    assert_eq!(pal.nonzero_padding == 0, padding == [0].into());
    let json = json!({"colors": colors.collect::<Vec<_>>(), "fourth_bytes": padding});
    let cells = (0..256 * 256).map(|pixel: usize| (pixel / 4096 * 16 + pixel % 256 / 16) as u8);
    let swatch = Picture::new(256, 256, cells.collect(), Some(&pal.palette));
    Facts::new(json, &pal.warnings).picture(".png", swatch)
}

fn wav_facts(wav: &wav::Wav) -> Facts {
    let mut json = json!({});
    if let Some(format) = wav.format {
        json = json!({
            "format": format.encoding,
            "channels": format.channels,
            "rate": format.rate,
            "bits": format.bits,
        });
    }
    let length = wav.data.as_ref().map(Bytes::len);
    json["data"] = json!([wav.data_offset, length]);
    Facts::new(json, &wav.warnings)
}

fn recognized_facts(recognized: other::Recognized) -> Facts {
    let json = match recognized {
        other::Recognized::Scenario { units } => json!({"units": units}),
        other::Recognized::Smacker(video) => json!({
            "width": video.width,
            "height": video.height,
            "frames": video.frames,
            "ms_per_frame": video.frame_time as f64 / 100.0,
        }),
        other::Recognized::Bink => panic!("there is no such sample"),
    };
    Facts::new(json, &Warnings::default())
}
