//! Assets of Total Annihilation: all operations of their models.

use fixtures::ta;
use hpimount_assets::parse::{Incomplete, bmp, pcx};
use hpimount_assets::view::import::{self, Imported};
use hpimount_containers::io::Error;
use hpimount_total_annihilation::gaf::{Gaf, Pixels};
use hpimount_total_annihilation::pal::palette_file;
use hpimount_total_annihilation::terrain::Terrain;
use hpimount_total_annihilation::{cob, cob_view, fnt, gaf, other, pal, sct, tdf, tdo, tnt, wav};

/// Maximum number of pixels of a picture that is decoded.
const MAX_SIZE: u64 = 1 << 20;

/// Maximum number of decoded pixels of one input.
const PIXELS: u64 = 4 << 20;

/// Returns the model of an input, complete or not. An error must have an offset.
fn model<M>(result: Result<M, Box<Incomplete<M>>>) -> M {
    result.unwrap_or_else(|incomplete| {
        located(&incomplete.error);
        incomplete.model
    })
}

fn located(error: &Error) {
    let text = error.to_string();
    assert!(text.contains("0x"), "{text}");
}

/// Sprites.
pub fn gaf(data: &[u8]) {
    let gaf = model(gaf::parse(&data.to_vec().into()));
    let mut left = PIXELS;
    for sequence in &gaf.sequences {
        assert_eq!(sequence.frames().count(), sequence.len());
        for reference in sequence.frames().take(1000) {
            match gaf.frame(reference) {
                Ok(frame) => decode(&gaf, &frame, &mut left),
                Err(error) => located(&error),
            }
        }
    }
}

fn decode(gaf: &Gaf, frame: &gaf::Frame, left: &mut u64) {
    let layers = gaf.layers(frame).unwrap_or_default();
    let cost: u64 = layers.iter().map(gaf::Frame::pixels).sum();
    let cost = cost + frame.pixels() + 64;
    if frame.pixels() > MAX_SIZE || cost > *left {
        return;
    }
    *left -= cost;
    let picture = gaf.decode(frame).unwrap_or_else(|incomplete| {
        located(&incomplete.error);
        incomplete.model
    });
    let pixels = frame.pixels() as usize;
    match picture.pixels {
        Pixels::Indexed(indexed) => {
            assert_eq!(
                (indexed.indices.len(), indexed.mask.len()),
                (pixels, pixels)
            );
            let masked = indexed.indices.iter().zip(&indexed.mask);
            for (&index, &mask) in masked {
                assert!(mask == 255 || (mask == 0 && index == frame.key));
            }
        }
        // Empty if the layers cannot be read.
        Pixels::Rgba(colors) => assert!(colors.is_empty() || colors.len() == 4 * pixels),
    }
}

/// Models.
pub fn tdo(data: &[u8]) {
    let model = model(tdo::parse(&data.to_vec().into()));
    for (index, object) in model.objects.iter().enumerate() {
        let parent = object.parent.map(|parent| &model.objects[parent]);
        assert!(object.parent.is_none_or(|parent| parent < index));
        assert_eq!(object.depth, parent.map_or(0, |parent| parent.depth + 1));
        assert!(
            object
                .ground_plate()
                .is_none_or(|plate| plate < object.primitives.len())
        );
        for primitive in &object.primitives {
            let is_textured = primitive.surface() == tdo::Surface::Textured;
            assert_eq!(is_textured, primitive.texture.is_some());
        }
    }
}

/// Texts of scripts, as edits of a small one. The compiler must accept its own output.
pub fn bos(data: &[u8]) {
    for version in [4, 6] {
        let script = ta::cob::small(version).file();
        let edited = import::edited(&cob_view::FORMAT, &script, "script.bos", data);
        if let Ok(Imported::Changed(changed)) = edited {
            let again = import::edited(&cob_view::FORMAT, &changed.asset, "script.bos", data);
            assert_eq!(again, Ok(Imported::Unchanged));
        }
    }
}

/// Compiled scripts, and their own texts as edits that change nothing.
pub fn cob(data: &[u8]) {
    let cob = model(cob::parse(&data.to_vec().into()));
    let mut next = Some(0);
    for item in cob.items() {
        // Padding of text is not listed.
        assert!(next.is_none_or(|next| next == item.at), "words are missing");
        next = match item.content {
            cob::Content::Instruction(instruction) => {
                Some(item.at + 1 + instruction.operands().count() as u32)
            }
            cob::Content::Text(_) => None,
            cob::Content::Unknown(_) => Some(item.at + 1),
        };
    }
    assert_eq!(
        cob.script_ranges().len(),
        (0..).map_while(|script| cob.script_start(script)).count()
    );
    let mut text = Vec::new();
    cob.disassemble(&mut text).unwrap();
    std::str::from_utf8(&text).unwrap();
    let _ = cob.compiled_with();
    let mut text = Vec::new();
    cob.decompile(&mut text).unwrap();
    assert!(std::str::from_utf8(&text).is_ok());
    let same = import::edited(&cob_view::FORMAT, data, "script.bos", &text);
    assert!(matches!(same, Ok(Imported::Unchanged) | Err(_)));
    let lines = cob.lines();
    let remarks = cob.remarks();
    assert!(remarks.len() <= 200);
    for remark in remarks {
        let _ = lines.of(remark.place);
    }
    let _ = cob.hidden_at_first();
}

