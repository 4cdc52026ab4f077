//! Files that are made of many assets of one archive, merged game or folder:
//! tables that compare them, lists of what is missing, a whole level.

use std::io::{self, Write};

use super::{AssetContext, heavy_iron, ta};

/// A file in the root of a converted tree that is made of many assets.
///
/// The context that it is given is that of the tree's root: it has no asset
/// and no siblings, paths are meant from that root, and ids and types are those
/// of the archive.
pub struct Report {
    /// Its path from the root of the converted tree: `tables/units.tsv`.
    pub path: &'static str,
    /// Whether the tree has it, from the names and types of the entries alone:
    /// nothing is read.
    pub applies: fn(&dyn AssetContext) -> bool,
    /// Writes it, the same bytes whenever it is asked. What can be long is
    /// written piece by piece.
    ///
    /// # Errors
    /// Those of the output, which end the rendering at once.
    pub render: fn(&dyn AssetContext, &mut dyn Write) -> io::Result<()>,
}

/// The reports that there are.
pub const REPORTS: &[&[Report]] = &[heavy_iron::report::REPORTS, ta::tables::REPORTS];
