//! UDF, the file system of DVDs and of discs written by Windows: revisions 1.02
//! to 2.01, also beside ISO 9660 on one disc. The format is described in
//! `docs/formats/udf.md`.

mod descriptor;
mod directory;
mod icb;
mod open;
mod partition;
mod text;
mod volume;

use std::sync::Arc;

use self::directory::Walk;
use self::volume::LogicalVolume;
use crate::disc::{self, DESCRIPTORS, Disc, SECTOR, Sectors};
use crate::format::{Format, Input};
use crate::io::{ReadAt, Result, Warnings, read_vec, undamaged};
use crate::iso;
use crate::volume::{Sink, Volume};

/// The format of discs with UDF.
pub const FORMAT: Format = Format {
    name: "UDF",
    extensions: &["iso", "udf"],
    matches,
    open,
    ..Format::PLAIN
};

/// Identifiers of UDF among the volume descriptors from sector 16 on, and of the
/// descriptors that may precede them.
const UDF: [&[u8]; 2] = [b"NSR02", b"NSR03"];
const OTHERS: [&[u8]; 5] = [b"CD001", b"CDW02", b"BEA01", b"BOOT2", b"TEA01"];

/// Maximum number of sectors with volume descriptors.
const MAX_DESCRIPTORS: u64 = 64;

fn matches(input: &Input<'_>) -> Result<bool> {
    let Some(sectors) = disc::data_sectors(input)? else {
        return Ok(false);
    };
    // Of the two file systems of a disc, only ISO 9660 can be changed.
    let is_other = input.options.to_change && iso::is_in(&sectors)?;
    Ok(!is_other && is_in(&sectors)?)
}

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    disc::open(&input, sink, read)
}

/// Returns whether the volume descriptors announce UDF.
fn is_in(sectors: &Sectors) -> Result<bool> {
    for number in DESCRIPTORS..DESCRIPTORS + MAX_DESCRIPTORS {
        let id = undamaged(read_vec(sectors, number * SECTOR + 1, 5, "identifier"))?;
        let Some(id) = id else { break };
        if UDF.contains(&&id[..]) {
            return Ok(true);
        }
        // With larger blocks, each descriptor has a block of its own.
        if !OTHERS.contains(&&id[..]) && id != [0; 5] {
            break;
        }
    }
    Ok(false)
}

/// Reads the file system of a data track: UDF if there is one that is supported,
/// else ISO 9660.
///
/// # Errors
/// Returns an error if neither can be read, or if the sink fails.
pub(crate) fn read(
    disc: &mut Disc,
    sectors: &Arc<Sectors>,
    sink: &mut dyn Sink,
    warnings: &mut Warnings,
) -> Result<()> {
    if !is_in(sectors)? {
        return iso::read(disc, sectors, sink, warnings);
    }
    let volume = match LogicalVolume::open(sectors, warnings) {
        Ok(volume) => volume,
        Err(error) if !error.is_fault() && iso::is_in(sectors)? => {
            warnings.push(format!(
                "the disc is shown as ISO 9660, its UDF cannot be read: {error}"
            ));
            return iso::read(disc, sectors, sink, warnings);
        }
        Err(error) => return Err(error),
    };
    if volume.end() > sectors.len() {
        warnings.push(format!(
            "the partition ends at byte {}, the image at {}: it is cut",
            volume.end(),
            sectors.len()
        ));
    }
    disc.info = volume.info();
    let mut walk = Walk::new(&volume, disc, sink, warnings);
    walk.all()
}
