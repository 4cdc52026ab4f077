//! The bytes of a changed file.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::encode::encoded;
use super::table::{Place, Row};
use crate::gaf::parse::{REFERENCE_SIZE, SEQUENCE_SIZE};
use crate::gaf::{self, Frame, Gaf, Picture, PixelFormat, Pixels, export};
use crate::pal::colors::Colors;
use hpimount_assets::model::{Reservation, png, quality};
use hpimount_assets::view::AssetKey;
use hpimount_assets::view::import::{AllEdits, Changed};
use hpimount_containers::text::windows_1252_byte;

/// Offset of the pointers to the sequences.
const SEQUENCES: usize = 12;

/// Bytes of a frame.
const FRAME_SIZE: usize = 24;

/// Offsets in a frame of its fields.
const ORIGIN_X: usize = 4;
const ORIGIN_Y: usize = 6;
const KEY: usize = 8;
const DATA: usize = 16;

/// Offset in a reference of the ticks.
const TICKS: usize = 4;

/// Maximum number of pixels of a new picture. Real ones have a fourth of it.
const MAX_NEW_PIXELS: u64 = 1 << 22;

/// Memory for each pixel of a picture while it is read, in bytes.
const MEMORY_OF_PIXEL: usize = 8;

/// Maximum length of a sequence's name in bytes.
const MAX_NAME: usize = 31;

/// Default values of the first frame of a new sequence.
const NEW: State = State {
    x: 0,
    y: 0,
    ticks: 3,
};
const NEW_KEY: u8 = 9;

/// A frame that is added.
pub(super) struct Added {
    pub(super) place: Place,
    /// The number of the file with its picture.
    pub(super) file: usize,
    pub(super) row: Row,
}

/// A picture in an edited file.
struct NewPicture {
    size: (u16, u16),
    pixels: Vec<[u8; 4]>,
    /// Accounts for the memory of the pixels.
    _memory: Option<Reservation>,
}

/// The place and duration of a frame.
#[derive(Debug, Clone, Copy)]
struct State {
    x: i16,
    y: i16,
    ticks: u32,
}

/// Changes a file.
pub(super) struct Writer<'a> {
    gaf: &'a Gaf,
    edits: &'a AllEdits<'a>,
    colors: Colors,
    changed: Changed,
    /// Offsets of numbers that the table changed, with the new numbers.
    set: HashMap<usize, Vec<u8>>,
    /// Offsets of the frames with new pictures, the files with these, and their numbers
    /// of pixels.
    pictures: BTreeMap<u32, (usize, usize)>,
    /// Number of references in the file to each frame.
    users: HashMap<u32, usize>,
    /// The memory of the appended bytes.
    memory: Vec<Option<Reservation>>,
    /// The offsets and the ticks of the added frames.
    added: BTreeMap<Place, (u32, u32)>,
}

impl<'a> Writer<'a> {
    /// Copies a file with space for this many additional sequences. It is made long
    /// enough for their pointers before anything is appended.
    pub(super) fn new(gaf: &'a Gaf, edits: &'a AllEdits<'a>, new_sequences: usize) -> Self {
        let mut asset = edits.asset.to_vec();
        if new_sequences > 0 {
            let end = SEQUENCES + 4 * (gaf.sequences.len() + new_sequences);
            asset.resize(asset.len().max(end), 0);
        }
        let mut users = HashMap::new();
        for reference in gaf.sequences.iter().flat_map(gaf::Sequence::frames) {
            *users.entry(reference.frame).or_default() += 1;
        }
        Self {
            gaf,
            edits,
            colors: Colors::of_sprite(edits.context),
            changed: Changed {
                asset,
                ..Changed::default()
            },
            set: HashMap::new(),
            pictures: BTreeMap::new(),
            users,
            memory: Vec::new(),
            added: BTreeMap::new(),
        }
    }

