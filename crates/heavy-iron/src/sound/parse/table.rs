//! SNDI: the headers of an archive's sounds.

use bytes::Bytes;
use hpimount_record::{self as record, FixedSize};

use super::banks;
use super::dsp::DspHeader;
use super::entry::{Entry, Header, SoundKind, SoundTable, XboxHeader};
use super::vag::{self, VagHeader};
use crate::{Facts, Parsed, Platform, read_into};
use hpimount_containers::io::{Cursor, Endian, Result};

/// Parses an SNDI asset.
///
/// # Errors
/// Returns [`Incomplete`](hpimount_assets::parse::Incomplete) with the entries so far if
/// the table is shorter than its counts imply, or a bank is broken.
pub fn parse(bytes: &Bytes, facts: &Facts) -> Parsed<SoundTable> {
    read_into(bytes, SoundTable::default(), |table| {
        read(bytes, facts, table)
    })
}

const ALL: [SoundKind; 3] = [SoundKind::Sound, SoundKind::Stream, SoundKind::Cutscene];

/// The layout of a table.
#[derive(Debug, Clone, Copy)]
struct Layout {
    platform: Platform,
    /// Bytes before the counts.
    before: usize,
    /// True if an unused word follows the first count.
    has_filler: bool,
    /// Number of lists.
    lists: usize,
}

impl Layout {
    const GC: Self = Self {
        platform: Platform::GameCube,
        before: 0,
        has_filler: true,
        lists: 3,
    };
    const GC_SCOOBY: Self = Self {
        lists: 2,
        ..Self::GC
    };
    const XBOX: Self = Self {
        platform: Platform::Xbox,
        before: 0,
        has_filler: false,
        lists: 3,
    };
    const PS2: Self = Self {
        platform: Platform::PlayStation2,
        before: 0,
        has_filler: false,
        lists: 2,
    };
    const PS2_WITH_ID: Self = Self {
        before: 4,
        ..Self::PS2
    };

    /// Returns the possible layouts for a console, starting with the game's own.
    fn of(facts: &Facts) -> Vec<Self> {
        match facts.platform {
            Platform::GameCube if facts.game.is_scooby() => vec![Self::GC_SCOOBY, Self::GC],
            Platform::GameCube => vec![Self::GC, Self::GC_SCOOBY],
            Platform::Xbox => vec![Self::XBOX],
            Platform::PlayStation2 if facts.game.is_incredibles_or_later() => {
                vec![Self::PS2_WITH_ID, Self::PS2]
            }
            Platform::PlayStation2 => vec![Self::PS2, Self::PS2_WITH_ID],
            Platform::Unknown => vec![
                Self::GC,
                Self::GC_SCOOBY,
                Self::XBOX,
                Self::PS2,
                Self::PS2_WITH_ID,
            ],
        }
    }

    fn endian(self) -> Endian {
        match self.platform {
            Platform::GameCube => Endian::Big,
            _ => Endian::Little,
        }
    }

    fn entry_size(self) -> usize {
        match self.platform {
            Platform::GameCube => DspHeader::SIZE + 4,
            Platform::Xbox => 0x2C,
            _ => vag::HEADER,
        }
    }

    fn header_size(self) -> usize {
        self.before + 4 * (self.lists + usize::from(self.has_filler))
    }

    /// Returns the number of entries of each list, and the cursor after them.
    fn counts(self, bytes: &[u8]) -> Result<([u32; 3], Cursor<'_>)> {
        let mut cursor = Cursor::new(bytes, 0, self.endian());
        cursor.take(self.before, "asset id")?;
        let mut counts = [0; 3];
        for (number, count) in counts.iter_mut().enumerate().take(self.lists) {
            *count = cursor.u32("sound count")?;
            if number == 0 && self.has_filler {
                cursor.u32("sound count")?;
            }
        }
        Ok((counts, cursor))
    }

    /// Returns whether the counts match the length of the table exactly.
    fn fits(self, bytes: &[u8]) -> bool {
        let Ok((counts, _)) = self.counts(bytes) else {
            return false;
        };
        let entries: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        self.header_size() as u64 + entries * self.entry_size() as u64 == bytes.len() as u64
    }

    /// Returns whether the bytes after the counts are complete entries.
    fn is_whole(self, bytes: &[u8]) -> bool {
        let rest = bytes.len().checked_sub(self.header_size());
        rest.is_some_and(|rest| rest % self.entry_size() == 0)
    }
}

