//! The character sets of the western editions of the games.

/// The characters from 0x80 on.
const WESTERN: [char; 49] = [
    'À', 'Á', 'Â', 'Ä', 'Æ', 'Ç', 'È', 'É', 'Ê', 'Ë', 'Ì', 'Í', 'Î', 'Ï', 'Ò', 'Ó', 'Ô', 'Ö', 'Ù',
    'Ú', 'Û', 'Ü', 'ß', 'à', 'á', 'â', 'ä', 'æ', 'ç', 'è', 'é', 'ê', 'ë', 'ì', 'í', 'î', 'ï', 'ò',
    'ó', 'ô', 'ö', 'ù', 'ú', 'û', 'ü', 'Ñ', 'ñ', '¿', '¡',
];

/// Appends a character. Fonts of other editions have additional characters after the
/// western ones; they are shown as `\xNN`.
pub(super) fn push(text: &mut String, code: u16) {
    use std::fmt::Write as _;
    match code {
        0..0x80 => text.push(char::from(code as u8)),
        0x80..=0xFF => match WESTERN.get(usize::from(code) - 0x80) {
            Some(character) => text.push(*character),
            None => write!(text, "\\x{code:02x}").expect("writing to a String cannot fail"),
        },
        _ => text.push(char::from_u32(code.into()).unwrap_or(char::REPLACEMENT_CHARACTER)),
    }
}

/// Returns the code of a character in the games' font.
pub(super) fn code(character: char) -> Option<u16> {
    let western = WESTERN.iter().position(|&known| known == character);
    match (western, u16::try_from(u32::from(character))) {
        (Some(at), _) => Some(0x80 + at as u16),
        // The games have other characters here.
        (None, Ok(0x80..=0xFF)) | (None, Err(_)) => None,
        (None, Ok(code)) => Some(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_the_western_fonts_are_known_and_others_shown_by_number() {
        let mut text = String::new();
        for code in [0x41, 0x80, 0x96, 0xAF, 0xB0, 0xB1, 0xFF, 0x416, 0xD800] {
            push(&mut text, code);
        }
        assert_eq!(text, "AÀß¿¡\\xb1\\xffЖ\u{fffd}");
    }
}