    /// Writes the values of a row of the table.
    pub(super) fn set(&mut self, place: Place, row: &Row) -> Result<(), String> {
        let (reference, frame) = self.frame(place)?;
        let at = frame.offset as usize;
        let number = |at, bytes: Option<Vec<u8>>| bytes.map(|bytes| (at, bytes));
        let ticks = reference.stored_at as usize + TICKS;
        let numbers = [
            number(at + ORIGIN_X, row.x.map(|x| x.to_le_bytes().to_vec())),
            number(at + ORIGIN_Y, row.y.map(|y| y.to_le_bytes().to_vec())),
            number(at + KEY, row.key.map(|key| vec![key])),
            number(ticks, row.ticks.map(|ticks| ticks.to_le_bytes().to_vec())),
        ];
        for (at, bytes) in numbers.into_iter().flatten() {
            self.put(at..at + bytes.len(), &bytes)?;
            if self
                .set
                .insert(at, bytes.clone())
                .is_some_and(|other| other != bytes)
            {
                return Err("is stored once with another frame, whose row differs".to_owned());
            }
        }
        Ok(())
    }

    /// Writes a new picture of a frame.
    pub(super) fn replace(&mut self, place: Place, file: usize) -> Result<(), String> {
        let (_, frame) = self.frame(place)?;
        let NewPicture { size, pixels, .. } = &self.picture(file)?;
        let old = decoded(self.gaf, &frame);
        let indexed = match &old.pixels {
            Pixels::Indexed(indexed) => Some(indexed.clone()),
            Pixels::Rgba(_) => None,
        };
        let is_same_size = *size == (frame.width, frame.height);
        let shown = export::sprite(old, &self.colors.palette);
        if is_same_size && shown.is_some_and(|shown| shown.rgba() == *pixels) {
            return Ok(());
        }
        if let Some(&(other, _)) = self.pictures.get(&frame.offset) {
            let other = self.picture(other)?;
            return match (&other.size, &other.pixels) == (size, pixels) {
                true => Ok(()),
                false => Err("is stored once with another frame, whose picture differs".to_owned()),
            };
        }
        let Some(format) = frame.pixel_format() else {
            let layers = frame.layers;
            return Err(format!(
                "shows a frame of {layers} layers, which no picture of the whole can replace"
            ));
        };
        if !is_same_size && self.is_texture() {
            let (width, height) = (frame.width, frame.height);
            return Err(format!(
                "has {}x{} pixels, must have {width}x{height}: models show the whole texture",
                size.0, size.1
            ));
        }
        let at = frame.offset as usize;
        let key = self.changed.asset[at + KEY];
        let indexed = indexed.filter(|_| is_same_size);
        let data = encoded(
            format,
            key,
            (size.0, pixels),
            indexed.as_ref(),
            &self.colors,
            &mut self.changed.warnings,
        )?;
        let data = self.append(&data)?;
        self.put(at..at + 2, &size.0.to_le_bytes())?;
        self.put(at + 2..at + 4, &size.1.to_le_bytes())?;
        self.put(at + DATA..at + DATA + 4, &data.to_le_bytes())?;
        let users = self.users.get(&frame.offset).copied();
        if let Some(users) = users.filter(|&users| users > 1) {
            let text = format!("the frame is shown in {users} places, and changes in all of them");
            self.changed.warnings.push(text);
        }
        self.pictures.insert(frame.offset, (file, pixels.len()));
        Ok(())
    }

