//! Names of layer types (FORMATS, HIP 6).

use super::detect::Game;

/// Layer types of The Movie, The Incredibles and later games, by number.
/// Earlier games have the same without [`TEXTURE_STREAM`].
const NAMES: [&str; 12] = [
    "DEFAULT",
    "TEXTURE",
    "TEXTURE_STRM",
    "BSP",
    "MODEL",
    "ANIMATION",
    "VRAM",
    "SRAM",
    "SNDTOC",
    "CUTSCENE",
    "CUTSCENETOC",
    "JSPINFO",
];

/// Number of the layer type that earlier games do not have.
const TEXTURE_STREAM: usize = 2;

/// HipHopTool treats JSP assets as geometry in layers up to this type.
const LAST_GEOMETRY: i32 = 9;

/// Returns the name of layer type `number` in `game`, if there is one.
pub fn name(game: Game, number: u32) -> Option<&'static str> {
    let number = usize::try_from(number).ok()?;
    let earlier = !game.is_incredibles_or_later() && number >= TEXTURE_STREAM;
    NAMES.get(number.checked_add(earlier.into())?).copied()
}

/// Returns whether the JSP assets of a layer of type `number` are JSPINFO, as
/// HipHopTool decides: in the same way for all games, and with a signed number.
pub(super) fn holds_jsp_info(number: u32) -> bool {
    number.cast_signed() > LAST_GEOMETRY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_incredibles_insert_texture_streams() {
        assert_eq!(name(Game::Bfbb, 2), Some("BSP"));
        assert_eq!(name(Game::Bfbb, 10), Some("JSPINFO"));
        assert_eq!(name(Game::Unknown, 3), Some("MODEL"));
        assert_eq!(name(Game::Rotu, 2), Some("TEXTURE_STRM"));
        assert_eq!(name(Game::RatProto, 11), Some("JSPINFO"));
        assert_eq!(name(Game::Bfbb, 11), None);
        assert_eq!(name(Game::Incredibles, u32::MAX), None);
    }

    #[test]
    fn jsp_info_is_detected_by_the_layer() {
        assert!(holds_jsp_info(10) && holds_jsp_info(11));
        assert!(!holds_jsp_info(9) && !holds_jsp_info(u32::MAX));
    }
}
