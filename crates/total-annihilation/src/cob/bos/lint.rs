//! Mistakes in scripts that compilers accept.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::expression::{Expression, Value};
use super::lines::Place;
use super::names::Names;
use super::steps::{Function, Step, StepKind, Variable};
use super::structure::{Node, structured};
use super::values::{Holder, PieceValues};
use super::{MAX_ITEMS, notes_at_end};
use crate::cob::Cob;
use crate::cob::parse::Item;

/// Maximum number of reported mistakes, and of matters of style, for a file.
const MAX_FOUND: usize = 100;

/// A remark about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Place of the remark.
    pub place: Place,
    /// The remark, without a full stop.
    pub text: String,
    /// True for a matter of style.
    pub is_style: bool,
    /// True if the warnings of the file contain it too.
    pub is_known: bool,
}

impl Cob {
    /// Returns the mistakes in the scripts, and matters of style.
    pub fn remarks(&self) -> Vec<Remark> {
        let names = Names::new(self);
        let mut lint = Lint {
            names: &names,
            script: 0,
            firsts: Vec::new(),
            found: Vec::new(),
            counts: [0; 2],
            facts: Facts::default(),
        };
        lint.scripts(self);
        let ranges = self.script_ranges();
        let mut known = HashMap::new();
        let firsts = ranges.iter().enumerate();
        let firsts = firsts.map(|(script, range)| *known.entry(range.start).or_insert(script));
        lint.firsts = firsts.collect();
        for (script, range) in ranges.into_iter().enumerate() {
            if lint.firsts[script] != script {
                continue;
            }
            let found = self.items_in(range.clone()).take(MAX_ITEMS);
            let mut items: Vec<Item<'_>> = found.collect();
            notes_at_end(&mut items);
            lint.script = script;
            if let Ok(function) = Function::new(&items, range.end, names.parameters(script)) {
                lint.function(&function);
            } else {
                lint.facts.is_complete = false;
            }
        }
        lint.whole();
        if lint.facts.is_complete {
            lint.unused(self);
        }
        lint.found
    }
}

/// Facts about all functions of a file.
pub(super) struct Facts {
    /// True if all functions were understood.
    is_complete: bool,
    /// The assigned static variables, each with its first assignment, and the variables
    /// that are read.
    pub(super) assigned: HashMap<u32, u32>,
    pub(super) read: HashSet<u32>,
    /// The pieces that are values.
    pieces: PieceValues,
    /// The sent signals; `None` represents an unknown one.
    sent: HashSet<Option<i32>>,
    /// The signals that end a script, with its number and the statement.
    masks: Vec<(usize, i32, u32)>,
    /// The blocking calls of a script.
    calls: HashMap<usize, Vec<usize>>,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            is_complete: true,
            assigned: HashMap::new(),
            read: HashSet::new(),
            pieces: PieceValues::default(),
            sent: HashSet::new(),
            masks: Vec::new(),
            calls: HashMap::new(),
        }
    }
}

pub(super) struct Lint<'a> {
    pub(super) names: &'a Names,
    /// The current script.
    pub(super) script: usize,
    /// For each script, the first script with the same code.
    firsts: Vec<usize>,
    found: Vec<Remark>,
    /// Numbers of mistakes, and of matters of style.
    counts: [usize; 2],
    pub(super) facts: Facts,
}

