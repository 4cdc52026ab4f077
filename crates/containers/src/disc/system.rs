//! `SYSTEM.CNF`, which tells a PlayStation what program to start (FORMATS,
//! Consoles 3): the number of the game, and its region.

use serde_json::{Value, json};

use crate::text::windows_1252;

/// Its name, in the root of a disc.
pub(super) const NAME: &str = "SYSTEM.CNF";

/// Its length in bytes at most.
pub(super) const LONGEST: u64 = 4096;

/// The keys of the program that is started, and the consoles.
const CONSOLES: [(&str, &str); 2] = [("BOOT2", "PlayStation 2"), ("BOOT", "PlayStation")];

/// The third letters of numbers of games, and their regions.
const REGIONS: [(char, &str); 6] = [
    ('U', "America"),
    ('E', "Europe"),
    ('P', "Japan"),
    ('K', "Korea"),
    ('A', "Asia"),
    ('C', "China"),
];

/// Returns the facts about a game for `info.json`; `None` if the file starts no
/// program.
pub(super) fn facts(bytes: &[u8]) -> Option<Value> {
    let text = windows_1252(bytes);
    let value = |wanted: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once('='));
        let found = lines.find(|(key, _)| key.trim().eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.trim())
    };
    let mut consoles = CONSOLES.iter();
    let (console, path) = consoles.find_map(|&(key, console)| Some((console, value(key)?)))?;
    // `cdrom:\DIRECTORY\SLUS_000.01;1 arguments`
    let path = path.split_whitespace().next()?;
    let program = path.rsplit(['\\', '/', ':']).next()?;
    let program = program.split(';').next()?;
    let id = id(program);
    let region = id.as_ref().and_then(|id| {
        let letter = id.chars().nth(2)?;
        REGIONS.iter().find(|(known, _)| *known == letter)
    });
    Some(json!({
        "console": console,
        "program": program,
        "id": id,
        "region": region.map(|(_, region)| region),
        "version": value("VER"),
        "video": value("VMODE"),
    }))
}

/// Returns the number of a game, as it is printed, from the name of its program:
/// `SLUS-00001` from `SLUS_000.01`.
fn id(program: &str) -> Option<String> {
    let (letters, digits) = program.split_once(['_', '-'])?;
    let digits: String = digits.chars().filter(|&c| c != '.').collect();
    let is_id = letters.len() == 4
        && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
        && digits.len() == 5
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_id.then(|| format!("{}-{digits}", letters.to_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_says_the_number_and_the_region() {
        let facts = facts(b"BOOT = cdrom:\\SLUS_000.01;1\r\nTCB = 4\r\nEVENT = 10\r\n").unwrap();
        assert_eq!(facts["console"], "PlayStation");
        assert_eq!(
            (&facts["id"], &facts["region"]),
            (&"SLUS-00001".into(), &"America".into())
        );
        let second = b"BOOT2 = cdrom0:\\SLES_500.02;1\nVER = 1.00\nVMODE = PAL\n";
        let facts = super::facts(second).unwrap();
        assert_eq!(
            (&facts["console"], &facts["region"]),
            (&"PlayStation 2".into(), &"Europe".into())
        );
        assert_eq!(
            (&facts["version"], &facts["video"]),
            (&"1.00".into(), &"PAL".into())
        );
    }

    #[test]
    fn a_program_with_another_name_has_no_number() {
        let facts = facts(b"BOOT=cdrom:PSX.EXE").unwrap();
        assert_eq!(
            (&facts["program"], &facts["id"]),
            (&"PSX.EXE".into(), &Value::Null)
        );
        assert_eq!(super::facts(b"TCB = 4"), None);
        assert_eq!(super::facts(b"BOOT ="), None);
        assert_eq!(super::facts(&[0xFF; 100]), None);
    }
}
