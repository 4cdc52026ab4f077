//! COB: compiled scripts of units (FORMATS, TA 5).
//!
//! The code is decoded on demand, by [`Cob::items`]; [`Cob::disassemble`]
//! writes it as assembler text.

mod assembler;
mod code;
mod opcode;

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use bytes::Bytes;
use get_size2::GetSize;

pub(super) use assembler::AXES;
pub use code::{Content, Instruction, Item, Items};
pub use opcode::{OperandKind, Operation};

use crate::pointer::{Names, Pointer, little, u32_at};
use code::WordSet;
use hpimount_assets::parse::{Incomplete, finish};
use hpimount_containers::io::{Cursor, Error, Result, Warnings};
use hpimount_containers::text::windows_1252;

/// Extensions of COB files.
pub const EXTENSIONS: &[&str] = &["cob"];

/// The version that Total Annihilation reads.
const VERSION_TA: u32 = 4;

/// The version for TA: Kingdoms, which also has a table of strings.
const VERSION_KINGDOMS: u32 = 6;

/// Maximum number of scripts, pieces or strings.
const MAX_NAMES: u32 = 65536;

/// The parsed contents of a COB file.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Cob {
    /// Version: 4 for Total Annihilation, 6 for Kingdoms.
    pub version: u32,
    /// Number of static variables, shared by all scripts.
    pub statics: u32,
    /// Sixth word of the header, usually 0.
    pub unknown_20: u32,
    /// Names of the scripts.
    pub scripts: Names,
    /// Names of the pieces: the names of the 3DO's objects, ignoring case.
    pub pieces: Names,
    /// Version 6: names of sounds, and commands to the game.
    pub strings: Names,
    /// Warnings.
    pub warnings: Warnings,
    /// For each script, the index of its first word in the code.
    #[get_size(ignore)]
    starts: Bytes,
    /// The code, in words.
    #[get_size(ignore)]
    code: Bytes,
}

/// Parses a COB file.
///
/// # Errors
/// Returns [`Incomplete`] with everything before the error if the header is
/// invalid, or a table, a name or the code is outside the file. Invalid code
/// is a warning.
pub fn parse(bytes: &Bytes) -> std::result::Result<Cob, Box<Incomplete<Cob>>> {
    let mut cob = Cob::default();
    let result = cob.read(bytes);
    finish(cob, result)
}

impl Cob {
    /// Returns the index of the first word of a script.
    pub fn script_start(&self, script: usize) -> Option<u32> {
        u32_at(&self.starts, script)
    }

    /// Returns whether it is for TA: Kingdoms.
    pub fn is_kingdoms(&self) -> bool {
        self.version == VERSION_KINGDOMS
    }

    /// Returns the words of each script, up to the start of the next script. Scripts
    /// may share code.
    pub fn script_ranges(&self) -> Vec<Range<u32>> {
        let end = self.code_words() as u32;
        let starts = (0..).map_while(|script| self.script_start(script));
        let starts: Vec<u32> = starts.collect();
        let mut sorted = starts.clone();
        sorted.sort_unstable();
        let range = |start: u32| {
            let next = sorted.partition_point(|&other| other <= start);
            start..sorted.get(next).map_or(end, |&next| next.min(end))
        };
        starts.into_iter().map(range).collect()
    }

    /// Returns the length of the code in words.
    pub fn code_words(&self) -> usize {
        self.code.len() / 4
    }

    /// Returns a range of the words of the code, truncated to the code.
    pub(in crate::cob) fn words(&self, range: Range<u32>) -> Vec<u32> {
        let words = range.map_while(|word| u32_at(&self.code, word as usize));
        words.collect()
    }