impl Lint<'_> {
    pub(super) fn add(&mut self, remark: Remark) {
        let count = &mut self.counts[usize::from(remark.is_style)];
        if *count < MAX_FOUND {
            *count += 1;
            self.found.push(remark);
        }
    }

    /// Reports a mistake in a statement of the current script.
    fn report(&mut self, step: &Step, mistake: &str) {
        self.in_script(self.script, Place::Word(step.at), mistake);
    }

    fn in_script(&mut self, script: usize, place: Place, mistake: &str) {
        let name = self.names.script(script);
        self.add(Remark {
            place,
            text: format!("in {name}: {mistake}"),
            is_style: false,
            is_known: false,
        });
    }

    /// Returns the piece numbers among the values, or `None` if any piece is possible.
    pub(super) fn piece_values(&self) -> Option<BTreeSet<u32>> {
        let returned = self.firsts.iter().enumerate().flat_map(|(script, &first)| {
            let count = self.names.returned_pieces(script) as u32;
            (0..count).map(move |parameter| -> Holder { (Some(first), parameter) })
        });
        self.facts.pieces.numbers(returned)
    }

    /// Checks the names of the scripts.
    fn scripts(&mut self, cob: &Cob) {
        let mut known = HashSet::new();
        for (script, name) in cob.scripts.iter().enumerate() {
            let name = name.to_string();
            if !known.insert(name.clone()) {
                self.add(Remark {
                    place: Place::Script(script),
                    text: format!("the game calls the first script {name}, not this one"),
                    is_style: false,
                    is_known: false,
                });
            }
        }
    }

    fn function(&mut self, function: &Function) {
        let mut locals = Locals::default();
        for step in &function.steps {
            locals.step(step);
            self.collect(step);
        }
        for (local, at) in locals.unread() {
            let name = self.names.local(self.script, local);
            let text = format!("{name} is assigned and never read");
            self.in_script(self.script, Place::Word(at), &text);
        }
        for pair in function.steps.windows(2) {
            self.pair(&pair[0], &pair[1]);
        }
        let nodes = structured(function);
        if let Some(nodes) = &nodes {
            self.nodes(function, nodes);
        }
        self.style(function, &locals, nodes.as_deref().unwrap_or_default());
    }

    fn collect(&mut self, step: &Step) {
        let at = step.at;
        each_value(&step.kind, &mut |value| {
            if let Value::Static(number) = value {
                self.facts.read.insert(*number);
            }
            if let Value::GetOf(operands) = value {
                self.facts.pieces.add(self.script, &operands[1]);
            }
        });
        match &step.kind {
            StepKind::Assign(variable, value) => {
                let holder = match variable {
                    Variable::Local(local) => (Some(self.script), *local),
                    Variable::Static(number) => {
                        self.facts.assigned.entry(*number).or_insert(at);
                        (None, *number)
                    }
                };
                self.facts.pieces.assign(holder, self.script, value);
            }
            StepKind::Call {
                operation,
                script,
                arguments,
            } => {
                let script = *script as usize;
                let callee = self.firsts.get(script).copied();
                for (parameter, argument) in (0..).zip(arguments).filter(|_| callee.is_some()) {
                    let holder = (callee, parameter);
                    self.facts.pieces.assign(holder, self.script, argument);
                }
                if script >= self.names.scripts.len() {
                    let name = self.names.script(self.script);
                    self.add(Remark {
                        place: Place::Word(at),
                        text: format!("in {name}: there is no script {script}"),
                        is_style: false,
                        is_known: true,
                    });
                } else if operation.mnemonic == "call-script" {
                    self.facts
                        .calls
                        .entry(self.script)
                        .or_default()
                        .push(script);
                }
            }
            StepKind::Other(operation, values) => match (operation.mnemonic, &values[..]) {
                ("signal", [signal]) => {
                    self.facts.sent.insert(signal.constant());
                }
                ("set-signal-mask", [mask]) => {
                    if let Some(mask) = mask.constant().filter(|&mask| mask != 0) {
                        self.facts.masks.push((self.script, mask, at));
                    }
                }
                ("attach-unit", [_, piece, _]) => self.facts.pieces.add(self.script, piece),
                _ => {}
            },
            StepKind::Piece {
                operation, values, ..
            } if ["move", "turn"].contains(&operation.mnemonic)
                && values.first().and_then(Expression::constant) == Some(0) =>
            {
                let verb = operation.mnemonic;
                self.report(step, &format!("a {verb} with speed 0 never ends"));
            }
            _ => {}
        }
    }

    /// Checks two steps in a row.
    fn pair(&mut self, first: &Step, second: &Step) {
        if let (
            StepKind::Piece {
                operation: verb,
                piece,
                axis,
                values,
            },
            StepKind::Piece {
                operation,
                piece: other_piece,
                axis: other_axis,
                values: other_values,
            },
        ) = (&first.kind, &second.kind)
            && (verb, piece, axis) == (operation, other_piece, other_axis)
            && ["move", "turn", "move-now", "turn-now", "spin"].contains(&verb.mnemonic)
            && values
                .iter()
                .zip(other_values)
                .all(|(one, other)| one.is_same(other))
        {
            let verb = verb.mnemonic;
            self.report(second, &format!("the same {verb} follows itself"));
        }
    }

    fn nodes(&mut self, function: &Function, nodes: &[Node]) {
        let kind = |step: usize| &function.steps[step].kind;
        let is_return = |node: &Node| match node {
            Node::Step(step) => {
                matches!(kind(*step), StepKind::Other(one, _) if one.mnemonic == "return")
            }
            _ => false,
        };
        let end = nodes.iter().position(is_return);
        // Compilers add a return to the end of a function.
        let rest = end.map_or(&[][..], |end| &nodes[end + 1..]);
        if let Some(unreached) = rest.iter().find(|node| !is_return(node)) {
            let step = &function.steps[unreached.first_step()];
            self.report(step, "there is code after a return");
        }
        for node in nodes {
            match node {
                Node::Step(_) => {}
                Node::If { test, then, other } => {
                    if constant_test(kind(*test)) == Some(0) {
                        let step = &function.steps[*test];
                        self.report(step, "the condition of an if is always false");
                    }
                    self.nodes(function, then);
                    self.nodes(function, other.as_deref().unwrap_or_default());
                }
                Node::While(test, body) => {
                    let step = &function.steps[*test];
                    match constant_test(kind(*test)) {
                        Some(0) => {
                            self.report(step, "the condition of a while is always false");
                        }
                        Some(_) if !waits(function, body) => {
                            self.report(step, "an endless loop never waits");
                        }
                        _ => {}
                    }
                    self.nodes(function, body);
                }
            }
        }
    }

    /// Checks all scripts together.
    fn whole(&mut self) {
        if self.facts.is_complete {
            let assigned = self.facts.assigned.iter();
            let unread = assigned.filter(|(number, _)| !self.facts.read.contains(number));
            let mut unread: Vec<(u32, u32)> = unread.map(|(&number, &at)| (number, at)).collect();
            unread.sort_unstable();
            for (number, at) in unread {
                let name = self.names.fixed(number);
                self.add(Remark {
                    place: Place::Word(at),
                    text: format!("{name} is assigned and never read"),
                    is_style: false,
                    is_known: false,
                });
            }
            self.signals();
        }
        for script in cycles(&self.facts.calls) {
            let text = "it calls itself, directly or through others";
            self.in_script(script, Place::Script(script), text);
        }
    }

    fn signals(&mut self) {
        if self.facts.sent.contains(&None) {
            return;
        }
        let sent = self.facts.sent.iter().flatten();
        let sent = sent.fold(0, |sent, signal| sent | signal);
        for (script, mask, at) in std::mem::take(&mut self.facts.masks) {
            if sent & mask == 0 {
                let text = format!("no script sends the signal {mask}");
                self.in_script(script, Place::Word(at), &text);
            }
        }
    }
}

