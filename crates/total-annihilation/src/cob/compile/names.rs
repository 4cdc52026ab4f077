//! The numbers of names. Case does not matter.

use std::collections::HashMap;

use super::tokens::{Problem, Result, Token};

/// Names with their numbers.
#[derive(Debug)]
pub(super) struct Names {
    /// Spellings and numbers, by lower-case name.
    numbers: HashMap<String, (String, u32)>,
}

impl Names {
    pub(super) fn new<'n>(names: impl IntoIterator<Item = (&'n str, u32)>) -> Self {
        let names = names.into_iter();
        let names =
            names.map(|(name, number)| (name.to_ascii_lowercase(), (name.to_owned(), number)));
        Self {
            numbers: names.collect(),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<u32> {
        let found = self.numbers.get(&name.to_ascii_lowercase());
        found.map(|(_, number)| *number)
    }

    pub(super) fn spellings(&self) -> impl Iterator<Item = &str> {
        self.numbers.values().map(|(name, _)| name.as_str())
    }
}

/// Returns the problem of an unknown name, with the most similar name.
pub(super) fn unknown<'n>(
    noun: &str,
    name: &Token,
    known: impl Iterator<Item = &'n str>,
) -> Problem {
    let lower = name.text.to_ascii_lowercase();
    let alike = known.map(|known| {
        let likeness = strsim::jaro_winkler(&lower, &known.to_ascii_lowercase());
        (likeness, known)
    });
    let nearest = alike.filter(|(likeness, _)| *likeness > LIKE);
    // Of equally similar names, the alphabetically first one.
    let nearest = nearest.max_by(|(one, first), (other, second)| {
        one.total_cmp(other).then_with(|| second.cmp(first))
    });
    let nearest = nearest.map(|(_, name)| format!("; nearest: {name}"));
    let text = format!("no {noun} is called {:?}", name.text);
    Problem::new(&name.at, text + &nearest.unwrap_or_default())
}

/// Minimum similarity of a suggested name.
const LIKE: f64 = 0.8;

/// The names of an edited list.
#[derive(Debug)]
pub(super) struct Numbers {
    /// The new numbers of the old names; `None` for deleted names.
    pub(super) of_old: Vec<Option<u32>>,
    /// The numbers of the names in the edited list.
    pub(super) of_new: Vec<u32>,
    /// The old name for each new one; `None` for an added name.
    pub(super) old_of_new: Vec<Option<usize>>,
}

impl Numbers {
    /// Pairs the names of two lists: equal names, then names at the same position. Old
    /// names keep their order and precede new ones. Fails for duplicate names.
    pub(super) fn new(noun: &str, old: &[&Token], new: &[&Token]) -> Result<Self> {
        let lower = |token: &&Token| token.text.to_ascii_lowercase();
        let places: HashMap<_, _> = old.iter().map(lower).zip(0..).collect();
        let mut seen = HashMap::new();
        let mut old_of_new: Vec<Option<usize>> = Vec::with_capacity(new.len());
        for name in new {
            if let Some(first) = seen.insert(lower(name), name) {
                let text = format!("a {noun} is called {:?} at {} already", name.text, first.at);
                return Err(Problem::new(&name.at, text));
            }
            old_of_new.push(places.get(&lower(name)).copied());
        }
        let mut is_left = vec![true; old.len()];
        for &place in old_of_new.iter().flatten() {
            is_left[place] = false;
        }
        for (place, (found, is_left)) in old_of_new.iter_mut().zip(&mut is_left).enumerate() {
            if found.is_none() && *is_left {
                (*found, *is_left) = (Some(place), false);
            }
        }
        let mut next = 0..;
        let of_old: Vec<_> = is_left
            .iter()
            .map(|gone| if *gone { None } else { next.next() })
            .collect();
        let of_new = old_of_new.iter().map(|old| match old {
            Some(old) => of_old[*old].unwrap_or_default(),
            None => next.next().unwrap_or(u32::MAX),
        });
        Ok(Self {
            of_new: of_new.collect(),
            of_old,
            old_of_new,
        })
    }

    /// Returns the new number for an old one. Numbers without a name are unchanged.
    pub(super) fn of(&self, old: u32) -> Option<u32> {
        self.of_old.get(old as usize).copied().unwrap_or(Some(old))
    }

    /// Returns whether all old names keep their numbers, and there are no new ones.
    pub(super) fn all_stay(&self) -> bool {
        let mut numbers = self.of_old.iter().zip(0..);
        self.len() == self.of_old.len() && numbers.all(|(new, old)| *new == Some(old))
    }

    /// Returns the number of names in the edited list.
    pub(super) fn len(&self) -> usize {
        self.of_new.len()
    }
}
