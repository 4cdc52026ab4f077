//! Sound in sectors: ADPCM in groups of 128 bytes.

use std::collections::BTreeMap;

use get_size2::GetSize;

use super::sector::Sectors;
use hpimount_assets::model::wav::Wav;
use hpimount_containers::io::Warnings;

/// Groups of a sector.
const GROUPS: usize = 18;

/// Sizes of a group, and of the parameters at its start, in bytes.
const GROUP: usize = 128;
const PARAMETERS: usize = 16;

/// Samples of a unit of a group.
const SAMPLES: usize = 28;

/// Bits of the coding that mean something.
const STEREO: u8 = 1;
const SLOW: u8 = 4;
const WIDE: u8 = 0x10;
const KNOWN: u8 = STEREO | SLOW | WIDE;

/// Reserved bits of the coding, which are always 0.
const RESERVED: u8 = 0xAA;

/// Mark of the last sector of a sound.
const END: u8 = 0x80;

/// Pairs of coefficients, in 1/64.
const FILTERS: [[i32; 2]; 4] = [[0, 0], [60, 0], [115, -52], [98, -55]];

/// A stream of sound.
#[derive(Debug, Clone, GetSize)]
pub struct Stream {
    /// Number of the file.
    pub file: u8,
    /// Number of the channel.
    pub channel: u8,
    /// Coding: 1 stereo, 4 18,900 Hz instead of 37,800, 0x10 8 bits.
    pub coding: u8,
    /// True if another stream of the same file and channel has a different coding.
    pub shares_channel: bool,
    /// Number, counted from 1, if other streams have the same file, channel and coding.
    pub number: Option<usize>,
    /// The numbers of its sectors.
    pub sectors: Vec<u32>,
    /// True if its last sector is marked as the end.
    pub has_end: bool,
}

/// Returns the streams of a file, by file, channel and coding. End marks separate them.
/// Omits silent streams, unless all are silent.
pub fn streams(sectors: &Sectors, warnings: &mut Warnings) -> Vec<Stream> {
    let mut streams: BTreeMap<[u8; 3], Vec<Stream>> = BTreeMap::new();
    let mut is_reserved = false;
    for index in 0..sectors.count() {
        let Some(head) = sectors.subheader(index).filter(|head| head.is_sound()) else {
            continue;
        };
        if head.coding & RESERVED != 0 && !is_reserved {
            is_reserved = true;
            let coding = head.coding;
            let text = format!("sector {index}: coding {coding:#04x} has bits without a meaning");
            warnings.push(text);
        }
        let coding = head.coding & KNOWN;
        let sounds = streams
            .entry([head.file, head.channel, coding])
            .or_default();
        let has_end = head.submode & END != 0;
        match sounds.last_mut() {
            Some(stream) if !stream.has_end => {
                stream.sectors.push(index as u32);
                stream.has_end = has_end;
            }
            _ => sounds.push(Stream {
                file: head.file,
                channel: head.channel,
                coding,
                shares_channel: false,
                number: None,
                sectors: vec![index as u32],
                has_end,
            }),
        }
    }
    let is_heard = |stream: &Stream| {
        stream
            .sectors
            .iter()
            .any(|&index| !is_silent(sectors, index))
    };
    if streams.values().flatten().any(is_heard) {
        streams
            .values_mut()
            .for_each(|sounds| sounds.retain(is_heard));
        streams.retain(|_, sounds| !sounds.is_empty());
    }
    let mut codings: BTreeMap<[u8; 2], usize> = BTreeMap::new();
    for &[file, channel, _] in streams.keys() {
        *codings.entry([file, channel]).or_default() += 1;
    }
    for sounds in streams.values_mut() {
        let is_several = sounds.len() > 1;
        for (number, stream) in (1..).zip(sounds) {
            let codings = codings.get(&[stream.file, stream.channel]);
            stream.shares_channel = codings > Some(&1);
            stream.number = is_several.then_some(number);
        }
    }
    streams.into_values().flatten().collect()
}

/// Returns whether a sector after silence is silent.
fn is_silent(sectors: &Sectors, index: u32) -> bool {
    let groups = sectors.data(index as usize).as_chunks::<GROUP>().0;
    let mut groups = groups.iter().take(GROUPS);
    groups.all(|group| group[PARAMETERS..].iter().all(|&byte| byte == 0))
}

