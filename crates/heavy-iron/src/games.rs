//! Sets of games, for layouts that only some of them have.

use crate::Game;

/// Some of the games.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Games(u8);

/// Scooby-Doo and its prototype.
pub(crate) const SCOOBY: Games = Games(1);
/// Battle for Bikini Bottom.
pub(crate) const BFBB: Games = Games(2);
/// The SpongeBob Movie and The Incredibles, whose archives cannot be distinguished.
pub(crate) const INCREDIBLES: Games = Games(4);
/// Rise of the Underminer.
pub(crate) const ROTU: Games = Games(8);
/// The prototype of Ratatouille.
pub(crate) const RATPROTO: Games = Games(16);
/// The games since Rise of the Underminer.
pub(crate) const SINCE_ROTU: Games = ROTU.and(RATPROTO);
/// The games since The SpongeBob Movie.
pub(crate) const LATER: Games = INCREDIBLES.and(SINCE_ROTU);
/// The games since Battle for Bikini Bottom.
pub(crate) const SINCE_BFBB: Games = BFBB.and(LATER);
/// All games.
pub(crate) const ALL: Games = SCOOBY.and(SINCE_BFBB);

impl Games {
    /// Returns the games of both sets.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether the set contains a game; an unknown game may be any.
    pub(crate) fn contain(self, game: Game) -> bool {
        let one = match game {
            Game::Scooby | Game::ScoobyPrototype => SCOOBY,
            Game::Bfbb => BFBB,
            Game::Incredibles => INCREDIBLES,
            Game::Rotu => ROTU,
            Game::RatProto => RATPROTO,
            Game::Unknown => ALL,
        };
        self.0 & one.0 != 0
    }
}
