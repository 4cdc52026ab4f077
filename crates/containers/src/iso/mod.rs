//! ISO 9660 discs, plain and as raw CD images, with names of Rock Ridge or Joliet
//! and files packed by zisofs. The format is described in `docs/formats/iso.md`.

mod apply;
mod descriptors;
mod directory;
mod record;
mod rock_ridge;
mod susp;
mod zisofs;

pub(crate) use self::apply::{Space, splice};
use std::sync::Arc;

use serde_json::json;

use self::descriptors::{Descriptor, Descriptors, ROOT_RECORD};
use self::directory::{DirectoryFile, FoundLink, Visit, Walk};
use self::record::{RECORD, Record, le32};
use self::zisofs::Unpacked;
use crate::changes::Changeable;
use crate::disc::sector::{begins_descriptor, begins_frame, has_frames, has_sectors};
use crate::disc::{
    self, DESCRIPTORS, Disc, Extent, Mode2File, NewFile, SECTOR, Sectors, Wav, XaFile, file_in,
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
    let mut descriptors = Descriptors::read(sectors, DESCRIPTORS)?;
    if !descriptors.is_terminated {
        warnings.push("the volume descriptors have no terminator");
    }
    let mut primary = descriptors.trees.iter().filter(|tree| !tree.is_joliet);
    let is_xa = primary.any(Descriptor::is_xa);
    let descriptor = descriptors.trees.swap_remove(descriptors.shown);
    let block = descriptor.block();
    if !matches!(block, 512 | 1024 | 2048) {
        let offset = DESCRIPTORS * SECTOR + 128;
        return Err(Error::damaged(offset, "block size", format!("is {block}")));
    }
    let size = u64::from(le32(&descriptor.bytes, 80)) * block;
    if size > sectors.len() {
        warnings.push(format!(
            "the volume has {size} bytes, the image {}: it is cut",
            sectors.len()
        ));
    }
    disc.info = json!({
        "system": descriptor.text(8..40),
        "volume": descriptor.text(40..72),
        "joliet": descriptor.is_joliet,
        "rock_ridge": descriptor.is_rock_ridge(),
        "xa": is_xa,
        "size": size,
    });
    let mut odd = |text| warnings.push(format!("root: {text}"));
    let root = &descriptor.bytes[ROOT_RECORD..=ROOT_RECORD + RECORD];
    let root = Record::parse(root, &mut odd).map_err(|problem| {
        let offset = DESCRIPTORS * SECTOR + ROOT_RECORD as u64;
        Error::damaged(offset, "root", problem)
    })?;
    let mut walk = Walk {
        sectors,
        block,
        is_joliet: descriptor.is_joliet,
        system_use: descriptor.system_use,
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
