//! Matters of style in scripts: working code that is unused, long or unnecessary.

use std::collections::HashSet;

use super::lines::Place;
use super::lint::{Lint, Locals, Remark, constant_test};
use super::print::MAX_STATICS;
use super::steps::{Function, Step, StepKind};
use super::structure::Node;
use crate::cob::Cob;

/// Number of statements above which a script is long.
const LONG: usize = 100;

/// Cyclomatic complexity above which a script is complex.
const COMPLEX: usize = 15;

impl Lint<'_> {
    fn style_at(&mut self, place: Place, text: String) {
        self.add(Remark {
            place,
            text,
            is_style: true,
            is_known: false,
        });
    }

    fn style_in_script(&mut self, place: Place, text: &str) {
        let name = self.names.script(self.script);
        let text = format!("in {name}: {text}");
        self.style_at(place, text);
    }

    /// Looks at the style of a function.
    pub(super) fn style(&mut self, function: &Function, locals: &Locals, nodes: &[Node]) {
        let steps = &function.steps;
        let head = Place::Script(self.script);
        if steps.iter().all(returns_nothing) {
            self.style_in_script(head, "it does nothing");
        }
        if steps.len() > LONG {
            let count = steps.len();
            self.style_in_script(
                head,
                &format!("it has {count} statements, more than {LONG}"),
            );
        }
        let is_test = |step: &&Step| matches!(step.kind, StepKind::Test(..));
        let complexity = 1 + steps.iter().filter(is_test).count();
        if complexity > COMPLEX {
            let text = format!("its cyclomatic complexity is {complexity}, more than {COMPLEX}");
            self.style_in_script(head, &text);
        }
        // Otherwise the first variables may be parameters.
        if self.names.knows_parameters(self.script) {
            for (local, at) in locals.unused() {
                let name = self.names.local(self.script, local);
                self.style_in_script(Place::Word(at), &format!("{name} is never used"));
            }
        }
        self.conditions(function, nodes);
    }

    fn conditions(&mut self, function: &Function, nodes: &[Node]) {
        for pair in nodes.windows(2) {
            if let [Node::If { test, then, .. }, Node::If { test: other, .. }] = pair
                && is_same_test(function, *test, *other)
                && !changes(function, then)
            {
                let at = Place::Word(function.steps[*other].at);
                self.style_in_script(at, "the same condition follows itself");
            }
        }
        for node in nodes {
            match node {
                Node::Step(_) => {}
                Node::While(_, body) => self.conditions(function, body),
                Node::If { test, then, other } => {
                    let test = &function.steps[*test];
                    let at = Place::Word(test.at);
                    if constant_test(&test.kind).is_some_and(|value| value != 0) {
                        self.style_in_script(at, "the condition of an if is always true");
                    }
                    if let ([Node::Step(only)], None) = (&then[..], other)
                        && is_sleep(&function.steps[*only])
                    {
                        self.style_in_script(at, "an if contains only a sleep");
                    }
                    self.conditions(function, then);
                    self.conditions(function, other.as_deref().unwrap_or_default());
                }
            }
        }
    }

    /// Finds pieces and static variables that no script uses.
    pub(super) fn unused(&mut self, cob: &Cob) {
        if let Some(values) = self.piece_values() {
            let moved: HashSet<u32> = cob.used_pieces().into_keys().collect();
            for (name, number) in cob.pieces.iter().zip(0..) {
                if !moved.contains(&number) && !values.contains(&number) {
                    self.style_at(Place::Pieces, format!("the piece {name} is never used"));
                }
            }
        }
        for number in 0..cob.statics.min(MAX_STATICS) {
            if !self.facts.read.contains(&number) && !self.facts.assigned.contains_key(&number) {
                let name = self.names.fixed(number);
                self.style_at(Place::Statics, format!("{name} is never used"));
            }
        }
    }
}

/// Returns whether a statement is a return of 0 or of no value.
fn returns_nothing(step: &Step) -> bool {
    match &step.kind {
        StepKind::Other(operation, values) => {
            operation.mnemonic == "return" && values.iter().all(|value| value.constant() == Some(0))
        }
        _ => false,
    }
}

fn is_sleep(step: &Step) -> bool {
    matches!(&step.kind, StepKind::Other(one, _) if one.mnemonic == "sleep")
}

/// Returns whether two conditions are the same.
fn is_same_test(function: &Function, one: usize, other: usize) -> bool {
    match (&function.steps[one].kind, &function.steps[other].kind) {
        (StepKind::Test(one, _), StepKind::Test(other, _)) => one.is_same(other),
        _ => false,
    }
}

/// Returns whether statements may change the value of a condition: by assigning
/// variables, starting scripts, or waiting.
fn changes(function: &Function, nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Step(step) => !matches!(
            &function.steps[*step].kind,
            StepKind::Piece { operation, .. } if !operation.mnemonic.starts_with("wait-")
        ),
        Node::While(_, body) => changes(function, body),
        Node::If { then, other, .. } => {
            changes(function, then) || changes(function, other.as_deref().unwrap_or_default())
        }
    })
}
