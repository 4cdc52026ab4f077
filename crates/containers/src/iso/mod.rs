//! ISO 9660 discs, plain and as raw CD images, with names of Rock Ridge or Joliet
//! and files packed by zisofs. The format is described in `docs/formats/iso.md`.

mod apply;
mod directory;
mod record;
mod rock_ridge;
mod susp;
mod zisofs;

pub(crate) use self::apply::{Space, splice};
use std::sync::Arc;

use serde_json::json;

use self::directory::{DirectoryFile, FoundLink, Visit, Walk};
use self::record::{RECORD, Record, le32};
use self::susp::SystemUse;
use self::zisofs::Unpacked;
use crate::changes::Changeable;
use crate::disc::sector::{begins_descriptor, begins_frame, has_frames, has_sectors};
use crate::disc::{
    self, DESCRIPTORS, Disc, Extent, Mode2File, NewFile, SECTOR, Sectors, Wav, XaFile, file_in,
    read_user,
};
use crate::file_type::FileType;
use crate::format::{Ambiguous, Format, Input};
use crate::io::{Error, ReadAt, Result, Warnings, read_vec, undamaged};
use crate::text::has_extension;
use crate::volume::{Name, NodeId, Sink, Volume};

/// The format of ISO 9660 images.
pub const FORMAT: Format = Format {
    name: "ISO 9660",
    extensions: &["iso"],
    ambiguous: &[
        raw_sectors("bin", Some(has_frames), Some("cue")),
        raw_sectors("img", None, None),
        raw_sectors("mdf", None, None),
        user_data("bin", Some("cue")),
        user_data("img", None),
        user_data("mdf", None),
    ],
    types: &[
        FileType::new("application/x-cd-image", None),
        FileType::new("application/vnd.efi.iso", None),
    ],
    matches,
    open,
    change: Some(|input, sink| {
        let disc = disc::open(&input, sink, read)?;
        Ok(Changeable::of_input(disc, input, apply::apply))
    }),
    ..Format::PLAIN
};

/// An extension of images of raw sectors.
const fn raw_sectors(
    extension: &'static str,
    may_have: Option<fn(u64) -> bool>,
    sheet: Option<&'static str>,
) -> Ambiguous {
    Ambiguous {
        extension,
        at: 0,
        begins: begins_frame,
        confirms: None,
        may_have,
        sheet,
    }
}

/// An extension of images of user data alone, which have a volume descriptor.
const fn user_data(extension: &'static str, sheet: Option<&'static str>) -> Ambiguous {
    Ambiguous {
        extension,
        at: DESCRIPTORS * SECTOR,
        begins: begins_descriptor,
        confirms: None,
        may_have: Some(has_sectors),
        sheet,
    }
}

/// Suffixes of the files with the whole contents of a file's sectors: bare, and as
/// players open sounds, movies, and those of Video CDs.
const RAW_SUFFIX: &str = ".raw2336";
const SOUND_SUFFIX: &str = ".cdxa.xa";
const MOVIE_SUFFIX: &str = ".cdxa.str";
const VIDEO_CD_SUFFIX: &str = ".cdxa.dat";

/// All of these suffixes.
pub const SECTOR_SUFFIXES: [&str; 4] = [RAW_SUFFIX, SOUND_SUFFIX, MOVIE_SUFFIX, VIDEO_CD_SUFFIX];

/// Maximum number of volume descriptors.
const MAX_DESCRIPTORS: u64 = 32;

const PRIMARY: u8 = 1;
const SUPPLEMENTARY: u8 = 2;
const TERMINATOR: u8 = 255;

/// Escape sequences of a Joliet descriptor.
const JOLIET: [&[u8]; 3] = [b"%/@", b"%/C", b"%/E"];

fn matches(input: &Input<'_>) -> Result<bool> {
    Ok(disc::data_range(input).is_none() || disc::data_sectors(input)?.is_some())
}

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    disc::open(&input, sink, read)
}