fn read(bytes: &Bytes, facts: &Facts, table: &mut SoundTable) -> Result<()> {
    let layouts = Layout::of(facts);
    let mut candidates = layouts.iter();
    let exact = candidates.find(|layout| layout.fits(bytes));
    let is_bank = facts.platform == Platform::GameCube && facts.game.is_incredibles_or_later();
    if exact.is_none() && is_bank {
        banks::read(bytes, table)?;
        check_ids(table);
        return Ok(());
    }
    let whole = layouts.iter().find(|layout| layout.is_whole(bytes));
    let layout = *exact.or(whole).unwrap_or(&layouts[0]);
    let (counts, mut cursor) = layout.counts(bytes)?;
    for (kind, count) in ALL.into_iter().zip(counts) {
        for number in 0..count {
            let offset = cursor.offset();
            let entry = cursor.take(layout.entry_size(), "sound entry");
            let entry = entry.map_err(|error| error.within(format!("{} {number}", kind.name())))?;
            table.entries.push(read_entry(layout, entry, kind, offset)?);
        }
    }
    if cursor.remaining() > 0 {
        table.warnings.push(format!(
            "{} bytes at {:#x} belong to no sound",
            cursor.remaining(),
            cursor.offset()
        ));
    }
    check_ids(table);
    Ok(())
}

fn read_entry(layout: Layout, entry: &[u8], kind: SoundKind, offset: u64) -> Result<Entry> {
    let mut cursor = Cursor::new(entry, offset, layout.endian());
    let (header, asset) = match layout.platform {
        Platform::GameCube => {
            let header = Header::Dsp(record::read(&mut cursor)?);
            (header, cursor.u32("asset id")?)
        }
        Platform::Xbox => {
            let header: XboxHeader = record::read(&mut cursor)?;
            (Header::Xbox(header), header.asset)
        }
        _ => {
            let (header, asset) = VagHeader::read(entry, offset)?;
            (Header::Vag(header), asset)
        }
    };
    Ok(Entry {
        kind,
        asset,
        offset,
        header,
    })
}

/// Warns about duplicate ids.
fn check_ids(table: &mut SoundTable) {
    let mut ids: Vec<u32> = table.entries.iter().map(|entry| entry.asset).collect();
    ids.sort_unstable();
    let repeated = ids.windows(2).filter(|pair| pair[0] == pair[1]);
    for pair in repeated {
        let id = pair[0];
        table
            .warnings
            .push(format!("sound {id:08X} has more than one entry"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Game;

    fn words(words: &[u32]) -> Bytes {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    fn facts(platform: Platform, game: Game) -> Facts {
        Facts::new(platform, game)
    }

    #[test]
    fn counts_of_billions_are_an_error_and_allocate_nothing() {
        let bytes = words(&[u32::MAX; 4]);
        let facts = facts(Platform::GameCube, Game::Bfbb);
        let incomplete = parse(&bytes, &facts).unwrap_err();
        assert!(incomplete.model.entries.is_empty());
        assert_eq!(
            incomplete.error.to_string(),
            "SND 0: sound entry at 0x10: needs 100 bytes, 0 are left"
        );
    }

    #[test]
    fn the_number_of_lists_follows_from_the_length() {
        let entry = [vec![0, 0, 22050], vec![0; 21], vec![7]].concat();
        assert_eq!(entry.len(), 25);
        for (head, game) in [
            (vec![1, 0xCDCD_CDCD, 0], Game::Bfbb),
            (vec![1, 0, 0, 0], Game::Scooby),
        ] {
            let table = parse(
                &words(&[head, entry.clone()].concat()),
                &facts(Platform::GameCube, game),
            );
            let table = table.unwrap();
            assert_eq!(
                table.find(7).map(|entry| entry.kind),
                Some(SoundKind::Sound)
            );
        }
    }

    #[test]
    fn a_table_without_banks_of_later_games_is_empty() {
        let facts = facts(Platform::GameCube, Game::Incredibles);
        let table = parse(&words(&[7, 0, 0, 0, 0, 0, 0, 0]), &facts).unwrap();
        assert!(table.entries.is_empty() && table.warnings.is_empty());
        let error = parse(&words(&[7, 1, 0, 0, 0, 0, 0, 0]), &facts);
        let error = error.unwrap_err().error.to_string();
        assert!(error.starts_with("offset of the tables at 0x"), "{error}");
    }
}
