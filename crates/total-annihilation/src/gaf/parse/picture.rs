//! Decoding of pixels to pictures (FORMATS, TA 3).

use std::io::Read;

use super::indexed::Indexed;
use super::rle::{self, Oddities};
use super::{Frame, Gaf, MAX_PIXELS_IN_ALL, PixelFormat};
use crate::pointer::{Pointer, u32_at};
use hpimount_assets::parse::Incomplete;
use hpimount_containers::io::{Error, Result, Warnings};

/// A decoded frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width: u16,
    /// Height in pixels.
    pub height: u16,
    /// The pixels.
    pub pixels: Pixels,
    /// Warnings about them.
    pub warnings: Warnings,
}

/// Pixels, row by row from the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pixels {
    /// Palette indices.
    Indexed(Indexed),
    /// Red, green, blue, alpha; alpha is not premultiplied.
    Rgba(Vec<u8>),
}

impl Gaf {
    /// Decodes the pixels of a frame of this file.
    ///
    /// # Errors
    /// Returns [`Incomplete`] if pixels are missing; they are transparent in
    /// its picture.
    pub fn decode(&self, frame: &Frame) -> std::result::Result<Picture, Box<Incomplete<Picture>>> {
        let mut picture = Picture {
            width: frame.width,
            height: frame.height,
            pixels: Pixels::Rgba(Vec::new()),
            warnings: Warnings::default(),
        };
        let result = match frame.pixel_format() {
            Some(format) => self.pixels(frame, format, &mut picture).map(drop),
            None => self.draw_layers(frame, &mut picture),
        };
        super::finish(picture, result)
    }

    /// Decodes a frame without layers. Returns the length of its stored pixels.
    fn pixels(&self, frame: &Frame, format: PixelFormat, picture: &mut Picture) -> Result<u64> {
        frame.check()?;
        if format.is_true_color() {
            let (colors, stored) = match format {
                PixelFormat::Packed => self.packed(frame),
                _ => self.true_color(frame, format),
            };
            picture.pixels = Pixels::Rgba(colors);
            return stored;
        }
        let mut indexed = Indexed::new(frame);
        let result = match format {
            // The pointer of an empty frame may have any value.
            _ if frame.pixels() == 0 => Ok((0, Oddities::default())),
            PixelFormat::Rle => self.rle(frame, &mut indexed),
            _ => self.raw(frame, &mut indexed),
        };
        picture.pixels = Pixels::Indexed(indexed);
        let (stored, odd) = result?;
        for (count, what) in [
            (odd.short_rows, "rows end before the right edge"),
            (odd.overlong_rows, "rows go over the right edge"),
            (odd.bytes_left, "bytes of rows are past the right edge"),
        ] {
            if count > 0 {
                let at = frame.offset;
                let warning = format!("{count} {what} in the frame at {at:#x}");
                picture.warnings.push(warning);
            }
        }
        Ok(stored)
    }

    fn raw(&self, frame: &Frame, indexed: &mut Indexed) -> Result<(u64, Oddities)> {
        let mut cursor = frame.data("raw pixels").follow(&self.bytes)?;
        let size = indexed.indices.len();
        let available = cursor.remaining().min(size);
        let stored = cursor.clone().take(available, "raw pixels")?;
        indexed.indices[..available].copy_from_slice(stored);
        for (mask, &index) in indexed.mask.iter_mut().zip(stored) {
            *mask = if index == frame.key { 0 } else { 0xFF };
        }
        cursor.take(size, "raw pixels")?;
        Ok((size as u64, Oddities::default()))
    }

    fn rle(&self, frame: &Frame, indexed: &mut Indexed) -> Result<(u64, Oddities)> {
        let mut cursor = frame.data("rows").follow(&self.bytes)?;
        let start = cursor.offset();
        let odd = rle::decode(&mut cursor, indexed)?;
        Ok((cursor.offset() - start, odd))
    }