/// Maps and sections.
pub fn tnt(data: &[u8]) {
    let tnt = model(tnt::parse(&data.to_vec().into()));
    let without: usize = tnt.cells_without_feature().values().sum();
    let known = || (0..tnt.cells()).map_while(|cell| tnt.feature_word(cell).map(|_| cell));
    let with = known().filter(|&cell| tnt.feature(cell).is_some());
    assert_eq!(with.count() + without, known().count());
    assert!(tnt.heights().count() <= tnt.cells());
    assert_eq!(tnt.features.iter().count(), tnt.features.len());
    rows(&tnt.terrain);
    let _ = tnt.minimap_used();
    if let Some(ground) = &tnt.ground {
        let positions = (0..=ground.len()).filter_map(|position| ground.get(position));
        assert!(positions.count() <= ground.len());
    }
    let sct = model(sct::parse(&data.to_vec().into()));
    assert!(sct.heights().count() <= sct.width() as usize * sct.height() as usize);
    rows(&sct.terrain);
}

fn rows(terrain: &Terrain) {
    let mut row = Vec::new();
    for (y, step) in [(0, 1), (31, 8), (u32::MAX, 32), (1, 7)] {
        row.clear();
        terrain.row(y, step, &mut row);
        let edge = 32_usize.div_ceil(step);
        // Empty if the positions of tiles are unknown.
        assert!(row.is_empty() || row.len() == terrain.width as usize * edge);
    }
}

/// Pictures.
pub fn pcx(data: &[u8]) {
    let pcx = model(pcx::parse(&data.to_vec().into()));
    let _ = (pcx.game_issues(), pcx::game_palette(data));
    let pixels = u64::from(pcx.width) * u64::from(pcx.height);
    if pixels > MAX_SIZE {
        return;
    }
    if let Ok(picture) = pcx.decode() {
        let found = match picture.pixels {
            pcx::Pixels::Indexed(indices) => indices.len() as u64,
            pcx::Pixels::Rgb(colors) => colors.len() as u64 / 3,
        };
        assert_eq!(found, pixels);
    }
}

/// Texts.
pub fn tdf(data: &[u8]) {
    let tdf = model(tdf::parse(&data.to_vec().into()));
    let mut open = vec![tdf.root()];
    let mut found = 0;
    while let Some(section) = open.pop() {
        for key in section.keys() {
            found += 1;
            assert!(section.get(&key.name()).is_some());
        }
        for inner in section.sections() {
            found += 1;
            assert!(section.section(&inner.name()).is_some());
            open.push(inner);
        }
        if found > 300 {
            // Looking up every name takes quadratic time.
            return;
        }
    }
    assert_eq!(found, tdf.len());
    assert!(tdf.depth <= 64);
}

/// Palettes, BMP pictures, fonts, sounds, and formats that are only detected.
pub fn ta_small(data: &[u8]) {
    let pal = model(pal::parse(&data.to_vec().into()));
    assert!(pal.nonzero_padding <= 256);
    let table = model(pal::parse_blend(&data.to_vec().into()));
    assert!([0, 8192, 65536].contains(&table.rows.len()));
    let font = model(fnt::parse(&data.to_vec().into()));
    for character in 0..=u8::MAX {
        let glyph = font.glyph(character);
        assert_eq!(
            glyph.as_ref().map(|glyph| glyph.width),
            font.width(character)
        );
        if let Some(glyph) = glyph {
            let pixels = usize::from(glyph.width) * usize::from(font.height);
            assert_eq!(glyph.pixels.len(), pixels);
        }
    }
    let wav = model(wav::parse(&data.to_vec().into()));
    if let Some(samples) = wav.data {
        assert!(data[wav.data_offset as usize..].starts_with(&samples));
    }
    if let Err(error) = palette_file::parse(&data.to_vec().into()) {
        located(&error);
    }
    let bmp = model(bmp::parse(&data.to_vec().into()));
    let pixels = u64::from(bmp.width) * u64::from(bmp.height);
    if (1..=MAX_SIZE).contains(&pixels) {
        let found = match bmp.decode() {
            bmp::Pixels::Indexed(indices) => indices.len() as u64,
            bmp::Pixels::Rgb(colors) => colors.len() as u64 / 3,
        };
        assert_eq!(found, pixels);
    }
    if let Err(error @ Error::Damaged { .. }) = other::recognize(data) {
        located(&error);
    }
}
