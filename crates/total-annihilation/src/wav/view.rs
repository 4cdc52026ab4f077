//! View of a sound: its properties. Every program plays the file itself.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::pal::colors::Colors;
use crate::pal::shown::Shown;
use crate::view::failure;
use crate::wav::{self, Kind, Wav};
use hpimount_assets::view::listed::whole_files;
use hpimount_assets::view::{AssetContext, Failure, Summary, View, ViewFormat, hex, json};

/// Sounds.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: wav::EXTENSIONS,
    ..ViewFormat::new("WAV", open)
};

/// Code of samples without compression.
const PCM: u16 = 1;

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let wav = wav::parse(bytes).map_err(|incomplete| failure(*incomplete, facts))?;
    let shown = Shown {
        colors: Colors::embedded(),
        asset: wav,
    };
    Ok(shown.view(whole_files(&[("info.json", info), ("info.txt", page)])))
}

/// Returns the number of samples of each channel, and the duration, if known.
fn length(wav: &Wav) -> Option<(usize, f64)> {
    let format = wav.format.filter(|format| format.encoding == PCM)?;
    let size = usize::from(format.channels) * usize::from(format.bits.div_ceil(8));
    let samples = wav.data.as_ref()?.len().checked_div(size)?;
    let seconds = samples as f64 / f64::from(format.rate);
    seconds.is_finite().then_some((samples, seconds))
}

fn kind(wav: &Wav) -> &'static str {
    match wav.kind {
        Kind::Riff => "RIFF",
        Kind::Tmh => "TMH",
    }
}

fn facts(wav: &Wav) -> Value {
    let (samples, seconds) = length(wav).unzip();
    json!({
        "format": FORMAT.name,
        "kind": kind(wav),
        "encoding": wav.format.map(|format| format.encoding),
        "channels": wav.format.map(|format| format.channels),
        "rate": wav.format.map(|format| format.rate),
        "bits": wav.format.map(|format| format.bits),
        "samples": samples,
        "seconds": seconds,
        "tmh_header": wav.tmh_header.as_ref().map(|header| hex(header)),
        "data_offset": wav.data_offset,
        "data_size": wav.data.as_ref().map(Bytes::len),
        "riff_size_excess": wav.riff_size_excess,
        "warnings": wav.warnings.texts(),
    })
}

fn info(shown: &Shown<Wav>, out: &mut dyn Write) -> io::Result<()> {
    json::write_pretty(&facts(&shown.asset), out)
}

fn page(shown: &Shown<Wav>, out: &mut dyn Write) -> io::Result<()> {
    let wav = &shown.asset;
    let mut page = Summary::new(format_args!("WAV sound ({})", kind(wav)));
    if let Some(format) = wav.format {
        page.line("channels", format.channels);
        page.line("rate", format_args!("{} Hz", format.rate));
        page.line("bits", format.bits);
    }
    if let Some((_, seconds)) = length(wav) {
        page.line("length", format_args!("{seconds:.2} s"));
    }
    page.write(&wav.warnings, out)
}
