//! From the files of an installer and its data entries to the chunks, and to the wholes
//! that are decoded together.

use std::collections::HashSet;

use super::calls::Filter;
use super::chunk::Chunk;
use super::data::DataEntry;
use super::header::{Compression, Setup};
use super::item::{Bytes, Item, Part};
use super::slices::Data;
use super::sum::Checksum;
use super::whole::{Chunks, Kind, Member, Segment, Whole};
use crate::codec::{MAX_DEFLATE_RATIO, Solid as _};
use crate::io::{Compact as _, Error, Result};

/// Number of bytes that may be decoded in vain for a file of parts: this many, and this
/// many for each of its bytes.
const MAX_VAIN: u64 = 1 << 30;
const MAX_VAIN_RATIO: u64 = 8;

/// The location of a file.
#[derive(Debug)]
pub(super) enum Place {
    /// It is empty.
    Empty,
    /// A member of a whole.
    Member { whole: u32, member: u32 },
    /// It cannot be read.
    Broken(Box<Error>),
}

impl Place {
    /// Returns the memory that it uses beside itself, in bytes.
    pub(super) fn memory(&self) -> usize {
        match self {
            Self::Broken(error) => size_of::<Error>() + error.to_string().len(),
            _ => 0,
        }
    }
}

/// The files of an installer, and the wholes and chunks that contain them.
pub(super) struct Contents {
    pub(super) chunks: Chunks,
    pub(super) wholes: Vec<Whole>,
    /// Location of each file, in the order of the files.
    pub(super) places: Vec<Place>,
}

/// The use of a data entry by files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    None,
    File,
    /// A part of a file that inflates to this size.
    Part(u64),
}

/// Returns the contents of an installer.
pub(super) fn of(setup: &Setup, data: Data, items: &[Item]) -> Contents {
    let mut builder = Builder {
        setup,
        data: &data,
        uses: vec![Use::None; setup.data.len()],
        segments: Vec::new(),
        wholes: Vec::new(),
        chunks: Vec::new(),
    };
    let checked: Vec<Result<()>> = items.iter().map(|item| builder.note(item)).collect();
    builder.make_segments();
    let runs = builder.runs(items);
    let members = builder.make_members(items, &runs);
    let places = (0..)
        .zip(items.iter().zip(checked))
        .map(|(number, (item, checked))| {
            let first = item.location();
            let is_run = first.is_some_and(|first| runs[first as usize] == Some(number));
            let is_member = is_run || matches!(item.bytes, Bytes::Entry(_));
            checked
                .and_then(|()| builder.place(item, is_member, &members))
                .unwrap_or_else(|error| Place::Broken(Box::new(error)))
        });
    let places = places.collect();
    let Builder {
        mut chunks,
        mut wholes,
        ..
    } = builder;
    chunks.compact();
    for whole in &mut wholes {
        whole.segments.compact();
        whole.members.compact();
    }
    Contents {
        chunks: Chunks {
            chunks,
            data: data.source,
        },
        wholes,
        places,
    }
}

struct Builder<'a> {
    setup: &'a Setup,
    data: &'a Data,
    uses: Vec<Use>,
    /// The whole and the number of the segment of each data entry that files use, or why
    /// it cannot be read.
    segments: Vec<Option<Result<(u32, u32)>>>,
    wholes: Vec<Whole>,
    chunks: Vec<Chunk>,
}

