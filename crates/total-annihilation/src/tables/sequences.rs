//! The sequences of all sprite files.

use std::io;

use crate::gaf::{self, Gaf, Sequence};
use hpimount_assets::view::{AssetContext, AssetRef, TableSink};
use hpimount_record::Value;

/// The directories with sprite files.
const FOLDERS: [&str; 2] = ["anims", "textures"];

/// Maximum number of bytes of sprite files to read for the table, ten times as many as
/// a game has.
const MAX_BYTES: u64 = 4 << 30;

const COLUMNS: [&str; 9] = [
    "name", "file", "archive", "number", "frames", "width", "height", "ticks", "loops",
];

/// Returns the sprite files.
pub(super) fn files(context: &dyn AssetContext) -> Vec<AssetRef> {
    let folders = FOLDERS.into_iter();
    let files = folders.flat_map(|folder| context.find_extensions(folder, gaf::EXTENSIONS));
    files.collect()
}

/// Sends the table: name of a sequence, its number in the file, the size of its
/// largest frame, and the total ticks of its frames.
pub(super) fn write(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    out.columns(&COLUMNS)?;
    let mut left = MAX_BYTES;
    for file in files(context) {
        let bytes = context.read(file).filter(|_| left > 0);
        let Some(bytes) = bytes else {
            continue;
        };
        left = left.saturating_sub(bytes.len() as u64);
        let gaf = gaf::parse(&bytes).unwrap_or_else(|lost| lost.model);
        let (path, archive) = (context.path_of(file), context.archive_of(file));
        for (number, sequence) in gaf.sequences.iter().enumerate() {
            let [width, height] = size(&gaf, sequence);
            let ticks = sequence.frames().map(|frame| u64::from(frame.ticks));
            let texts = [&sequence.name, &path, &archive];
            let mut row = texts.map(|text| text.clone().into()).to_vec();
            row.extend([number, sequence.len()].map(Value::from));
            row.extend([width, height].map(Value::from));
            row.extend([ticks.sum::<u64>().into(), sequence.loops().into()]);
            out.row(row)?;
        }
    }
    Ok(())
}

/// Returns the size that all frames of a sequence fit into.
fn size(gaf: &Gaf, sequence: &Sequence) -> [u16; 2] {
    let frames = sequence.frames();
    let frames = frames.filter_map(|reference| gaf.frame(reference).ok());
    frames.fold([0, 0], |[width, height], frame| {
        [width.max(frame.width), height.max(frame.height)]
    })
}