impl Stream {
    /// Returns the name of its WAV file.
    pub fn name(&self) -> String {
        let mut name = format!("{:03}_{:02}", self.file, self.channel);
        if self.shares_channel {
            name += &format!("_{:02x}", self.coding);
        }
        if let Some(number) = self.number {
            name += &format!("-{number:02}");
        }
        name + ".wav"
    }

    /// Returns the bits of a sample: 4 or 8.
    pub fn bits(&self) -> u8 {
        if self.coding & WIDE != 0 { 8 } else { 4 }
    }

    /// Returns the samples per second.
    pub fn rate(&self) -> u32 {
        if self.coding & SLOW != 0 {
            18_900
        } else {
            37_800
        }
    }

    fn channels(&self) -> usize {
        if self.coding & STEREO != 0 { 2 } else { 1 }
    }

    fn units(&self) -> usize {
        if self.bits() == 8 { 4 } else { 8 }
    }

    /// Returns the number of samples per channel in each sector.
    pub fn samples_of_sector(&self) -> usize {
        GROUPS * self.units() * SAMPLES / self.channels()
    }

    /// Returns the distinct distances between its sectors, in ascending order.
    pub fn distances(&self) -> Vec<u32> {
        let distances = self.sectors.windows(2).map(|pair| pair[1] - pair[0]);
        let mut distances: Vec<u32> = distances.collect();
        distances.sort_unstable();
        distances.dedup();
        distances
    }

    /// Returns the properties of its WAV file.
    pub fn wav(&self) -> Wav {
        let samples = self.sectors.len() * self.samples_of_sector();
        Wav {
            channels: self.channels() as u16,
            rate: self.rate(),
            samples: u32::try_from(samples).unwrap_or(u32::MAX),
            loops: None,
        }
    }

    /// Decodes its samples, interleaved.
    pub fn pcm(&self, sectors: &Sectors) -> Vec<i16> {
        let channels = self.channels();
        let count = self.samples_of_sector() * channels * self.sectors.len();
        let mut decoder = Decoder {
            channels,
            is_wide: self.bits() == 8,
            history: [[0; 2]; 2],
            out: Vec::with_capacity(count),
        };
        for &index in &self.sectors {
            let data = sectors.data(index as usize);
            let groups = data.as_chunks::<GROUP>().0.iter().take(GROUPS);
            groups.for_each(|group| decoder.group(group));
        }
        decoder.out
    }
}

/// Decodes groups.
struct Decoder {
    channels: usize,
    is_wide: bool,
    /// The last two samples of each channel.
    history: [[i32; 2]; 2],
    out: Vec<i16>,
}

impl Decoder {
    /// Decodes a group: units of 28 samples, in turn for each channel.
    fn group(&mut self, group: &[u8; GROUP]) {
        let units = if self.is_wide { 4 } else { 8 };
        for first in (0..units).step_by(self.channels) {
            let start = self.out.len();
            self.out.resize(start + SAMPLES * self.channels, 0);
            for channel in 0..self.channels {
                self.unit(group, first + channel, channel, start);
            }
        }
    }

    fn unit(&mut self, group: &[u8; GROUP], unit: usize, channel: usize, start: usize) {
        // With 8 units, the parameters are in the second and the third four bytes.
        let parameter = group[if self.is_wide { unit } else { 4 + unit }];
        let (shift, filter) = (parameter & 15, usize::from(parameter >> 4 & 3));
        // A larger shift is replaced by another one, as in players.
        let shift = match (self.is_wide, shift) {
            (true, 9..) => 8,
            (false, 13..) => 9,
            (_, shift) => shift,
        };
        let [a, b] = FILTERS[filter];
        let [mut h1, mut h2] = self.history[channel];
        for index in 0..SAMPLES {
            let stored = match self.is_wide {
                true => u16::from(group[PARAMETERS + 4 * index + unit]) << 8,
                false => {
                    let byte = group[PARAMETERS + 4 * index + unit / 2];
                    u16::from(byte >> (4 * (unit % 2)) & 15) << 12
                }
            };
            let value = i32::from(stored as i16) >> shift;
            let predicted = (h1 * a + h2 * b + 32) >> 6;
            let sample = (value + predicted).clamp(i16::MIN.into(), i16::MAX.into());
            (h2, h1) = (h1, sample);
            self.out[start + index * self.channels + channel] = sample as i16;
        }
        self.history[channel] = [h1, h2];
    }
}

