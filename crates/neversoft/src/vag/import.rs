//! Import of edited WAV files as VAG. Header, channels and rate are fixed. The loop is
//! kept if the file has none.

use bytes::Bytes;

use super::SOUND;
use crate::vag;
use hpimount_assets::model::quality;
use hpimount_assets::parse::spu::{self, Rounding};
use hpimount_assets::view::import::{self, Changed, Edit, Imported, NOT_THIS_FILE};

/// Offset in the header of the total size of the blocks.
const SIZE: usize = 12;

/// Encodes an edited `sound.wav`.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    if edit.part.name != SOUND {
        return Err(NOT_THIS_FILE.to_owned());
    }
    let vag = vag::parse(edit.asset).map_err(|error| error.to_string())?;
    let edited = import::sound(edit.file, vag.channels.into(), vag.rate)?;
    let new_loop = import::new_loop(&edited.wav, vag.loops, vag.samples)?;
    let is_equal = vag.pcm() == edited.samples;
    if is_equal && new_loop.is_none() {
        return Ok(Imported::Unchanged);
    }
    let Some(old) = vag.blocks() else {
        return Err("shows a sound whose channels alternate, which is not written".to_owned());
    };
    let start = new_loop.or(vag.loops).map(|(start, _)| start);
    let mut data = match is_equal {
        true => old.to_vec(),
        false => spu::encode_like(&edited.samples, Rounding::Terms, old, vag.samples, start)?,
    };
    if let Some((start, end)) = new_loop {
        if end + 1 != edited.wav.samples {
            return Err(format!(
                "has a loop that ends with sample {end}: it must end with the sound"
            ));
        }
        spu::set_loop(&mut data, edited.wav.samples, start);
    }
    let mut asset = match &vag.header {
        Some(header) => edit.asset[..header.data()].to_vec(),
        None => Vec::new(),
    };
    let after = asset.len() + old.len();
    if let Some(header) = vag.header.as_ref().filter(|header| header.size > 0) {
        let size = u32::try_from(data.len()).map_err(|_| "has 4 GiB or more".to_owned())?;
        let is_little = asset[SIZE..SIZE + 4] == header.size.to_le_bytes();
        let size = match is_little {
            true => size.to_le_bytes(),
            false => size.to_be_bytes(),
        };
        asset[SIZE..SIZE + 4].copy_from_slice(&size);
    }
    asset.extend_from_slice(&data);
    asset.extend_from_slice(edit.asset.get(after..).unwrap_or_default());
    let played = vag::parse(&Bytes::from(asset.clone())).map_err(|error| error.to_string())?;
    Ok(Imported::Changed(Changed {
        quality: quality::of_samples(&edited.samples, &played.pcm()),
        warnings: start
            .and_then(|start| spu::loop_warning(edited.wav.samples, start))
            .into_iter()
            .collect(),
        asset,
        ..Changed::default()
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use hpimount_assets::model::math::sin_cos;
    use hpimount_assets::model::wav::{self, Wav};
    use hpimount_assets::view::import::edited;
    use hpimount_assets::view::rendered;

    /// Flags of the block after a looping sound.
    const TERMINATOR: u8 = 7;

    /// Returns a file with blocks with these flags.
    fn built(flags: &[u8]) -> Vec<u8> {
        let size = (16 * flags.len() as u32).to_be_bytes();
        let words = [
            &b"VAGp"[..],
            &[0, 0, 0, 4],
            &[0; 4],
            &size,
            &22_050_u32.to_be_bytes(),
        ];
        let mut file = words.concat();
        file.resize(0x30, 0);
        for &flags in flags {
            let (head, data) = if flags == TERMINATOR {
                (0, 0x77)
            } else {
                (0x12, 0x35)
            };
            file.extend([head, flags]);
            file.extend([data; 14]);
        }
        file
    }

    fn wav_of(samples: &[i16]) -> Vec<u8> {
        wav_with(samples, None)
    }

    fn wav_with(samples: &[i16], loops: Option<(u32, u32)>) -> Vec<u8> {
        let wav = Wav {
            channels: 1,
            rate: 22_050,
            samples: samples.len() as u32,
            loops,
        };
        let mut bytes = Vec::new();
        wav::write(&wav, samples, &mut bytes).unwrap();
        bytes
    }

    fn samples(file: &[u8]) -> Vec<i16> {
        wav::read(&rendered(&vag::FORMAT, file, SOUND).unwrap())
            .unwrap()
            .samples
    }

    #[test]
    fn an_edited_sound_plays_well_and_keeps_its_loop() {
        let tone: Vec<i16> = (0..28 * 30)
            .map(|at| (sin_cos(at as f32 / 9.0).0 * 9000.0) as i16)
            .collect();
        for flags in [&[0, 0, 1][..], &[4, 2, 3], &[4, 2, 3, TERMINATOR]] {
            let old = built(flags);
            let before = rendered(&vag::FORMAT, &old, SOUND).unwrap();
            let same = edited(&vag::FORMAT, &old, SOUND, &before);
            assert_eq!(same, Ok(Imported::Unchanged));
            let new = edited(&vag::FORMAT, &old, SOUND, &wav_of(&tone)).unwrap();
            let Imported::Changed(changed) = new else {
                panic!("is changed");
            };
            let after = samples(&changed.asset);
            assert!(quality::snr(&tone, &after).unwrap() >= 25.0);
            let parsed = vag::parse(&changed.asset.clone().into()).unwrap();
            assert_eq!(parsed.samples, 28 * 30);
            assert_eq!(parsed.loops, (flags[0] == 4).then_some((0, 28 * 30 - 1)));
            assert!(parsed.warnings.is_empty(), "{:?}", parsed.warnings);
            // The decoded samples are encoded again without loss.
            let again = edited(&vag::FORMAT, &old, SOUND, &wav_of(&after)).unwrap();
            let Imported::Changed(again) = again else {
                panic!("is changed");
            };
            assert_eq!((samples(&again.asset), again.quality), (after, None));
        }
    }

    proptest! {
        #[test]
        fn any_loop_to_the_end_is_read_back_in_whole_blocks(
            (length, first) in (1_u32..300).prop_flat_map(|length| (Just(length), 0..length)),
        ) {
            let wav = wav_with(&vec![5; length as usize], Some((first, length - 1)));
            let new = edited(&vag::FORMAT, &built(&[0, 4, 3]), SOUND, &wav);
            let Ok(Imported::Changed(changed)) = new else {
                panic!("is changed");
            };
            let parsed = vag::parse(&changed.asset.into()).unwrap();
            let samples = length.next_multiple_of(28);
            prop_assert_eq!(parsed.loops, Some((first / 28 * 28, samples - 1)));
            prop_assert_eq!(parsed.samples, samples);
        }
    }

    #[test]
    fn a_loop_within_one_block_is_read_back() {
        let wavs = [
            (wav_with(&[5; 20], Some((10, 19))), (0, 27)),
            (wav_with(&[5; 40], Some((28, 39))), (28, 55)),
        ];
        for (wav, loops) in wavs {
            let new = edited(&vag::FORMAT, &built(&[0, 4, 3]), SOUND, &wav);
            let Ok(Imported::Changed(changed)) = new else {
                panic!("is changed");
            };
            let parsed = vag::parse(&changed.asset.into()).unwrap();
            assert_eq!(parsed.loops, Some(loops));
        }
    }

    #[test]
    fn a_sound_of_another_length_has_its_own_loop() {
        let old = built(&[0, 4, 2, 3]);
        let lost = edited(&vag::FORMAT, &old, SOUND, &wav_of(&[5; 280]));
        assert!(lost.unwrap_err().contains("give it its loop"));
        let inner = edited(
            &vag::FORMAT,
            &old,
            SOUND,
            &wav_with(&[5; 100], Some((30, 98))),
        );
        assert!(inner.unwrap_err().contains("it must end with the sound"));
        let wav = wav_with(&[5; 100], Some((30, 99)));
        let Ok(Imported::Changed(changed)) = edited(&vag::FORMAT, &old, SOUND, &wav) else {
            panic!("is changed");
        };
        let parsed = vag::parse(&changed.asset.into()).unwrap();
        assert_eq!((parsed.samples, parsed.loops), (112, Some((28, 111))));
        assert!(
            changed.warnings[0].contains("from sample 28 to 111"),
            "{:?}",
            changed.warnings
        );
    }
}
