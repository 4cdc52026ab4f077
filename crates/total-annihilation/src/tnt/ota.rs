//! The text of a map (`.ota`): the start positions of players (FORMATS, TA 6).

use crate::tdf::Section;

/// The prefix of the names of start positions.
const START: &str = "startpos";

/// Maximum number of start positions. The games have ten players.
const MAX_STARTS: usize = 64;

/// The start position of a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Start {
    /// Number of the player, from 1 on.
    pub(crate) player: u32,
    /// x and z: map pixels in Total Annihilation, cells in Kingdoms.
    pub(crate) position: [i32; 2],
}

/// Returns the start positions of the first schema that has any, ordered by player.
/// `header` is the section `GlobalHeader`.
pub(crate) fn starts(header: Section<'_>) -> Vec<Start> {
    let schemas = header.sections().filter(|section| {
        let name = section.name().to_ascii_lowercase();
        name.starts_with("schema")
    });
    let starts = schemas.map(|schema| {
        let specials = schema.section("specials");
        let specials = specials.into_iter().flat_map(|one| one.sections());
        let mut starts: Vec<Start> = specials.filter_map(start).take(MAX_STARTS).collect();
        starts.sort_unstable();
        starts
    });
    starts
        .into_iter()
        .find(|starts| !starts.is_empty())
        .unwrap_or_default()
}

fn start(special: Section<'_>) -> Option<Start> {
    let what = special.get("specialwhat")?.to_ascii_lowercase();
    let number = |key| special.get(key)?.parse().ok();
    Some(Start {
        player: what.strip_prefix(START)?.parse().ok()?,
        position: [number("XPos")?, number("ZPos")?],
    })
}
