//! Parts: named records of objects and shrapnel. Their fields may depend on a number,
//! the kind of the part (FORMATS, HIP assets 6).

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
    /// The subject of its fields, such as `body` or `motion`. Parts with one name are
    /// merged, unless they have an `item`.
    pub name: &'static str,
    /// Number among the parts with this name, if they are a list.
    pub item: Option<u16>,
    /// Name of the kind that determines its fields, such as `orbit`.
    pub kind: Option<&'static str>,
    /// The selector of its kind, if a field selects it.
    pub choice: Option<Choice>,
    /// Fields.
    pub record: Record,
    /// The records after its fields, with the name of their list.
    pub list: Option<(&'static str, Rows)>,
}

/// The selector of a part's kind.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// The name of the field with the number of the kind.
    pub by: &'static str,
    /// The space for the fields of any kind, in bytes; `None` if the kind is fixed.
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

/// The fields of a part for one kind.
#[derive(Debug)]
pub struct PartKind {
    /// The number that selects it.
    pub number: u32,
    /// Name.
    pub name: &'static str,
    /// Fields.
    pub fields: Layout,
}

/// Lists of kinds. The first list with a number determines the kind.
pub type Kinds = &'static [&'static [PartKind]];

/// Returns the kind with this number.
pub fn kind_of(kinds: Kinds, number: u32) -> Option<&'static PartKind> {
    let mut kinds = kinds.iter().copied().flatten();
    kinds.find(|kind| kind.number == number)
}

/// A list of kinds, with the common first fields in brackets.
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

/// A layout of the fields in brackets followed by those in braces.
macro_rules! joined {
    ([$($head:tt)*] { $($fields:tt)* }) => {
        $crate::record::layout!($($head)* $($fields)*)
    };
}
pub(super) use joined;