    /// Appends a frame to its sequence.
    pub(super) fn add(&mut self, added: &Added) -> Result<(), String> {
        let (sequence, number) = added.place;
        let first = self.frame((sequence, 0)).map(|(_, frame)| frame);
        let (format, key) = match (&first, self.is_texture()) {
            (Ok(first), _) => (first.pixel_format().unwrap_or(PixelFormat::Rle), first.key),
            (Err(_), _) if self.gaf.is_packed() => (PixelFormat::Packed, NEW_KEY),
            (Err(_), true) => (PixelFormat::Raw, NEW_KEY),
            (Err(_), false) => (PixelFormat::Rle, NEW_KEY),
        };
        let key = added.row.key.unwrap_or(key);
        let before = number
            .checked_sub(1)
            .and_then(|before| self.state((sequence, before)));
        let before = before.unwrap_or(NEW);
        let (x, y) = (
            added.row.x.unwrap_or(before.x),
            added.row.y.unwrap_or(before.y),
        );
        let NewPicture { size, pixels, .. } = &self.picture(added.file)?;
        let colors = &self.colors;
        let warnings = &mut self.changed.warnings;
        let data = encoded(format, key, (size.0, pixels), None, colors, warnings)?;
        let offset = self.append(&[])?;
        let data_at = offset + FRAME_SIZE as u32;
        let mut header = Vec::with_capacity(FRAME_SIZE);
        for part in [size.0, size.1, x as u16, y as u16] {
            header.extend(part.to_le_bytes());
        }
        header.extend([key, format.number(), 0, 0]);
        for word in [0, data_at, 0] {
            header.extend(word.to_le_bytes());
        }
        self.append(&header)?;
        self.append(&data)?;
        let ticks = added.row.ticks.unwrap_or(before.ticks);
        self.added.insert(added.place, (offset, ticks));
        self.pictures.insert(offset, (added.file, pixels.len()));
        Ok(())
    }

    /// Writes the lists of frames and sequences, and returns the file.
    pub(super) fn finish(
        mut self,
        deleted: &BTreeSet<Place>,
        sequences: &BTreeMap<usize, (usize, String)>,
    ) -> Result<Changed, String> {
        let old = self.gaf.sequences.len();
        self.make_room(sequences.len())?;
        for index in 0..old + sequences.len() {
            let gone = deleted.range((index, 0)..(index + 1, 0)).count();
            let added = self.added.range((index, 0)..(index + 1, 0));
            let added: Vec<(u32, u32)> = added.map(|(_, &frame)| frame).collect();
            if gone == 0 && added.is_empty() {
                continue;
            }
            let old_length = self.gaf.sequences.get(index).map_or(0, gaf::Sequence::len);
            let length = old_length - gone + added.len();
            let count = u16::try_from(length).map_err(|_| "has more than 65535 frames")?;
            let start = self.sequence_at(index);
            if added.is_empty() {
                self.put(start..start + 2, &count.to_le_bytes())?;
                continue;
            }
            let mut list = match sequences.get(&index) {
                Some((_, name)) => new_sequence(&stored_name(name)?),
                None => {
                    let end = start + SEQUENCE_SIZE + REFERENCE_SIZE * (old_length - gone);
                    self.changed.asset[start..end].to_vec()
                }
            };
            list[..2].copy_from_slice(&count.to_le_bytes());
            for (frame, ticks) in added {
                list.extend(frame.to_le_bytes());
                list.extend(ticks.to_le_bytes());
            }
            self.move_sequence(index, &list)?;
        }
        let count = (old + sequences.len()) as u32;
        self.put(4..8, &count.to_le_bytes())?;
        self.check(deleted, sequences.len())?;
        Ok(self.changed)
    }

    /// Relocates the sequences in the space for pointers to new sequences.
    fn make_room(&mut self, count: usize) -> Result<(), String> {
        let start = SEQUENCES + 4 * self.gaf.sequences.len();
        let needed = start..start + 4 * count;
        let overlaps = |range: &Range<usize>| range.start < needed.end && needed.start < range.end;
        for (index, sequence) in self.gaf.sequences.iter().enumerate() {
            let at = sequence.offset as usize;
            let range = at..at + SEQUENCE_SIZE + REFERENCE_SIZE * sequence.len();
            if count > 0 && overlaps(&range) {
                let list = self.changed.asset[range].to_vec();
                self.move_sequence(index, &list)?;
            }
        }
        Ok(())
    }

