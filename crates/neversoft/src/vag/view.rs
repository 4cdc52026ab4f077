//! View of a VAG file: facts and a WAV.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::json;

use crate::vag::import::import;
use crate::vag::{self, SOUND, Vag};
use hpimount_assets::model::{not_shown, wav};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::damaged::failure;
use hpimount_assets::view::listed::{Listed, ListedView, whole_files};
use hpimount_assets::view::{AssetContext, Failure, Summary, View, ViewFormat, json};

/// Sounds of the PlayStation and PlayStation 2.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: vag::EXTENSIONS,
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::first("wav")])),
    import: Some(import),
    matches: Some(|bytes| vag::is_known(bytes) && vag::parse(bytes).is_ok()),
    ..ViewFormat::new("VAG", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let mut model = vag::parse(bytes).map_err(|error| failure(&FORMAT, bytes, error))?;
    let mut files = whole_files(&[("info.json", info), ("info.txt", page)]);
    match model.wav().length_problem() {
        None => files.push(Listed::whole(SOUND, sound).sized(model.wav().size())),
        Some(problem) => model.warnings.push(not_shown(SOUND, problem)),
    }
    Ok(Box::new(ListedView { model, files }))
}

fn info(vag: &Vag, out: &mut dyn Write) -> io::Result<()> {
    let mut facts = json!({
        "format": FORMAT.name,
        "magic": null,
        "rate": vag.rate,
        "rate_from": if vag.header.is_some() { "header" } else { "assumed" },
    });
    if let Some(header) = &vag.header {
        facts["magic"] = header.magic.as_deref().into();
        facts["version"] = header.version.into();
        facts["interleave"] = header.interleave.into();
        facts["size"] = header.size.into();
        facts["channels_byte"] = header.channels.into();
        facts["name"] = header.name.as_str().into();
        facts["data"] = header.data.into();
    }
    facts["sound"] = json!({
        "channels": vag.channels,
        "rate": vag.rate,
        "samples": vag.samples,
        "loop": vag.loops,
    });
    facts["warnings"] = vag.warnings.texts().into();
    json::write_pretty(&facts, out)
}

fn page(vag: &Vag, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new("VAG sound");
    if let Some(header) = &vag.header {
        page.line("name", &header.name);
    }
    page.line("channels", vag.channels);
    page.line("rate", format_args!("{} Hz", vag.rate));
    let seconds = f64::from(vag.samples) / f64::from(vag.rate);
    page.line("length", format_args!("{seconds:.2} s"));
    if let Some((first, last)) = vag.loops {
        page.line("loop", format_args!("samples {first} to {last}"));
    }
    page.write(&vag.warnings, out)
}

fn sound(vag: &Vag, out: &mut dyn Write) -> io::Result<()> {
    wav::write(&vag.wav(), &vag.pcm(), out)
}
