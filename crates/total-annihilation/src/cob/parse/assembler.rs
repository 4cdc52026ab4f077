//! Code as assembler text (FORMATS, TA 5).

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::ops::Range;

use super::code::{Content, Instruction, Item, Items};
use super::{Cob, OperandKind, noun};
use crate::Name;
use hpimount_containers::text::windows_1252;

/// Names of the axes.
pub(in crate::cob) const AXES: [&str; 3] = ["x-axis", "y-axis", "z-axis"];

impl Cob {
    /// Writes the code as assembler text: one instruction per line, with names instead
    /// of numbers, after comments that list pieces and strings.
    ///
    /// Labels and jump targets are word indices. There is no assembler for this text.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn disassemble(&self, out: &mut dyn Write) -> io::Result<()> {
        let (version, statics) = (self.version, self.statics);
        writeln!(out, "; cob version {version}, {statics} statics")?;
        for (what, names) in [("piece", &self.pieces), ("string", &self.strings)] {
            for (number, name) in names.iter().enumerate() {
                writeln!(out, "; {what} {number} {}", plain(&name))?;
            }
        }
        let labels = labels(self.items());
        let scripts = self.scripts_by_start();
        let heads = |out: &mut dyn Write, at: u32| {
            let heads = scripts.get(&at).into_iter().flatten();
            for name in heads.filter_map(|&script| self.scripts.get(script)) {
                write!(out, "\n{}:\n", plain(&name))?;
            }
            io::Result::Ok(())
        };
        for item in self.items() {
            heads(out, item.at)?;
            self.item(out, &item, &labels)?;
        }
        heads(out, self.code_words() as u32)
    }

    /// Writes the lines of a range of words, with labels for the jumps in it.
    pub(in crate::cob) fn disassemble_range(
        &self,
        range: Range<u32>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let items = self.items_in(range);
        let labels = labels(items.clone());
        for item in items {
            self.item(out, &item, &labels)?;
        }
        Ok(())
    }

    fn item(&self, out: &mut dyn Write, item: &Item<'_>, labels: &HashSet<u32>) -> io::Result<()> {
        if labels.contains(&item.at) {
            writeln!(out, "L{:04X}:", item.at)?;
        }
        match item.content {
            Content::Instruction(instruction) => self.instruction(out, instruction),
            Content::Text(text) => writeln!(out, "    .ascii {:?}", windows_1252(text)),
            Content::Unknown(word) => writeln!(out, "    .word 0x{word:08X}"),
        }
    }

    fn instruction(&self, out: &mut dyn Write, instruction: Instruction) -> io::Result<()> {
        let mnemonic = instruction.operation.mnemonic;
        if instruction.operands().next().is_none() {
            return writeln!(out, "    {mnemonic}");
        }
        write!(out, "    {mnemonic:<16}")?;
        for (number, (kind, value)) in instruction.operands().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            write!(out, "{comma}{}", self.operand(kind, value))?;
        }
        writeln!(out)
    }

    fn operand(&self, kind: OperandKind, value: u32) -> String {
        let index = value as usize;
        let known = match kind {
            OperandKind::Piece => self.pieces.get(index).map(|name| plain(&name)),
            OperandKind::Axis => AXES.get(index).map(|&axis| axis.to_owned()),
            OperandKind::Script => self.scripts.get(index).map(|name| plain(&name)),
            OperandKind::String => {
                let name = self.strings.get(index);
                name.map(|name| format!("{:?}", name.text()))
            }
            OperandKind::Value => Some((value as i32).to_string()),
            OperandKind::Count => Some(value.to_string()),
            OperandKind::Jump => Some(format!("L{value:04X}")),
            OperandKind::Local | OperandKind::Static => Some(format!("{}_{value}", noun(kind))),
        };
        known.unwrap_or_else(|| format!("{}#{value}", noun(kind)))
    }

    fn scripts_by_start(&self) -> HashMap<u32, Vec<usize>> {
        let mut scripts: HashMap<u32, Vec<usize>> = HashMap::new();
        for script in 0..self.scripts.len() {
            if let Some(start) = self.script_start(script) {
                scripts.entry(start).or_default().push(script);
            }
        }
        scripts
    }
}

/// Returns the words that are jump targets.
fn labels(items: Items<'_>) -> HashSet<u32> {
    let mut labels = HashSet::new();
    for item in items {
        if let Content::Instruction(instruction) = item.content {
            let operands = instruction.operands();
            let jumps = operands.filter(|&(kind, _)| kind == OperandKind::Jump);
            labels.extend(jumps.map(|(_, word)| word));
        }
    }
    labels
}

/// Returns a name without characters that would end its line.
fn plain(name: &Name) -> String {
    let text = name.text();
    let characters = text.chars();
    characters
        .map(|character| match character.is_control() {
            true => '\u{FFFD}',
            false => character,
        })
        .collect()
}
