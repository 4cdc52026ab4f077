//! GAF files (3).

use super::Writer;

#[derive(Debug, Clone)]
pub struct Sequence {
    pub name: String,
    pub loop_word: u16,
    /// Frames, with their ticks.
    pub frames: Vec<(Frame, u32)>,
}

#[derive(Debug, Clone)]
pub struct Frame {
    pub width: u16,
    pub height: u16,
    pub x: i16,
    pub y: i16,
    pub key: u8,
    pub body: Body,
}

#[derive(Debug, Clone)]
pub enum Body {
    /// Palette indices.
    Raw(Vec<u8>),
    /// Rows of runs, see [`row`].
    Rle(Vec<Vec<u8>>),
    /// Number of the format, and 16-bit pixels.
    TrueColor(u8, Vec<u16>),
    Layers(Vec<Frame>),
}

impl Frame {
    pub fn new(width: u16, height: u16, body: Body) -> Self {
        Self {
            width,
            height,
            x: 0,
            y: 0,
            key: 9,
            body,
        }
    }

    /// Creates a frame of runs; `None` is a transparent pixel.
    pub fn rle(width: u16, height: u16, pixels: &[Option<u8>]) -> Self {
        let rows = pixels.chunks(usize::from(width).max(1)).map(row);
        Self::new(width, height, Body::Rle(rows.collect()))
    }
}

/// Returns a sequence that loops.
pub fn sequence(name: &str, frames: Vec<(Frame, u32)>) -> Sequence {
    Sequence {
        name: name.to_owned(),
        loop_word: 1,
        frames,
    }
}

/// Returns the runs of a row: skipped, repeated and copied pixels.
pub fn row(pixels: &[Option<u8>]) -> Vec<u8> {
    let mut row = Vec::new();
    let mut rest = pixels;
    while let Some(&first) = rest.first() {
        let same = rest.iter().take_while(|&&pixel| pixel == first).count();
        let count = match first {
            None => {
                let count = same.min(127);
                row.push((count as u8) << 1 | 1);
                count
            }
            Some(value) if same > 2 => {
                let count = same.min(64);
                row.extend([(count as u8 - 1) << 2 | 2, value]);
                count
            }
            Some(_) => {
                let literal: Vec<u8> = rest.iter().map_while(|&pixel| pixel).take(64).collect();
                row.push((literal.len() as u8 - 1) << 2);
                row.extend(&literal);
                literal.len()
            }
        };
        rest = &rest[count..];
    }
    row
}

/// Returns a whole file.
pub fn file(sequences: &[Sequence]) -> Vec<u8> {
    let mut out = Writer::default();
    out.u32s(&[0x0001_0100, sequences.len() as u32, 0]);
    let pointers = out.at();
    out.u32s(&vec![0; sequences.len()]);
    let mut references = Vec::new();
    for (number, sequence) in sequences.iter().enumerate() {
        out.put(pointers + 4 * number as u32, out.at());
        out.u16(sequence.frames.len() as u16);
        out.u16(sequence.loop_word);
        out.u32(0);
        out.fixed(&sequence.name, 32);
        for (frame, ticks) in &sequence.frames {
            references.push((out.at(), frame));
            out.u32s(&[0, *ticks]);
        }
    }
    for (at, frame) in references {
        let frame = write_frame(&mut out, frame);
        out.put(at, frame);
    }
    out.bytes
}

/// Writes a header and its data, and returns its offset.
fn write_frame(out: &mut Writer, frame: &Frame) -> u32 {
    let at = out.at();
    let (format, layers) = match &frame.body {
        Body::Raw(_) => (0, 0),
        Body::Rle(_) => (1, 0),
        // The upper half of the number is junk there.
        Body::TrueColor(format, _) => (*format, 0xFF00),
        Body::Layers(layers) => (0, layers.len() as u16),
    };
    out.u16(frame.width);
    out.u16(frame.height);
    out.i16(frame.x);
    out.i16(frame.y);
    out.u8(frame.key);
    out.u8(format);
    out.u16(layers);
    out.u32s(&[0, at + 24, 0]);
    match &frame.body {
        Body::Raw(pixels) => out.extend(pixels),
        Body::Rle(rows) => {
            for row in rows {
                out.u16(row.len() as u16);
                out.extend(row);
            }
        }
        Body::TrueColor(_, pixels) => pixels.iter().for_each(|&pixel| out.u16(pixel)),
        Body::Layers(layers) => {
            let list = out.at();
            out.u32s(&vec![0; layers.len()]);
            for (number, layer) in layers.iter().enumerate() {
                let layer = write_frame(out, layer);
                out.put(list + 4 * number as u32, layer);
            }
        }
    }
    at
}
