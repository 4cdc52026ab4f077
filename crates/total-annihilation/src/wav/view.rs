//! View of a sound: its properties. Every program plays the file itself.

use bytes::Bytes;

use crate::wav::{self, Kind, Wav};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::page::Page;
use hpimount_assets::view::{AssetContext, Measures, Opened, ViewFormat, hex};
use hpimount_record::Value;

/// Sounds.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: wav::EXTENSIONS,
    ..ViewFormat::new("WAV", open)
};

/// Code of samples without compression.
const PCM: u16 = 1;

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let (mut wav, error) = so_far(wav::parse(bytes));
    let kind = match wav.kind {
        Kind::Riff => "RIFF",
        Kind::Tmh => "TMH",
    };
    let (samples, seconds) = length(&wav).unzip();
    let warnings = std::mem::take(&mut wav.warnings);
    let mut page = Page::new(FORMAT.name, format!("WAV sound ({kind})"), warnings);
    page.fact("kind", kind);
    if let Some(format) = &wav.format {
        page.record(format);
    }
    page.fact("samples", samples)
        .fact("seconds", seconds.map(Value::Double))
        .measures(|wav: &Wav| Measures {
            seconds: length(wav).map(|(_, seconds)| seconds),
            ..Measures::default()
        })
        .fact(
            "tmh_header",
            wav.tmh_header.as_ref().map(|header| hex(header)),
        )
        .fact("data_offset", wav.data_offset)
        .fact("data_size", wav.data.as_ref().map(Bytes::len))
        .fact("riff_size_excess", wav.riff_size_excess);
    Ok(page.show(wav, error))
}

/// Returns the number of samples of each channel, and the duration, if known.
fn length(wav: &Wav) -> Option<(usize, f64)> {
    let format = wav.format.filter(|format| format.encoding == PCM)?;
    let size = usize::from(format.channels) * usize::from(format.bits.div_ceil(8));
    let samples = wav.data.as_ref()?.len().checked_div(size)?;
    let seconds = samples as f64 / f64::from(format.rate);
    seconds.is_finite().then_some((samples, seconds))
}
