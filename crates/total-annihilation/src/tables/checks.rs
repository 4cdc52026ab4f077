//! Inconsistencies of a game: duplicate names and numbers, invalid entries of build
//! menus, missing files, and mistakes in scripts.

use std::collections::HashSet;
use std::io::{self, Write};

use super::conflicts::conflicts;
use super::library::{Definition, Library};
use super::maps;
use super::menu_entries::MenuEntry;
use super::menus::Slots;
use super::place::Place;
use super::references::{References, value};
use crate::cob::{self, Cob, Place as CodePlace, Remark};
use crate::tdo;
use hpimount_assets::view::report::Finding;
use hpimount_assets::view::{AssetContext, AssetKey, AssetRef};

/// Maximum number of mistakes, and of matters of style.
const MAX_FINDINGS: usize = 10_000;

/// The text that only a complete game has.
const OF_A_GAME: &str = "gamedata/sidedata.tdf";

/// The kinds of references that a mod cannot leave to the game.
const OF_A_MOD: [&str; 3] = ["model", "script", "unit picture"];

/// Writes the findings, one per line, and their number.
pub(super) fn write(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let findings = find(context);
    for finding in &findings {
        write!(out, "{}:", context.path_of(finding.file))?;
        if let Some(line) = finding.line {
            write!(out, "{line}:")?;
        }
        let level = if finding.is_style { " style:" } else { "" };
        // Names come from the files.
        let text = finding.text.replace(char::is_control, "\u{FFFD}");
        writeln!(out, "{level} {text}")?;
    }
    let style = findings.iter().filter(|finding| finding.is_style).count();
    writeln!(out, "{} findings, {style} of style", findings.len())
}

/// Returns the findings.
pub(super) fn find(context: &dyn AssetContext) -> Vec<Finding> {
    let library = Library::of(context);
    let mut checks = Checks {
        context,
        library: &library,
        is_whole: context.find(AssetKey::Path(OF_A_GAME)).is_some(),
        found: Vec::new(),
        counts: [0; 2],
    };
    checks.conflicts();
    checks.menus();
    checks.missing();
    checks.maps();
    checks.scripts();
    checks.found
}

struct Checks<'a> {
    context: &'a dyn AssetContext,
    library: &'a Library,
    /// True if the files of the game are present too.
    is_whole: bool,
    found: Vec<Finding>,
    /// Numbers of mistakes, and of matters of style.
    counts: [usize; 2],
}

