//! The loops and conditions in the jumps of a function.
//!
//! Compilers write a condition as `test END, then, END:` or `test OTHER, then, jump
//! END, OTHER: other, END:`, and a loop as `HEAD: test END, body, jump HEAD, END:`.

use std::collections::HashMap;

use super::steps::{Function, StepKind};

/// Maximum nesting depth of loops and conditions. Real functions have less than ten
/// levels.
const MAX_DEPTH: usize = 64;

/// Number of attempts per step. It may be unknown whether a condition has an `else`
/// before its contents are parsed.
const ATTEMPTS: usize = 16;

/// A part of a structured function. Steps are numbers in the function's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Step(usize),
    While(usize, Vec<Node>),
    If {
        test: usize,
        then: Vec<Node>,
        other: Option<Vec<Node>>,
    },
}

impl Node {
    /// Returns its first step.
    pub(super) fn first_step(&self) -> usize {
        match self {
            Self::Step(step) | Self::While(step, _) | Self::If { test: step, .. } => *step,
        }
    }
}

/// Returns the structure of a function, or `None` if its jumps do not form loops and
/// conditions.
pub(super) fn structured(function: &Function) -> Option<Vec<Node>> {
    let steps = function.steps.iter().enumerate();
    let mut by_word: HashMap<u32, usize> = steps.map(|(number, step)| (step.at, number)).collect();
    by_word.insert(function.end, function.steps.len());
    let mut search = Search {
        function,
        by_word,
        left: ATTEMPTS * (function.steps.len() + 1),
    };
    search.block(0, function.steps.len(), 0)
}

struct Search<'f> {
    function: &'f Function,
    /// The steps, by the index of their first word.
    by_word: HashMap<u32, usize>,
    /// Remaining number of steps to try.
    left: usize,
}

impl Search<'_> {
    /// Returns the structure of the steps `first..end`.
    fn block(&mut self, first: usize, end: usize, depth: usize) -> Option<Vec<Node>> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut nodes = Vec::new();
        let mut at = first;
        while at < end {
            self.left = self.left.checked_sub(1)?;
            match self.function.steps[at].kind {
                StepKind::Jump(_) => return None,
                StepKind::Test(_, target) => {
                    let target = self.step_at(target)?;
                    if target <= at || target > end {
                        return None;
                    }
                    let (node, next) = self.test(at, target, end, depth)?;
                    nodes.push(node);
                    at = next;
                }
                _ => {
                    nodes.push(Node::Step(at));
                    at += 1;
                }
            }
        }
        Some(nodes)
    }

    /// Returns the loop or condition that begins with a test, and the step after it.
    fn test(
        &mut self,
        test: usize,
        target: usize,
        end: usize,
        depth: usize,
    ) -> Option<(Node, usize)> {
        let last = target - 1;
        let jump = match self.function.steps[last].kind {
            StepKind::Jump(to) if last > test => Some(self.step_at(to)?),
            _ => None,
        };
        if jump == Some(test) {
            let body = self.block(test + 1, last, depth + 1)?;
            return Some((Node::While(test, body), target));
        }
        if let Some(after) = jump.filter(|&after| after >= target && after <= end)
            && let Some(then) = self.block(test + 1, last, depth + 1)
            && let Some(other) = self.block(target, after, depth + 1)
        {
            let other = Some(other);
            return Some((Node::If { test, then, other }, after));
        }
        let then = self.block(test + 1, target, depth + 1)?;
        let other = None;
        Some((Node::If { test, then, other }, target))
    }

    fn step_at(&self, word: u32) -> Option<usize> {
        self.by_word.get(&word).copied()
    }
}