    /// Returns the offset of a sequence.
    fn sequence_at(&self, index: usize) -> usize {
        let at = SEQUENCES + 4 * index;
        let pointer = self.changed.asset.get(at..at + 4);
        let pointer = pointer.and_then(|bytes| bytes.try_into().ok());
        pointer.map_or(0, u32::from_le_bytes) as usize
    }

    fn move_sequence(&mut self, index: usize, list: &[u8]) -> Result<(), String> {
        let offset = self.append(list)?;
        let at = SEQUENCES + 4 * index;
        self.put(at..at + 4, &offset.to_le_bytes())
    }

    /// Fails if the file does not show the new frames, or if other frames changed.
    fn check(&mut self, deleted: &BTreeSet<Place>, sequences: usize) -> Result<(), String> {
        let overlap = match sequences {
            0 => "shows a file whose parts overlap".to_owned(),
            _ => format!("has no room for the pointers of {sequences} more sequences"),
        };
        let new = gaf::parse(&self.changed.asset.clone().into()).map_err(|_| &*overlap)?;
        let mut seen = HashSet::new();
        let mut edited = Vec::new();
        let mut shown = Vec::new();
        for (index, sequence) in new.sequences.iter().enumerate() {
            for (number, reference) in sequence.frames().enumerate() {
                let old = self
                    .gaf
                    .sequences
                    .get(index)
                    .and_then(|old| old.get(number));
                if !seen.insert((old.map(|old| old.frame), reference.frame)) {
                    continue;
                }
                let after = new.frame(reference).ok();
                let after = after.map(|frame| decoded(&new, &frame));
                if let Some(&(file, count)) = self.pictures.get(&reference.frame) {
                    let sprite =
                        after.and_then(|after| export::sprite(after, &self.colors.palette));
                    let sprite = sprite.map(|sprite| sprite.rgba());
                    let sprite = sprite.filter(|sprite| sprite.len() == count);
                    let is_color = new.frame(reference).is_ok_and(|frame| {
                        frame.pixel_format().is_some_and(PixelFormat::is_true_color)
                    });
                    let sprite = sprite.ok_or(&*overlap)?;
                    if is_color {
                        self.memory.push(self.reserve(8 * sprite.len())?);
                        edited.extend(self.picture(file)?.pixels);
                        shown.extend(sprite);
                    }
                } else if old.is_none_or(|old| self.expected(old) != after) {
                    return Err(overlap);
                }
            }
        }
        let count = |gaf: &Gaf| gaf.sequences.iter().map(gaf::Sequence::len).sum::<usize>();
        if count(&new) != count(self.gaf) + self.added.len() - deleted.len() {
            return Err(overlap);
        }
        self.changed.quality = quality::of_pixels(&edited, &shown);
        Ok(())
    }

    /// Returns the expected picture of an unedited frame, with its new key.
    fn expected(&self, old: gaf::Reference) -> Option<Picture> {
        let mut frame = self.gaf.frame(old).ok()?;
        let is_indexed = frame
            .pixel_format()
            .is_some_and(|format| !format.is_true_color());
        if is_indexed && let Some(key) = self.set.get(&(frame.offset as usize + KEY)) {
            frame.key = key[0];
        }
        Some(decoded(self.gaf, &frame))
    }

    /// Returns an old frame.
    fn frame(&self, (sequence, number): Place) -> Result<(gaf::Reference, Frame), String> {
        let sequence = self.gaf.sequences.get(sequence);
        let reference = sequence.and_then(|sequence| sequence.get(number));
        let reference = reference.ok_or("is no frame of the file")?;
        let frame = self
            .gaf
            .frame(reference)
            .map_err(|error| error.to_string())?;
        Ok((reference, frame))
    }