/// Returns whether there is a volume descriptor of ISO 9660.
///
/// # Errors
/// Returns [`Error::Read`] if the source cannot be read.
pub(crate) fn is_in(sectors: &Sectors) -> Result<bool> {
    let id = undamaged(read_vec(sectors, DESCRIPTORS * SECTOR + 1, 5, "identifier"))?;
    Ok(id.is_some_and(|id| id == b"CD001"))
}

/// Returns the volume descriptors from sector `first` on, up to the terminator, with
/// their sectors.
fn volume_descriptors(sectors: &Sectors, first: u64) -> Result<Vec<(u64, Vec<u8>)>> {
    let mut found = Vec::new();
    for number in first..first + MAX_DESCRIPTORS {
        let mut bytes = vec![0; SECTOR as usize];
        match read_user(sectors, number * SECTOR, &mut bytes) {
            Ok(()) if bytes[1..6] == *b"CD001" => {}
            Err(error) if error.is_fault() && sectors.len() >= (number + 1) * SECTOR => {
                return Err(error);
            }
            _ => break,
        }
        let is_last = bytes[0] == TERMINATOR;
        found.push((number, bytes));
        if is_last {
            break;
        }
    }
    Ok(found)
}

/// Returns whether a volume descriptor is Joliet's.
fn is_joliet(descriptor: &[u8]) -> bool {
    descriptor[0] == SUPPLEMENTARY && JOLIET.contains(&&descriptor[88..91])
}

/// The volume descriptors of a disc.
struct Descriptors<'a> {
    /// The descriptor in use: the primary or the Joliet one.
    used: Vec<u8>,
    is_joliet: bool,
    is_xa: bool,
    /// The fields of the records of the tree in use.
    system_use: Option<SystemUse<'a>>,
}

impl<'a> Descriptors<'a> {
    fn read(sectors: &'a Sectors, warnings: &mut Warnings) -> Result<Self> {
        let (mut primary, mut joliet) = (None, None);
        let mut ended = false;
        for (_, bytes) in volume_descriptors(sectors, DESCRIPTORS)? {
            ended = bytes[0] == TERMINATOR;
            match bytes[0] {
                PRIMARY => drop(primary.get_or_insert(bytes)),
                _ if is_joliet(&bytes) => drop(joliet.get_or_insert(bytes)),
                _ => {}
            }
        }
        if !ended {
            warnings.push("the volume descriptors have no terminator");
        }
        let is_xa = primary
            .as_ref()
            .is_some_and(|bytes| bytes[1024..].starts_with(b"CD-XA001"));
        let mut system_use = match &primary {
            Some(primary) => system_use(sectors, primary)?,
            None => None,
        };
        // As in Linux, Rock Ridge is preferred to Joliet.
        if joliet.is_some() {
            system_use = system_use.filter(|fields| fields.is_rock_ridge);
        }
        if system_use.is_some() {
            joliet = None;
        }
        let is_joliet = joliet.is_some();
        let missing = || {
            let offset = DESCRIPTORS * SECTOR;
            Error::damaged(offset, "volume descriptor", "is missing")
        };
        Ok(Self {
            used: joliet.or(primary).ok_or_else(missing)?,
            is_joliet,
            is_xa,
            system_use,
        })
    }

    /// Returns whether the tree has names of Rock Ridge.
    fn is_rock_ridge(&self) -> bool {
        let fields = self.system_use.as_ref();
        fields.is_some_and(|fields| fields.is_rock_ridge)
    }

    fn text(&self, range: std::ops::Range<usize>) -> String {
        let bytes = &self.used[range];
        let text = match self.is_joliet {
            true => encoding_rs::UTF_16BE.decode_without_bom_handling(bytes).0,
            false => crate::text::windows_1252(bytes),
        };
        text.trim_end_matches([' ', '\0']).to_owned()
    }
}

/// Returns the fields of the records of the tree with this descriptor.
fn system_use<'a>(sectors: &'a Sectors, descriptor: &[u8]) -> Result<Option<SystemUse<'a>>> {
    let block = u64::from(u16::from_le_bytes([descriptor[128], descriptor[129]]));
    let root = u64::from(le32(descriptor, 156 + 2)) * block;
    SystemUse::detect(sectors, block, root)
}

