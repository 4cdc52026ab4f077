//! Colors of faces (FORMATS, PSX 4).

use get_size2::GetSize;

use crate::psx::{Face, Psx};

/// The value of a color byte that leaves the texture unchanged.
const NEUTRAL: u8 = 128;

/// The largest value of a color byte.
const FULL: u8 = 255;

/// A color that gouraud faces refer to.
#[derive(Debug, Clone, Copy, GetSize)]
struct Gouraud {
    color: [u8; 3],
    /// The value that leaves a texture unchanged.
    neutral: u8,
}

/// The colors of all faces of a file.
#[derive(Debug, GetSize)]
pub(super) struct FaceColors {
    /// By the index in a face. An animated color has its initial value.
    gouraud: Vec<Option<Gouraud>>,
}

impl FaceColors {
    pub(super) fn new(psx: &Psx) -> Self {
        let stored = psx.gouraud_colors().unwrap_or_default().iter();
        let stored = stored.map(|&color| {
            Some(Gouraud {
                color,
                neutral: NEUTRAL,
            })
        });
        let mut gouraud: Vec<_> = stored.take(256).collect();
        gouraud.resize(256, None);
        for pulse in psx.pulses() {
            if let Some(color) = pulse.start() {
                gouraud[usize::from(pulse.color)] = Some(Gouraud {
                    color,
                    neutral: FULL,
                });
            }
        }
        Self { gouraud }
    }

    /// Returns the sRGB colors of a face's corners. On a texture, white leaves it
    /// unchanged, and brighter results are clamped. Lit faces are white.
    pub(super) fn of(&self, face: &Face, is_textured: bool) -> [[u8; 4]; 4] {
        std::array::from_fn(|corner| {
            let [r, g, b] = match self.stored(face, corner) {
                Some(stored) if is_textured => stored.color.map(|part| {
                    let scaled = u16::from(part) * u16::from(FULL) / u16::from(stored.neutral);
                    scaled.min(FULL.into()) as u8
                }),
                Some(stored) => stored.color,
                None => [FULL; 3],
            };
            [r, g, b, FULL]
        })
    }

    /// Returns the stored color of a corner.
    fn stored(&self, face: &Face, corner: usize) -> Option<Gouraud> {
        let [r, g, b, _] = face.color;
        if face.is_lit() {
            None
        } else if face.is_gouraud() {
            *self.gouraud.get(usize::from(face.color[corner]))?
        } else {
            Some(Gouraud {
                color: [r, g, b],
                neutral: NEUTRAL,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::psx::parse;
    use fixtures::psx::{File, RGBS, face, model, words};

    /// Returns the colors of the first corner of a face with these flags, with and
    /// without a texture. Color 1 is animated, and starts at 255, 100, 0.
    fn colors(flags: u16, color: [u8; 4]) -> [[u8; 4]; 2] {
        let corners = [[0; 4]; 3];
        let file = File {
            models: vec![model(
                (0x7FFF, -1),
                &corners,
                &[face(flags, [0, 1, 2, 0], color, &[])],
            )],
            chunks: vec![
                (RGBS, words(&[0x0080_4020, 0])),
                (7, vec![1, 1, 0, 0, 255, 100, 0, 9, 0, 0, 0, 0]),
            ],
            ..File::new(4)
        };
        let psx = parse(&file.bytes().into()).unwrap();
        let colors = FaceColors::new(&psx);
        [true, false].map(|is_textured| colors.of(&psx.models[0].faces[0], is_textured)[0])
    }

    #[test]
    fn a_face_that_the_game_lights_is_white() {
        for flags in [0x14, 0x814] {
            assert_eq!(colors(flags, [1, 2, 3, 0]), [[255; 4]; 2]);
        }
    }

    #[test]
    fn on_a_texture_128_is_white() {
        assert_eq!(
            colors(0x10, [128, 64, 200, 0]),
            [[255, 127, 255, 255], [128, 64, 200, 255]]
        );
        assert_eq!(
            colors(0x810, [0; 4]),
            [[63, 127, 255, 255], [0x20, 0x40, 0x80, 255]]
        );
    }

    #[test]
    fn a_color_that_changes_is_shown_as_it_starts() {
        assert_eq!(colors(0x810, [1; 4]), [[255, 100, 0, 255]; 2]);
        assert_eq!(colors(0x810, [9; 4]), [[255; 4]; 2]);
    }
}
