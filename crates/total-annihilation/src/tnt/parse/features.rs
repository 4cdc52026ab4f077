//! The table of features (FORMATS, TA 6).

use bytes::Bytes;
use get_size2::GetSize;

use crate::pointer::{Pointer, u32_at};
use hpimount_assets::parse::name;
use hpimount_containers::io::{Error, Result, Warnings};

/// Bytes of the number of a feature.
const INDEX_SIZE: usize = 4;

/// Bytes of its name.
pub const NAME_SIZE: usize = 128;

/// Bytes of both.
const FEATURE_SIZE: usize = INDEX_SIZE + NAME_SIZE;

/// Maximum number of features of a map.
const MAX_FEATURES: u32 = 65535;

/// Names of features of a map.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Features {
    /// Absolute offset of the table.
    offset: usize,
    #[get_size(ignore)]
    pub(super) table: Bytes,
}

/// A feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// Number as stored; it should be its index in the table.
    pub index: u32,
    /// Name, which refers to a section of a TDF file.
    pub name: String,
    /// Number of nonzero bytes after the NUL of the name.
    pub junk_after_nul: usize,
}

impl Features {
    /// Reads the table. `count` was read at `count_offset`.
    pub(super) fn read(
        file: &Bytes,
        pointer: Pointer,
        count: u32,
        count_offset: u64,
        warnings: &mut Warnings,
    ) -> Result<Self> {
        if count > MAX_FEATURES {
            let problem = format!("is {count}, more than {MAX_FEATURES}");
            return Err(Error::damaged(count_offset, "feature count", problem));
        }
        let table = pointer.items(file, count.into(), FEATURE_SIZE)?;
        let offset = pointer.target as usize;
        let features = Self { offset, table };
        let numbers = features.iter().enumerate();
        let misplaced = numbers.filter(|(number, feature)| feature.index as usize != *number);
        match misplaced.count() {
            0 => {}
            count => warnings.push(format!(
                "{count} features have a number other than their index"
            )),
        }
        Ok(features)
    }

    /// Returns the number of features.
    pub fn len(&self) -> usize {
        self.table.len() / FEATURE_SIZE
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Returns the feature with this number.
    pub fn get(&self, number: usize) -> Option<Feature> {
        let start = number.checked_mul(FEATURE_SIZE)?;
        let bytes = self.table.get(start..start.checked_add(FEATURE_SIZE)?)?;
        let name = &bytes[INDEX_SIZE..];
        Some(Feature {
            index: u32_at(bytes, 0)?,
            name: name::until_nul(name),
            junk_after_nul: name::junk_after_nul(name),
        })
    }

    /// Returns the offset of the name of the feature with this number.
    pub fn name_offset(&self, number: usize) -> usize {
        self.offset + number * FEATURE_SIZE + INDEX_SIZE
    }

    /// Returns all features, in their order.
    pub fn iter(&self) -> impl Iterator<Item = Feature> {
        (0..self.len()).filter_map(|number| self.get(number))
    }
}