    /// Returns the colors of a frame, and an error if some are missing.
    fn true_color(&self, frame: &Frame, format: PixelFormat) -> (Vec<u8>, Result<u64>) {
        let mut colors = vec![0; 4 * frame.pixels() as usize];
        let result = (|| {
            let mut cursor = frame.data("16-bit pixels").follow(&self.bytes)?;
            let size = 2 * frame.pixels() as usize;
            let available = cursor.remaining().min(size);
            let stored = cursor.clone().take(available, "16-bit pixels")?;
            match format {
                PixelFormat::Argb4444 => convert(stored, &mut colors, argb4444),
                _ => convert(stored, &mut colors, argb1555),
            }
            cursor.take(size, "16-bit pixels")?;
            Ok(size as u64)
        })();
        (colors, result)
    }

    /// Returns the colors of a packed frame, and an error if some are missing. They are
    /// stored as the length of a zlib stream, and the stream.
    fn packed(&self, frame: &Frame) -> (Vec<u8>, Result<u64>) {
        let pixels = frame.pixels() as usize;
        let bytes = if frame.key == 0 { 3 } else { 4 };
        let mut colors = vec![0; 4 * pixels];
        let result = (|| {
            let mut cursor = frame.data("packed size").follow(&self.bytes)?;
            let size = cursor.u32("packed size")? as usize;
            let at = cursor.offset();
            let available = cursor.remaining().min(size);
            let stream = cursor.take(available, "packed pixels")?;
            let mut stored = vec![0; bytes * pixels];
            let mut stream = flate2::read::ZlibDecoder::new(stream);
            let mut length = 0;
            let end = loop {
                match stream.read(&mut stored[length..]) {
                    Ok(0) => break None,
                    Ok(read) => length += read,
                    Err(error) => break Some(error.to_string()),
                }
            };
            let stored = stored[..length].chunks_exact(bytes);
            for (color, stored) in colors.as_chunks_mut().0.iter_mut().zip(stored) {
                *color = match *stored {
                    [red, green, blue, alpha] => [red, green, blue, alpha],
                    [red, green, blue] => [red, green, blue, 0xFF],
                    _ => [0; 4],
                };
            }
            if length < bytes * pixels {
                let problem = end.unwrap_or_else(|| "ends too early".to_owned());
                return Err(Error::damaged(at, "packed pixels", problem));
            }
            Ok(size as u64)
        })();
        (colors, result)
    }

    /// Draws the layers of a frame over each other, from the first on.
    fn draw_layers(&self, frame: &Frame, picture: &mut Picture) -> Result<()> {
        frame.check()?;
        let layers = self.layers(frame)?;
        let is_true_color = layers
            .iter()
            .filter_map(Frame::pixel_format)
            .any(PixelFormat::is_true_color);
        picture.pixels = if is_true_color {
            Pixels::Rgba(vec![0; 4 * frame.pixels() as usize])
        } else {
            Pixels::Indexed(Indexed::new(frame))
        };
        let mut mixed = 0_usize;
        // The cost of decoding the layers: their pixels and their bytes.
        let mut effort = 0;
        for (number, layer) in layers.iter().enumerate() {
            let within = |error: Error| error.within(format_args!("layer {number}"));
            effort += layer.pixels();
            if effort > MAX_PIXELS_IN_ALL {
                let problem = format!("needs more than {MAX_PIXELS_IN_ALL} pixels");
                return Err(within(Error::damaged(layer.offset.into(), "size", problem)));
            }
            let Some(format) = layer.pixel_format() else {
                let problem = "consists of layers itself";
                return Err(within(Error::damaged(
                    layer.offset.into(),
                    "frame",
                    problem,
                )));
            };
            let mut drawn = Picture {
                width: layer.width,
                height: layer.height,
                pixels: Pixels::Rgba(Vec::new()),
                warnings: std::mem::take(&mut picture.warnings),
            };
            let result = self.pixels(layer, format, &mut drawn);
            picture.warnings = std::mem::take(&mut drawn.warnings);
            mixed += usize::from(!draw(&drawn, frame, layer, picture));
            effort += result.map_err(within)?;
        }
        if mixed > 0 {
            let warning = format!("{mixed} layers have palette indices and others colors");
            picture.warnings.push(warning);
        }
        Ok(())
    }

