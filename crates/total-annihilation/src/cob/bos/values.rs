//! Piece numbers that scripts use as values. They return them to the game, which asks
//! for them by scripts such as `QueryPrimary`, and keep them in variables until then.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::expression::{Expression, Value};

/// A variable: its script, for a local one, and its number.
pub(super) type Holder = (Option<usize>, u32);

/// The source of a variable's value.
#[derive(Debug, Clone, Copy)]
enum Source {
    Constant(i32),
    Variable(Holder),
    Computed,
}

impl Source {
    fn of(script: usize, value: &Expression) -> Self {
        match value.value {
            Value::Constant(number) => Self::Constant(number),
            Value::Local(local) => Self::Variable((Some(script), local)),
            Value::Static(number) => Self::Variable((None, number)),
            _ => Self::Computed,
        }
    }
}

/// The assignments in a file, and the values that are pieces.
#[derive(Debug, Default)]
pub(super) struct PieceValues {
    assigned: HashMap<Holder, Vec<Source>>,
    pieces: Vec<Source>,
}

impl PieceValues {
    /// Adds an assignment in a script.
    pub(super) fn assign(&mut self, variable: Holder, script: usize, value: &Expression) {
        let assigned = self.assigned.entry(variable).or_default();
        assigned.push(Source::of(script, value));
    }

    /// Adds a value of a script that is a piece.
    pub(super) fn add(&mut self, script: usize, value: &Expression) {
        self.pieces.push(Source::of(script, value));
    }

    /// Returns the piece numbers, including those in the variables `returned` to the
    /// game; `None` if one is computed, so that any piece is possible.
    pub(super) fn numbers(&self, returned: impl Iterator<Item = Holder>) -> Option<BTreeSet<u32>> {
        let mut next = self.pieces.clone();
        next.extend(returned.map(Source::Variable));
        let (mut numbers, mut known) = (BTreeSet::new(), HashSet::new());
        while let Some(source) = next.pop() {
            match source {
                Source::Constant(number) => numbers.extend(u32::try_from(number).ok()),
                Source::Variable(variable) if known.insert(variable) => {
                    next.extend(self.assigned.get(&variable).into_iter().flatten());
                }
                Source::Variable(_) => {}
                Source::Computed => return None,
            }
        }
        Some(numbers)
    }
}
