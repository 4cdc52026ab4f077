//! A compiler for BOS, the language of scripts (FORMATS, TA 5).
//!
//! It compiles an edited text of a script function by function, and keeps everything
//! that was not edited: the words of a function that compiles to the same as the
//! displayed function, the text that another compiler left after it, and the numbers
//! and spelling of names ([`recompile`]).
//!
//! A text is a list of case-insensitive tokens after `#define`, `#undef`, `#ifdef`,
//! `#ifndef`, `#if`, `#else`, `#endif` and `#include "FILE"`, which are case-sensitive
//! as in C. Keywords are names where a name is expected.
//!
//! ```text
//! file   { piece N {, N} ; | static-var N {, N} ; | N ( [N {, N}] ) { {s} } }
//! block  { {s} } | s
//! s      var N {, N}; | N = e; | ++N; | --N; | ; | LABEL:
//!        if (e) block [else block] | while (e) block | jump LABEL; | jump-if-zero (e) LABEL;
//!        move|turn P to A e (now | speed e); | wait-for-turn P around A;
//!        spin P around A speed e [accelerate e]; | wait-for-move P along A;
//!        stop-spin P around A [decelerate e]; | emit-sfx e from P; | explode P type e;
//!        show|hide|cache|dont-cache|shade|dont-shade|dont-shadow P;
//!        call-script|start-script N({e,}); | return [e];
//!        sleep|signal|set-signal-mask|drop-unit e; | attach-unit e to e [type e];
//!        set e to e; | get o [({e,})]; | play-sound("S", e); | mission-command("S" {, e});
//! e      o {operator o}, from the tightest: * /  + -  < > <= >=  == !=  &  ^  |
//!        && AND  || OR  ^^ XOR, each from left to right
//! o      (e) | ! o | NOT o | ~ o | get o [({e,})] | rand(e, e) | N | [x] | <x> | 12 | 0x7F | -4
//! ```
//!
//! `[1]` is 163,840 and `<1>` is 182; fractions are truncated. Constants are not
//! folded.

mod expression;
mod file;
mod function;
mod headers;
mod link;
mod names;
mod preprocessor;
mod reader;
mod source;
#[cfg(test)]
mod tests;
mod tokens;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

pub(super) use self::preprocessor::Include;

use self::expression::{Environment, Strings};
use self::file::File;
use self::function::{Code, compile};
use self::link::{Relocation, Script, link, reaches_end};
use self::names::{Names, Numbers};
use self::source::{Function, Source};
use self::tokens::Problem;
use self::tokens::Token;
use super::Cob;
use super::bos::plain;
use hpimount_assets::view::import::Problems;
use hpimount_containers::text::to_windows_1252;

/// Maximum number of words of code, twice as many as the largest real file has.
const MAX_WORDS: usize = 1 << 16;

/// A script that was compiled again.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Recompiled {
    /// The bytes of the file.
    pub file: Vec<u8>,
    /// Doubtful edits, one sentence each.
    pub warnings: Vec<String>,
}

/// Compiles an edited text of the script with the bytes `original`. Unedited parts keep
/// their bytes, so a text without edits compiles to the same file. `include` returns
/// the text of an included file. Fails with the problems, each with line and column,
/// joined by semicolons.
pub(super) fn recompile(
    cob: &Cob,
    original: &[u8],
    text: &str,
    include: Include<'_>,
) -> Result<Recompiled, String> {
    let tokens = preprocessor::tokens(text, include).map_err(|problem| problem.to_string())?;
    let again = compiled(cob, original, &tokens)?;
    let shown = super::parse(&again.file.clone().into()).map_err(|lost| lost.error.to_string())?;
    match compiled(&shown, &again.file, &tokens) {
        Ok(shown) if shown.file == again.file => Ok(again),
        _ => Err("was not stored as written".to_owned()),
    }
}

/// A script in its shown and its edited form.
struct Edited<'a> {
    cob: &'a Cob,
    shown: Source<'a>,
    edited: Source<'a>,
    pieces: Numbers,
    statics: Numbers,
    scripts: Numbers,
}

