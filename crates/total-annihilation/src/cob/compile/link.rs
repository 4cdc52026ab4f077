//! The code of all functions, those that were compiled and those that are kept.

use std::collections::BTreeMap;
use std::ops::Range;

use super::function::Code;
use super::names::Numbers;
use crate::cob::Cob;
use crate::cob::parse::{Content, OperandKind};

/// The code of a script of the edited text.
#[derive(Debug)]
pub(super) enum Script {
    /// The code of this old script.
    Kept(usize),
    /// New code, maybe of this old script.
    Compiled(Option<usize>, Code),
}

/// The new numbers of scripts, pieces and static variables.
pub(super) struct Relocation<'a> {
    pub(super) scripts: &'a Numbers,
    pub(super) pieces: &'a Numbers,
    pub(super) statics: &'a Numbers,
}

/// The linked code, and the first words of the scripts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Linked {
    pub(super) code: Vec<u32>,
    pub(super) starts: Vec<u32>,
}

/// Links the scripts, given by number. The old code keeps its order, with any data
/// after the instructions of its functions. New functions are at the end. Fails if the
/// code of a function cannot be moved.
pub(super) fn link(
    cob: &Cob,
    scripts: &[Script],
    relocation: &Relocation<'_>,
) -> Result<Linked, String> {
    let mut layout = Layout {
        cob,
        blocks: Vec::new(),
        of_scripts: vec![0; scripts.len()],
        end: 0,
    };
    layout.place(scripts);
    let starts = scripts.iter().zip(&layout.of_scripts);
    let starts = starts.map(|(script, &block)| match *script {
        Script::Kept(old) => outside(cob, old).unwrap_or(layout.blocks[block].start),
        Script::Compiled(..) => layout.blocks[block].start,
    });
    let starts = starts.collect();
    let blocks = layout
        .blocks
        .iter()
        .map(|block| layout.relocated(block, relocation));
    let code: Vec<Vec<u32>> = blocks.collect::<Result<_, _>>()?;
    Ok(Linked {
        code: code.concat(),
        starts,
    })
}

/// Returns the start of a script if it is outside of the code. It leads nowhere and is
/// kept.
fn outside(cob: &Cob, script: usize) -> Option<u32> {
    let start = cob.script_start(script)?;
    (start as usize > cob.code_words()).then_some(start)
}

/// Returns whether the instructions of a function may reach its end.
pub(super) fn reaches_end(cob: &Cob, range: &Range<u32>) -> bool {
    let end = instructions_end(cob, range);
    let mut returns = false;
    for item in cob.items_in(range.clone()) {
        if let Content::Instruction(instruction) = item.content {
            returns = instruction.operation.mnemonic == "return";
            let mut operands = instruction.operands();
            if operands.any(|operand| operand == (OperandKind::Jump, end)) {
                return true;
            }
        }
    }
    !returns
}

/// Returns the word after the last instruction of a function.
fn instructions_end(cob: &Cob, range: &Range<u32>) -> u32 {
    let ends = cob
        .items_in(range.clone())
        .filter_map(|item| match item.content {
            Content::Instruction(one) => Some(item.at + 1 + one.operands().count() as u32),
            Content::Text(_) | Content::Unknown(_) => None,
        });
    ends.last().unwrap_or(range.start)
}

/// The parts of the linked code.
struct Layout<'a> {
    cob: &'a Cob,
    blocks: Vec<Block<'a>>,
    /// The blocks of the scripts.
    of_scripts: Vec<usize>,
    /// Number of words so far.
    end: u32,
}

/// A part of the linked code.
struct Block<'a> {
    start: u32,
    /// The old first word of its script.
    old_start: Option<u32>,
    content: Words<'a>,
}

enum Words<'a> {
    /// Old words.
    Old(Range<u32>),
    /// New ones.
    New(&'a Code),
    /// Old words that are no instructions.
    Tail(Range<u32>),
}

