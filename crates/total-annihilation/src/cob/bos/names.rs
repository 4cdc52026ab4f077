//! Names of pieces, scripts and variables as identifiers of BOS.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::Names as FileNames;
use crate::cob::Cob;
use crate::cob::parse::{Content, OperandKind};

/// Keywords in expressions, which cannot be names of values. Other keywords are names
/// where a name is expected.
const RESERVED: [&str; 6] = ["and", "get", "not", "or", "rand", "xor"];

/// Parameters of the scripts that the games call.
const CALLED_BY_GAMES: [(&str, &[&str]); 32] = [
    ("activate", &[]),
    ("aimfromprimary", &["piecenum"]),
    ("aimfromsecondary", &["piecenum"]),
    ("aimfromtertiary", &["piecenum"]),
    ("aimprimary", &["heading", "pitch"]),
    ("aimsecondary", &["heading", "pitch"]),
    ("aimtertiary", &["heading", "pitch"]),
    ("begintransport", &["height"]),
    ("create", &[]),
    ("deactivate", &[]),
    ("fireprimary", &[]),
    ("firesecondary", &[]),
    ("firetertiary", &[]),
    ("hitbyweapon", &["anglex", "anglez"]),
    ("killed", &["severity", "corpsetype"]),
    ("querybuildinfo", &["piecenum"]),
    ("querylandingpad", &["first", "second", "third", "fourth"]),
    ("querynanopiece", &["piecenum"]),
    ("queryprimary", &["piecenum"]),
    ("querysecondary", &["piecenum"]),
    ("querytertiary", &["piecenum"]),
    ("querytransport", &["piecenum"]),
    ("requeststate", &["requestedstate"]),
    ("rockunit", &["anglex", "anglez"]),
    ("setdirection", &["heading"]),
    ("setmaxreloadtime", &["time"]),
    ("setspeed", &["speed_of_wind"]),
    ("startbuilding", &["heading", "pitch"]),
    ("startmoving", &[]),
    ("stopmoving", &[]),
    ("sweetspot", &["piecenum"]),
    ("transportpickup", &["unitid"]),
];

/// The identifiers of a file.
pub(super) struct Names {
    pub(super) pieces: Vec<String>,
    pub(super) scripts: Vec<String>,
    /// Number of arguments in calls of each script, if known.
    arguments: HashMap<usize, u32>,
    /// In lower case.
    used: HashSet<String>,
}

impl Names {
    pub(super) fn new(cob: &Cob) -> Self {
        let mut names = Self {
            pieces: Vec::new(),
            scripts: Vec::new(),
            arguments: HashMap::new(),
            used: RESERVED.map(str::to_owned).into(),
        };
        names.pieces = names.identifiers(&cob.pieces, "piece");
        names.scripts = names.identifiers(&cob.scripts, "script");
        for item in cob.items() {
            if let Content::Instruction(instruction) = item.content {
                let operands: Vec<_> = instruction.operands().collect();
                if let [(OperandKind::Script, script), (OperandKind::Count, count)] = operands[..] {
                    let known = names.arguments.entry(script as usize).or_default();
                    *known = count.max(*known);
                }
            }
        }
        names
    }

    /// Returns the number of parameters of a script, if known.
    pub(super) fn parameters(&self, script: usize) -> u32 {
        let known = self.known_parameters(script).len() as u32;
        let called = self.arguments.get(&script);
        called.map_or(known, |&called| called.max(known))
    }

    /// Returns whether calls by the games or other scripts reveal the number of a
    /// script's parameters.
    pub(super) fn knows_parameters(&self, script: usize) -> bool {
        self.arguments.contains_key(&script) || self.known(script).is_some()
    }

    /// Returns the name of a script.
    pub(super) fn script(&self, script: usize) -> Cow<'_, str> {
        match self.scripts.get(script) {
            Some(name) => name.into(),
            None => format!("script_{script}").into(),
        }
    }

    /// Returns the name of a local variable of a script.
    pub(super) fn local(&self, script: usize, local: u32) -> String {
        let known = self.known_parameters(script).get(local as usize);
        match known.filter(|name| !self.used.contains(**name)) {
            Some(name) => (*name).to_owned(),
            None => format!("local_{local}"),
        }
    }

    /// Returns the name of a static variable.
    pub(super) fn fixed(&self, number: u32) -> String {
        format!("static_{number}")
    }

    /// Returns whether the first parameter of a script is a piece number.
    pub(super) fn returns_piece(&self, script: usize) -> bool {
        self.known_parameters(script).first() == Some(&"piecenum")
    }

    /// Returns the number of a script's parameters that return pieces to the game.
    pub(super) fn returned_pieces(&self, script: usize) -> usize {
        let name = self.script(script).to_ascii_lowercase();
        let is_asked = ["query", "aimfrom", "sweetspot"]
            .iter()
            .any(|start| name.starts_with(start));
        match is_asked {
            true => self.known_parameters(script).len().max(1),
            false => 0,
        }
    }

    fn known_parameters(&self, script: usize) -> &'static [&'static str] {
        self.known(script).unwrap_or_default()
    }

    /// Returns the parameters of a script that the games call.
    fn known(&self, script: usize) -> Option<&'static [&'static str]> {
        let name = self.scripts.get(script)?.to_ascii_lowercase();
        let index = CALLED_BY_GAMES.binary_search_by_key(&name.as_str(), |(known, _)| known);
        Some(CALLED_BY_GAMES[index.ok()?].1)
    }

    /// Returns the names as different identifiers.
    fn identifiers(&mut self, names: &FileNames, kind: &str) -> Vec<String> {
        let mut identifiers = Vec::with_capacity(names.len());
        for (number, name) in names.iter().enumerate() {
            let mut plain: String = name
                .text()
                .chars()
                .map(|one| match one {
                    'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => one,
                    _ => '_',
                })
                .collect();
            let is_word = plain.starts_with(|first: char| !first.is_ascii_digit());
            let is_variable = ["local_", "static_"].iter().any(|start| {
                let head = plain.get(..start.len());
                head.is_some_and(|head| head.eq_ignore_ascii_case(start))
            });
            if !is_word || is_variable || !self.used.insert(plain.to_ascii_lowercase()) {
                plain = format!("{kind}_{number}_{plain}");
                self.used.insert(plain.to_ascii_lowercase());
            }
            identifiers.push(plain);
        }
        identifiers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripts_that_games_call_are_sorted() {
        assert!(CALLED_BY_GAMES.is_sorted_by(|(a, _), (b, _)| a < b));
    }
}
