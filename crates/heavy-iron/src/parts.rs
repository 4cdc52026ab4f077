//! Parts: records with a name, which objects and shrapnel consist of. Their
//! fields may depend on a number, the kind of the part (FORMATS, HIP assets 6).

use crate::record::{Layout, Record, Rows};

/// The part with the fields of all entities.
pub const ENTITY: &str = "entity";
/// The part with the fields of a type.
pub const BODY: &str = "body";
/// The part with the fields of a DYNA type.
pub const DYNA: &str = "dyna";

/// A record with a name.
#[derive(Debug, Clone)]
pub struct Part {
    /// What its fields describe, such as `body` or `motion`. Several parts of
    /// one name are one, unless they have an `item`.
    pub name: &'static str,
    /// Number among the parts of this name, if they are a list.
    pub item: Option<u16>,
    /// Name of the kind that determines its fields, such as `orbit`.
    pub kind: Option<&'static str>,
    /// What selects its kind, if a field does.
    pub choice: Option<Choice>,
    /// Fields.
    pub record: Record,
    /// The records that follow its fields, with the name of their list.
    pub list: Option<(&'static str, Rows)>,
}

/// What selects the kind of a part.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// The name of the field with the number of the kind.
    pub by: &'static str,
    /// The room for the fields of any kind, in bytes; `None` if another kind cannot be
    /// given.
    pub size: Option<usize>,
    /// The kinds.
    pub kinds: Kinds,
}

impl Part {
    /// Returns a part whose fields do not depend on a kind.
    pub fn plain(name: &'static str, record: Record) -> Self {
        Self {
            name,
            item: None,
            kind: None,
            choice: None,
            record,
            list: None,
        }
    }
}

/// The fields of a part for one number.
#[derive(Debug)]
pub struct PartKind {
    /// The number that selects it.
    pub number: u32,
    /// Name.
    pub name: &'static str,
    /// Fields.
    pub fields: Layout,
}

/// Lists of kinds. The first list with a number has its kind.
pub type Kinds = &'static [&'static [PartKind]];

/// Returns the kind with this number.
pub fn kind_of(kinds: Kinds, number: u32) -> Option<&'static PartKind> {
    let mut kinds = kinds.iter().copied().flatten();
    kinds.find(|kind| kind.number == number)
}

/// A list of kinds. The fields in brackets come first in all of them.
macro_rules! kinds {
    ($head:tt $($number:literal $name:literal $fields:tt)*) => {
        &[$($crate::parts::PartKind {
            number: $number,
            name: $name,
            fields: $crate::parts::joined!($head $fields),
        }),*]
    };
}
pub(super) use kinds;

/// The layout with the fields in brackets and those in braces.
macro_rules! joined {
    ([$($head:tt)*] { $($fields:tt)* }) => {
        $crate::record::layout!($($head)* $($fields)*)
    };
}
pub(super) use joined;
