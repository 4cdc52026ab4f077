//! The entries of files: where the installer puts what, and under which conditions.

use super::fields::Fields;
use crate::io::{Error, Result};

/// The location of a file that is not in the installer.
const EXTERNAL: u32 = u32::MAX;

/// Bits of the flags.
const COMPARES_TIMES: u64 = 1 << 7;
const REPLACES_SAME_VERSION: u64 = 1 << 11;
const IGNORES_VERSION: u64 = 1 << 17;
const REPLACES_NEWER: u64 = 1 << 18;
const REPLACES_OTHER_CONTENTS: u64 = 1 << 22;

/// First bit of the flags of the architectures, from 5.1.2 to before 7.0.0.3.
const ARCHITECTURE: u32 = 26;

/// The architectures that a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Architectures {
    pub(super) has_32_bits: bool,
    pub(super) has_64_bits: bool,
}

/// The conditions for replacing a file that has been installed before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Replacement {
    pub(super) compares_times: bool,
    pub(super) same_version: bool,
    pub(super) ignores_version: bool,
    pub(super) newer: bool,
    pub(super) other_contents: bool,
}

/// The entry of a file.
#[derive(Debug, Default)]
pub(super) struct FileEntry {
    /// Path where it is installed, with constants in braces; empty if it is not.
    pub(super) destination: String,
    /// Conditions: components and languages, and calls of functions.
    pub(super) components: String,
    pub(super) languages: String,
    pub(super) check: String,
    pub(super) after_install: String,
    pub(super) before_install: String,
    /// The number of its data entry; `None` if it is not in the installer.
    pub(super) location: Option<u32>,
    pub(super) replacement: Replacement,
    pub(super) architectures: Architectures,
    pub(super) is_uninstaller: bool,
}

impl FileEntry {
    /// Reads an entry of an installer with `data` data entries.
    pub(super) fn read(fields: &mut Fields<'_>, data: u32) -> Result<Self> {
        let version = fields.version();
        fields.skip_strings(1, "source")?;
        let destination = fields.string("destination")?;
        fields.skip_strings(1 + usize::from(version.since(5, 2, 5)), "font")?;
        let components = fields.string("components")?;
        fields.skip_strings(1, "tasks")?;
        let languages = fields.string("languages")?;
        let check = fields.string("check")?;
        let after_install = fields.string("after install")?;
        let before_install = fields.string("before install")?;
        if version.since(6, 5, 0) {
            fields.skip_strings(6, "download")?;
            fields.skip(32 + 1, "verification")?;
        }
        fields.skip(20, "versions of Windows")?;
        let offset = fields.cursor().offset();
        let location = fields.u32("location")?;
        if location != EXTERNAL && location >= data {
            let problem = format!("is {location}; there are {data} data entries");
            return Err(Error::damaged(offset, "location", problem));
        }
        fields.skip(4 + 8 + 2, "attributes")?;
        if version.since_7_0_0_3() {
            fields.u8("architecture")?;
        }
        let flags = fields.flags(count_of_flags(fields), "file flags")?;
        let has = |flag| flags & flag != 0;
        let has_architectures = version.since(5, 1, 2) && !version.since_7_0_0_3();
        Ok(Self {
            destination,
            components,
            languages,
            check,
            after_install,
            before_install,
            location: (location != EXTERNAL).then_some(location),
            replacement: Replacement {
                compares_times: has(COMPARES_TIMES),
                same_version: has(REPLACES_SAME_VERSION),
                ignores_version: has(IGNORES_VERSION),
                newer: has(REPLACES_NEWER),
                other_contents: has(REPLACES_OTHER_CONTENTS),
            },
            architectures: Architectures {
                has_32_bits: has_architectures && has(1 << ARCHITECTURE),
                has_64_bits: has_architectures && has(2 << ARCHITECTURE),
            },
            is_uninstaller: fields.choice(1, "file type")? == 1,
        })
    }
}

/// Returns the number of flags of a file.
fn count_of_flags(fields: &Fields<'_>) -> usize {
    let version = fields.version();
    let counts = [
        ([6, 7, 0], 64),
        ([6, 5, 0], 34),
        ([5, 2, 5], 32),
        ([5, 2, 0], 31),
        ([5, 1, 2], 28),
        ([5, 1, 0], 26),
        ([5, 0, 3], 25),
    ];
    let mut counts = counts.into_iter();
    let found = counts.find(|&([major, minor, patch], _)| version.since(major, minor, patch));
    found.map_or(24, |(_, count)| count)
}
