//! Scripts as BOS, their source language (FORMATS, TA 5).
//!
//! A function is decompiled in three steps: [`steps`] combines instructions to
//! statements with expressions, [`structure`] finds the loops and conditions in them,
//! and [`mod@print`] writes both. The text compiles to the same words. If the jumps do
//! not form loops and conditions, the function is written with labels. If the
//! instructions do not form statements, it is written as assembler text in a comment.

mod expression;
mod lines;
mod lint;
mod names;
mod print;
mod steps;
mod structure;
mod style;
#[cfg(test)]
mod tests;
mod values;

use std::collections::HashMap;
use std::io::{self, Write};

pub(super) use self::expression::{binary, unary};
pub use self::lines::{Lines, Place};
pub use self::lint::Remark;
use self::names::Names;
pub(super) use self::print::{ANGLE, LENGTH, PORTS, plain};
use self::print::{Printer, Text};
use self::steps::{Function, Lost};
use super::Cob;
use super::parse::{Content, Item};

/// Maximum total number of items of functions that are written repeatedly for scripts
/// with shared code.
const MAX_COPIED: usize = 1 << 14;

/// Maximum number of items of a function, three times as many as the largest real one
/// has.
const MAX_ITEMS: usize = 1 << 16;

impl Cob {
    /// Writes the scripts as BOS.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn decompile(&self, out: &mut dyn Write) -> io::Result<()> {
        self.print(out, None)
    }

    /// Returns the line numbers of the text from [`Cob::decompile`].
    pub fn lines(&self) -> Lines {
        let mut lines = Lines::default();
        let printed = self.print(&mut io::sink(), Some(&mut lines));
        debug_assert!(printed.is_ok(), "nothing is written");
        lines
    }

    fn print(&self, out: &mut dyn Write, lines: Option<&mut Lines>) -> io::Result<()> {
        let names = Names::new(self);
        let mut printer = Printer::new(self, &names, out, lines);
        printer.head()?;
        let mut known: HashMap<u32, usize> = HashMap::new();
        let mut copies = MAX_COPIED;
        for (script, range) in self.script_ranges().into_iter().enumerate() {
            let same = *known.entry(range.start).or_insert(script);
            let most = if same == script {
                MAX_ITEMS
            } else {
                MAX_COPIED
            };
            let found = self.items_in(range.clone()).take(most + 1);
            let mut items: Vec<Item<'_>> = found.collect();
            let is_whole = items.len() <= most;
            if same != script {
                copies = copies.saturating_sub(items.len());
            }
            let notes = notes_at_end(&mut items);
            let function = match is_whole {
                true => Function::new(&items, range.end, names.parameters(script)),
                false => Err(Lost("it is long")),
            };
            let text = Text {
                script,
                same: (same != script).then_some(same),
                range,
                function,
                notes,
            };
            printer.function(&text)?;
        }
        printer.end()
    }
}

/// Removes the compiler's text from the end of a function, and returns it.
fn notes_at_end<'a>(items: &mut Vec<Item<'a>>) -> Vec<Content<'a>> {
    let is_code = |item: &Item<'_>| matches!(item.content, Content::Instruction(_));
    let end = items.iter().rposition(is_code).map_or(0, |last| last + 1);
    let notes = items.split_off(end);
    notes.into_iter().map(|item| item.content).collect()
}
