//! The known headers that scripts of the games include.

/// The kinds of `explode`.
const EXPLOSIONS: [(&str, &str); 12] = [
    ("SHATTER", "1"),
    ("EXPLODE_ON_HIT", "2"),
    ("FALL", "4"),
    ("SMOKE", "8"),
    ("FIRE", "16"),
    ("BITMAPONLY", "32"),
    ("BITMAP1", "256"),
    ("BITMAP2", "512"),
    ("BITMAP3", "1024"),
    ("BITMAP4", "2048"),
    ("BITMAP5", "4096"),
    ("BITMAPNUKE", "8192"),
];

/// The kinds of `emit-sfx`. Smoke is an expression: compilers store three words for it.
const EFFECTS: [(&str, &str); 9] = [
    ("SFXTYPE_VTOL", "0"),
    ("SFXTYPE_THRUST", "1"),
    ("SFXTYPE_WAKE1", "2"),
    ("SFXTYPE_WAKE2", "3"),
    ("SFXTYPE_REVERSEWAKE1", "4"),
    ("SFXTYPE_REVERSEWAKE2", "5"),
    ("SFXTYPE_WHITESMOKE", "256 | 1"),
    ("SFXTYPE_BLACKSMOKE", "256 | 2"),
    ("SFXTYPE_SUBBUBBLES", "256 | 3"),
];

/// Returns the text of the header with this name. The properties of units, which are
/// also in `exptype.h`, need no header.
pub(super) fn header(name: &str) -> Option<String> {
    let macros: &[_] = match &*name.to_ascii_lowercase() {
        "exptype.h" => &EXPLOSIONS,
        "sfxtype.h" => &EFFECTS,
        _ => return None,
    };
    let lines = macros
        .iter()
        .map(|(name, value)| format!("#define {name} {value}\n"));
    Some(lines.collect())
}