/// Compiles the tokens of an edited text.
fn compiled(cob: &Cob, original: &[u8], tokens: &[Token]) -> Result<Recompiled, String> {
    let mut shown = Vec::new();
    // Writing to memory does not fail.
    let _ = cob.decompile(&mut shown);
    let shown = String::from_utf8_lossy(&shown);
    let of_original = |problem| format!("the text of the original has problems, {problem}");
    let shown = preprocessor::tokens(&shown, &|_| None).map_err(of_original)?;
    let shown = Source::new(&shown).map_err(of_original)?;
    if (shown.functions.len(), shown.pieces.len()) != (cob.scripts.len(), cob.pieces.len()) {
        return Err("the text of the original has other scripts or pieces".to_owned());
    }
    let edited = Source::new(tokens).map_err(|problem| problem.to_string())?;
    if edited.functions.is_empty() && !shown.functions.is_empty() {
        return Err("has no scripts; at least one must stay".to_owned());
    }
    let edited = Edited::new(cob, shown, edited).map_err(listed)?;
    let strings = cob.strings.iter().map(|name| plain(&name));
    let strings = RefCell::new(Strings::new(strings));
    let scripts = edited.compiled(&strings).map_err(listed)?;
    edited.file(original, &scripts, &strings.into_inner().added)
}

/// Returns problems sorted by place.
fn listed(mut problems: Vec<Problem>) -> String {
    problems.sort_by(|one, other| one.at.cmp(&other.at));
    let texts = problems.iter().take(Problems::MAX).map(Problem::to_string);
    texts.collect::<Vec<_>>().join("; ")
}

