//! Detection of archives for other programs, which are refused with a message.

use crate::format::{Format, Input};
use crate::io::{Error, Result};
use crate::volume::{Sink, Volume};

/// How these archives are detected. They have no companions.
pub(super) const FORMAT: Format = Format {
    name: "not supported",
    extensions: &[],
    ambiguous: &[],
    pair: None,
    sheet: None,
    types: &[],
    matches: |input| Ok(known(input)?.is_some()),
    open,
    is_plain_folder: false,
    is_layered: false,
};

/// Number of bytes at the start of a program that are searched for the marks of
/// Inno Setup. The extracting program is shorter; the data follows it.
const PROGRAM: u64 = 2 << 20;

/// Magic bytes of archives, their names, and the programs that unpack them.
const KNOWN: [(&[u8], &str, &str); 4] = [
    (
        b"Rar!\x1A\x07",
        "a rar archive",
        "`unrar x` or `7z x` unpacks it",
    ),
    (
        b"ISc(",
        "an InstallShield cabinet",
        "`unshield x` unpacks it",
    ),
    (
        b"\x13\x5D\x65\x8C",
        "an archive of InstallShield 3",
        "`unshieldv3` unpacks it",
    ),
    (b"MSCF", "a cabinet", "`cabextract` unpacks it"),
];

/// Marks of programs made by Inno Setup: a name in the manifest, and the header
/// of the table with the position of the data.
const INNO: [&[u8]; 2] = [b"JR.Inno.Setup", b"rDlPtS"];

/// Returns the kind of a source and the program that unpacks it, if known.
fn known(input: &Input<'_>) -> Result<Option<(&'static str, &'static str)>> {
    let head = input.bytes(0, 8)?;
    let found = KNOWN.iter().find(|(magic, ..)| head.starts_with(magic));
    if let Some((_, what, unpacks)) = found {
        return Ok(Some((what, unpacks)));
    }
    if !head.starts_with(b"MZ") {
        return Ok(None);
    }
    let program = input.bytes(0, PROGRAM)?;
    let has = |mark: &&[u8]| program.windows(mark.len()).any(|bytes| bytes == *mark);
    let is_inno = INNO.iter().any(has);
    Ok(is_inno.then_some(("an installer by Inno Setup", "`innoextract` unpacks it")))
}

fn open(input: Input<'_>, _: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    let (what, unpacks) = known(&input)?.ok_or(Error::UnknownFormat)?;
    Err(Error::Unsupported(format!(
        "is {what}, which is not supported; {unpacks}"
    )))
}

#[cfg(test)]
mod tests {
    use super::super::listing::open as open_named;
    use super::*;

    fn refusal(bytes: &[u8]) -> String {
        match open_named(&FORMAT, "x", bytes.to_vec(), None) {
            Ok(_) => panic!("{bytes:?} is opened"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_refusal_names_the_format_and_the_program_that_unpacks_it() {
        assert!(refusal(b"Rar!\x1A\x07\x01\0").contains("`unrar x`"));
        assert!(refusal(b"ISc(\0\0\0\0").contains("`unshield x`"));
        assert!(refusal(b"\x13\x5D\x65\x8C\0\0").contains("InstallShield 3"));
        assert!(refusal(b"MSCF\0\0\0\0").contains("`cabextract`"));
        let program = [b"MZ", &[0; 5000][..], b"name=\"JR.Inno.Setup\""].concat();
        assert!(refusal(&program).contains("`innoextract`"));
    }

    #[test]
    fn other_programs_have_an_unknown_format() {
        assert_eq!(refusal(b"MZ\x90\0"), Error::UnknownFormat.to_string());
        assert_eq!(refusal(b""), Error::UnknownFormat.to_string());
    }
}
