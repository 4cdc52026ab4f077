//! Mistakes in scripts that compilers accept.

use std::collections::{HashMap, HashSet};

use super::expression::{Expression, Value};
use super::names::Names;
use super::steps::{Function, StepKind, Variable};
use super::structure::{Node, structured};
use super::{MAX_ITEMS, notes_at_end};
use crate::total_annihilation::cob::Cob;
use crate::total_annihilation::cob::parse::Item;

/// Maximum number of mistakes that are reported for a file.
const MAX_FOUND: usize = 100;

impl Cob {
    /// Returns the mistakes in the scripts, one sentence each, with the name of
    /// the script.
    pub fn mistakes(&self) -> Vec<String> {
        let names = Names::new(self);
        let mut lint = Lint {
            names: &names,
            script: 0,
            found: Vec::new(),
            facts: Facts::default(),
        };
        let mut known = HashSet::new();
        for (script, range) in self.script_ranges().into_iter().enumerate() {
            if !known.insert(range.start) {
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
        lint.found.truncate(MAX_FOUND);
        lint.found
    }
}

/// Facts about all functions of a file.
struct Facts {
    /// Whether all functions were understood.
    is_complete: bool,
    /// The static variables that are assigned, and those that are read.
    assigned: HashSet<u32>,
    read: HashSet<u32>,
    /// The signals that are sent; `None` in it for an unknown one.
    sent: HashSet<Option<i32>>,
    /// The signals that end a script, with its number.
    masks: Vec<(usize, i32)>,
    /// The scripts that a script calls and waits for.
    calls: HashMap<usize, Vec<usize>>,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            is_complete: true,
            assigned: HashSet::new(),
            read: HashSet::new(),
            sent: HashSet::new(),
            masks: Vec::new(),
            calls: HashMap::new(),
        }
    }
}

struct Lint<'a> {
    names: &'a Names,
    /// The current script.
    script: usize,
    found: Vec<String>,
    facts: Facts,
}

impl Lint<'_> {
    fn report(&mut self, script: usize, mistake: &str) {
        if self.found.len() < MAX_FOUND {
            let name = self.names.script(script);
            self.found.push(format!("in {name}: {mistake}"));
        }
    }

    fn function(&mut self, function: &Function) {
        let mut locals = Locals::default();
        for step in &function.steps {
            locals.step(&step.kind);
            self.collect(&step.kind);
        }
        for local in locals.unread() {
            let name = self.names.local(self.script, local);
            self.report(self.script, &format!("{name} is assigned and never read"));
        }
        for pair in function.steps.windows(2) {
            self.pair(&pair[0].kind, &pair[1].kind);
        }
        if let Some(nodes) = structured(function) {
            self.nodes(function, &nodes);
        }
    }

    fn collect(&mut self, kind: &StepKind) {
        each_value(kind, &mut |value| {
            if let Value::Static(number) = value {
                self.facts.read.insert(*number);
            }
        });
        match kind {
            StepKind::Assign(Variable::Static(number), _) => {
                self.facts.assigned.insert(*number);
            }
            StepKind::Call {
                operation, script, ..
            } if operation.mnemonic == "call-script" => {
                let calls = self.facts.calls.entry(self.script).or_default();
                calls.push(*script as usize);
            }
            StepKind::Other(operation, values) => match (operation.mnemonic, &values[..]) {
                ("signal", [signal]) => {
                    self.facts.sent.insert(signal.constant());
                }
                ("set-signal-mask", [mask]) => {
                    if let Some(mask) = mask.constant().filter(|&mask| mask != 0) {
                        self.facts.masks.push((self.script, mask));
                    }
                }
                _ => {}
            },
            StepKind::Piece {
                operation, values, ..
            } if ["move", "turn"].contains(&operation.mnemonic)
                && values.first().and_then(Expression::constant) == Some(0) =>
            {
                let verb = operation.mnemonic;
                self.report(self.script, &format!("a {verb} with speed 0 never ends"));
            }
            _ => {}
        }
    }

    /// Checks two steps in a row.
    fn pair(&mut self, first: &StepKind, second: &StepKind) {
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
        ) = (first, second)
            && (verb, piece, axis) == (operation, other_piece, other_axis)
            && ["move", "turn", "move-now", "turn-now", "spin"].contains(&verb.mnemonic)
            && values
                .iter()
                .zip(other_values)
                .all(|(one, other)| one.is_same(other))
        {
            let verb = verb.mnemonic;
            self.report(self.script, &format!("the same {verb} follows itself"));
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
        if !rest.iter().all(is_return) {
            self.report(self.script, "there is code after a return");
        }
        for node in nodes {
            match node {
                Node::Step(_) => {}
                Node::If { test, then, other } => {
                    if constant_test(kind(*test)) == Some(0) {
                        self.report(self.script, "the condition of an if is always false");
                    }
                    self.nodes(function, then);
                    self.nodes(function, other.as_deref().unwrap_or_default());
                }
                Node::While(test, body) => {
                    match constant_test(kind(*test)) {
                        Some(0) => {
                            self.report(self.script, "the condition of a while is always false");
                        }
                        Some(_) if !waits(function, body) => {
                            self.report(self.script, "an endless loop never waits");
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
        let facts = std::mem::take(&mut self.facts);
        if facts.is_complete {
            let mut unread: Vec<u32> = facts.assigned.difference(&facts.read).copied().collect();
            unread.sort_unstable();
            for number in unread {
                let name = self.names.fixed(number);
                self.found
                    .push(format!("{name} is assigned and never read"));
            }
            if !facts.sent.contains(&None) {
                let sent = facts.sent.iter().flatten();
                let sent = sent.fold(0, |sent, signal| sent | signal);
                for &(script, mask) in &facts.masks {
                    if sent & mask == 0 {
                        self.report(script, &format!("no script sends the signal {mask}"));
                    }
                }
            }
        }
        for script in cycles(&facts.calls) {
            self.report(script, "it calls itself, directly or through others");
        }
    }
}

/// The local variables of a function.
#[derive(Default)]
struct Locals {
    declared: HashSet<u32>,
    assigned: HashSet<u32>,
    read: HashSet<u32>,
}

impl Locals {
    fn step(&mut self, kind: &StepKind) {
        each_value(kind, &mut |value| {
            if let Value::Local(local) = value {
                self.read.insert(*local);
            }
        });
        match kind {
            StepKind::Declare(local) => {
                self.declared.insert(*local);
            }
            StepKind::Assign(Variable::Local(local), _) => {
                self.assigned.insert(*local);
            }
            _ => {}
        }
    }

    /// Returns those that are assigned and never read, except for parameters,
    /// which the game reads.
    fn unread(&self) -> Vec<u32> {
        let own = self.assigned.intersection(&self.declared);
        let mut unread: Vec<u32> = own
            .filter(|local| !self.read.contains(local))
            .copied()
            .collect();
        unread.sort_unstable();
        unread
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
        StepKind::Call { arguments, .. } => arguments,
    };
    for expression in expressions {
        expression.visit(visit);
    }
}

fn constant_test(kind: &StepKind) -> Option<i32> {
    match kind {
        StepKind::Test(condition, _) => condition.constant(),
        _ => None,
    }
}

/// Returns whether a loop waits, ends, or calls what may wait.
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
    // Scripts that call nothing left are removed until none is.
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
    // The scripts that are left call a cycle; those in one are also called.
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
