//! Layouts of objects in games other than Battle for Bikini Bottom, and of assets with
//! fields like objects (FORMATS, HIP assets 6).
//!
//! These layouts are not confirmed by files of the games. A layout is used only if it
//! ends with the object; otherwise the body stays undecoded.

mod entities;
mod lists;
mod plain;
mod tables;

use super::sections::Section;
use crate::Game;
use crate::games::Games;

/// A layout of a type.
#[derive(Debug)]
pub(super) struct Later {
    /// The code of the type.
    code: [u8; 4],
    /// The games that have it.
    games: Games,
    /// True if the body begins with the fields of an entity.
    pub(super) is_entity: bool,
    /// The rest of the body.
    pub(super) sections: &'static [Section],
}

/// Returns all layouts.
pub(super) fn all() -> impl Iterator<Item = &'static Later> {
    let all = [
        entities::LAYOUTS,
        lists::LAYOUTS,
        plain::LAYOUTS,
        tables::LAYOUTS,
    ];
    all.into_iter().flatten()
}

/// Returns the layouts of a type in a game. Some differ only in length.
pub(super) fn layouts(code: [u8; 4], game: Game) -> impl Iterator<Item = &'static Later> {
    all().filter(move |layout| layout.code == code && layout.games.contain(game))
}

/// Returns whether a type has layouts, in any game.
pub(super) fn is_later(code: [u8; 4]) -> bool {
    all().any(|layout| layout.code == code)
}

/// Returns whether a type has layouts of entities.
pub(super) fn is_entity(code: [u8; 4]) -> bool {
    entities::LAYOUTS.iter().any(|layout| layout.code == code)
}

/// Returns whether assets of a type lack header and links.
pub fn is_bare(code: [u8; 4]) -> bool {
    tables::LAYOUTS.iter().any(|layout| layout.code == code)
}

macro_rules! layouts_of {
    (
        entity: $entity:literal,
        $($code:literal $games:ident [$($section:expr),* $(,)?])*
    ) => {
        &[$($crate::object::parse::later::Later {
            code: *$code,
            games: $games,
            is_entity: $entity,
            sections: const { &[$($section),*] },
        }),*]
    };
}
use layouts_of;
