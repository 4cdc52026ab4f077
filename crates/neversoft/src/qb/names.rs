//! Names for hashes: from the scripts of the same archive, game or folder.

use std::collections::HashMap;

use get_size2::GetSize;

use super::parse::{self, EXTENSION, PACKED_EXTENSION, Qb};
use hpimount_assets::view::context::shared;
use hpimount_assets::view::{AssetContext, AssetRef, Shared};
use hpimount_containers::text::has_extension;

/// Maximum number of bytes of scripts to search for names.
const MAX_BYTES: usize = 64 << 20;

/// Maximum number of names that are kept.
const MAX_NAMES: usize = 1 << 18;

/// The names in all scripts of an archive, game or folder.
#[derive(GetSize)]
struct Names(HashMap<u32, String>);

impl Shared for Names {
    fn memory(&self) -> usize {
        size_of_val(self) + self.get_heap_size()
    }
}

impl Names {
    fn collect(context: &dyn AssetContext) -> Self {
        let mut names = HashMap::new();
        let mut left = MAX_BYTES;
        for file in context.find_extensions("", &[EXTENSION, PACKED_EXTENSION]) {
            let Some(qb) = read(context, file, &mut left) else {
                continue;
            };
            for (hash, name) in qb.names {
                if names.len() < MAX_NAMES {
                    names.entry(hash).or_insert(name);
                }
            }
        }
        Self(names)
    }
}

/// Reads another script, unless the limit is reached.
fn read(context: &dyn AssetContext, file: AssetRef, left: &mut usize) -> Option<Qb> {
    let bytes = context.read(file)?;
    *left = left.checked_sub(bytes.len())?;
    let path = context.path_of(file);
    parse::parse(&bytes, is_packed(&path)).ok()
}

/// Returns whether a file with this name is packed.
pub(super) fn is_packed(name: &str) -> bool {
    has_extension(name.as_bytes(), PACKED_EXTENSION)
}

/// Finds names for hashes without a name in the file itself.
pub(super) fn resolve(qb: &mut Qb, context: &dyn AssetContext) {
    if qb.unnamed.is_empty() {
        return;
    }
    if let Some(names) = shared(context, "names of QB scripts", Names::collect) {
        for (hash, name) in &mut qb.unnamed {
            *name = names.0.get(hash).cloned();
        }
    }
}
