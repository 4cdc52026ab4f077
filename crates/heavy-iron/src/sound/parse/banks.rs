//! SNDI of the GameCube since The Incredibles: banks of sounds. Big-endian
//! but for the banks (FORMATS, HIP assets 5).

use bytes::Bytes;
use hpimount_record::{self as record, FixedSize};

use super::dsp::DspHeader;
use super::entry::{BankEntry, Entry, Header, SoundKind, SoundTable};
use super::fsb::Bank;
use crate::take;
use hpimount_containers::io::{Cursor, Endian, Error, Result};

/// Length of the header. Offsets count from its end.
const HEADER: u64 = 32;

/// Flag of an entry: the sound is streamed.
const STREAM: u8 = 2;

/// Reads a table with banks.
pub(super) fn read(bytes: &Bytes, table: &mut SoundTable) -> Result<()> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Big);
    cursor.u32("asset id")?;
    let tables = u64::from(cursor.u32("offset of the tables")?) + HEADER;
    cursor.take(16, "header of the banks")?;
    let entries = cursor.u16("number of entries")?;
    cursor.take(4, "counts of sounds")?;
    let [banks, cutscenes] = [
        cursor.u8("number of banks")?,
        cursor.u8("number of cutscenes")?,
    ];
    cursor.seek(tables, "offset of the tables")?;
    for number in 0..banks {
        let at = u64::from(cursor.u32("offset of a bank")?) + HEADER;
        let mut found = Cursor::new(bytes, 0, Endian::Big);
        found.seek(at, "offset of a bank")?;
        let rest = found.remaining();
        let rest = take(&mut found, bytes, rest, "bank of sounds")?;
        let bank = Bank::read(&rest, at);
        let bank = bank.map_err(|error| error.within(format!("bank {number}")))?;
        table.banks.push(bank);
    }
    for number in 0..entries {
        let entry = read_entry(&mut cursor, &table.banks);
        let entry = entry.map_err(|error| error.within(format!("entry {number}")))?;
        table.entries.push(entry);
    }
    for _ in 0..cutscenes {
        let offset = cursor.offset();
        let mut fields = cursor.section(DspHeader::SIZE, "sound of a cutscene")?;
        let header = record::read(&mut fields)?;
        table.entries.push(Entry {
            kind: SoundKind::Cutscene,
            asset: cursor.u32("asset id")?,
            offset,
            header: Header::Dsp(header),
        });
    }
    let left = cursor.remaining();
    if left > 0 {
        let at = cursor.offset();
        table
            .warnings
            .push(format!("{left} bytes at {at:#x} belong to no sound"));
    }
    Ok(())
}

fn read_entry(cursor: &mut Cursor<'_>, banks: &[Bank]) -> Result<Entry> {
    let offset = cursor.offset();
    let asset = cursor.u32("asset id")?;
    let flags = cursor.u8("flags of a sound")?;
    let [sound, bank] = [
        cursor.u8("number of a sound")?,
        cursor.u8("number of a bank")?,
    ];
    cursor.u8("sound entry")?;
    let (bank, index) = (usize::from(bank), usize::from(sound));
    let found = banks.get(bank).and_then(|bank| bank.sounds.get(index));
    let Some(found) = found else {
        let text = format!("is sound {index} of bank {bank}, which does not exist");
        return Err(Error::damaged(offset, "sound entry", text));
    };
    Ok(Entry {
        kind: match flags & STREAM {
            0 => SoundKind::Sound,
            _ => SoundKind::Stream,
        },
        asset,
        offset,
        header: Header::Bank(BankEntry {
            bank,
            index,
            sound: found.clone(),
        }),
    })
}
