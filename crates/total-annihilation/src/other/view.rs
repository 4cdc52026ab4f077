//! Views of scenarios and videos, which are only identified.

use bytes::Bytes;

use crate::other::{Recognized, recognize};
use hpimount_assets::view::page::Page;
use hpimount_assets::view::{AssetContext, Measures, Opened, ViewFormat};
use hpimount_containers::io::Warnings;
use hpimount_record::Value;

/// Scenarios of TA: Kingdoms, and videos of both games.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: &["crt", "zrb", "smk", "bik"],
    ..ViewFormat::new("TA scenario or video", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let recognized = recognize(bytes)?;
    let kind = match recognized {
        Recognized::Scenario { .. } => "scenario",
        Recognized::Smacker(_) => "Smacker video",
        Recognized::Bink => "Bink video",
    };
    let mut page = Page::new(kind, kind, Warnings::default());
    match recognized {
        Recognized::Scenario { units } => page.fact("units", units),
        Recognized::Smacker(video) => page
            .fact("width", video.width)
            .fact("height", video.height)
            .fact("frames", video.frames)
            .fact("seconds_per_frame", Value::Double(video.frame_seconds()))
            .fact("seconds", Value::Double(video.seconds()))
            .measures(|recognized| match recognized {
                Recognized::Smacker(video) => Measures {
                    seconds: Some(video.seconds()),
                    ..Measures::picture(video.width, video.height)
                },
                _ => Measures::default(),
            }),
        Recognized::Bink => &mut page,
    };
    Ok(page.show(recognized, None))
}
