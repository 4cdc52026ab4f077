//! Detection of archives for other programs, which are refused with a message.

use crate::format::{Format, Input};
use crate::io::{Error, Result};
use crate::volume::{Sink, Volume};

/// The detection of these archives. They have no companions.
pub(super) const FORMAT: Format = Format {
    name: "not supported",
    matches: |input| Ok(known(input)?.is_some()),
    open,
    is_plain_folder: false,
    ..Format::PLAIN
};

/// Number of bytes at the start of a program that are searched for the mark of NSIS.
/// The extracting program is shorter; the data follows it.
const PROGRAM: u64 = 2 << 20;

/// A format that is refused.
struct Known {
    /// Position of its magic bytes.
    at: Position,
    magic: &'static [u8],
    /// Its name, with an article.
    name: &'static str,
    /// Advice for the user.
    advice: &'static str,
}

/// A position in a file, in bytes.
#[derive(Clone, Copy)]
enum Position {
    Start(u64),
    End(u64),
}

impl Known {
    const fn at_start(magic: &'static [u8], name: &'static str, advice: &'static str) -> Self {
        Self {
            at: Position::Start(0),
            magic,
            name,
            advice,
        }
    }

    const fn at(self, at: Position) -> Self {
        Self { at, ..self }
    }

    fn is(&self, input: &Input<'_>) -> Result<bool> {
        let offset = match self.at {
            Position::Start(offset) => Some(offset),
            Position::End(distance) => input.source.len().checked_sub(distance),
        };
        match offset {
            Some(offset) => Ok(input.bytes(offset, self.magic.len() as u64)? == self.magic),
            None => Ok(false),
        }
    }
}

const SEVEN_ZIP: &str = "`7z x` unpacks it";

/// The formats that magic bytes identify.
const KNOWN: [Known; 16] = [
    Known::at_start(
        b"Rar!\x1A\x07",
        "a rar archive",
        "`unrar x` or `7z x` unpacks it",
    ),
    Known::at_start(
        b"ISc(",
        "an InstallShield cabinet",
        "`unshield x` unpacks it",
    ),
    Known::at_start(
        b"\x13\x5D\x65\x8C",
        "an archive of InstallShield 3",
        "`unshieldv3` unpacks it",
    ),
    Known::at_start(b"MSCF", "a cabinet", "`cabextract` unpacks it"),
    // Methods of LHA: lh0 to lh7, lhd; and of LArc: lz4, lz5, lzs.
    Known::at_start(b"-lh", "an lha archive", "`lha x` or `7z x` unpacks it")
        .at(Position::Start(2)),
    Known::at_start(b"-lz", "an lzh archive", "`lha x` or `7z x` unpacks it")
        .at(Position::Start(2)),
    Known::at_start(
        b"\x60\xEA",
        "an arj archive",
        "`arj x` or `7z x` unpacks it",
    ),
    Known::at_start(b"**ACE**", "an ace archive", "`unace x` unpacks it").at(Position::Start(7)),
    // The trailer of a disk image of macOS, 512 bytes.
    Known::at_start(b"koly", "a disk image of macOS", SEVEN_ZIP).at(Position::End(512)),
    // The trailers of versions 1 and 2.
    Known::at_start(b"NERO", "a disc image of Nero", "`nrg2iso` converts it").at(Position::End(8)),
    Known::at_start(b"NER5", "a disc image of Nero", "`nrg2iso` converts it").at(Position::End(12)),
    Known::at_start(
        b"MEDIA DESCRIPTOR",
        "the description of a disc image of Alcohol 120%",
        "the image is the .mdf file beside it, which is missing",
    ),
    Known::at_start(
        b"[CloneCD]",
        "the description of a disc image of CloneCD",
        "the image is the .img file beside it, which is missing",
    ),
    Known::at_start(
        b"\0PBP",
        "a package of the PlayStation Portable without a disc of a PlayStation game",
        "`unpack-pbp` of the PSPSDK unpacks it",
    ),
    Known::at_start(b"StuffIt ", "a StuffIt archive", "`unar` unpacks it"),
    Known::at_start(b"SIT!", "a StuffIt archive", "`unar` unpacks it"),
];

/// First bytes of the data of an installer by NSIS, after its flags.
const NSIS: &[u8] = b"\xEF\xBE\xAD\xDENullsoftInst";

/// Returns the kind of a source and the program that unpacks it, if known.
fn known(input: &Input<'_>) -> Result<Option<(&'static str, &'static str)>> {
    for known in &KNOWN {
        if known.is(input)? {
            return Ok(Some((known.name, known.advice)));
        }
    }
    if input.bytes(0, 2)? != b"MZ" {
        return Ok(None);
    }
    let program = input.bytes(0, PROGRAM)?;
    let is_nsis = program.windows(NSIS.len()).any(|bytes| bytes == NSIS);
    Ok(is_nsis.then_some(("an installer by NSIS", SEVEN_ZIP)))
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
        for known in &KNOWN {
            let mut bytes = vec![0; 1024];
            let offset = match known.at {
                Position::Start(offset) => offset as usize,
                Position::End(distance) => bytes.len() - distance as usize,
            };
            bytes[offset..offset + known.magic.len()].copy_from_slice(known.magic);
            assert!(refusal(&bytes).contains(known.advice), "{}", known.name);
        }
        let program = [b"MZ", &[0; 5000][..], NSIS].concat();
        assert!(refusal(&program).contains("NSIS") && refusal(&program).contains(SEVEN_ZIP));
    }

    #[test]
    fn other_programs_have_an_unknown_format() {
        assert_eq!(refusal(b"MZ\x90\0"), Error::UnknownFormat.to_string());
        assert_eq!(refusal(b""), Error::UnknownFormat.to_string());
    }
}