/// A visitor that adds the results of the walk to a disc.
struct Adder<'a> {
    disc: &'a mut Disc,
    sectors: &'a Arc<Sectors>,
    sink: &'a mut dyn Sink,
}

impl Visit for Adder<'_> {
    fn directory(
        &mut self,
        parent: NodeId,
        name: Name<'_>,
        modified: Option<i64>,
    ) -> Result<NodeId> {
        self.sink.dir(parent, name, modified)
    }

    fn file(&mut self, file: DirectoryFile<'_>, warnings: &mut Warnings) -> Result<()> {
        if let [Extent { at: Some(at), .. }] = *file.extents
            && file.is_audio
            && let Some(track) = self.disc.audio_at(at / SECTOR)
        {
            let new = NewFile {
                parent: file.parent,
                name: file.name,
                modified: file.modified,
            };
            let memory = size_of::<Wav>();
            self.disc
                .add_source(self.sink, new, Box::new(track), memory)?;
            return Ok(());
        }
        if let Some((sectors, extent)) = self.in_other_track(&file) {
            if let Some(raw) = raw(&sectors, &file, extent) {
                self.add_whole(&file, raw)?;
            }
            let bytes = file_in(&sectors, &[extent]);
            let memory = size_of::<Sectors>() + bytes.memory();
            let new = NewFile {
                parent: file.parent,
                name: file.name,
                modified: file.modified,
            };
            self.disc
                .add_source(self.sink, new, Box::new(bytes), memory)?;
            return Ok(());
        }
        if !self.sectors.contain(file.extents) {
            let text = "extends past the end of the image";
            warnings.push(format!("/{}{}: {text}", file.directory, file.name.text));
        }
        if let [extent] = *file.extents
            && let Some(raw) = raw(self.sectors, &file, extent)
        {
            self.add_whole(&file, raw)?;
        }
        let size = file.extents.iter().map(|extent| extent.length).sum();
        let unpacked = self.unpacked(&file, warnings);
        let new = NewFile {
            parent: file.parent,
            name: file.name,
            modified: file.modified,
        };
        let node = match unpacked {
            Some(bytes) => {
                let memory = bytes.memory();
                let bytes = Box::new(bytes);
                self.disc.add_source(self.sink, new, bytes, memory)?
            }
            None => {
                let extents = (self.sectors, file.extents);
                self.disc.add_extents(self.sink, new, extents, size)?
            }
        };
        if let Some(mode) = file.permissions {
            self.sink.permissions(node, mode);
        }
        Ok(())
    }

    fn link(&mut self, link: FoundLink<'_>) -> Result<()> {
        self.sink
            .text_link(link.parent, link.name, link.target, link.modified)
    }
}

