//! Sound headers in the forms of the consoles.

use std::sync::Arc;

use hpimount_record::{Pad, Record};

use super::dsp::DspHeader;
use super::fsb::{Bank, BankSound};
use super::vag::VagHeader;
use hpimount_containers::io::Warnings;

/// The headers of an archive's sounds.
#[derive(Debug, Default)]
pub struct SoundTable {
    /// The headers, in table order.
    pub entries: Vec<Entry>,
    /// Banks of sounds, on GameCube since The Incredibles.
    pub banks: Vec<Bank>,
    /// Warnings.
    pub warnings: Warnings,
}

/// The header of a sound.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The table list that contains it.
    pub kind: SoundKind,
    /// Id of the sound.
    pub asset: u32,
    /// Absolute offset in the table.
    pub offset: u64,
    /// The header in the form of the console.
    pub header: Header,
}

/// The lists of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SoundKind {
    /// A sound that stays in memory: SND.
    Sound,
    /// A sound that is streamed: SNDS.
    Stream,
    /// A sound of a cutscene.
    Cutscene,
}

impl SoundKind {
    /// Returns the name of the list.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sound => "SND",
            Self::Stream => "SNDS",
            Self::Cutscene => "CIN",
        }
    }
}

/// The header of a sound in the form of a console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Header {
    /// GameCube.
    Dsp(DspHeader),
    /// Xbox.
    Xbox(XboxHeader),
    /// PlayStation 2.
    Vag(VagHeader),
    /// GameCube since The Incredibles.
    Bank(BankEntry),
}

/// A sound of a bank as a table entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankEntry {
    /// Number of the bank.
    pub bank: usize,
    /// Number of the sound in the bank.
    pub index: usize,
    /// The sound, with its samples.
    pub sound: Arc<BankSound>,
}

impl Header {
    /// Returns the samples per second, as stored.
    pub fn rate(&self) -> u32 {
        match self {
            Self::Dsp(header) => header.rate,
            Self::Xbox(header) => header.rate,
            Self::Vag(header) => header.rate,
            Self::Bank(entry) => entry.sound.rate,
        }
    }
}

impl SoundTable {
    /// Returns the first header of the sound `asset`.
    pub fn find(&self, asset: u32) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.asset == asset)
    }
}

/// The header of an Xbox sound, which is a WAV header.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Record)]
#[record(table = "../../docs/formats/hip-assets.md")]
pub struct XboxHeader {
    /// 1 for PCM, 0x69 for Xbox ADPCM.
    pub format: u16,
    /// Number of channels.
    pub channels: u16,
    /// Samples per second.
    pub rate: u32,
    /// Bytes per second.
    pub bytes_per_second: u32,
    /// Bytes of a block.
    pub block: u16,
    /// Bits of a sample.
    pub bits: u16,
    /// Size of the extension.
    pub extension: Pad<4>,
    /// Length of the data in bytes.
    pub size: u32,
    /// Id of the sound.
    pub asset: u32,
    /// Bit 0: the sound is a loop.
    pub flags: u32,
}
