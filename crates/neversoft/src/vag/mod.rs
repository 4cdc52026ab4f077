//! VAG: sounds of the PlayStation and PlayStation 2 (FORMATS, Neversoft 3), shown as
//! facts and a WAV file.
//!
//! [`parse`](mod@parse) reads the header and finds the extent of the sound.

mod import;
pub mod parse;

pub use self::parse::*;

use bytes::Bytes;
use hpimount_record::Value;

use self::import::import;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::Page;
use hpimount_assets::view::{AssetContext, Measures, Opened, ViewFormat};

/// The file of `X.meta` with the samples.
const SOUND: &str = "sound.wav";

/// Sounds of the PlayStation and PlayStation 2.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: EXTENSIONS,
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::first("wav")])),
    edits: &[Editable::WAV],
    import: Some(import),
    matches: Some(|bytes| is_known(bytes) && parse(bytes).is_ok()),
    ..ViewFormat::new("VAG", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut vag = parse(bytes)?;
    let mut page = Page::new(FORMAT.name, "VAG sound", std::mem::take(&mut vag.warnings));
    match &vag.header {
        Some(header) => page
            .record(header)
            .fact("rate_from", "header")
            .fact("data", header.data()),
        None => page
            .fact("magic", Value::Null)
            .fact("rate", vag.rate)
            .fact("rate_from", "assumed"),
    };
    let loops = vag
        .loops
        .map(|(first, last)| [first, last].into_iter().collect::<Value>());
    page.fact("channels", vag.channels)
        .fact("samples", vag.samples)
        .fact("loop", loops)
        .measures(|vag: &Vag| Measures::sound(vag.samples, vag.rate))
        .wav(SOUND.to_owned(), vag.wav(), Vag::pcm);
    Ok(page.show(vag, None))
}
