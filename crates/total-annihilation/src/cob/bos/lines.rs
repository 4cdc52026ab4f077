//! The line numbers of a file's text.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

/// Maximum number of statements with a line, fifty times as many as the largest real
/// file has.
const MAX_STATEMENTS: usize = 1 << 18;

/// A place in the text of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The declaration of the pieces.
    Pieces,
    /// The declaration of the static variables.
    Statics,
    /// The head of the script with this number.
    Script(usize),
    /// The statement with the word at this index of the code.
    Word(u32),
}

/// The lines of a file's text, counted from 1.
#[derive(Debug, Default)]
pub struct Lines {
    pieces: Option<u32>,
    statics: Option<u32>,
    scripts: HashMap<usize, u32>,
    /// By the first word of functions and statements.
    words: BTreeMap<u32, u32>,
}

impl Lines {
    pub(super) fn set(&mut self, place: Place, line: u32) {
        match place {
            Place::Pieces => self.pieces = Some(line),
            Place::Statics => self.statics = Some(line),
            Place::Script(script) => {
                self.scripts.insert(script, line);
            }
            Place::Word(word) => {
                if self.words.len() < MAX_STATEMENTS {
                    self.words.insert(word, line);
                }
            }
        }
    }

    /// Returns the line of a place.
    pub fn of(&self, place: Place) -> Option<u32> {
        match place {
            Place::Pieces => self.pieces,
            Place::Statics => self.statics,
            Place::Script(script) => self.scripts.get(&script).copied(),
            Place::Word(word) => {
                let before = self.words.range(..=word).next_back();
                before.map(|(_, &line)| line)
            }
        }
    }
}

/// An output that counts lines, and ends them with CR and LF for compilers. Without the
/// CR, Scriptor takes everything after `//` for a comment.
pub(super) struct Counted<'a> {
    out: &'a mut dyn Write,
    /// Number of lines that have ended.
    lines: u32,
}

impl<'a> Counted<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { out, lines: 0 }
    }

    /// Returns the current line, from 1 on.
    pub(super) fn line(&self) -> u32 {
        self.lines.saturating_add(1)
    }
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            match line.strip_suffix(b"\n") {
                Some(text) => {
                    self.out.write_all(text)?;
                    self.out.write_all(b"\r\n")?;
                    self.lines = self.lines.saturating_add(1);
                }
                None => self.out.write_all(line)?,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
