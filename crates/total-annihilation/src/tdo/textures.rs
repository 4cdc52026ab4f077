//! The textures of models: sequences of the sprites in `textures`, identified
//! by name (FORMATS, TA 4).

use std::collections::HashMap;
use std::sync::Arc;

use crate::gaf;
use crate::gaf::export;
use crate::pal::colors::Colors;
use hpimount_assets::model::{MAX_PIXELS, Picture};
use hpimount_assets::view::context::shared;
use hpimount_assets::view::{AssetContext, AssetRef, Shared};
use hpimount_containers::text::{has_extension, stem};

/// The folder of a mount's textures.
const FOLDER: &str = "textures";

/// The key of the shared index.
const SHARED: &str = "TA textures";

/// Name of the file whose sequences have a frame for each player's color.
const TEAM_COLORS: &str = "logos";

/// Maximum number of indexed textures.
const MAX_TEXTURES: usize = 1 << 16;

/// All textures of a mount.
#[derive(Default)]
struct Index {
    files: Vec<AssetRef>,
    /// By lower-case name: the numbers of the file and of the sequence in it.
    by_name: HashMap<String, (usize, usize)>,
}

impl Shared for Index {
    fn memory(&self) -> usize {
        let names = self.by_name.keys().map(String::capacity);
        let entry = size_of::<(String, (usize, usize))>() + 1;
        size_of_val(self)
            + names.sum::<usize>()
            + self.by_name.capacity() * entry
            + self.files.capacity() * size_of::<AssetRef>()
    }
}

impl Index {
    /// Reads the names of all sequences. The first sequence with a name wins.
    fn new(context: &dyn AssetContext) -> Self {
        let mut index = Self::default();
        for file in context.list(FOLDER) {
            let path = context.path_of(file);
            let extensions = gaf::EXTENSIONS.iter();
            let is_one = extensions
                .copied()
                .any(|extension| has_extension(path.as_bytes(), extension));
            if !is_one {
                continue;
            }
            let Some(gaf) = context.read(file).and_then(|bytes| gaf::parse(&bytes).ok()) else {
                continue;
            };
            let number = index.files.len();
            index.files.push(file);
            for (sequence, found) in gaf.sequences.iter().enumerate() {
                if index.by_name.len() >= MAX_TEXTURES {
                    return index;
                }
                let name = found.name.to_ascii_lowercase();
                index.by_name.entry(name).or_insert((number, sequence));
            }
        }
        index
    }
}

/// The location of a texture.
pub(crate) struct Resolved {
    /// Archive and path of the file.
    pub(crate) file: String,
    /// Number of the sequence in it.
    pub(crate) sequence: usize,
    /// True if its frames are for the players' colors.
    pub(crate) has_team_colors: bool,
    /// The file itself.
    pub(crate) texture_file: AssetRef,
}

/// The textures of a mount for a model.
pub(crate) struct Textures<'a> {
    context: &'a dyn AssetContext,
    index: Option<Arc<Index>>,
}

impl<'a> Textures<'a> {
    /// Returns the textures for an asset, with the index of the mount.
    pub(crate) fn new(context: &'a dyn AssetContext) -> Self {
        Self {
            context,
            index: shared(context, SHARED, Index::new),
        }
    }

    /// Finds a texture.
    pub(crate) fn find(&self, name: &str) -> Option<Resolved> {
        let index = self.index.as_deref()?;
        let &(file, sequence) = index.by_name.get(&name.to_ascii_lowercase())?;
        let texture_file = *index.files.get(file)?;
        let path = self.context.path_of(texture_file);
        let has_team_colors = stem(&path).eq_ignore_ascii_case(TEAM_COLORS);
        Some(Resolved {
            file: match self.context.archive_of(texture_file).as_str() {
                "" => path,
                archive => format!("{archive}:{path}"),
            },
            sequence,
            has_team_colors,
            texture_file,
        })
    }

    /// Returns the first frames of textures, by name. A file is read once for all its
    /// textures. Textures with more than [`MAX_PIXELS`] together are `None`.
    pub(crate) fn pictures(&self, names: &[&str]) -> Vec<Option<Picture>> {
        let mut wanted: HashMap<AssetRef, Vec<(usize, usize)>> = HashMap::new();
        for (number, name) in names.iter().enumerate() {
            if let Some(found) = self.find(name) {
                let of_file = wanted.entry(found.texture_file).or_default();
                of_file.push((number, found.sequence));
            }
        }
        let mut pictures = vec![None; names.len()];
        let mut left = MAX_PIXELS;
        let mut files: Vec<_> = wanted.into_iter().collect();
        files.sort_by_key(|(file, _)| file.0);
        for (file, sequences) in files {
            let Some(gaf) = self
                .context
                .read(file)
                .and_then(|bytes| gaf::parse(&bytes).ok())
            else {
                continue;
            };
            let path = self.context.path_of(file);
            let colors = Colors::of_textures(self.context, file_name(&path));
            for (number, sequence) in sequences {
                let frame = gaf.sequences.get(sequence).and_then(|one| one.get(0));
                let frame = frame.and_then(|reference| gaf.frame(reference).ok());
                pictures[number] = frame.and_then(|frame| {
                    left = left.checked_sub(frame.pixels())?;
                    let decoded = gaf.decode(&frame).unwrap_or_else(|lost| lost.model);
                    export::sprite(decoded, &colors.palette)
                });
            }
        }
        pictures
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