/// The local variables of a function, by number.
#[derive(Default)]
pub(super) struct Locals {
    /// Declared variables, with the statement.
    declared: BTreeMap<u32, u32>,
    /// Assigned variables, with the first assignment.
    assigned: HashMap<u32, u32>,
    read: HashSet<u32>,
}

impl Locals {
    fn step(&mut self, step: &Step) {
        each_value(&step.kind, &mut |value| {
            if let Value::Local(local) = value {
                self.read.insert(*local);
            }
        });
        match &step.kind {
            StepKind::Declare(local) => {
                self.declared.insert(*local, step.at);
            }
            StepKind::Assign(Variable::Local(local), _) => {
                self.assigned.entry(*local).or_insert(step.at);
            }
            _ => {}
        }
    }

    /// Returns the variables that are assigned and never read, with the statement.
    /// Omits parameters, which the game reads.
    fn unread(&self) -> Vec<(u32, u32)> {
        let own = self.declared.keys();
        let unread = own.filter(|local| !self.read.contains(local));
        let assigned = unread.map(|local| Some((*local, *self.assigned.get(local)?)));
        assigned.flatten().collect()
    }

    /// Returns the variables that are declared and never used, with the statement.
    pub(super) fn unused(&self) -> Vec<(u32, u32)> {
        let is_used = |local| self.read.contains(local) || self.assigned.contains_key(local);
        let unused = self.declared.iter().filter(|(local, _)| !is_used(local));
        unused.map(|(&local, &at)| (local, at)).collect()
    }
}

