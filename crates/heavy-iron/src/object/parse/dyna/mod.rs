//! DYNA asset types, with the fields of their bodies (FORMATS, HIP assets 6).

mod effects;
mod enemies;
mod first;
mod game_objects;
mod menus;
mod others;

use super::sections::Section;
use super::types::{ENTITY, ENTITY_FLAGS};
use crate::games::Games;
use crate::parts;
use crate::record::{layout, size};

/// A version of a DYNA asset type.
#[derive(Debug)]
pub struct DynaType {
    /// Number in the asset, which is the hash of the name.
    pub number: u32,
    /// Name.
    pub name: &'static str,
    /// The version, if known.
    pub version: Option<u16>,
    /// The games that have it.
    pub games: Games,
    /// The sections after the type number, the version and the handle.
    pub(super) sections: &'static [Section],
}

impl DynaType {
    /// Returns the length of the fields, if it is fixed.
    pub(super) fn size(&self) -> Option<usize> {
        let sizes = self.sections.iter().map(|section| match section {
            Section::Body(layout) => Some(size(layout)),
            _ => None,
        });
        sizes.sum()
    }
}

/// All types, for all versions and games.
pub(crate) fn all_dyna_types() -> impl Iterator<Item = &'static DynaType> {
    let all = [
        first::TYPES,
        effects::TYPES,
        enemies::TYPES,
        game_objects::TYPES,
        menus::TYPES,
        others::TYPES,
    ];
    all.into_iter().flatten()
}

/// Returns the layouts of the type with this number, for all versions and games.
pub fn dyna_types(number: u32) -> impl Iterator<Item = &'static DynaType> {
    all_dyna_types().filter(move |known| known.number == number)
}

/// Declares types: the name, the number if it is not the hash of the name, the version,
/// the games, and the fields in braces or the sections in brackets.
macro_rules! types {
    ($($name:literal $($number:literal)? $(= $version:literal)? $games:ident $body:tt)*) => {
        &[$(DynaType {
            number: $crate::object::parse::dyna::number!($name $($number)?),
            name: $name,
            version: $crate::object::parse::dyna::version!($($version)?),
            games: $games,
            sections: $crate::object::parse::dyna::sections!($body),
        }),*]
    };
}
use types;

macro_rules! number {
    ($name:literal) => {
        hpimount_containers::hip::asset_id($name.as_bytes())
    };
    ($name:literal $number:literal) => {
        $number
    };
}
use number;

macro_rules! version {
    () => {
        None
    };
    ($version:literal) => {
        Some($version)
    };
}
use version;

macro_rules! sections {
    ({ $($fields:tt)* }) => {
        &[$crate::object::parse::sections::fields!($($fields)*)]
    };
    ([$($section:expr),* $(,)?]) => {
        const { &[$($section),*] }
    };
}
use sections;

/// The entity at the start of a type: a complete asset with its own header.
const ENTITY_ASSET: Section = Section::All(&[
    Section::Part(
        "own",
        layout!(own_id: Id, own_base_type: U8, own_link_count: U8, own_flags: U16),
    ),
    Section::Part(parts::ENTITY, ENTITY_FLAGS),
    Section::Part(parts::ENTITY, ENTITY),
]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number_in_all_its_versions() {
        let all = dyna_types(0x4DC4_49FC).chain(dyna_types(0xFABD_B3B3));
        let all: Vec<_> = all.map(|known| (known.name, known.version)).collect();
        let expected = [
            ("game_object:Taxi", Some(1)),
            ("Scene Properties", Some(1)),
            ("Scene Properties", Some(1)),
        ];
        assert_eq!(all, expected);
        assert_eq!(dyna_types(1).count(), 0);
    }
}
