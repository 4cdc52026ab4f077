//! The rows of two tables that are compared, and the cells that differ.

use std::collections::HashMap;
use std::rc::Rc;

use csv::StringRecord;
use hpimount_record::shortened;

use super::cell::{self, Likeness};
use super::columns::{Column, Columns};
use super::dialect::{Text, line, line_number};
use super::{Added, Adding, Change, Deleted, Differences, Rules, pairs};
use crate::view::import::Problems;

/// The most cells that can be changed at once.
const MAX_CHANGES: usize = 1 << 18;

/// The most comparisons of cells of rows with the same key.
const MAX_COMPARISONS: usize = 1 << 26;

/// Two tables that are compared.
pub(super) struct Comparison<'a> {
    pub(super) old: &'a Text,
    pub(super) new: &'a Text,
    pub(super) columns: Columns,
    pub(super) rules: &'a Rules<'a>,
}

/// The rows of both tables with one key.
#[derive(Default)]
struct Group {
    old: Vec<usize>,
    new: Vec<usize>,
}

impl Comparison<'_> {
    /// Returns what the new table changes.
    pub(super) fn differences(&self) -> Result<Differences, String> {
        let mut problems = Problems::default();
        let mut found = Differences::default();
        let (mut spoiled, mut spoiled_line) = (0, 0);
        for (old, new) in self.pairs(&mut found, &mut problems)? {
            let row = &self.new.rows[new];
            match self
                .columns
                .deleted
                .and_then(|place| row.get(place))
                .map(str::trim)
            {
                None | Some("") => {}
                Some("-") if self.rules.can_delete => {
                    let line = line_number(row);
                    found.deleted.push(Deleted { row: old, line });
                    continue;
                }
                Some("-") => problems.add(format!("{}: rows cannot be deleted here", line(row))),
                Some(_) => problems.add(format!("{}, column #: must be \"-\" or empty", line(row))),
            }
            let spoiled_in_row = self.changes(old, new, &mut found.changes, &mut problems);
            if spoiled == 0 {
                spoiled_line = line_number(row);
            }
            spoiled += spoiled_in_row;
            if found.changes.len() > MAX_CHANGES {
                return Err(format!("changes more than {MAX_CHANGES} cells"));
            }
        }
        problems.check()?;
        if spoiled > 0 {
            found.warnings.push(format!(
                "{spoiled} cells are as a spreadsheet spoils them, and count as unchanged: the \
                 first is in line {spoiled_line}"
            ));
        }
        Ok(found)
    }

    /// Adds the cells of a row that differ, and returns how many are spoiled.
    fn changes(
        &self,
        old: usize,
        new: usize,
        changes: &mut Vec<Change>,
        problems: &mut Problems,
    ) -> usize {
        let (shown, row) = (&self.old.rows[old], &self.new.rows[new]);
        if row
            .iter()
            .skip(self.new.header.len())
            .any(|cell| !cell.is_empty())
        {
            let (has, columns) = (row.len(), self.new.header.len());
            problems.add(format!(
                "{}: has {has} cells, the header {columns}",
                line(row)
            ));
        }
        let mut key = None;
        let mut spoiled = 0;
        for column in &self.columns.both {
            let (before, text, likeness) = self.cell(column, old, new);
            spoiled += usize::from(likeness == Likeness::Spoiled);
            let is_empty_key = text.is_empty() && self.is_first_key(column);
            if likeness != Likeness::Different || is_empty_key {
                continue;
            }
            let key = key.get_or_insert_with(|| self.name(shown)).clone();
            let change = Change {
                row: old,
                column: column.name.clone(),
                text: match column.has_commas {
                    true => text.replacen(',', ".", 1),
                    false => text.into_owned(),
                },
                line: line_number(row),
                key,
            };
            match self.is_key(column) || !(self.rules.is_editable)(&column.name) {
                true => problems.add(change.problem(format_args!("is derived; was {before:?}"))),
                false => changes.push(change),
            }
        }
        spoiled
    }

    /// Returns a cell as it is shown and edited.
    fn cell(
        &self,
        column: &Column,
        old: usize,
        new: usize,
    ) -> (&str, std::borrow::Cow<'_, str>, Likeness) {
        let shown = self.old.rows[old].get(column.old).unwrap_or_default();
        // Cells that are missing at the end of a row are unchanged.
        let edited = self.new.rows[new].get(column.new).unwrap_or(shown);
        let edited = self.new.cell(edited, shown);
        let likeness = match cell::compare(shown, &edited) {
            Likeness::Different if self.is_key(column) && shown.eq_ignore_ascii_case(&edited) => {
                Likeness::Same
            }
            likeness => likeness,
        };
        (shown, edited, likeness)
    }

    fn is_key(&self, column: &Column) -> bool {
        let mut keys = self.rules.keys.iter().flat_map(|key| key.iter());
        keys.any(|name| **name == *column.name)
    }

    fn is_first_key(&self, column: &Column) -> bool {
        let first = self.rules.keys.first();
        first.is_some_and(|key| key.contains(&&*column.name))
    }

    /// Returns the name of a shown row for messages.
    fn name(&self, shown: &StringRecord) -> Rc<str> {
        let cell = |name: &str| {
            let place = self.old.header.iter().position(|column| column == name)?;
            shown.get(place)
        };
        let name = self
            .rules
            .name
            .and_then(cell)
            .filter(|name| !name.is_empty());
        let name = name.map(str::to_owned).unwrap_or_else(|| {
            let key = self.rules.keys.first().copied().unwrap_or_default();
            let cells: Vec<_> = key.iter().filter_map(|name| cell(name)).collect();
            cells.join(" ")
        });
        shortened(&name).into()
    }

    /// Pairs the rows of both tables, and finds the new ones.
    fn pairs(
        &self,
        found: &mut Differences,
        problems: &mut Problems,
    ) -> Result<Vec<(usize, usize)>, String> {
        let rows = self.new.rows.iter().enumerate();
        let rows = rows.filter(|(_, row)| row.iter().any(|cell| !cell.is_empty()));
        let index = self.index_of_new();
        let is_new = |&row: &usize| {
            let cell = |index: &Column| self.new.rows[row].get(index.new);
            index
                .as_ref()
                .is_some_and(|index| cell(index).unwrap_or_default().is_empty())
        };
        let (new, mut left): (Vec<_>, Vec<_>) = rows.map(|(row, _)| row).partition(is_new);
        found
            .added
            .extend(new.into_iter().map(|row| self.added(row)));
        let mut pairs = Vec::new();
        let mut is_paired = vec![false; self.old.rows.len()];
        let mut comparisons = MAX_COMPARISONS / self.columns.both.len().max(1);
        let mut keys = 0;
        for &names in self.rules.keys {
            let Some(key) = self.columns.key(names) else {
                continue;
            };
            keys += 1;
            let groups = self.groups(&key, &is_paired, &mut left, &mut comparisons);
            for Group { old, new } in groups.ok_or(pairs::TOO_MANY)? {
                let is_equal = |old, new| self.is_equal(old, new);
                let result =
                    pairs::pair(&old, &new, &mut comparisons, &is_equal).ok_or(pairs::TOO_MANY)?;
                if let Some(row) = result.ambiguous {
                    let place = line(&self.new.rows[row]);
                    let key = self.shown_key(&key, row);
                    problems.add(format!(
                        "{place}: could be several rows with the key {key}: keep their number and \
                         order"
                    ));
                }
                for row in result.extra {
                    self.extra(row, &key, &result.pairs, found, problems);
                }
                for &(old, _) in &result.pairs {
                    is_paired[old] = true;
                }
                pairs.extend(result.pairs);
            }
        }
        if keys == 0 {
            let names = self.rules.keys.first().map(|key| key.join(", "));
            let names = names.unwrap_or_default();
            return Err(format!(
                "line 1: must have the columns that name a row: {names}"
            ));
        }
        for row in left {
            let place = line(&self.new.rows[row]);
            let first = self.rules.keys.iter().find_map(|key| self.columns.key(key));
            let key = self.shown_key(&first.unwrap_or_default(), row);
            problems.add(format!("{place}: no row has the key {key}"));
        }
        found.added.sort_by_key(|row| row.line);
        pairs.sort_unstable_by_key(|&(_, new)| new);
        Ok(pairs)
    }

    /// Groups rows by a key, and removes the rows of the edited table with a known key from
    /// `left`. Returns `None` if more than `comparisons` of rows fail, which are subtracted
    /// from it.
    fn groups(
        &self,
        key: &[&Column],
        is_paired: &[bool],
        left: &mut Vec<usize>,
        comparisons: &mut usize,
    ) -> Option<Vec<Group>> {
        let mut groups: Vec<Group> = Vec::new();
        let mut exact = HashMap::new();
        let mut loose: HashMap<String, Option<usize>> = HashMap::new();
        for (row, shown) in self.old.rows.iter().enumerate() {
            if is_paired[row] {
                continue;
            }
            let cells = || {
                key.iter()
                    .map(|column| shown.get(column.old).unwrap_or_default())
            };
            let next = groups.len();
            let group = *exact.entry(joined(cells().map(exact_key))).or_insert(next);
            if group == next {
                groups.push(Group::default());
            }
            groups[group].old.push(row);
            // A spoiled key that several keys may have been names none.
            let other = loose
                .entry(joined(cells().map(cell::loose)))
                .or_insert(Some(group));
            if *other != Some(group) {
                *other = None;
            }
        }
        let mut is_complete = true;
        left.retain(|&row| {
            let cells = |change: fn(&str) -> String| {
                joined(key.iter().map(|column| {
                    let cell = self.new.rows[row].get(column.new).unwrap_or_default();
                    change(&self.new.cell(cell, ""))
                }))
            };
            let group = exact.get(&cells(exact_key)).copied();
            let group = group.or_else(|| *loose.get(&cells(cell::loose))?);
            let may_be = |&group: &usize| {
                groups[group].old.iter().any(|&old| {
                    if self.may_be(old, row) {
                        return true;
                    }
                    is_complete &= *comparisons > 0;
                    *comparisons = comparisons.saturating_sub(1);
                    !is_complete
                })
            };
            let Some(group) = group.filter(may_be) else {
                return true;
            };
            groups[group].new.push(row);
            false
        });
        groups.retain(|group| !group.new.is_empty());
        is_complete.then_some(groups)
    }

    /// Returns whether no cell of the first key of an edited row says that it is another
    /// row than this one.
    fn may_be(&self, old: usize, new: usize) -> bool {
        self.columns.both.iter().all(|column| {
            if !self.is_first_key(column) {
                return true;
            }
            let (_, text, likeness) = self.cell(column, old, new);
            likeness != Likeness::Different || text.is_empty()
        })
    }

    /// Returns whether all cells of two rows are equal.
    pub(super) fn is_equal(&self, old: usize, new: usize) -> bool {
        let mut columns = self.columns.both.iter();
        columns.all(|column| self.cell(column, old, new).2 != Likeness::Different)
    }

    /// Returns the column that is empty in new rows, if there is one.
    fn index_of_new(&self) -> Option<&Column> {
        let key = self.columns.key(self.rules.keys.first()?)?;
        let index = *key.last()?;
        match self.rules.adding {
            Adding::Never => None,
            Adding::WithoutIndex => Some(index),
            Adding::Behind => (key.len() > 1).then_some(index),
        }
    }

    fn added(&self, row: usize) -> Added {
        let row = &self.new.rows[row];
        let cells = self.columns.both.iter().filter_map(|column| {
            let cell = row.get(column.new).filter(|cell| !cell.is_empty())?;
            let cell = self.new.cell(cell, "");
            let text = match column.has_commas {
                true => cell.replacen(',', ".", 1),
                false => cell.into_owned(),
            };
            Some((column.name.clone(), text))
        });
        Added {
            line: line_number(row),
            cells: cells.collect(),
        }
    }

    /// Adds a row for which no shown one is left: it is new, the same as another, or a
    /// problem.
    fn extra(
        &self,
        row: usize,
        key: &[&Column],
        pairs: &[(usize, usize)],
        found: &mut Differences,
        problems: &mut Problems,
    ) {
        if self.rules.adding == Adding::Behind {
            found.added.push(self.added(row));
            return;
        }
        let records = &self.new.rows;
        let is_repeated = matches!(pairs, [(_, other)] if records[*other] == records[row]);
        if !is_repeated {
            let place = line(&records[row]);
            let other = pairs.last().map(|&(_, other)| line(&records[other]));
            let other = other.unwrap_or_default();
            let key = self.shown_key(key, row);
            problems.add(format!(
                "{place}: has the key {key} of {other}, and other cells"
            ));
        }
    }

    /// Returns the key of an edited row for messages.
    fn shown_key(&self, key: &[&Column], row: usize) -> String {
        let cell = |column: &&Column| self.new.rows[row].get(column.new).unwrap_or_default();
        let cells: Vec<_> = key.iter().map(cell).collect();
        shortened(&cells.join(" "))
    }
}

/// Returns a cell of a key as it is compared first.
fn exact_key(cell: &str) -> String {
    match cell::bare(cell) {
        id if cell::is_id(id) => id.to_ascii_uppercase(),
        other => other.to_owned(),
    }
}

/// Returns cells as one text. Shown cells have no tabs.
fn joined(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join("\t")
}