    /// Returns the layers of a frame, bottom first.
    ///
    /// # Errors
    /// Returns [`hpimount_containers::io::Error::Damaged`] if one of them is outside the
    /// file, or is not a valid frame.
    pub fn layers(&self, frame: &Frame) -> Result<Vec<Frame>> {
        let list = frame
            .data("layers")
            .items(&self.bytes, frame.layers.into(), 4)?;
        let layer = |number: usize| {
            let target = u32_at(&list, number).unwrap_or_default();
            let stored_at = u64::from(frame.data) + 4 * number as u64;
            self.frame_at(Pointer::new(target, stored_at, "layer"))
        };
        (0..usize::from(frame.layers)).map(layer).collect()
    }
}

/// Draws a layer into the picture of its frame, aligned by their origins, and clipped
/// to the frame. Returns false if one has palette indices and the other has colors.
fn draw(drawn: &Picture, frame: &Frame, layer: &Frame, picture: &mut Picture) -> bool {
    let offset = |frame: i16, layer: i16| i32::from(frame) - i32::from(layer);
    let (dx, dy) = (offset(frame.x, layer.x), offset(frame.y, layer.y));
    let across = overlap(dx, layer.width, frame.width);
    let down = overlap(dy, layer.height, frame.height);
    let pixels = across.length;
    let rows = if pixels == 0 { 0 } else { down.length };
    for row in 0..rows {
        let from = (down.from + row) * usize::from(layer.width) + across.from;
        let to = (down.to + row) * usize::from(frame.width) + across.to;
        match (&drawn.pixels, &mut picture.pixels) {
            (Pixels::Indexed(from_pixels), Pixels::Indexed(to_pixels)) => {
                let mask = &from_pixels.mask[from..from + pixels];
                let indices = &from_pixels.indices[from..from + pixels];
                let below = to_pixels.indices[to..to + pixels]
                    .iter_mut()
                    .zip(&mut to_pixels.mask[to..to + pixels]);
                for ((index, mask), (to_index, to_mask)) in indices.iter().zip(mask).zip(below) {
                    *to_index = (index & mask) | (*to_index & !mask);
                    *to_mask |= mask;
                }
            }
            (Pixels::Rgba(from_pixels), Pixels::Rgba(to_pixels)) => {
                let above = from_pixels[4 * from..4 * (from + pixels)].as_chunks().0;
                let below = to_pixels[4 * to..4 * (to + pixels)].as_chunks_mut().0;
                for (to_pixel, from_pixel) in below.iter_mut().zip(above) {
                    let from_pixel: &[u8; 4] = from_pixel;
                    if from_pixel[3] != 0 {
                        *to_pixel = *from_pixel;
                    }
                }
            }
            _ => return false,
        }
    }
    true
}

/// The part of a layer inside its frame, in one dimension.
#[derive(Clone, Copy)]
struct Overlap {
    /// Start in the layer.
    from: usize,
    /// Start in the frame.
    to: usize,
    length: usize,
}

/// Returns the overlap of a layer with its frame. `start` is the position of the layer
/// in the frame; it may be outside.
fn overlap(start: i32, layer: u16, frame: u16) -> Overlap {
    let end = (start + i32::from(layer)).min(frame.into());
    let to = start.max(0);
    Overlap {
        from: (to - start) as usize,
        to: to as usize,
        length: (end - to).max(0) as usize,
    }
}

/// Converts 16-bit pixels into four bytes each.
fn convert(stored: &[u8], colors: &mut [u8], convert: impl Fn(u16) -> [u8; 4]) {
    let pixels = colors.as_chunks_mut().0.iter_mut();
    for (color, &pixel) in pixels.zip(stored.as_chunks().0) {
        *color = convert(u16::from_le_bytes(pixel));
    }
}

/// Converts a pixel. Replicates 4 bits to 8.
fn argb4444(pixel: u16) -> [u8; 4] {
    let channel = |shift: u16| (pixel >> shift & 0xF) as u8 * 0x11;
    [channel(8), channel(4), channel(0), channel(12)]
}

/// Converts a pixel. Expands 5 bits to 8 by repeating the upper bits, and the alpha bit
/// to 0 or 255.
fn argb1555(pixel: u16) -> [u8; 4] {
    let channel = |shift: u16| {
        let bits = (pixel >> shift & 0x1F) as u8;
        bits << 3 | bits >> 2
    };
    let alpha = if pixel & 0x8000 == 0 { 0 } else { 0xFF };
    [channel(10), channel(5), channel(0), alpha]
}