impl Adder<'_> {
    /// Returns a packed file as it was before it was packed.
    fn unpacked(&self, file: &DirectoryFile<'_>, warnings: &mut Warnings) -> Option<Unpacked> {
        let packed = file_in(self.sectors, file.extents);
        let unpacked = Unpacked::new(packed, file.packing?);
        if unpacked.is_none() {
            let path = format!("/{}{}", file.directory, file.name.text);
            warnings.push(format!(
                "{path}: is packed in an unknown way and shown as it is stored"
            ));
        }
        unpacked
    }

    /// Returns the sectors and the extent of a file in a later data track, as the
    /// movies of Video CDs are.
    fn in_other_track(&self, file: &DirectoryFile<'_>) -> Option<(Arc<Sectors>, Extent)> {
        let [extent] = *file.extents else {
            return None;
        };
        let at = extent
            .at
            .filter(|_| !extent.is_inside(self.sectors.len()))?;
        let (frames, first) = self.disc.data_at(at / SECTOR)?;
        let sectors = Arc::new(self.sectors.of_track(frames));
        let extent = Extent {
            at: Some(at - first * SECTOR),
            ..extent
        };
        extent.is_inside(sectors.len()).then_some((sectors, extent))
    }

    /// Adds the files that show the whole sectors of a file: bare, and as
    /// players open them.
    fn add_whole(&mut self, file: &DirectoryFile<'_>, raw: Mode2File) -> Result<()> {
        if let Some(played) = XaFile::new(&raw) {
            // Players expect one of these extensions.
            let is_sound = has_extension(file.name.text.as_bytes(), "xa");
            let suffix = match is_sound {
                true => SOUND_SUFFIX,
                false if raw.begins_mpeg() => VIDEO_CD_SUFFIX,
                false => MOVIE_SUFFIX,
            };
            self.add_beside(file, suffix, Box::new(played))?;
        }
        self.add_beside(file, RAW_SUFFIX, Box::new(raw))
    }

    /// Adds a file beside another one, with this suffix.
    fn add_beside(
        &mut self,
        file: &DirectoryFile<'_>,
        suffix: &str,
        bytes: Box<dyn ReadAt>,
    ) -> Result<()> {
        let text = format!("{}{suffix}", file.name.text);
        let new = NewFile {
            parent: file.parent,
            name: Name {
                text: text.as_str().into(),
                raw: text.as_bytes(),
                escaped: file.name.escaped,
            },
            modified: file.modified,
        };
        let memory = size_of::<Mode2File>();
        self.disc.add_source(self.sink, new, bytes, memory)?;
        Ok(())
    }
}

/// Returns the whole sectors of a file of Form 2, if the image has them.
fn raw(sectors: &Arc<Sectors>, file: &DirectoryFile<'_>, extent: Extent) -> Option<Mode2File> {
    let is_whole = file.is_form_2 && sectors.has_mode_2();
    let at = extent.at.filter(|_| is_whole)?;
    Mode2File::new(sectors, at, extent.length)
}

/// Reads the directories of a data track.
///
/// # Errors
/// Returns an error if the descriptors or the root directory are damaged, the
/// source cannot be read, or the sink fails.
pub(crate) fn read(
    disc: &mut Disc,
    sectors: &Arc<Sectors>,
    sink: &mut dyn Sink,
    warnings: &mut Warnings,
) -> Result<()> {
    let mut descriptors = Descriptors::read(sectors, warnings)?;
    let used = &descriptors.used;
    let block = u64::from(u16::from_le_bytes([used[128], used[129]]));
    if !matches!(block, 512 | 1024 | 2048) {
        let offset = DESCRIPTORS * SECTOR + 128;
        return Err(Error::damaged(offset, "block size", format!("is {block}")));
    }
    let blocks = used[80..].first_chunk().copied().unwrap_or_default();
    let size = u64::from(u32::from_le_bytes(blocks)) * block;
    if size > sectors.len() {
        warnings.push(format!(
            "the volume has {size} bytes, the image {}: it is cut",
            sectors.len()
        ));
    }
    disc.info = json!({
        "system": descriptors.text(8..40),
        "volume": descriptors.text(40..72),
        "joliet": descriptors.is_joliet,
        "rock_ridge": descriptors.is_rock_ridge(),
        "xa": descriptors.is_xa,
        "size": size,
    });
    let mut odd = |text| warnings.push(format!("root: {text}"));
    let root = Record::parse(&used[156..=156 + RECORD], &mut odd).map_err(|problem| {
        let offset = DESCRIPTORS * SECTOR + 156;
        Error::damaged(offset, "root", problem)
    })?;
    let mut walk = Walk {
        sectors,
        block,
        is_joliet: descriptors.is_joliet,
        system_use: descriptors.system_use.take(),
        warnings,
    };
    let node = sink.root();
    let mut adder = Adder {
        disc,
        sectors,
        sink,
    };
    walk.all(&root, node, &mut adder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a track without sectors.
    pub(super) fn no_sectors() -> Sectors {
        let form = disc::Form::of_step(SECTOR);
        Sectors::new(Arc::new(Vec::new()), form, (0, 0), false)
    }
}