/// Visits the values of a statement and of their operands.
fn each_value(kind: &StepKind, visit: &mut dyn FnMut(&Value)) {
    let expressions: &[Expression] = match kind {
        StepKind::Declare(_) | StepKind::Jump(_) => &[],
        StepKind::Assign(_, value) | StepKind::Sound(_, value) | StepKind::Test(value, _) => {
            std::slice::from_ref(value)
        }
        StepKind::Piece { values, .. } | StepKind::Other(_, values) => values,
        StepKind::Call { arguments, .. } | StepKind::Command(_, arguments) => arguments,
    };
    for expression in expressions {
        expression.visit(visit);
    }
}

pub(super) fn constant_test(kind: &StepKind) -> Option<i32> {
    match kind {
        StepKind::Test(condition, _) => condition.constant(),
        _ => None,
    }
}

/// Returns whether a loop waits, ends, or calls a function that may wait.
fn waits(function: &Function, body: &[Node]) -> bool {
    body.iter().any(|node| match node {
        Node::Step(step) => match &function.steps[*step].kind {
            StepKind::Call { operation, .. } => operation.mnemonic == "call-script",
            StepKind::Piece { operation, .. } => operation.mnemonic.starts_with("wait-"),
            StepKind::Other(operation, _) => {
                ["sleep", "return", "signal"].contains(&operation.mnemonic)
            }
            _ => false,
        },
        Node::While(_, body) => waits(function, body),
        Node::If { then, other, .. } => {
            let other = other.as_deref().unwrap_or_default();
            waits(function, then) || waits(function, other)
        }
    })
}

/// Returns the scripts that call themselves, in order.
fn cycles(calls: &HashMap<usize, Vec<usize>>) -> Vec<usize> {
    // Scripts without remaining calls are removed until none is left.
    let mut left: HashMap<usize, HashSet<usize>> = HashMap::new();
    let mut callers: HashMap<usize, Vec<usize>> = HashMap::new();
    for (&script, called) in calls {
        let called: HashSet<usize> = called.iter().copied().collect();
        for &one in &called {
            callers.entry(one).or_default().push(script);
        }
        left.insert(script, called);
    }
    let is_end = |script: &usize| !calls.contains_key(script);
    let mut ends: Vec<usize> = callers.keys().copied().filter(is_end).collect();
    while let Some(end) = ends.pop() {
        for caller in callers.get(&end).into_iter().flatten() {
            if let Some(called) = left.get_mut(caller)
                && called.remove(&end)
                && called.is_empty()
            {
                left.remove(caller);
                ends.push(*caller);
            }
        }
    }
    // The remaining scripts call a cycle. Scripts in a cycle are also called.
    let mut found: Vec<usize> = left.keys().copied().collect();
    found.retain(|script| left.values().any(|called| called.contains(script)));
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_scripts_in_a_cycle_call_themselves() {
        let calls = [(1, vec![2]), (2, vec![3, 4]), (3, vec![2]), (5, vec![5, 6])];
        assert_eq!(cycles(&calls.into_iter().collect()), [2, 3, 5]);
    }
}