impl Checks<'_> {
    fn add(&mut self, finding: Finding) {
        let count = &mut self.counts[usize::from(finding.is_style)];
        if *count < MAX_FINDINGS {
            *count += 1;
            self.found.push(finding);
        }
    }

    /// Adds a finding about a definition.
    fn at(&mut self, place: Place, text: String) {
        self.add(Finding {
            file: self.library.file(place),
            line: self.library.line(place),
            text,
            is_style: false,
            is_known: false,
        });
    }

    fn conflicts(&mut self) {
        for conflict in conflicts(self.context, self.library) {
            let (kind, value) = (conflict.kind, &conflict.value);
            for (number, definition) in conflict.of.iter().enumerate() {
                let other = conflict.of[usize::from(number == 0)];
                let path = self.context.path_of(self.library.file(other.place));
                let other = &other.name;
                let text = format!("the {kind} {value} is also that of {other} in {path}");
                self.at(definition.place, text);
            }
        }
    }

    fn menus(&mut self) {
        let slots = Slots::new(self.library);
        for entry in &self.library.menu {
            self.menu(entry, &slots);
        }
    }

    fn menu(&mut self, entry: &MenuEntry, slots: &Slots<'_>) {
        let units = &self.library.units;
        let MenuEntry { builder, unit, .. } = entry;
        if units.find(unit).is_none() && self.is_whole {
            self.at(
                entry.place,
                format!("{builder} builds {unit}, which does not exist"),
            );
        }
        match units.find(builder) {
            Some(found) => {
                let section = self.library.section(found.place);
                if value(section, "Builder").is_none_or(|flag| flag == "0") {
                    let text = format!("{builder} builds {unit}, but is no builder (Builder=1)");
                    self.at(entry.place, text);
                }
            }
            None if self.is_whole => {
                self.at(
                    entry.place,
                    format!("{unit} is built by {builder}, which does not exist"),
                );
            }
            None => {}
        }
        let others = slots.others(entry);
        if let (Some(page), Some(slot), false) = (entry.page, entry.slot, others.is_empty()) {
            let others = others.join(", ");
            let text = format!("slot {slot} on page {page} of {builder} is also that of {others}");
            self.at(entry.place, text);
        }
    }

    fn missing(&mut self) {
        let mut references = References::new(self.context, self.library);
        let mut known = HashSet::new();
        for unit in &self.library.units.all {
            let mut missing = Vec::new();
            // A mod may change a unit of the game and contain only its text.
            let mut is_own = self.is_whole;
            let visited = references.of_unit(unit, &mut |reference| {
                let is_wanted = self.is_whole || OF_A_MOD.contains(&reference.kind);
                is_own |= is_wanted && reference.found.is_some();
                if is_wanted && reference.found.is_none() && reference.kind != "builder" {
                    let name = reference.name;
                    let text = format!("the {} {name} is missing", reference.kind);
                    missing.push((reference.from, text));
                }
                Ok(())
            });
            debug_assert!(visited.is_ok(), "the visitor has no errors");
            for (from, text) in missing.into_iter().filter(|_| is_own) {
                // Units share weapons and wrecks.
                if known.insert((from.file, text.clone())) {
                    self.add(Finding {
                        file: from.file,
                        line: from.place.and_then(|place| self.library.line(place)),
                        text,
                        is_style: false,
                        is_known: false,
                    });
                }
            }
        }
    }

    fn maps(&mut self) {
        let (context, library) = (self.context, self.library);
        let is_feature = |name: &str| !self.is_whole || library.features.find(name).is_some();
        let mut found = Vec::new();
        maps::check(context, &is_feature, &mut |file, text| {
            found.push(Finding {
                file,
                line: None,
                text,
                is_style: false,
                is_known: false,
            });
        });
        found.into_iter().for_each(|finding| self.add(finding));
    }

    fn scripts(&mut self) {
        let mut known = HashSet::new();
        for unit in &self.library.units.all {
            let object = self.object(unit);
            let path = cob::path_of(&object);
            let Some(file) = self.context.find(AssetKey::Path(&path)) else {
                continue;
            };
            if !known.insert(file) || self.counts == [MAX_FINDINGS; 2] {
                continue;
            }
            let bytes = self.context.read(file);
            if let Some(script) = bytes.and_then(|bytes| cob::parse(&bytes).ok()) {
                self.script(file, &script, &object);
            }
        }
    }

    fn object(&self, unit: &Definition) -> String {
        let section = self.library.section(unit.place);
        value(section, "Objectname").unwrap_or_else(|| unit.name.clone())
    }

    fn script(&mut self, file: AssetRef, script: &Cob, object: &str) {
        let mut remarks = self.lost_pieces(script, object);
        remarks.extend(script.remarks());
        if remarks.is_empty() {
            return;
        }
        let lines = script.lines();
        let mut found: Vec<Finding> = remarks
            .into_iter()
            .map(|remark| Finding {
                file,
                line: lines.of(remark.place),
                text: remark.text,
                is_style: remark.is_style,
                is_known: remark.is_known,
            })
            .collect();
        found.sort_by_key(|finding| finding.line);
        found.into_iter().for_each(|finding| self.add(finding));
    }

    /// Returns the pieces that a script uses and its model lacks.
    fn lost_pieces(&self, script: &Cob, object: &str) -> Vec<Remark> {
        let Some(model) = tdo::of_unit(self.context, object) else {
            return Vec::new();
        };
        let (names, path) = (model.names(), tdo::path_of(object));
        let used = script.used_pieces().into_iter();
        let lost = used.filter_map(|(piece, word)| {
            let name = script.pieces.get(piece as usize)?.to_string();
            let is_lost = !names.contains(&name.to_ascii_lowercase());
            is_lost.then(|| Remark {
                place: CodePlace::Word(word),
                text: format!("it uses the piece {name}, which {path} lacks"),
                is_style: false,
                is_known: true,
            })
        });
        lost.collect()
    }
}
