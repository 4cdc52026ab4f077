//! The tracks of a CD in the metadata of a CHD, one text for each.

use crate::image::{CdTrack, FRAME};
use crate::io::{Cursor, Endian, Error, ReadAt, Result, read_vec};

/// Length of the header of an entry, and maximum length of a text.
const ENTRY: u64 = 16;
const MAX_TEXT: u64 = 1024;

/// Maximum number of entries and of tracks.
const MAX_ENTRIES: usize = 1000;
const MAX_TRACKS: usize = 99;

/// Tracks begin at multiples of this number of frames.
const ALIGNMENT: u64 = 4;

/// The kind of track that the texts of a tag describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    /// A track of a CD.
    Cd,
    /// A track of a Dreamcast disc. In early ones samples are little-endian.
    Dreamcast { is_early: bool },
}

const TAGS: [(&[u8; 4], Tag); 4] = [
    (b"CHT2", Tag::Cd),
    (b"CHTR", Tag::Cd),
    (b"CHGD", Tag::Dreamcast { is_early: false }),
    (b"CHGT", Tag::Dreamcast { is_early: true }),
];

/// The start of the next track: its frame in the image, and its sector on the disc.
#[derive(Default)]
struct Next {
    frame: u64,
    sector: u64,
}

/// Returns the tracks that are described from `offset` on; none if it is 0.
pub(super) fn read(source: &dyn ReadAt, mut offset: u64) -> Result<Vec<CdTrack>> {
    let mut tracks = Vec::new();
    let mut next = Next::default();
    for _ in 0..MAX_ENTRIES {
        if offset == 0 {
            return Ok(tracks);
        }
        let header = read_vec(source, offset, ENTRY, "metadata")?;
        let mut fields = Cursor::new(&header, offset, Endian::Big);
        let tag = fields.take(4, "tag")?;
        let tag = TAGS.iter().find(|(known, _)| tag == *known);
        let length = u64::from(fields.u32("length")? & 0xFF_FFFF);
        if let Some((_, tag)) = tag {
            let text = read_vec(source, offset + ENTRY, length.min(MAX_TEXT), "track")?;
            let track = parse(*tag, &text, &mut next);
            let damaged = || Error::damaged(offset + ENTRY, "track", "has no type or no frames");
            if tracks.len() < MAX_TRACKS {
                tracks.push(track.ok_or_else(damaged)?);
            }
        }
        offset = fields.u64("next entry")?;
    }
    let problem = format!("has more than {MAX_ENTRIES} entries");
    Err(Error::damaged(offset, "metadata", problem))
}

/// Returns the track that begins at `next`, which is advanced past it.
fn parse(tag: Tag, text: &[u8], next: &mut Next) -> Option<CdTrack> {
    let text = std::str::from_utf8(text).ok()?;
    let field = |name: &str| {
        let mut words = text.split([' ', '\0']);
        words.find_map(|word| word.strip_prefix(name)?.strip_prefix(':'))
    };
    let number = |name: &str| field(name)?.parse::<u32>().ok();
    let frames = u64::from(number("FRAMES")?);
    // The pregap is in the file if its type begins with V.
    let has_pause = field("PGTYPE").is_some_and(|kind| kind.starts_with('V'));
    let pause = match has_pause {
        true => u64::from(number("PREGAP").unwrap_or(0)).min(frames),
        false => 0,
    };
    // Frames up to the next track of a Dreamcast disc, which are zeros.
    let padding = u64::from(number("PAD").unwrap_or(0)).min(frames - pause);
    let (start, place) = (next.frame, next.sector);
    next.frame = (start + frames).next_multiple_of(ALIGNMENT);
    next.sector += frames;
    let kind = field("TYPE")?;
    Some(CdTrack {
        number: number("TRACK")? as u8,
        is_audio: kind == "AUDIO",
        is_big_endian: tag != Tag::Dreamcast { is_early: true },
        is_mode_2: kind.starts_with("MODE2"),
        silence: match has_pause {
            true => 0,
            false => number("PREGAP").unwrap_or(0).into(),
        },
        place: (tag != Tag::Cd).then_some(place),
        sector: sector(kind),
        first: start * FRAME,
        start: (start + pause) * FRAME,
        end: (start + frames - padding) * FRAME,
    })
}

/// Returns the length of the sectors of a type of track in bytes.
fn sector(kind: &str) -> u16 {
    match kind {
        "MODE1" | "MODE2_FORM1" => 2048,
        "MODE2_FORM2" => 2324,
        "MODE2" | "MODE2_FORM_MIX" => 2336,
        _ => 2352,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracks_follow_one_another_at_every_fourth_frame() {
        let mut next = Next::default();
        let mut track = |text: &str| parse(Tag::Cd, text.as_bytes(), &mut next).unwrap();
        let data = track("TRACK:1 TYPE:MODE1_RAW SUBTYPE:NONE FRAMES:105 PREGAP:0\0");
        assert_eq!((data.number, data.is_audio), (1, false));
        assert_eq!((data.start, data.end), (0, 105 * FRAME));
        assert_eq!((data.place, data.is_big_endian), (None, true));
        let audio = track("TRACK:2 TYPE:AUDIO FRAMES:300 PREGAP:150 PGTYPE:VAUDIO");
        assert_eq!((audio.number, audio.is_audio), (2, true));
        assert_eq!((audio.start, audio.end), (258 * FRAME, 408 * FRAME));
        assert_eq!((audio.first, audio.sector), (108 * FRAME, 2352));
        let last = track("TRACK:3 TYPE:AUDIO FRAMES:2 PREGAP:150 PGTYPE:MODE1");
        assert_eq!((last.first, last.start), (408 * FRAME, 408 * FRAME));
        assert_eq!(track("TRACK:4 TYPE:MODE1 FRAMES:2").sector, 2048);
    }

    #[test]
    fn tracks_of_dreamcast_discs_have_places_and_end_before_their_padding() {
        let mut next = Next::default();
        let early = Tag::Dreamcast { is_early: true };
        let mut track = |text: &str| parse(early, text.as_bytes(), &mut next).unwrap();
        let first = track("TRACK:1 TYPE:MODE1 FRAMES:602 PAD:281 PREGAP:0 PGTYPE:MODE1");
        assert_eq!((first.place, first.end), (Some(0), 321 * FRAME));
        let audio = track("TRACK:2 TYPE:AUDIO FRAMES:44398 PAD:43800 PREGAP:0");
        assert_eq!((audio.place, audio.first), (Some(602), 604 * FRAME));
        assert_eq!(audio.end, (604 + 598) * FRAME);
        assert!(!audio.is_big_endian);
        let data = track("TRACK:3 TYPE:MODE1_RAW FRAMES:9 PAD:4000000000");
        assert_eq!(data.place, Some(45_000));
        assert_eq!(data.end, data.start);
    }

    #[test]
    fn endless_entries_are_refused() {
        let mut bytes = vec![0; 64];
        bytes[16..20].copy_from_slice(b"GDDD");
        bytes[24..32].copy_from_slice(&16_u64.to_be_bytes());
        let error = read(&bytes, 16).unwrap_err().to_string();
        assert!(error.contains("more than 1000"), "{error}");
        assert!(read(&bytes, 1 << 40).is_err());
        assert!(read(&bytes, 0).unwrap().is_empty());
    }
}