impl Builder<'_> {
    /// Returns the error for a data entry, with the offset of its chunk.
    fn damaged(&self, number: u32, problem: impl Into<String>) -> Error {
        let field = format!("chunk of data entry {number}");
        Error::damaged(self.entry(number).chunk, field, problem)
    }

    fn entry(&self, number: u32) -> &DataEntry {
        // Numbers were checked when the file entries were read.
        &self.setup.data[number as usize]
    }

    fn compression(&self, entry: &DataEntry) -> Compression {
        match entry.is_compressed {
            true => self.setup.compression,
            false => Compression::Stored,
        }
    }

    /// Notes which data entries a file uses.
    fn note(&mut self, item: &Item) -> Result<()> {
        match &item.bytes {
            Bytes::Entry(location) => self.note_use(*location, Use::File),
            Bytes::Parts {
                parts, announced, ..
            } => {
                for part in parts {
                    self.note_use(part.location, Use::Part(part.size))?;
                }
                match parts.len() as u64 {
                    count if count < *announced => {
                        let problem = format!("has {count} of {announced} parts");
                        Err(Error::damaged(0, format!("file {}", item.path), problem))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    fn note_use(&mut self, location: u32, wanted: Use) -> Result<()> {
        let entry = self.entry(location);
        if entry.is_encrypted {
            let problem = "is encrypted; `innoextract --password` reads it";
            return Err(Error::Encrypted(problem.to_owned()));
        }
        let end = entry.start.checked_add(entry.size);
        let stored = match self.data.missing {
            None => entry.stored.min(self.data.source.len()),
            Some(_) => entry.stored,
        };
        let most = self.compression(entry).most(stored);
        if end.is_none_or(|end| end > most) {
            let problem = format!("{stored} bytes cannot decode to its file");
            return Err(self.damaged(location, problem));
        }
        if let Use::Part(size) = wanted
            && size > entry.size.saturating_mul(MAX_DEFLATE_RATIO)
        {
            let problem = format!("{} bytes cannot inflate to {size}", entry.size);
            return Err(self.damaged(location, problem));
        }
        match self.uses[location as usize] {
            Use::None => {
                self.uses[location as usize] = wanted;
                Ok(())
            }
            used if used == wanted => Ok(()),
            _ => Err(self.damaged(location, "is used by files in different ways")),
        }
    }

    /// Finds the chunks, and makes a whole of the segments of each.
    fn make_segments(&mut self) {
        self.segments.resize_with(self.setup.data.len(), || None);
        let used = (0..)
            .zip(&self.uses)
            .filter(|(_, used)| **used != Use::None);
        let mut used: Vec<u32> = used.map(|(number, _)| number).collect();
        let chunk_of = |entry: &DataEntry| (entry.first_slice, entry.chunk);
        used.sort_by_key(|&number| {
            let entry = self.entry(number);
            (chunk_of(entry), entry.start, number)
        });
        let setup = self.setup;
        let of = |number: &u32| chunk_of(&setup.data[*number as usize]);
        for numbers in used.chunk_by(|one, next| of(one) == of(next)) {
            self.make_whole(numbers);
        }
    }

    /// Makes the whole of a chunk with these data entries, in the order of their offsets.
    fn make_whole(&mut self, numbers: &[u32]) {
        let first = self.entry(numbers[0]);
        let data = self.data;
        let Some(offset) = data.offset_of(first.first_slice, first.chunk) else {
            let slice = match &data.missing {
                Some(name) => format!("{name}, which"),
                None => format!("slice {}, which", first.first_slice),
            };
            for &number in numbers {
                let problem = format!("is in {slice} is missing");
                let error = self.damaged(number, problem);
                self.segments[number as usize] = Some(Err(error));
            }
            return;
        };
        let mut chunk = Chunk::new(offset, first.stored, self.compression(first));
        let mut whole = Whole::new(offset);
        let mut position = 0_u64;
        for &number in numbers {
            let entry = self.entry(number);
            let (kind, size) = match self.uses[number as usize] {
                Use::Part(size) => (Kind::Deflated, size),
                // The filter is part of the compression.
                _ if entry.is_filtered && entry.is_compressed => {
                    (Kind::Filtered(Filter::of(self.setup.version)), entry.size)
                }
                _ => (Kind::Plain, entry.size),
            };
            let end = match entry.start >= chunk.decoded {
                true => position.checked_add(size).ok_or("ends after any offset"),
                false => Err("overlaps another one"),
            };
            let place = (self.wholes.len() as u32, whole.segments.len() as u32);
            let place = end.map(|end| {
                whole.segments.push(Segment {
                    chunk: self.chunks.len() as u32,
                    offset: entry.start,
                    length: entry.size,
                    start: position,
                    size,
                    kind,
                });
                position = end;
                // The sum was checked.
                chunk.decoded = entry.start + entry.size;
                place
            });
            let place = place.map_err(|problem| self.damaged(number, problem));
            self.segments[number as usize] = Some(place);
        }
        self.chunks.push(chunk);
        self.wholes.push(whole);
    }

    /// Returns the number of the file that each data entry is a part of. Only files whose
    /// parts are one after another in a whole count: they can be members of it.
    fn runs(&self, items: &[Item]) -> Vec<Option<u32>> {
        let mut runs: Vec<Option<u32>> = vec![None; self.setup.data.len()];
        for (number, item) in (0..).zip(items) {
            let Bytes::Parts { parts, .. } = &item.bytes else {
                continue;
            };
            let places = parts.iter().map(|part| {
                let location = part.location as usize;
                match &self.segments[location] {
                    Some(Ok(place)) if runs[location].is_none() => Some(*place),
                    _ => None,
                }
            });
            let is_run = places.collect::<Option<Vec<_>>>().is_some_and(|places| {
                places.is_sorted_by(|(whole, segment), next| *next == (*whole, segment + 1))
            });
            for part in parts.iter().filter(|_| is_run) {
                runs[part.location as usize] = Some(number);
            }
        }
        runs
    }

    /// Makes members of the segments, and returns the number of the member that contains
    /// each data entry.
    fn make_members(&mut self, items: &[Item], runs: &[Option<u32>]) -> Vec<u32> {
        let mut entries: Vec<(u32, u32, usize)> = Vec::new();
        for (entry, place) in self.segments.iter().enumerate() {
            if let Some(Ok((whole, segment))) = place {
                entries.push((*whole, *segment, entry));
            }
        }
        entries.sort_unstable();
        let mut members = vec![0; self.setup.data.len()];
        let mut last = None;
        for (number, segment, entry) in entries {
            let whole = &mut self.wholes[number as usize];
            let end = whole.segments[segment as usize].end_in_whole();
            let run = runs[entry].map(|item| (number, item));
            match whole.members.last_mut() {
                Some(member) if run.is_some() && last == run => member.end = end,
                _ => {
                    let sum = match (runs[entry], self.uses[entry]) {
                        (Some(item), _) => items[item as usize].bytes.sum().cloned(),
                        (None, Use::File) => Some(self.setup.data[entry].checksum.clone()),
                        // A part of a file that has a whole of its own.
                        (None, _) => None,
                    };
                    whole.members.push(Member::new(end, sum));
                }
            }
            last = run;
            members[entry] = whole.members.len() as u32 - 1;
        }
        members
    }

    /// Returns where a file is, which is the member of a whole, or has a whole of its own.
    fn place(&mut self, item: &Item, is_member: bool, members: &[u32]) -> Result<Place> {
        let Some(location) = item.location() else {
            return Ok(Place::Empty);
        };
        if item.size(|number| self.entry(number).size) == 0 {
            return Ok(Place::Empty);
        }
        let (whole, _) = self.segment(location)?;
        match &item.bytes {
            Bytes::Parts { parts, sum, .. } if !is_member => {
                let own = self.whole_of(parts, sum.clone())?;
                self.wholes.push(own);
                Ok(Place::Member {
                    whole: self.wholes.len() as u32 - 1,
                    member: 0,
                })
            }
            _ => Ok(Place::Member {
                whole,
                member: members[location as usize],
            }),
        }
    }

    /// Returns a whole that is one file, of these parts.
    fn whole_of(&self, parts: &[Part], sum: Option<Checksum>) -> Result<Whole> {
        let mut own = Whole::default();
        let mut position = 0_u64;
        for part in parts {
            let (number, segment) = self.segment(part.location)?;
            let whole = &self.wholes[number as usize];
            if own.segments.is_empty() {
                own = Whole::new(whole.offset);
            }
            let segment = Segment {
                start: position,
                ..whole.segments[segment as usize]
            };
            let end = position.checked_add(segment.size);
            let after_all = || self.damaged(part.location, "ends after any offset");
            position = end.ok_or_else(after_all)?;
            own.segments.push(segment);
        }
        own.members.push(Member::new(position, sum));
        match self.is_soon_decoded(&own) {
            true => Ok(own),
            false => {
                let problem = "would be decoded again and again for the parts of a file";
                Err(self.damaged(parts[0].location, problem))
            }
        }
    }

    /// Returns whether decoding the segments of a file goes back in its chunks so seldom
    /// that it takes not much longer than to decode each of them once.
    fn is_soon_decoded(&self, file: &Whole) -> bool {
        let mut opened = HashSet::new();
        let (mut once, mut decoded) = (0_u64, 0_u64);
        let mut last = None;
        for segment in &file.segments {
            let chunk = &self.chunks[segment.chunk as usize];
            let end = segment.offset.saturating_add(segment.length);
            // Another chunk, or what precedes, is decoded from the start.
            let start = match last.replace((segment.chunk, end)) {
                Some((last, end)) if last == segment.chunk && end <= segment.offset => end,
                _ => 0,
            };
            if chunk.compression != Compression::Stored {
                decoded = decoded.saturating_add(end - start);
                if opened.insert(segment.chunk) {
                    once = once.saturating_add(chunk.decoded);
                }
            }
        }
        // Chunks may overlap.
        let once = once.min(self.setup.compression.most(self.data.source.len()));
        let vain = file.size().saturating_mul(MAX_VAIN_RATIO);
        decoded <= once.saturating_add(vain).saturating_add(MAX_VAIN)
    }

    fn segment(&self, location: u32) -> Result<(u32, u32)> {
        let segment = self.segments[location as usize].clone();
        segment.unwrap_or_else(|| Err(self.damaged(location, "is not used")))
    }
}
