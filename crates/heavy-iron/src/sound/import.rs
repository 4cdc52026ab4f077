//! Import of edited WAV files as SND and SNDS. The header of a sound is in the
//! archive's table (SNDI) and changes too. Codec, channels and rate are fixed. The loop
//! is kept if the file has none, because many programs drop it.

use bytes::Bytes;

use super::encode::{dsp, ima};
use super::parse::dsp::{SAMPLES, nibble_of};
use super::{Codec, DspHeader, Entry, Header, Sound};
use crate::origin::Origin;
use crate::sound;
use hpimount_assets::model::quality;
use hpimount_assets::model::wav::Wav;
use hpimount_assets::parse::spu::{self, Rounding};
use hpimount_assets::view::import::{self, Changed, Edit, Imported};
use hpimount_assets::view::{AssetContext, AssetRef};

/// Offsets of the data length in a table entry.
const XBOX_SIZE: usize = 20;
const VAG_SIZE: usize = 12;

/// Offset of the flags in an Xbox entry.
const XBOX_FLAGS: usize = 28;

/// Offsets in a GameCube entry: the loop flag, the start and end of the loop, and the
/// state of the decoder at its start.
const DSP_IS_LOOP: usize = 0x0C;
const DSP_LOOP_START: usize = 0x10;
const DSP_LOOP_END: usize = 0x14;
const DSP_LOOP_STATE: usize = 0x44;

/// Encodes an edited WAV file.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    if !edit.part.name.ends_with(".wav") {
        return Err("is made from the sound: edit its WAV file".to_owned());
    }
    let mut table = Table::find(edit.context)?;
    let sound = sound::parse(edit.asset, &table.entry);
    let sound = sound.map_err(|incomplete| incomplete.error.to_string())?;
    let edited = import::sound(edit.file, sound.channels, sound.rate)?;
    let shown = sound.loops.map(|part| (part.start, part.end));
    let new_loop = import::new_loop(&edited.wav, shown, sound.samples)?;
    let is_equal = sound.pcm() == edited.samples;
    if is_equal && new_loop.is_none() {
        return Ok(Imported::Unchanged);
    }
    let start = new_loop.or(shown).map(|(start, _)| start);
    let (mut data, played) = match is_equal {
        true => (sound.data.to_vec(), edited.samples.clone()),
        false => encode(&sound, &edited.samples, start, &mut table)?,
    };
    if let Some(part) = new_loop {
        put_loop(&sound, part, &edited.wav, &played, (&mut data, &mut table))?;
    }
    let start = start.filter(|_| matches!(sound.entry.header, Header::Vag(_)));
    let warning = start.and_then(|start| spu::loop_warning(edited.wav.samples, start));
    let mut changed = Changed {
        warnings: warning.into_iter().collect(),
        quality: quality::of_samples(&edited.samples, &played),
        asset: data,
        ..Changed::default()
    };
    if *table.bytes != *table.old {
        changed.others.push((table.file, table.bytes));
    }
    Ok(Imported::Changed(changed))
}

/// The refusal for sounds of a bank.
const IN_BANK: &str = "shows a sound of a bank (FSB3), which is not rebuilt";

/// Returns the reason why a sound cannot be edited.
pub(super) fn refusal(edit: &Edit<'_>) -> Option<String> {
    let table = Table::find(edit.context).ok()?;
    matches!(table.entry.header, Header::Bank(_)).then(|| IN_BANK.to_owned())
}

/// The table with the header of a sound.
struct Table {
    file: AssetRef,
    entry: Entry,
    /// The table before.
    old: Bytes,
    /// The new table.
    bytes: Vec<u8>,
}

impl Table {
    /// Finds the table in the archive of an asset.
    fn find(context: &dyn AssetContext) -> Result<Self, String> {
        let origin = Origin::of(context);
        let id = origin.id.unwrap_or_default();
        for file in context.find_type(*b"SNDI") {
            let Some(old) = context.read(file) else {
                continue;
            };
            let table = sound::parse_table(&old, &origin.facts);
            let table = table.unwrap_or_else(|incomplete| incomplete.model);
            if let Some(entry) = table.find(id) {
                return Ok(Self {
                    file,
                    entry: entry.clone(),
                    bytes: old.to_vec(),
                    old,
                });
            }
        }
        Err(format!(
            "shows a sound whose header is not in this archive: its tables (SNDI) have no entry \
             for {id:08X}"
        ))
    }

    /// Writes into the entry of the sound.
    fn put(&mut self, at: usize, new: &[u8]) -> Result<(), String> {
        let start = self.entry.offset as usize + at;
        let range = self.bytes.get_mut(start..start + new.len());
        let range = range.ok_or("shows a sound whose header is not in the file")?;
        range.copy_from_slice(new);
        Ok(())
    }
}

