//! Views of scenarios and videos, which are only identified.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::other::{Recognized, recognize};
use crate::pal::colors::Colors;
use crate::pal::shown::Shown;
use hpimount_assets::view::listed::whole_files;
use hpimount_assets::view::{AssetContext, Failure, Summary, View, ViewFormat, json};
use hpimount_containers::io::Warnings;

/// Scenarios of TA: Kingdoms, and videos of both games.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: &["crt", "zrb", "smk", "bik"],
    ..ViewFormat::new("TA scenario or video", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let recognized = recognize(bytes).map_err(|error| {
        let partial = json!({});
        Box::new(Failure { error, partial })
    })?;
    let shown = Shown {
        asset: recognized,
        colors: Colors::embedded(),
    };
    Ok(shown.view(whole_files(&[("info.json", info), ("info.txt", page)])))
}

fn kind(recognized: &Recognized) -> &'static str {
    match recognized {
        Recognized::Scenario { .. } => "scenario",
        Recognized::Smacker(_) => "Smacker video",
        Recognized::Bink => "Bink video",
    }
}

/// Converts a frame time to seconds.
fn seconds(frame_time: u64) -> f64 {
    frame_time as f64 / 100_000.0
}

fn info(shown: &Shown<Recognized>, out: &mut dyn Write) -> io::Result<()> {
    let kind = kind(&shown.asset);
    let facts: Value = match &shown.asset {
        Recognized::Scenario { units } => json!({"format": kind, "units": units}),
        Recognized::Smacker(video) => json!({
            "format": kind,
            "width": video.width,
            "height": video.height,
            "frames": video.frames,
            "seconds_per_frame": seconds(video.frame_time),
        }),
        Recognized::Bink => json!({"format": kind}),
    };
    json::write_pretty(&facts, out)
}

fn page(shown: &Shown<Recognized>, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new(kind(&shown.asset));
    match &shown.asset {
        Recognized::Scenario { units } => {
            page.line("units", units);
        }
        Recognized::Smacker(video) => {
            page.line("size", format_args!("{} x {}", video.width, video.height));
            page.line("frames", video.frames);
            let seconds = seconds(video.frame_time) * f64::from(video.frames);
            page.line("length", format_args!("{seconds:.1} s"));
        }
        Recognized::Bink => {}
    }
    page.write(&Warnings::default(), out)
}