impl<'a> Layout<'a> {
    /// Places the code of the scripts one after another.
    fn place(&mut self, scripts: &'a [Script]) {
        let ranges = self.cob.script_ranges();
        let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let mut added = Vec::new();
        for (number, script) in scripts.iter().enumerate() {
            match script {
                Script::Kept(old) | Script::Compiled(Some(old), _) => {
                    members.entry(ranges[*old].start).or_default().push(number);
                }
                Script::Compiled(None, _) => added.push(number),
            }
        }
        let end = self.cob.code_words() as u32;
        let first = ranges.iter().map(|range| range.start.min(end)).min();
        self.add(None, Words::Old(0..first.unwrap_or(end)));
        let by_start: BTreeMap<u32, Range<u32>> = ranges
            .into_iter()
            .map(|range| (range.start, range))
            .collect();
        for (start, members) in members {
            let range = &by_start[&start];
            let tail = instructions_end(self.cob, range)..range.end;
            let is_kept = |number: &&usize| matches!(scripts[**number], Script::Kept(_));
            let kept: Vec<usize> = members.iter().filter(is_kept).copied().collect();
            if !kept.is_empty() {
                let block = self.add(Some(start), Words::Old(range.clone()));
                kept.iter()
                    .for_each(|&number| self.of_scripts[number] = block);
            }
            self.compiled(scripts, &members, Some(start));
            if kept.is_empty() {
                self.add(None, Words::Tail(tail));
            }
        }
        for number in added {
            self.compiled(scripts, &[number], None);
        }
    }

    /// Places the new code of scripts with shared code; once, if their new code is
    /// equal too.
    fn compiled(&mut self, scripts: &'a [Script], members: &[usize], old_start: Option<u32>) {
        let mut placed: Vec<(&Code, usize)> = Vec::new();
        for &number in members {
            let Script::Compiled(_, code) = &scripts[number] else {
                continue;
            };
            let same = placed.iter().find(|(other, _)| *other == code);
            let block = match same {
                Some((_, block)) => *block,
                None => {
                    let block = self.add(old_start, Words::New(code));
                    placed.push((code, block));
                    block
                }
            };
            self.of_scripts[number] = block;
        }
    }

    /// Adds a block, and returns its number.
    fn add(&mut self, old_start: Option<u32>, content: Words<'a>) -> usize {
        let length = match &content {
            Words::Old(range) | Words::Tail(range) => range.len() as u32,
            Words::New(code) => code.words.len() as u32,
        };
        let start = self.end;
        self.end += length;
        self.blocks.push(Block {
            start,
            old_start,
            content,
        });
        self.blocks.len() - 1
    }

    /// Returns the words of a block with renumbered operands.
    fn relocated(
        &self,
        block: &Block<'_>,
        relocation: &Relocation<'_>,
    ) -> Result<Vec<u32>, String> {
        let range = match &block.content {
            Words::Tail(range) => return Ok(self.cob.words(range.clone())),
            Words::New(code) => {
                let mut words = code.words.clone();
                for &word in &code.targets {
                    words[word] += block.start;
                }
                return Ok(words);
            }
            Words::Old(range) => range,
        };
        let mut words = self.cob.words(range.clone());
        for item in self.cob.items_in(range.clone()) {
            let Content::Instruction(instruction) = item.content else {
                continue;
            };
            let first = (item.at - range.start) as usize + 1;
            for ((kind, value), word) in instruction.operands().zip(first..) {
                let (new, what) = match kind {
                    OperandKind::Jump => (self.target(block.start, range, value), "place"),
                    OperandKind::Script => (relocation.scripts.of(value), "script"),
                    OperandKind::Piece => (relocation.pieces.of(value), "piece"),
                    OperandKind::Static => (relocation.statics.of(value), "static variable"),
                    _ => continue,
                };
                words[word] = new.ok_or_else(|| {
                    format!(
                        "word {} of the original needs {what} {value}, which is gone",
                        item.at
                    )
                })?;
            }
        }
        Ok(words)
    }

    /// Returns the new word for a jump target in the old words of a block; `None` if it
    /// was inside a changed function.
    fn target(&self, start: u32, range: &Range<u32>, target: u32) -> Option<u32> {
        if range.contains(&target) || target == range.end {
            return Some(start + (target - range.start));
        }
        if target as usize >= self.cob.code_words() {
            return Some(target);
        }
        self.blocks.iter().find_map(|block| match &block.content {
            Words::Old(range) if range.contains(&target) => {
                Some(block.start + (target - range.start))
            }
            Words::New(_) if block.old_start == Some(target) => Some(block.start),
            _ => None,
        })
    }
}