/// Encodes samples in the codec of a sound, and changes its table entry. `start` is the
/// first sample of the loop. Returns the data, and the decoded samples.
fn encode(
    sound: &Sound,
    samples: &[i16],
    start: Option<u32>,
    table: &mut Table,
) -> Result<(Vec<u8>, Vec<i16>), String> {
    let data = match (sound.codec, &sound.entry.header) {
        (_, Header::Bank(_)) => {
            return Err(IN_BANK.to_owned());
        }
        (Codec::Dsp, Header::Dsp(header)) => {
            let encoded = dsp::encode(samples, header.coefficients, header.history);
            put_dsp(header, &encoded, samples.len(), start, table)?;
            let mut data = encoded.data;
            // Data after the samples is kept if their number is unchanged.
            if samples.len() == header.samples as usize {
                data.extend_from_slice(sound.data.get(data.len()..).unwrap_or_default());
            }
            return Ok((data, encoded.played));
        }
        (Codec::Pcm8, _) => {
            let bytes = samples.iter().map(|&sample| pcm8(sample) ^ 0x80);
            bytes.collect()
        }
        (Codec::Pcm8Signed, _) => samples.iter().map(|&sample| pcm8(sample)).collect(),
        (Codec::Pcm16, _) => samples
            .iter()
            .flat_map(|sample| sample.to_le_bytes())
            .collect(),
        (Codec::Pcm16Big, _) => samples
            .iter()
            .flat_map(|sample| sample.to_be_bytes())
            .collect(),
        (Codec::XboxAdpcm, _) => ima::encode(samples, sound.channels.into(), &sound.data),
        (Codec::Vag | Codec::Dsp, _) => {
            spu::encode_like(samples, Rounding::Sum, &sound.data, sound.samples, start)?
        }
    };
    let size = u32::try_from(data.len()).map_err(|_| "has 4 GiB or more".to_owned())?;
    match &sound.entry.header {
        Header::Xbox(_) => table.put(XBOX_SIZE, &size.to_le_bytes())?,
        Header::Vag(header) => {
            // The numbers in the table may have either byte order.
            let at = sound.entry.offset as usize + VAG_SIZE;
            let is_little = table.old.get(at..at + 4) == Some(&header.size.to_le_bytes());
            let stored = match is_little {
                true => size.to_le_bytes(),
                false => size.to_be_bytes(),
            };
            table.put(VAG_SIZE, &stored)?;
        }
        Header::Dsp(_) | Header::Bank(_) => {}
    }
    let new = Bytes::from(data);
    let played = Sound {
        data: new.clone(),
        samples: (samples.len() / usize::from(sound.channels)) as u32,
        ..sound.clone()
    };
    Ok((new.to_vec(), played.pcm()))
}

/// Writes a loop into the data of a sound, and into its entry. `played` are the decoded
/// samples.
fn put_loop(
    sound: &Sound,
    (start, end): (u32, u32),
    wav: &Wav,
    played: &[i16],
    (data, table): (&mut [u8], &mut Table),
) -> Result<(), String> {
    let is_last = end + 1 == wav.samples;
    match &sound.entry.header {
        Header::Dsp(_) => {
            table.put(DSP_IS_LOOP, &1_u16.to_be_bytes())?;
            table.put(DSP_LOOP_START, &nibble_of(start).to_be_bytes())?;
            // An end that was clamped for display is kept.
            let is_other_length = wav.samples != sound.samples;
            if is_other_length || sound.loops.is_none_or(|part| part.end != end) {
                table.put(DSP_LOOP_END, &nibble_of(end).to_be_bytes())?;
            }
            table.put(DSP_LOOP_STATE, &dsp_state(start as usize, data, played))
        }
        Header::Vag(_) if !is_last => Err(format!(
            "has a loop that ends with sample {end}: it must end with the sound"
        )),
        Header::Vag(_) => {
            spu::set_loop(data, wav.samples, start);
            Ok(())
        }
        Header::Xbox(_) if start > 0 || !is_last => Err(format!(
            "has a loop from sample {start} to {end}: only the whole sound can be a loop"
        )),
        Header::Xbox(header) => table.put(XBOX_FLAGS, &(header.flags | 1).to_le_bytes()),
        Header::Bank(_) => Err(IN_BANK.to_owned()),
    }
}

/// Returns the decoder state at a sample: the header of its frame, and the two previous
/// samples.
fn dsp_state(start: usize, data: &[u8], played: &[i16]) -> [u8; 6] {
    let before = |count: usize| {
        let at = start.checked_sub(count);
        let sample = at.and_then(|at| played.get(at)).copied();
        sample.unwrap_or_default().to_be_bytes()
    };
    let frame = data.get(start / SAMPLES * super::parse::dsp::FRAME);
    let ([a, b], [c, d]) = (before(1), before(2));
    [0, frame.copied().unwrap_or_default(), a, b, c, d]
}