    /// Returns the current origin and duration of a frame.
    fn state(&self, place: Place) -> Option<State> {
        let asset = &self.changed.asset;
        let short = |at: usize| Some(i16::from_le_bytes(asset.get(at..at + 2)?.try_into().ok()?));
        let (frame, ticks) = match self.added.get(&place) {
            Some(&added) => added,
            None => {
                let (reference, frame) = self.frame(place).ok()?;
                let at = reference.stored_at as usize + TICKS;
                let ticks = asset.get(at..at + 4)?.try_into().ok()?;
                (frame.offset, u32::from_le_bytes(ticks))
            }
        };
        Some(State {
            x: short(frame as usize + ORIGIN_X)?,
            y: short(frame as usize + ORIGIN_Y)?,
            ticks,
        })
    }

    /// Reads the picture in an edited file.
    fn picture(&self, file: usize) -> Result<NewPicture, String> {
        let content = self.edits.files[file]
            .content
            .as_deref()
            .unwrap_or_default();
        let (width, height) =
            png::size(content).map_err(|problem| format!("is not a PNG picture: {problem}"))?;
        let count = u64::from(width) * u64::from(height);
        let size = u16::try_from(width).ok().zip(u16::try_from(height).ok());
        let size = size.filter(|_| count <= MAX_NEW_PIXELS).ok_or_else(|| {
            format!("has {width}x{height} pixels, more than the {MAX_NEW_PIXELS} that are possible")
        })?;
        let memory = self.reserve(MEMORY_OF_PIXEL * count as usize)?;
        let picture = png::read(content, count)
            .map_err(|problem| format!("cannot be read as a PNG picture: {problem}"))?;
        Ok(NewPicture {
            size,
            pixels: picture.into_rgba(),
            _memory: memory,
        })
    }

    /// Returns whether the file contains textures of models.
    fn is_texture(&self) -> bool {
        let context = self.edits.context;
        let own = context.find(AssetKey::Sibling(context.name()));
        let path = own.map(|own| context.path_of(own).to_ascii_lowercase());
        path.is_some_and(|path| path.starts_with("textures/"))
    }

    fn reserve(&self, bytes: usize) -> Result<Option<Reservation>, String> {
        let reserved = self.edits.context.reserve(bytes);
        reserved.map_err(|error| error.to_string())
    }

    /// Appends bytes, and returns their offset.
    fn append(&mut self, bytes: &[u8]) -> Result<u32, String> {
        self.memory.push(self.reserve(bytes.len())?);
        let offset = self.changed.asset.len();
        let offset = u32::try_from(offset).map_err(|_| "makes the file larger than 4 GiB")?;
        self.changed.asset.extend_from_slice(bytes);
        Ok(offset)
    }

    fn put(&mut self, range: Range<usize>, bytes: &[u8]) -> Result<(), String> {
        let place = self.changed.asset.get_mut(range);
        let place = place.ok_or("shows a frame that is not in the file")?;
        place.copy_from_slice(bytes);
        Ok(())
    }
}

/// Returns the picture of a frame, as far as it is readable.
fn decoded(gaf: &Gaf, frame: &Frame) -> Picture {
    gaf.decode(frame).unwrap_or_else(|lost| lost.model)
}

/// Returns a sequence's name in encoded form.
pub(super) fn stored_name(name: &str) -> Result<Vec<u8>, String> {
    let letters = name.chars().map(|letter| {
        let byte = windows_1252_byte(letter);
        byte.ok_or_else(|| format!("has the letter \"{letter}\", which is not in Windows-1252"))
    });
    let name: Vec<u8> = letters.collect::<Result<_, _>>()?;
    match name.len() <= MAX_NAME {
        true => Ok(name),
        false => Err(format!("has a name of more than {MAX_NAME} bytes")),
    }
}

/// Returns a sequence without frames, which loops.
fn new_sequence(name: &[u8]) -> Vec<u8> {
    let mut sequence = vec![0; SEQUENCE_SIZE];
    sequence[2] = 1;
    sequence[8..8 + name.len()].copy_from_slice(name);
    sequence
}