#[cfg(test)]
mod tests {
    use super::super::sector::tests::sector;
    use super::*;

    fn find(sectors: &[Vec<u8>]) -> (Sectors, Vec<Stream>, Warnings) {
        let sectors = Sectors::find(&sectors.concat().into()).unwrap();
        let mut warnings = Warnings::default();
        let streams = streams(&sectors, &mut warnings);
        (sectors, streams, warnings)
    }

    #[test]
    fn a_stream_is_a_file_a_channel_and_a_coding() {
        let heads = [
            [1, 0, 0x64, 0],
            [1, 1, 0x64, 0],
            [1, 0, 0xE4, 0],
            [1, 1, 0x64, 5],
            [1, 0, 0x48, 0],
            [2, 0, 0x64, 0x43],
        ];
        let (_, streams, warnings) = find(&heads.map(|head| sector(head, &[])));
        let names: Vec<_> = streams.iter().map(Stream::name).collect();
        let expected = ["001_00.wav", "001_01_00.wav", "001_01_05.wav", "002_00.wav"];
        assert_eq!(names, expected);
        assert_eq!(streams[0].sectors, [0, 2]);
        assert_eq!(
            (streams[0].distances(), streams[0].has_end),
            (vec![2], true)
        );
        assert_eq!(streams[2].rate(), 18_900);
        assert_eq!(streams[3].wav().channels, 2);
        assert_eq!(warnings.len(), 1);
    }

    #[test]
    fn marks_divide_the_sounds_of_a_channel_and_silence_is_none() {
        let mut group = [0; GROUP];
        (group[PARAMETERS], group[4]) = (1, 0x20);
        let (more, end) = ([1, 0, 0x64, 0], [1, 0, 0xE4, 0]);
        let (_, streams, _) = find(&[
            sector(more, &group),
            sector(end, &group),
            sector([1, 1, 0xE4, 0], &[]),
            sector(end, &[]),
            sector(more, &group),
            sector(more, &[]),
        ]);
        let sounds = streams
            .iter()
            .map(|one| (one.name(), &one.sectors[..], one.has_end));
        assert_eq!(
            sounds.collect::<Vec<_>>(),
            [
                ("001_00-01.wav".into(), &[0, 1][..], true),
                ("001_00-02.wav".into(), &[4, 5], false)
            ]
        );
    }

    #[test]
    fn units_of_a_group_follow_each_other_or_alternate() {
        let mut group = [0; GROUP];
        // Unit 0 has the low half of the first column, unit 1 the high half.
        (group[PARAMETERS], group[4], group[5]) = (0x21, 0, 4);
        let (sectors, streams, _) = find(&[sector([1, 0, 0x64, 0], &group)]);
        let mono = streams[0].pcm(&sectors);
        assert_eq!((mono[0], mono[SAMPLES]), (0x1000, 0x0200));
        assert_eq!(mono.len(), 4032);
        let (sectors, streams, _) = find(&[sector([1, 0, 0x64, 1], &group)]);
        let stereo = streams[0].pcm(&sectors);
        assert_eq!(stereo[..2], [0x1000, 0x0200]);
        assert_eq!(streams[0].wav().samples, 2016);
        let (sectors, streams, _) = find(&[sector([1, 0, 0x64, 0x10], &group)]);
        assert_eq!(streams[0].pcm(&sectors)[0], 0x2100);
        assert_eq!(streams[0].wav().samples, 2016);
    }

    #[test]
    fn a_sample_is_predicted_from_the_two_before_it() {
        let mut group = [0; GROUP];
        // Filter 2 and shift 0: 0x1000, then only predictions.
        (group[PARAMETERS], group[4]) = (1, 0x20);
        let (sectors, streams, _) = find(&[sector([1, 0, 0x64, 0], &group)]);
        let pcm = streams[0].pcm(&sectors);
        let next = (0x1000 * 115 + 32) >> 6;
        assert_eq!(i32::from(pcm[1]), next);
        assert_eq!(i32::from(pcm[2]), (next * 115 - 0x1000 * 52 + 32) >> 6);
    }
}
