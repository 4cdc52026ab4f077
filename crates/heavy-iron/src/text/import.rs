//! Edited texts as TEXT.

use crate::origin::Origin;
use crate::text;
use hpimount_assets::view::import::{Edit, Imported, NOT_THIS_FILE};
use hpimount_containers::io::Endian;
use hpimount_containers::text::{to_windows_1252, windows_1252_byte};

/// The file of the view with the text.
pub(super) const TEXT: &str = "text.txt";

/// Encodes an edited `text.txt`.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    if edit.part.name != TEXT {
        return Err(NOT_THIS_FILE.to_owned());
    }
    let facts = Origin::of(edit.context).facts;
    let edited = windows_1252(edit.file)?;
    let text_of = |asset| {
        let model = text::parse(asset, &facts).ok()?;
        Some(to_windows_1252(&model.text).into_owned())
    };
    let original = text_of(edit.original).unwrap_or_default();
    let edited = without_added_newline(&edited, &original);
    Ok(match text_of(edit.asset).as_deref() == Some(edited) {
        true => Imported::Unchanged,
        false => text_asset(edited, facts.endian)?.into(),
    })
}

/// Removes the final newline that many editors add, unless the original has one.
fn without_added_newline<'t>(text: &'t [u8], original: &[u8]) -> &'t [u8] {
    if matches!(original, [.., b'\n' | b'\r']) {
        return text;
    }
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}

/// Encodes a text asset: its length, the text, and NULs up to a multiple of 4 bytes, at
/// least one.
fn text_asset(text: &[u8], endian: Endian) -> Result<Vec<u8>, String> {
    let length = u32::try_from(text.len()).map_err(|_| "has 4 GiB or more".to_owned())?;
    let mut asset = match endian {
        Endian::Big => length.to_be_bytes().to_vec(),
        Endian::Little => length.to_le_bytes().to_vec(),
    };
    asset.extend_from_slice(text);
    asset.resize((asset.len() + 1).next_multiple_of(4), 0);
    Ok(asset)
}

/// Encodes UTF-8 in Windows-1252, without byte order mark.
fn windows_1252(file: &[u8]) -> Result<Vec<u8>, String> {
    let text = std::str::from_utf8(file).map_err(|error| {
        let before = String::from_utf8_lossy(&file[..error.valid_up_to()]);
        format!("is not UTF-8 at {}: save it as UTF-8", Position(&before))
    })?;
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let encoded = text.char_indices().map(|(at, character)| {
        let refused = |why| format!("has {why} at {}", Position(&text[..at]));
        match windows_1252_byte(character) {
            Some(0) => Err(refused("a NUL, which would end the text,".to_owned())),
            Some(byte) => Ok(byte),
            None => Err(refused(format!(
                "the character '{}', which is not in Windows-1252,",
                character.escape_debug()
            ))),
        }
    });
    encoded.collect()
}

/// The position after a text.
struct Position<'a>(&'a str);

impl std::fmt::Display for Position<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (lines, last) = match self.0.rsplit_once('\n') {
            Some((before, last)) => (before.matches('\n').count() + 2, last),
            None => (1, self.0),
        };
        write!(
            formatter,
            "line {lines}, column {}",
            last.chars().count() + 1
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_assets::view::import::{self, Changed};
    use hpimount_assets::view::{Alone, ViewFile};
    use proptest::prelude::*;

    /// Edits the text of a little-endian asset.
    fn edited(asset: &[u8], file: &[u8]) -> Result<Imported, String> {
        import::edited(&text::FORMAT, asset, TEXT, file)
    }

    #[test]
    fn an_edited_text_gets_its_length_and_is_padded() {
        let old = b"\x03\0\0\0bye\0";
        let new = edited(old, "café".as_bytes()).unwrap();
        assert_eq!(new, b"\x04\0\0\0caf\xE9\0\0\0\0".to_vec().into());
        let new = edited(old, b"").unwrap();
        assert_eq!(new, b"\0\0\0\0\0\0\0\0".to_vec().into());
        assert_eq!(edited(old, b"bye"), Ok(Imported::Unchanged));
        assert_eq!(edited(b"", b""), Ok(Imported::Unchanged));
    }

    #[test]
    fn the_same_file_is_no_change_of_the_edited_text() {
        let edited = import(&Edit {
            asset: &b"\x03\0\0\0hi\n\0"[..].into(),
            original: &b"\x03\0\0\0bye\0"[..].into(),
            context: &Alone,
            part: &ViewFile::from(TEXT),
            file: b"hi\n\n",
        });
        assert_eq!(edited, Ok(Imported::Unchanged));
    }

    #[test]
    fn a_newline_that_editors_add_at_the_end_is_not_stored() {
        let old = b"\x03\0\0\0bye\0";
        for file in [&b"bye\n"[..], b"bye\r\n", b"bye\r"] {
            assert_eq!(edited(old, file), Ok(Imported::Unchanged), "{file:?}");
        }
        let new = edited(old, b"hi\n\n").unwrap();
        assert_eq!(new, b"\x03\0\0\0hi\n\0".to_vec().into());
        let old = b"\x04\0\0\0bye\n\0\0\0\0";
        assert_eq!(edited(old, b"bye\n"), Ok(Imported::Unchanged));
        let new = edited(old, b"bye").unwrap();
        assert_eq!(new, b"\x03\0\0\0bye\0".to_vec().into());
    }

    #[test]
    fn characters_that_do_not_fit_are_refused_with_their_position() {
        let refused = |file: &[u8]| edited(b"", file).unwrap_err();
        assert_eq!(
            refused("a\nbé→".as_bytes()),
            "has the character '→', which is not in Windows-1252, at line 2, column 3"
        );
        assert_eq!(
            refused(b"ab\0"),
            "has a NUL, which would end the text, at line 1, column 3"
        );
        assert_eq!(
            refused(b"ok\n\xE9"),
            "is not UTF-8 at line 2, column 1: save it as UTF-8"
        );
    }

    proptest! {
        #[test]
        fn an_encoded_text_shows_the_edited_one(text in "[ -~é€\n]{0,40}[ -~]") {
            let old = b"\x03\0\0\0bye\0";
            if let Imported::Changed(Changed { asset, .. }) = edited(old, text.as_bytes()).unwrap() {
                let shown = edited(&asset, text.as_bytes());
                prop_assert_eq!(shown, Ok(Imported::Unchanged));
            }
        }
    }
}
