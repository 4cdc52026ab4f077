//! Records that overwrite the original: IPS and PPF.

use std::collections::BinaryHeap;

use hpimount_containers::io::Result;

use crate::limits::{check_count, check_result};
use crate::parts::{Data, Parts, reserve};

/// Bytes at a position of the result.
#[derive(Debug, Clone, Copy)]
struct Record {
    start: u64,
    end: u64,
    data: Data,
}

/// The records of a patch in its order. Later records overwrite earlier ones.
#[derive(Debug)]
pub(crate) struct Records {
    list: Vec<Record>,
    /// The truncated length of the result.
    pub(crate) cut: Option<u64>,
    /// Memory limit for the records and the parts of the result, in bytes.
    limit: usize,
}

impl Records {
    /// Creates an empty list. It and the result may take `limit` bytes of memory.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            list: Vec::new(),
            cut: None,
            limit,
        }
    }

    /// Returns whether the records change nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.cut.is_none()
    }

    /// Appends the record at `offset` of the patch.
    pub(crate) fn push(&mut self, offset: u64, start: u64, length: u64, data: Data) -> Result<()> {
        if length == 0 {
            return Ok(());
        }
        let end = start.saturating_add(length);
        check_result(offset, end)?;
        check_count(offset, self.list.len() + 1, "record")?;
        let used = self.list.capacity() * size_of::<Record>();
        reserve(&mut self.list, 1, used, self.limit)?;
        self.list.push(Record { start, end, data });
        Ok(())
    }

    /// Returns the parts of the result for an original of this length.
    pub(crate) fn lay_over(&self, original: u64) -> Result<Parts> {
        let used = self.list.capacity() * size_of::<Record>();
        // The order and the heap, which are at most as long as the list.
        let temporary = self.list.len() * 2 * size_of::<u32>();
        let limit = self.limit.saturating_sub(used).saturating_sub(temporary);
        let mut parts = Parts::new(limit);
        let ends = self.list.iter().map(|record| record.end);
        let end = ends.fold(original, u64::max);
        let end = self.cut.map_or(end, |cut| end.min(cut));
        self.sweep(end, |to, record| {
            let from = parts.len();
            match record {
                Some(record) => parts.push(to - from, record.data_at(from)),
                None => keep(&mut parts, original, to),
            }
        })?;
        parts.shrink();
        Ok(parts)
    }

    /// Calls `visit` for each range up to `end` with its end and the last record that
    /// covers it, in order. Adjacent ranges may have the same record.
    fn sweep(
        &self,
        end: u64,
        mut visit: impl FnMut(u64, Option<&Record>) -> Result<()>,
    ) -> Result<()> {
        let mut order: Vec<u32> = (0..self.list.len() as u32).collect();
        order.sort_by_key(|&number| self.list[number as usize].start);
        let (mut next, mut position) = (order.into_iter().peekable(), 0);
        // The records that begin at or before the position, the last record on top.
        let mut covering = BinaryHeap::new();
        while position < end {
            let start = |number: &u32| self.list[*number as usize].start;
            while let Some(number) = next.next_if(|number| start(number) <= position) {
                covering.push(number);
            }
            while let Some(&number) = covering.peek()
                && self.list[number as usize].end <= position
            {
                covering.pop();
            }
            let top = covering.peek().map(|&number| &self.list[number as usize]);
            let border = next.peek().map_or(end, start).min(end);
            position = top.map_or(border, |record| record.end.min(border));
            visit(position, top)?;
        }
        Ok(())
    }
}

impl Record {
    /// Returns the data from `position` on.
    fn data_at(&self, position: u64) -> Data {
        self.data.skip(position - self.start)
    }
}

/// Appends the original up to `end`, and zeros after its end.
pub(crate) fn keep(parts: &mut Parts, original: u64, end: u64) -> Result<()> {
    let start = parts.len();
    let there = end.min(original).saturating_sub(start);
    parts.push(there, Data::Original(start))?;
    parts.push(end - start - there, Data::Fill(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::Inputs;
    use proptest::prelude::*;

    fn result(records: &Records, original: &Vec<u8>, patch: &Vec<u8>) -> Vec<u8> {
        let parts = records.lay_over(original.len() as u64).unwrap();
        let mut bytes = vec![0; parts.len() as usize];
        parts
            .read(Inputs { original, patch }, &mut bytes, 0)
            .unwrap();
        bytes
    }

    proptest! {
        #[test]
        fn the_last_of_overlapping_records_wins(
            original in prop::collection::vec(any::<u8>(), 0..40),
            puts in prop::collection::vec((0..50_usize, 1..20_usize, any::<Option<u8>>()), 1..12),
            cut in prop::option::of(0..60_u64),
        ) {
            let patch: Vec<u8> = (0..100).collect();
            let mut expected = original.clone();
            let mut records = Records::new(1 << 20);
            records.cut = cut;
            for (at, length, fill) in puts {
                expected.resize(expected.len().max(at + length), 0);
                let data = fill.map_or(Data::Patch(at as u64), Data::Fill);
                let bytes = fill.map_or(patch[at..at + length].to_vec(), |byte| vec![byte; length]);
                expected[at..at + length].copy_from_slice(&bytes);
                records.push(0, at as u64, length as u64, data).unwrap();
            }
            expected.truncate(cut.map_or(expected.len(), |cut| cut as usize));
            prop_assert_eq!(result(&records, &original, &patch), expected);
        }
    }

    #[test]
    fn records_that_exceed_the_memory_are_refused_with_the_number() {
        let mut records = Records::new(10 * size_of::<Record>());
        let mut push = |number: u64| records.push(0, 10 * number, 1, Data::Fill(1));
        for number in 0..10 {
            push(number).unwrap();
        }
        let error = push(10).unwrap_err();
        assert!(error.is_fault(), "{error}");
        assert!(records.lay_over(1000).unwrap_err().is_fault());
    }
}
