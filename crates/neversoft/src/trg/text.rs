//! Nodes, and their commands, as text.

use std::fmt::{self, Display, Formatter};

use crate::trg::{Argument, Command, Flags, Node, kind_name};

/// What a node is, in words.
pub(super) struct Heading<'a>(pub(super) &'a Node);

impl Display for Heading<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&kind_name(self.0.kind))?;
        if let Some(subtype) = self.0.subtype {
            write!(out, " {subtype}")?;
        }
        match &self.0.label {
            Some(label) => write!(out, " {}", label.escape_debug()),
            None => Ok(()),
        }
    }
}

/// A command as text.
pub(super) struct Statement<'a>(pub(super) &'a Command);

impl Display for Statement<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(self.0.name)?;
        self.0.arguments.iter().try_for_each(|argument| {
            out.write_str(" ")?;
            match argument {
                Argument::Number(number) => write!(out, "{number}"),
                Argument::Hash(hash) => out.write_str(&hash_text(*hash)),
                Argument::Text(text) => write!(out, "\"{}\"", text.escape_debug()),
                Argument::Box(corners) => write!(out, "({})", spaced(corners)),
                Argument::Variable(variable) => write!(out, "({})", Statement(variable)),
            }
        })
    }
}

/// Returns a hash as the tables of the games have it.
pub(super) fn hash_text(hash: u32) -> String {
    format!("0x{hash:08X}")
}

/// Returns the flags of a node: bits, or numbers.
pub(super) fn flags_text(flags: &Flags) -> String {
    match flags {
        Flags::Bits(bits) => format!("{bits:#06x}"),
        Flags::List(list) => spaced(list),
    }
}

/// Returns values with spaces between them.
pub(super) fn spaced<T: Display>(values: &[T]) -> String {
    let values: Vec<_> = values.iter().map(ToString::to_string).collect();
    values.join(" ")
}
