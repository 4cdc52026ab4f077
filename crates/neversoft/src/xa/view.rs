//! View of sounds and movies: facts, a WAV file for each audio stream, and the first
//! picture of a movie.

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::Value;

use super::sector::Sectors;
use super::sound::{Stream, streams};
use super::video::{ASSUMED_SPEED, Still, Video, speed};
use crate::view::rounded;
use hpimount_assets::model::not_shown;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, Measures, Opened, Preview, ViewFormat};
use hpimount_containers::file_type::{FileType, Magic};
use hpimount_containers::io::{Error, Warnings};
use hpimount_containers::text::has_extension;

/// Sounds of the PlayStation.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: &["xa"],
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::first("wav")])),
    matches: Some(|bytes| Sectors::find(bytes).is_ok_and(|sectors| sectors.count() > 0)),
    preview: PREVIEW,
    left_out: &[Editable::new(
        "*.wav",
        "is decoded, and not encoded: make X.cdxa.xa with psxavenc",
    )],
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
    left_out: &[
        Editable::new(
            "*.wav",
            "is decoded, and not encoded: make X.cdxa.str with psxavenc",
        ),
        Editable::new(
            "*.png",
            "is a frame of a movie, which is not encoded: make X.cdxa.str with psxavenc",
        ),
    ],
    ..ViewFormat::new("STR", open)
};

/// Some movies have the extension of sounds.
const PREVIEW: Option<Preview> = Some(Preview::new(3, &["frame.png"]));

/// Maximum number of shown distances between sectors.
const MAX_DISTANCES: usize = 8;

/// A parsed file.
#[derive(GetSize)]
struct Xa {
    sectors: Sectors,
    streams: Vec<Stream>,
    video: Video,
}

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let fail = |error: Error| error;
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
    let xa = Xa {
        sectors,
        streams,
        video,
    };
    let (name, heading) = match xa.video.is_empty() {
        true => (FORMAT.name, "XA sound"),
        false => (MOVIE_FORMAT.name, "STR movie"),
    };
    let mut page = Page::new(name, heading, warnings);
    page.fact("sector_size", xa.sectors.size)
        .fact("sectors", xa.sectors.count());
    if xa.video.is_empty() {
        let used = xa.streams.iter().map(|stream| stream.sectors.len());
        let other = xa.sectors.count() - used.sum::<usize>();
        page.fact("other_sectors", other);
    } else {
        add_movie(&xa, &mut page);
    }
    page.rows("streams", stream_rows).measures(|xa| {
        let sounds = xa.streams.iter().map(Stream::wav);
        Measures {
            pixels: xa.video.size().map(|size| size.map(u32::from)),
            ..sounds
                .map(|wav| Measures::sound(wav.samples, wav.rate))
                .sum()
        }
    });
    if let Some(still) = xa.video.first_whole(&xa.sectors) {
        add_frame(&still, &mut page);
    }
    for (part, stream) in xa.streams.iter().enumerate() {
        page.wav(stream.name(), stream.wav(), move |xa: &Xa| {
            xa.streams[part].pcm(&xa.sectors)
        });
    }
    Ok(page.show(xa, None))
}

fn add_movie(xa: &Xa, page: &mut Page<Xa>) {
    let video = &xa.video;
    let [pictures, sound, other] = video.sectors;
    let [first, last] = video.range().unwrap_or_default();
    let [width, height] = video.size().unwrap_or_default();
    let (speed, from) = match speed(&xa.streams) {
        Some(speed) => (speed, "sound"),
        None => (ASSUMED_SPEED, "assumed"),
    };
    let rate = f64::from(speed) * video.len() as f64 / xa.sectors.count() as f64;
    page.fact("video_sectors", pictures)
        .fact("audio_sectors", sound)
        .fact("other_sectors", other)
        .fact("frames", video.len())
        .fact("whole_frames", video.whole())
        .fact("first_frame", first)
        .fact("last_frame", last)
        .fact("width", width)
        .fact("height", height)
        .fact("sectors_per_second", speed)
        .fact("speed_from", from)
        .fact("frames_per_second", rounded(rate));
}

/// Adds the first frame that is whole.
fn add_frame(still: &Still, page: &mut Page<Xa>) {
    let mut facts: Vec<(_, Value)> = vec![
        ("number".into(), still.number.into()),
        ("bytes".into(), still.bytes.len().into()),
    ];
    if let Some(header) = still.header() {
        facts.extend([
            ("blocks".into(), header.blocks.into()),
            ("magic".into(), header.magic.into()),
            ("quantizer".into(), header.quantizer.into()),
            ("version".into(), header.version.into()),
        ]);
    }
    page.fact("frame", Value::Map(facts));
    if let Err(problem) = still.picture() {
        page.warn(not_shown("frame.png", problem));
        return;
    }
    page.picture("frame.png", |xa: &Xa| {
        xa.video.first_whole(&xa.sectors)?.picture().ok()
    });
}

fn stream_rows(xa: &Xa) -> Rows<'_> {
    let columns = [
        "file",
        "channel",
        "coding",
        "bits",
        "channels",
        "rate",
        "samples",
        "first_sector",
        "sectors",
        "interleave",
        "has_end",
        "name",
    ];
    let rows = xa.streams.iter().map(|stream| {
        let wav = stream.wav();
        let distances = stream.distances().into_iter().take(MAX_DISTANCES);
        [
            stream.file.into(),
            stream.channel.into(),
            stream.coding.into(),
            stream.bits().into(),
            wav.channels.into(),
            wav.rate.into(),
            wav.samples.into(),
            stream.sectors.first().copied().into(),
            stream.sectors.len().into(),
            distances.collect(),
            stream.has_end.into(),
            stream.name().into(),
        ]
    });
    Rows::new(columns, rows)
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
            "file\tchannel\tcoding\tbits\tchannels\trate\tsamples\tfirst_sector\tsectors\t\
             interleave\thas_end\tname\n\
             1\t3\t1\t4\t2\t37800\t2016\t0\t1\t\tfalse\t001_03.wav\n"
        );
    }

    #[test]
    fn sectors_without_sound_or_video_are_refused() {
        let data = sector([1, 0, 8, 0], &[]);
        assert!(open(&data.into(), &Alone).is_err());
    }
}
