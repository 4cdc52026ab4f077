//! View of sounds and movies: facts, a WAV for each stream of sound, and the
//! first picture of a movie.

use std::io::{self, Write};

use bytes::Bytes;
use get_size2::GetSize;
use serde_json::{Value, json};

use super::sector::Sectors;
use super::sound::{Stream, streams};
use super::video::{ASSUMED_SPEED, Video, speed};
use hpimount_assets::model::{not_shown, png, wav};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::damaged::failure;
use hpimount_assets::view::listed::{Listed, ListedView, Render, whole_files};
use hpimount_assets::view::{
    AssetContext, Failure, Preview, Summary, Table, View, ViewFormat, json,
};
use hpimount_containers::file_type::{FileType, Magic};
use hpimount_containers::io::{Error, Warnings};
use hpimount_containers::text::has_extension;

/// Sounds of the PlayStation.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: &["xa"],
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::first("wav")])),
    matches: Some(|bytes| Sectors::find(bytes).is_ok_and(|sectors| sectors.count() > 0)),
    preview: PREVIEW,
    ..ViewFormat::new("XA", open)
};

/// Movies of the PlayStation.
pub const MOVIE_FORMAT: ViewFormat = ViewFormat {
    extensions: &["str"],
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::named(
        "png",
        "frame.png",
    )])),
    matches: FORMAT.matches,
    types: &[FileType {
        magic: &[Magic {
            offset: 0,
            bytes: b"RIFF",
            and: &[Magic::at(8, b"CDXA")],
        }],
        shared_patterns: &["*.str", "*.xa"],
        ..FileType::new("video/x-cdxa", Some("PlayStation movie or sound"))
    }],
    preview: PREVIEW,
    ..ViewFormat::new("STR", open)
};

/// Some movies have the extension of sounds.
const PREVIEW: Option<Preview> = Some(Preview {
    files: &["frame.png"],
    rank: 3,
});

/// Maximum number of distances between sectors that are shown.
const MAX_DISTANCES: usize = 8;

/// A parsed file.
#[derive(GetSize)]
struct Xa {
    sectors: Sectors,
    streams: Vec<Stream>,
    video: Video,
    /// Why the first picture is not shown.
    problem: Option<String>,
    warnings: Warnings,
}

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let fail = |error: Error| failure(&FORMAT, bytes, error);
    let sectors = Sectors::find(bytes).map_err(fail)?;
    let mut warnings = Warnings::default();
    if sectors.rest() > 0 {
        warnings.push(format!("{} bytes follow the last sector", sectors.rest()));
    }
    let streams = streams(&sectors, &mut warnings);
    let video = Video::find(&sectors, &mut warnings);
    let is_movie = has_extension(context.name().as_bytes(), MOVIE_FORMAT.extensions[0]);
    let missing = match (video.is_empty(), streams.is_empty()) {
        (true, _) if is_movie => Some("video"),
        (true, true) => Some("sound or video"),
        _ => None,
    };
    if let Some(missing) = missing {
        let problem = format!("have no {missing}");
        return Err(fail(Error::damaged(sectors.start(), "sectors", problem)));
    }
    let still = video.first_whole(&sectors);
    let problem = still.and_then(|still| still.picture().err());
    let mut model = Xa {
        sectors,
        streams,
        video,
        problem,
        warnings,
    };
    let files = files(&mut model);
    Ok(Box::new(ListedView { model, files }))
}

fn files(xa: &mut Xa) -> Vec<Listed<Xa>> {
    let mut files = whole_files(&[
        ("info.json", info as _),
        ("info.txt", page),
        ("streams.tsv", table),
    ]);
    if xa.video.whole() > 0 && xa.problem.is_none() {
        files.push(Listed::whole("frame.png", frame));
    }
    for (part, stream) in xa.streams.iter().enumerate() {
        let (name, wav) = (stream.name(), stream.wav());
        match wav.length_problem() {
            None => {
                let file = Listed::new(None, name, Render::Part(sound, part));
                files.push(file.sized(wav.size()));
            }
            Some(problem) => xa.warnings.push(not_shown(name, problem)),
        }
    }
    files
}

fn info(xa: &Xa, out: &mut dyn Write) -> io::Result<()> {
    let streams: Vec<Value> = xa.streams.iter().map(stream_facts).collect();
    let mut facts = json!({
        "format": name(xa),
        "sector_size": xa.sectors.size,
        "sectors": xa.sectors.count(),
    });
    if xa.video.is_empty() {
        let used = xa.streams.iter().map(|stream| stream.sectors.len());
        facts["other_sectors"] = (xa.sectors.count() - used.sum::<usize>()).into();
        facts["streams"] = streams.into();
    } else {
        movie_facts(xa, &mut facts);
        if xa.video.sectors[1] > 0 {
            facts["sound"] = streams.into();
        }
    }
    facts["warnings"] = xa.warnings.texts().into();
    json::write_pretty(&facts, out)
}

/// Returns the name of the format.
fn name(xa: &Xa) -> &'static str {
    if xa.video.is_empty() { "XA" } else { "STR" }
}

