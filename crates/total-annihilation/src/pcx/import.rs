//! Import of edited pictures as PCX. Size, depth, palette and encoding are fixed.

use bytes::Bytes;

use crate::pcx::{PICTURE, colors, picture};
use hpimount_assets::model::palette;
use hpimount_assets::parse::pcx::{self, Pcx, Pixels};
use hpimount_assets::view::import::{self, Changed, Edit, Imported, NOT_THIS_FILE};

/// Flags of a run: the two highest bits of a byte. The other bits are its length.
const RUN: u8 = 0xC0;

/// Maximum length of a run.
const MAX_RUN: usize = 63;

/// Encodes an edited `picture.png`.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    if edit.part.name != PICTURE {
        return Err(NOT_THIS_FILE.to_owned());
    }
    let pcx = pcx::parse(edit.asset).map_err(|incomplete| incomplete.error.to_string())?;
    let colors = colors(&pcx, edit.context);
    let (edited, _memory) = import::picture(edit, (pcx.width, pcx.height))?;
    let damaged = |error: hpimount_containers::io::Error| error.to_string();
    if picture(&pcx, &colors).map_err(damaged)?.into_rgba() == edited {
        return Ok(Imported::Unchanged);
    }
    let mut warnings: Vec<String> = import::opacity_warning(&edited).into_iter().collect();
    let pixels = match pcx.decode().map_err(damaged)?.pixels {
        Pixels::Rgb(_) => Pixels::Rgb(edited.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect()),
        Pixels::Indexed(old) => {
            let count = 1_usize << (pcx.bits * pcx.planes).min(8);
            let colors = &colors.palette.opaque()[..count];
            let (indices, warning) = palette::indices(colors, &edited, old);
            warnings.extend(warning);
            Pixels::Indexed(indices)
        }
    };
    let asset = encode(edit.asset, &pcx, &pixels).map_err(damaged)?;
    Ok(Imported::Changed(Changed {
        asset,
        warnings,
        ..Changed::default()
    }))
}

/// Replaces the pixels of `file`. Header, palette and everything else are copied.
fn encode(file: &Bytes, pcx: &Pcx, pixels: &Pixels) -> hpimount_containers::io::Result<Vec<u8>> {
    let stored = pcx.stored()?;
    let mut out = file[..stored.start].to_vec();
    let (width, line) = (pcx.width as usize, usize::from(pcx.bytes_per_line));
    let mut row = vec![0; line * usize::from(pcx.planes)];
    for y in 0..pcx.height as usize {
        match pixels {
            Pixels::Rgb(bytes) => {
                let colors = bytes[3 * width * y..][..3 * width].as_chunks().0;
                for (x, color) in colors.iter().enumerate() {
                    let [red, green, blue] = *color;
                    (row[x], row[line + x], row[2 * line + x]) = (red, green, blue);
                }
            }
            Pixels::Indexed(indices) => {
                let indices = &indices[width * y..][..width];
                match pcx.bits {
                    8 => row[..width].copy_from_slice(indices),
                    bits => pack(indices, bits, line, &mut row),
                }
            }
        }
        match pcx.encoding {
            1 => runs(&row, &mut out),
            _ => out.extend_from_slice(&row),
        }
    }
    out.extend_from_slice(&file[stored.end..]);
    Ok(out)
}

/// Writes the bits of palette indices into the planes of a row. The first plane is the
/// lowest bit.
fn pack(indices: &[u8], bits: u8, line: usize, row: &mut [u8]) {
    row.fill(0);
    let per_byte = usize::from(8 / bits);
    let mask = (1 << bits) - 1;
    for (x, index) in indices.iter().enumerate() {
        let shift = 8 - bits * (x % per_byte + 1) as u8;
        for (plane, bytes) in row.chunks_exact_mut(line).enumerate() {
            bytes[x / per_byte] |= (index >> (plane as u8 * bits) & mask) << shift;
        }
    }
}

/// Appends the runs of a row.
fn runs(row: &[u8], out: &mut Vec<u8>) {
    for same in row.chunk_by(|a, b| a == b) {
        for run in same.chunks(MAX_RUN) {
            match *run {
                [value] if value < RUN => out.push(value),
                _ => out.extend_from_slice(&[RUN | run.len() as u8, run[0]]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcx::FORMAT;
    use fixtures::png_of;
    use fixtures::ta::pcx::Pcx as Built;
    use hpimount_assets::model::png;
    use hpimount_assets::view::import::edited;
    use hpimount_assets::view::rendered;
    use proptest::prelude::*;

    fn built(bits: u8, planes: u8, encoding: u8, width: u16, height: u16) -> Vec<u8> {
        let bytes_per_line = (width * u16::from(bits)).div_ceil(8) + 1;
        let count = usize::from(bytes_per_line) * usize::from(planes) * usize::from(height);
        Built {
            bits,
            planes,
            encoding,
            bytes_per_line,
            rows: (0..count).map(|at| (at * 37 % 251) as u8).collect(),
            ..Built::indexed(width, height, Vec::new())
        }
        .file()
    }

    #[test]
    fn a_picture_of_another_size_is_refused() {
        let old = built(8, 1, 1, 4, 3);
        let refused = edited(&FORMAT, &old, PICTURE, &png_of(3, 4, vec![[0; 4]; 12]));
        assert_eq!(
            refused.unwrap_err(),
            "has 3x4 pixels, must have 4x3: scale it"
        );
        let refused = edited(&FORMAT, &old, PICTURE, b"no picture").unwrap_err();
        assert!(refused.starts_with("is not a PNG picture"), "{refused}");
    }

    proptest! {
        #[test]
        fn an_edited_picture_is_shown_and_everything_around_it_is_kept(
            depth in prop::sample::select(vec![(8, 1), (8, 3), (8, 4), (1, 1), (1, 4), (2, 2), (4, 1)]),
            encoding in 0_u8..=1,
            (width, height) in (1_u16..20, 1_u16..6),
            seed: u8,
        ) {
            let (bits, planes) = depth;
            let old = built(bits, planes, encoding, width, height);
            let before = rendered(&FORMAT, &old, PICTURE).unwrap();
            prop_assert_eq!(
                edited(&FORMAT, &old, PICTURE, &before),
                Ok(Imported::Unchanged)
            );
            // Colors of the picture, in another order.
            let mut pixels = png::read(&before, 1 << 20).unwrap().rgba();
            let last = pixels.len() - 1;
            pixels.reverse();
            pixels.swap(usize::from(seed) % (last + 1), last);
            let file = png_of(width.into(), height.into(), pixels.clone());
            if let Imported::Changed(changed) = edited(&FORMAT, &old, PICTURE, &file).unwrap() {
                let after = rendered(&FORMAT, &changed.asset, PICTURE).unwrap();
                prop_assert_eq!(png::read(&after, 1 << 20).unwrap().rgba(), pixels);
                prop_assert_eq!(&changed.asset[..128], &old[..128]);
                prop_assert_eq!(&changed.asset[changed.asset.len() - 769..], &old[old.len() - 769..]);
                prop_assert!(changed.warnings.is_empty());
            }
        }
    }
}
