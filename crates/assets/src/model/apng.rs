//! APNG: animated PNG files, written by the `png` crate. Programs without
//! support for them show the first frame.

use std::io::{self, Write};

use png::{BitDepth, BlendOp, ColorType, DisposeOp, Encoder, EncodingError};

use super::Picture;
use super::png::{io_error, set_fast};

/// A frame of an animation.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The picture; `None` shows nothing.
    pub picture: Option<Picture>,
    /// Position of its top left corner in the animation, in pixels.
    pub at: (u32, u32),
    /// Duration in seconds: numerator and denominator.
    pub delay: (u16, u16),
}

/// An animated picture.
#[derive(Debug, Clone, Copy)]
pub struct Animation {
    /// Width of the full picture in pixels, not 0.
    pub width: u32,
    /// Height of the full picture in pixels, not 0.
    pub height: u32,
    /// Number of frames, not 0.
    pub frames: u32,
    /// True if it starts again after the last frame.
    pub loops: bool,
}

/// Writes an APNG file. Requests frames one by one from `frame`; each replaces the
/// previous one. Clips frames to the animation.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write(
    animation: &Animation,
    frame: &mut dyn FnMut(u32) -> Frame,
    out: &mut dyn Write,
) -> io::Result<()> {
    encode(animation, frame, out).map_err(io_error)
}

fn encode(
    animation: &Animation,
    frame: &mut dyn FnMut(u32) -> Frame,
    out: &mut dyn Write,
) -> Result<(), EncodingError> {
    let &Animation { width, height, .. } = animation;
    let mut encoder = Encoder::new(out, width, height);
    set_fast(&mut encoder);
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_animated(animation.frames, u32::from(!animation.loops))?;
    encoder.set_dispose_op(DisposeOp::Background)?;
    encoder.set_blend_op(BlendOp::Source)?;
    let mut writer = encoder.write_header()?;
    for number in 0..animation.frames {
        let Frame { picture, at, delay } = frame(number);
        let part = picture.and_then(|picture| Part::of(&picture, at, (width, height)));
        // Other programs show the first frame, which must have the full size.
        let part = match part {
            Some(part) if number == 0 => part.spread((width, height)),
            None if number == 0 => Part::empty((width, height)),
            Some(part) => part,
            None => Part::empty((1, 1)),
        };
        if number > 0 {
            // Reset first: the new size need not fit at the old position.
            writer.reset_frame_position()?;
            writer.set_frame_dimension(part.size.0, part.size.1)?;
            writer.set_frame_position(part.at.0, part.at.1)?;
        }
        writer.set_frame_delay(delay.0, delay.1)?;
        writer.write_image_data(part.pixels.as_flattened())?;
    }
    writer.finish()
}

/// The part of the animation that a frame covers.
struct Part {
    at: (u32, u32),
    size: (u32, u32),
    pixels: Vec<[u8; 4]>,
}

impl Part {
    /// Returns the part of a picture that is inside the animation.
    fn of(picture: &Picture, at: (u32, u32), whole: (u32, u32)) -> Option<Self> {
        let inside = |start: u32, length: u32, whole: u32| {
            let left = whole.checked_sub(start)?.min(length);
            (left > 0).then_some(left)
        };
        let width = inside(at.0, picture.width, whole.0)?;
        let height = inside(at.1, picture.height, whole.1)?;
        let mut pixels = picture.rgba();
        if width < picture.width {
            let rows = pixels.chunks(picture.width as usize);
            pixels = rows
                .flat_map(|row| &row[..width as usize])
                .copied()
                .collect();
        }
        pixels.truncate(width as usize * height as usize);
        Some(Self {
            at,
            size: (width, height),
            pixels,
        })
    }

    fn empty(size: (u32, u32)) -> Self {
        Self {
            at: (0, 0),
            size,
            pixels: vec![[0; 4]; size.0 as usize * size.1 as usize],
        }
    }

    /// Returns the part on a transparent picture of the full size.
    fn spread(self, whole: (u32, u32)) -> Self {
        if self.at == (0, 0) && self.size == whole {
            return self;
        }
        let mut all = Self::empty(whole);
        let (left, width) = (self.at.0 as usize, self.size.0 as usize);
        let rows = all.pixels.chunks_mut(whole.0 as usize);
        let rows = rows.skip(self.at.1 as usize);
        for (row, own) in rows.zip(self.pixels.chunks(width)) {
            row[left..left + width].copy_from_slice(own);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Pixels;

    fn picture(width: u32, height: u32, color: [u8; 4]) -> Picture {
        Picture {
            width,
            height,
            pixels: Pixels::Rgba(vec![color; (width * height) as usize]),
        }
    }

    #[test]
    fn frames_keep_their_position_and_duration() {
        let animation = Animation {
            width: 4,
            height: 3,
            frames: 3,
            loops: true,
        };
        let red = [255, 0, 0, 255];
        let mut frames = |number: u32| Frame {
            picture: (number != 1).then(|| picture(2, 2, red)),
            at: (1 + number, 1),
            delay: (number as u16 + 1, 30),
        };
        let mut bytes = Vec::new();
        write(&animation, &mut frames, &mut bytes).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes))
            .read_info()
            .unwrap();
        let control = reader.info().animation_control.unwrap();
        assert_eq!((control.num_frames, control.num_plays), (3, 0));
        let mut seen = Vec::new();
        let mut pixels = vec![0; 4 * 4 * 3];
        for _ in 0..3 {
            reader.next_frame(&mut pixels).unwrap();
            let frame = reader.info().frame_control.unwrap();
            let rectangle = (frame.x_offset, frame.y_offset, frame.width, frame.height);
            seen.push((rectangle, frame.delay_num, frame.delay_den));
        }
        // The last one is cut at the right edge.
        let expected = [
            ((0, 0, 4, 3), 1, 30),
            ((0, 0, 1, 1), 2, 30),
            ((3, 1, 1, 2), 3, 30),
        ];
        assert_eq!(seen, expected);
        assert_eq!(pixels[..8], [red, red].concat());
    }
}