fn movie_facts(xa: &Xa, facts: &mut Value) {
    let video = &xa.video;
    let [pictures, sound, other] = video.sectors;
    let ([first, last], [width, height]) = (
        video.range().unwrap_or_default(),
        video.size().unwrap_or_default(),
    );
    let speed = speed(&xa.streams);
    let more = json!({
        "video_sectors": pictures,
        "audio_sectors": sound,
        "other_sectors": other,
        "frames": video.len(),
        "whole_frames": video.whole(),
        "first_frame": first,
        "last_frame": last,
        "width": width,
        "height": height,
        "sectors_per_second": speed.unwrap_or(ASSUMED_SPEED),
        "speed_from": if speed.is_some() { "sound" } else { "assumed" },
        "frames_per_second": frame_rate(xa),
    });
    if let (Value::Object(facts), Value::Object(more)) = (&mut *facts, more) {
        facts.extend(more);
    }
    if let Some(still) = video.first_whole(&xa.sectors) {
        let mut frame = json!({ "number": still.number, "bytes": still.bytes.len() });
        if let Some(header) = still.header() {
            frame["blocks"] = header.blocks.into();
            frame["magic"] = header.magic.into();
            frame["quantizer"] = header.quantizer.into();
            frame["version"] = header.version.into();
        }
        if let Some(problem) = &xa.problem {
            frame["error"] = problem.as_str().into();
        }
        facts["frame"] = frame;
    }
}

/// Returns the frames per second, with three digits after the point.
fn frame_rate(xa: &Xa) -> f64 {
    let speed = speed(&xa.streams).unwrap_or(ASSUMED_SPEED);
    let rate = f64::from(speed) * xa.video.len() as f64 / xa.sectors.count() as f64;
    (rate * 1000.0).round() / 1000.0
}

fn stream_facts(stream: &Stream) -> Value {
    let mut distances = stream.distances();
    distances.truncate(MAX_DISTANCES);
    let wav = stream.wav();
    json!({
        "file": stream.file,
        "channel": stream.channel,
        "coding": stream.coding,
        "bits": stream.bits(),
        "first_sector": stream.sectors.first(),
        "sectors": stream.sectors.len(),
        "interleave": distances,
        "has_end": stream.has_end,
        "name": stream.name(),
        "sound": {
            "channels": wav.channels,
            "rate": wav.rate,
            "samples": wav.samples,
            "loop": null,
        },
    })
}

fn page(xa: &Xa, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new(match xa.video.is_empty() {
        true => "XA sound",
        false => "STR movie",
    });
    let (count, size) = (xa.sectors.count(), xa.sectors.size);
    page.line("sectors", format_args!("{count} of {size} bytes"));
    if let Some([width, height]) = xa.video.size() {
        page.line("size", format_args!("{width} x {height}"));
        let (frames, whole) = (xa.video.len(), xa.video.whole());
        page.line("frames", format_args!("{frames} ({whole} whole)"));
        page.line("frame rate", format_args!("{} per second", frame_rate(xa)));
    }
    page.list("sounds", xa.streams.iter().map(Stream::name));
    if let Some(problem) = &xa.problem {
        page.line("first frame", problem);
    }
    page.write(&xa.warnings, out)
}

fn table(xa: &Xa, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "file",
        "channel",
        "bits",
        "channels",
        "rate",
        "samples",
        "first_sector",
        "sectors",
        "interleave",
        "name",
    ];
    let mut table = Table::new(out, &columns)?;
    for stream in &xa.streams {
        let wav = stream.wav();
        let distances = stream.distances();
        let distances = distances.iter().take(MAX_DISTANCES).map(u32::to_string);
        table
            .cell(stream.file)
            .cell(stream.channel)
            .cell(stream.bits())
            .cell(wav.channels)
            .cell(wav.rate)
            .cell(wav.samples)
            .optional(stream.sectors.first())
            .cell(stream.sectors.len())
            .cell(distances.collect::<Vec<_>>().join(" "))
            .cell(stream.name())
            .end_row()?;
    }
    Ok(())
}

fn frame(xa: &Xa, out: &mut dyn Write) -> io::Result<()> {
    let still = xa.video.first_whole(&xa.sectors);
    match still.and_then(|still| still.picture().ok()) {
        Some(picture) => png::write(&picture, out),
        None => Ok(()),
    }
}

fn sound(xa: &Xa, part: usize, out: &mut dyn Write) -> io::Result<()> {
    match xa.streams.get(part) {
        Some(stream) => wav::write(&stream.wav(), &stream.pcm(&xa.sectors), out),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sector::tests::sector;
    use super::super::video::tests::chunk;
    use super::*;
    use hpimount_assets::view::{Alone, rendered_text};

    fn names(bytes: Vec<u8>) -> Vec<String> {
        let view = open(&bytes.into(), &Alone).unwrap();
        let files = view.files().into_iter();
        files.map(|file| file.name).skip(3).collect()
    }

    #[test]
    fn a_movie_has_a_picture_and_its_sounds() {
        let sound = sector([1, 3, 0x64, 1], &[]);
        let movie = [sound.clone(), chunk(0, 1, 1)].concat();
        assert_eq!(names(movie.clone()), ["frame.png", "001_03.wav"]);
        assert_eq!(names(sound), ["001_03.wav"]);
        assert_eq!(
            rendered_text(&FORMAT, &movie, "streams.tsv").unwrap(),
            "file\tchannel\tbits\tchannels\trate\tsamples\tfirst_sector\tsectors\tinterleave\tname\n\
             1\t3\t4\t2\t37800\t2016\t0\t1\t\t001_03.wav\n"
        );
    }

    #[test]
    fn sectors_without_sound_or_video_are_refused() {
        let data = sector([1, 0, 8, 0], &[]);
        assert!(open(&data.into(), &Alone).is_err());
    }
}