/// Returns the nearest sample of 8 bits.
fn pcm8(sample: i16) -> u8 {
    let rounded = (i32::from(sample) + 128) >> 8;
    (rounded.min(127) as i8).cast_unsigned()
}

/// Writes a GameCube entry.
fn put_dsp(
    header: &DspHeader,
    encoded: &dsp::Encoded,
    count: usize,
    start: Option<u32>,
    table: &mut Table,
) -> Result<(), String> {
    let samples = u32::try_from(count).map_err(|_| "has too many samples".to_owned())?;
    let first = encoded.data.first().copied().unwrap_or_default();
    if samples != header.samples {
        let nibbles = samples + 2 * samples.div_ceil(SAMPLES as u32);
        let end = nibble_of(samples.saturating_sub(1));
        if start.is_some_and(|start| nibble_of(start) >= end) {
            return Err("ends before its loop starts: keep it longer".to_owned());
        }
        for (at, word) in [(0x00, samples), (0x04, nibbles), (0x14, end)] {
            table.put(at, &word.to_be_bytes())?;
        }
    }
    let coefficients = encoded.coefficients.map(i16::to_be_bytes);
    table.put(0x1C, coefficients.as_flattened())?;
    table.put(0x3E, &[0, first])?;
    if header.is_loop() {
        let start = super::parse::dsp::sample_at(header.loop_start) as usize;
        let state = dsp_state(start, &encoded.data, &encoded.played);
        table.put(DSP_LOOP_STATE, &state)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::tests::{Archives, id};
    use fixtures::heavy_iron::dsp_table_with;
    use hpimount_assets::model::wav;
    use hpimount_assets::view::ViewFile;

    /// Edits the WAV file of a DSP sound with 2000 samples to this number of samples,
    /// and returns the loop.
    fn edited(
        shown: (u32, u32),
        samples: u32,
        loops: Option<(u32, u32)>,
    ) -> Result<(u32, u32), String> {
        let nibbles = Some((nibble_of(shown.0), nibble_of(shown.1)));
        let table = dsp_table_with(id("beep"), 2000, 22_050, [0; 16], nibbles);
        let data = vec![0; 8 * 143];
        let mut archives = Archives::new(&[
            ("a.HIP", b"SND ", "beep", data.clone()),
            ("a.HIP", b"SNDI", "table", table),
        ]);
        archives.asset = Some(0);
        let wav = Wav {
            channels: 1,
            rate: 22_050,
            samples,
            loops,
        };
        let played: Vec<i16> = (0..samples).map(|at| (at % 50 * 100) as i16).collect();
        let mut file = Vec::new();
        wav::write(&wav, &played, &mut file).unwrap();
        let asset = data.into();
        let edit = Edit {
            asset: &asset,
            original: &asset,
            context: &archives,
            part: &ViewFile::from("sound.wav"),
            file: &file,
        };
        let Imported::Changed(changed) = import(&edit)? else {
            panic!("is changed");
        };
        let table = Bytes::from(changed.others[0].1.clone());
        let facts = Origin::of(&archives).facts;
        let table = sound::parse_table(&table, &facts).unwrap();
        let entry = table.find(id("beep")).unwrap();
        let sound = sound::parse(&changed.asset.into(), entry).unwrap();
        assert_eq!(sound.samples, samples);
        let part = sound.loops.unwrap();
        Ok((part.start, part.end))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn any_loop_is_read_back_to_the_sample(
            (samples, ends) in (2..600_u32).prop_flat_map(|samples| {
                (Just(samples), proptest::sample::subsequence((0..samples).collect::<Vec<_>>(), 2))
            }),
        ) {
            let new = (ends[0], ends[1]);
            prop_assert_eq!(edited((100, 999), samples, Some(new)), Ok(new));
        }
    }

    #[test]
    fn the_loop_of_a_file_with_another_length_is_that_of_its_chunk() {
        for (shown, samples, new) in [
            ((100, 999), 3000, (100, 999)),
            ((100, 1999), 3000, (200, 1999)),
            ((1500, 1999), 1000, (0, 999)),
        ] {
            assert_eq!(edited(shown, samples, Some(new)), Ok(new));
        }
        assert_eq!(edited((0, 1999), 3000, None), Ok((0, 2999)));
        let refused = edited((100, 1999), 3000, None).unwrap_err();
        assert!(refused.contains("give it its loop"), "{refused}");
    }
}