impl<'a> Edited<'a> {
    /// Finds the added and the deleted names.
    fn new(cob: &'a Cob, shown: Source<'a>, edited: Source<'a>) -> Result<Self, Vec<Problem>> {
        let (pieces, old_pieces) = (&edited.pieces, &shown.pieces);
        let mut problems = Vec::new();
        let mut numbers = |noun, old: &[&Token], new: &[&Token]| {
            let numbers = Numbers::new(noun, old, new);
            numbers.map_err(|problem| problems.push(problem)).ok()
        };
        let numbers = [
            numbers("piece", old_pieces, pieces),
            numbers("static variable", &shown.statics, &edited.statics),
            numbers(
                "script",
                &names(&shown.functions),
                &names(&edited.functions),
            ),
        ];
        let [Some(piece_numbers), Some(statics), Some(scripts)] = numbers else {
            return Err(problems);
        };
        let moved = piece_numbers
            .of_old
            .iter()
            .zip(0..)
            .position(|(new, old)| new.is_some_and(|new| new != old));
        if let Some(moved) = moved {
            let name = &old_pieces[moved].text;
            let text = format!(
                "{name:?} would get another number, which scripts may use: remove pieces from the end only"
            );
            let at = pieces
                .first()
                .map_or(&old_pieces[moved].at, |first| &first.at);
            return Err(vec![Problem::new(at, text)]);
        }
        if cob.statics as usize > shown.statics.len() && !statics.all_stay() {
            let text = "the script has more static variables than are shown, which would move";
            let at = edited.statics.first().or(shown.statics.first());
            return Err(at
                .map(|at| Problem::new(&at.at, text))
                .into_iter()
                .collect());
        }
        let lower = |name: &Token| name.text.to_ascii_lowercase();
        let all_pieces: HashSet<String> = pieces.iter().map(|name| lower(name)).collect();
        let twice = edited.statics.iter();
        let twice = twice.filter(|name| all_pieces.contains(&lower(name)));
        let twice = twice.map(|name| {
            Problem::new(
                &name.at,
                format!("a piece is called {:?} already", name.text),
            )
        });
        let problems: Vec<_> = twice.collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self {
            cob,
            shown,
            edited,
            pieces: piece_numbers,
            statics,
            scripts,
        })
    }

    /// Returns the scripts by number. Unedited scripts are unchanged.
    fn compiled(&self, strings: &RefCell<Strings>) -> Result<Vec<Script>, Vec<Problem>> {
        let new = |names: &[&'a Token], numbers: &Numbers| {
            let names = names.iter().map(|name| &*name.text);
            Names::new(names.zip(numbers.of_new.iter().copied()))
        };
        let old = |names: &[&'a Token], numbers: &Numbers| {
            let names = names.iter().map(|name| &*name.text);
            let numbers = numbers.of_old.iter().map(|new| new.unwrap_or(u32::MAX));
            Names::new(names.zip(numbers))
        };
        let is_kingdoms = self.cob.is_kingdoms();
        let edited = Environment {
            is_kingdoms,
            pieces: new(&self.edited.pieces, &self.pieces),
            statics: new(&self.edited.statics, &self.statics),
            scripts: new(&names(&self.edited.functions), &self.scripts),
            strings,
            proposes: Cell::new(false),
        };
        let shown = Environment {
            is_kingdoms,
            pieces: old(&self.shown.pieces, &self.pieces),
            statics: old(&self.shown.statics, &self.statics),
            scripts: old(&names(&self.shown.functions), &self.scripts),
            strings,
            proposes: Cell::new(false),
        };
        let ranges = self.cob.script_ranges();
        let mut problems = Vec::new();
        let mut scripts = Vec::with_capacity(self.scripts.len());
        for ((function, number), old) in self
            .edited
            .functions
            .iter()
            .zip(&self.scripts.of_new)
            .zip(&self.scripts.old_of_new)
        {
            let returns = old.is_none_or(|old| !reaches_end(self.cob, &ranges[old]));
            let is_same = old.is_some_and(|old| function.is_same(&self.shown.functions[old]));
            let before = |old: usize| compile(&shown, &self.shown.functions[old], returns);
            let is_before = |old, code: &Code| before(old).is_ok_and(|before| before == *code);
            let script = match (compile(&edited, function, returns), *old) {
                (Ok(code), Some(old)) if is_same || is_before(old, &code) => Script::Kept(old),
                (Ok(code), old) => Script::Compiled(old, code),
                // It refers to things that the file lacks.
                (Err(_), Some(old)) if is_same && before(old).is_err() => Script::Kept(old),
                (Err(_), _) if problems.len() == Problems::MAX => break,
                (Err(_), _) => {
                    edited.proposes.set(true);
                    problems.extend(compile(&edited, function, returns).err());
                    edited.proposes.set(false);
                    continue;
                }
            };
            scripts.push((*number, script));
        }
        scripts.sort_by_key(|(number, _)| *number);
        match problems.is_empty() {
            true => Ok(scripts.into_iter().map(|(_, script)| script).collect()),
            false => Err(problems),
        }
    }

    /// Returns the file with these scripts and added strings.
    fn file(
        &self,
        original: &[u8],
        scripts: &[Script],
        added: &[String],
    ) -> Result<Recompiled, String> {
        let linked = link(
            self.cob,
            scripts,
            &Relocation {
                scripts: &self.scripts,
                pieces: &self.pieces,
                statics: &self.statics,
            },
        )?;
        let old = File::of(self.cob);
        if linked.code.len() > MAX_WORDS.max(old.code.len()) {
            let count = linked.code.len();
            return Err(format!(
                "has {count} words of code, at most {MAX_WORDS} are possible"
            ));
        }
        let functions = [&self.shown, &self.edited].map(|source| names(&source.functions));
        let new = File {
            code: linked.code,
            starts: linked.starts,
            statics: self.cob.statics - self.shown.statics.len() as u32 + self.statics.len() as u32,
            scripts: stored(&old.scripts, &functions[0], &functions[1], &self.scripts),
            pieces: stored(
                &old.pieces,
                &self.shown.pieces,
                &self.edited.pieces,
                &self.pieces,
            ),
            strings: old.strings.clone().map(|mut all| {
                all.extend(added.iter().map(|text| to_windows_1252(text).into_owned()));
                all
            }),
            ..old
        };
        let mut file = original.to_vec();
        let mut warnings = self.unproven(scripts);
        if new != old && !new.patch(&old, &mut file) {
            if old.bytes() != original {
                let text = "the parts of the file have the usual order now, without what was \
                            between and behind them";
                warnings.push(text.to_owned());
            }
            file = new.bytes();
        }
        Ok(Recompiled { file, warnings })
    }

    /// Returns a sentence about each operator in new code that no known script of the
    /// game uses.
    fn unproven(&self, scripts: &[Script]) -> Vec<String> {
        let functions = self.edited.functions.iter().zip(&self.scripts.of_new);
        let compiled = functions.filter(|(_, number)| {
            let script = &scripts[**number as usize];
            matches!(script, Script::Compiled(..)) && !self.cob.is_kingdoms()
        });
        let tokens: Vec<&Token> = compiled.flat_map(|(function, _)| function.body).collect();
        let found = ["^", "~"].into_iter().filter_map(|sign| {
            let token = tokens.iter().find(|token| token.is(sign))?;
            let at = &token.at;
            Some(format!(
                "{at}: \"{sign}\" is in no known script, and may not work in the game"
            ))
        });
        found.collect()
    }
}

fn names<'a>(functions: &[Function<'a>]) -> Vec<&'a Token> {
    functions.iter().map(|function| function.name).collect()
}

/// Encodes the names of a list, by new number. Unedited names keep their spelling.
fn stored(old: &[Vec<u8>], shown: &[&Token], edited: &[&Token], numbers: &Numbers) -> Vec<Vec<u8>> {
    let mut names = vec![Vec::new(); edited.len()];
    for ((name, number), before) in edited.iter().zip(&numbers.of_new).zip(&numbers.old_of_new) {
        let kept = before.filter(|&before| shown[before].is_same(name));
        names[*number as usize] = match kept {
            Some(before) => old[before].clone(),
            None => name.text.as_bytes().to_vec(),
        };
    }
    names
}