    /// Returns the code, from its first word to its last.
    pub fn items(&self) -> Items<'_> {
        Items::new(&self.code)
    }

    /// Returns the code of a range of words.
    pub fn items_in(&self, range: Range<u32>) -> Items<'_> {
        Items::within(&self.code, range.start as usize..range.end as usize)
    }

    /// Returns the pieces that the script `Create` hides and does not show again.
    pub fn hidden_at_first(&self) -> HashSet<u32> {
        let mut names = self.scripts.iter();
        let create = names.position(|name| name.text().eq_ignore_ascii_case("Create"));
        let ranges = self.script_ranges();
        let range = create.and_then(|create| ranges.get(create).cloned());
        let mut hidden = HashSet::new();
        for item in self.items_in(range.unwrap_or_default()) {
            if let Content::Instruction(instruction) = item.content
                && let Some((OperandKind::Piece, piece)) = instruction.operands().next()
            {
                match instruction.operation.mnemonic {
                    "hide" => hidden.insert(piece),
                    "show" => hidden.remove(&piece),
                    _ => false,
                };
            }
        }
        hidden
    }

    /// Returns the used pieces, each with the index of the first word of its first
    /// instruction.
    pub fn used_pieces(&self) -> BTreeMap<u32, u32> {
        let mut pieces = BTreeMap::new();
        for item in self.items() {
            if let Content::Instruction(instruction) = item.content {
                for (kind, value) in instruction.operands() {
                    if kind == OperandKind::Piece {
                        pieces.entry(value).or_insert(item.at);
                    }
                }
            }
        }
        pieces
    }

    /// Returns the text that the compiler left in the code. Parts separated by NULs are
    /// joined by spaces.
    pub fn compiled_with(&self) -> Option<String> {
        self.items().find_map(|item| match item.content {
            Content::Text(text) => {
                let text = windows_1252(text);
                let parts = text.split(char::is_control).map(str::trim);
                let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
                Some(parts.join(" "))
            }
            _ => None,
        })
    }

    fn read(&mut self, file: &Bytes) -> Result<()> {
        let mut cursor = little(file);
        self.version = cursor.u32("version")?;
        if ![VERSION_TA, VERSION_KINGDOMS].contains(&self.version) {
            let problem = format!("is {}, should be 4 or 6", self.version);
            return Err(Error::damaged(0, "version", problem));
        }
        let scripts = name_count(&mut cursor, "script count")?;
        let pieces = name_count(&mut cursor, "piece count")?;
        let words = cursor.u32("code length")?;
        self.statics = cursor.u32("static count")?;
        self.unknown_20 = cursor.u32("unknown word 20")?;
        if self.unknown_20 != 0 {
            let word = self.unknown_20;
            self.warnings.push(format!("word 20 is {word:#x}, not 0"));
        }
        let starts = Pointer::read(&mut cursor, "script starts")?;
        let script_names = Pointer::read(&mut cursor, "script names")?;
        let piece_names = Pointer::read(&mut cursor, "piece names")?;
        let code = Pointer::read(&mut cursor, "code")?;
        cursor.u32("end of tables")?;
        self.code = code.items(file, words.into(), 4)?;
        self.starts = starts.items(file, scripts.into(), 4)?;
        self.scripts = self.names(file, script_names, scripts, "script name")?;
        self.pieces = self.names(file, piece_names, pieces, "piece name")?;
        if self.is_kingdoms() {
            let strings = Pointer::read(&mut cursor, "strings")?;
            let count = name_count(&mut cursor, "string count")?;
            self.strings = self.names(file, strings, count, "string")?;
        }
        self.check();
        Ok(())
    }

    fn names(
        &mut self,
        file: &Bytes,
        pointer: Pointer,
        count: u32,
        field: &'static str,
    ) -> Result<Names> {
        let (names, endless) = Names::read(file, pointer, count, field)?;
        if endless > 0 {
            let warning = format!("{endless} times, a {field} has no end within 256 bytes");
            self.warnings.push(warning);
        }
        Ok(names)
    }

    /// Adds warnings about the code.
    fn check(&mut self) {
        let mut begins = WordSet::new(self.code_words());
        let mut jumps = WordSet::new(self.code_words());
        let mut odd = std::mem::take(&mut self.warnings);
        for item in self.items() {
            begins.insert(item.at);
            let at = item.at;
            match item.content {
                Content::Instruction(instruction) => {
                    let name = instruction.operation.mnemonic;
                    if instruction.is_cut_off() {
                        odd.push(format!("word {at}: the code ends in {name}"));
                    }
                    for (kind, value) in instruction.operands() {
                        if let Some(limit) = self.limit(kind)
                            && u64::from(value) >= limit
                        {
                            let what = noun(kind);
                            odd.push(format!("word {at}: {name} has {what} {value} of {limit}"));
                        } else if kind == OperandKind::Jump {
                            jumps.insert(value);
                        }
                    }
                }
                // Compilers leave their names.
                Content::Text(_) => {}
                Content::Unknown(word) => {
                    odd.push(format!("word {at}: {word:#010x} is not a known opcode"));
                }
            }
        }
        let words = 0..self.code_words() as u32;
        for word in words.filter(|&word| jumps.contains(word) && !begins.contains(word)) {
            odd.push(format!("word {word}: a jump goes into an instruction"));
        }
        self.warnings = odd;
        self.check_starts(&begins);
    }

    /// Adds warnings about the starts of scripts. Several scripts may have the same
    /// start, because compilers share the code of empty scripts.
    fn check_starts(&mut self, begins: &WordSet) {
        let end = self.code_words() as u32;
        for script in 0..self.scripts.len() {
            let start = self.script_start(script).unwrap_or_default();
            if start > end {
                let warning = format!("script {script} starts at word {start} of {end}");
                self.warnings.push(warning);
            } else if start < end && !begins.contains(start) {
                let warning = format!("script {script} starts in an instruction at word {start}");
                self.warnings.push(warning);
            }
        }
    }

    /// Returns the number of items that an operand can refer to.
    fn limit(&self, kind: OperandKind) -> Option<u64> {
        Some(match kind {
            OperandKind::Piece => self.pieces.len() as u64,
            OperandKind::Axis => 3,
            OperandKind::Static => self.statics.into(),
            OperandKind::Jump => self.code_words() as u64,
            OperandKind::Script => self.scripts.len() as u64,
            OperandKind::String => self.strings.len() as u64,
            OperandKind::Value | OperandKind::Local | OperandKind::Count => return None,
        })
    }
}

/// Returns the noun for this kind of operand.
fn noun(kind: OperandKind) -> &'static str {
    match kind {
        OperandKind::Piece => "piece",
        OperandKind::Axis => "axis",
        OperandKind::Value => "value",
        OperandKind::Local => "local",
        OperandKind::Static => "static",
        OperandKind::Jump => "word",
        OperandKind::Script => "script",
        OperandKind::Count => "count",
        OperandKind::String => "string",
    }
}

fn name_count(cursor: &mut Cursor<'_>, field: &'static str) -> Result<u32> {
    let offset = cursor.offset();
    let count = cursor.u32(field)?;
    if count > MAX_NAMES {
        let problem = format!("is {count}, more than {MAX_NAMES}");
        return Err(Error::damaged(offset, field, problem));
    }
    Ok(count)
}

#[cfg(test)]
mod tests;
