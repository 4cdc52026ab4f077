//! Events by number: the engine's names, and the words that IndustrialPark, an editor
//! of these archives, shows instead. Modders know events by these words.

mod bfbb;
mod incredibles;
mod ratproto;

use hpimount_assets::view::edit::number_named;

use crate::Game;
use bfbb::{BFBB, SCOOBY};
use incredibles::INCREDIBLES;
use ratproto::RATPROTO;

/// The differences between the events of a game and of an earlier one.
struct Changes {
    /// Other names, by their numbers in order.
    names: &'static [(u16, &'static str)],
    /// The names of the events that the earlier game lacks.
    more: &'static [&'static str],
    /// Words that differ from the names and from the earlier words, ordered by number.
    words: &'static [(u16, &'static str)],
}

/// Returns the number of events of a game, and the chain of changes, earliest first.
fn events_of(game: Game) -> Option<(u16, &'static [&'static Changes])> {
    Some(match game {
        Game::Scooby | Game::ScoobyPrototype => (304, &[&BFBB, &SCOOBY]),
        Game::Bfbb => (541, &[&BFBB]),
        Game::Incredibles => (818, &[&BFBB, &INCREDIBLES]),
        Game::Rotu => (1032, &[&BFBB, &INCREDIBLES, &RATPROTO]),
        Game::RatProto => (1109, &[&BFBB, &INCREDIBLES, &RATPROTO]),
        Game::Unknown => return None,
    })
}

/// Returns the name of an event in a game with known events.
pub fn event_name(game: Game, number: u16) -> Option<&'static str> {
    named(game, number).map(|(name, _)| name)
}

/// Returns the word for an event in a game with known events.
pub fn event_word(game: Game, number: u16) -> Option<&'static str> {
    named(game, number).map(|(_, word)| word)
}

/// Returns the name and the word of an event.
fn named(game: Game, number: u16) -> Option<(&'static str, &'static str)> {
    let (count, changes) = events_of(game)?;
    let mut start = 0;
    let mut found = None;
    for change in changes.iter().filter(|_| number < count) {
        let new = usize::from(number).checked_sub(start);
        let new = new.and_then(|index| change.more.get(index));
        if let Some(name) = of(change.names, number).or(new.copied()) {
            found = Some((name, name));
        }
        if let (Some((_, word)), Some(other)) = (&mut found, of(change.words, number)) {
            *word = other;
        }
        start += change.more.len();
    }
    found
}

fn of(list: &[(u16, &'static str)], number: u16) -> Option<&'static str> {
    let place = list.binary_search_by_key(&number, |(known, _)| *known);
    place.ok().map(|place| list[place].1)
}

/// Returns the number of an event by name, or an error with similar names.
pub type EventNumber = fn(&str) -> Result<u32, String>;

/// Returns the lookup of event numbers for a game, or `None` if its events are unknown.
pub fn event_number(game: Game) -> Option<EventNumber> {
    fn number(game: Game, name: &str) -> Result<u32, String> {
        let (count, _) = events_of(game).unwrap_or_default();
        let names =
            (0..count).filter_map(|number| Some((number.into(), event_name(game, number)?)));
        number_named("event", name, names)
    }
    Some(match game {
        Game::Scooby | Game::ScoobyPrototype => |name| number(Game::Scooby, name),
        Game::Bfbb => |name| number(Game::Bfbb, name),
        Game::Incredibles => |name| number(Game::Incredibles, name),
        Game::Rotu => |name| number(Game::Rotu, name),
        Game::RatProto => |name| number(Game::RatProto, name),
        Game::Unknown => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_at_their_numbers() {
        let known = [
            (0, "Unknown"),
            (2, "Disable"),
            (5, "EnterPlayer"),
            (10, "Reset"),
            (18, "Run"),
            (20, "Expired"),
            (24, "Play"),
            (87, "SceneBegin"),
            (335, "StartConversation"),
            (336, "EndConversation"),
            (337, "Switch"),
            (540, "RestoreOptions"),
        ];
        for (number, name) in known {
            assert_eq!(event_name(Game::Bfbb, number), Some(name));
        }
        assert_eq!(event_name(Game::Bfbb, 541), None);
    }

    #[test]
    fn words_are_at_the_numbers_of_their_events() {
        let known = [
            (1, "Enable"),
            (87, "ScenePrepare"),
            (194, "SetCheckPoint"),
            (378, "TranslateLocalX"),
            (442, "HitGeneral"),
            (540, "RestoreOptions"),
        ];
        for (number, word) in known {
            assert_eq!(event_word(Game::Bfbb, number), Some(word));
        }
        assert_eq!(event_word(Game::Bfbb, 541), None);
        for change in [&BFBB, &SCOOBY, &INCREDIBLES, &RATPROTO] {
            assert!(change.words.is_sorted_by_key(|(number, _)| *number));
            assert!(change.names.is_sorted_by_key(|(number, _)| *number));
        }
        let is_other = |(number, word): &(u16, &str)| {
            event_name(Game::Bfbb, *number).is_some_and(|name| name != *word)
        };
        assert!(BFBB.words.iter().all(is_other));
    }

    #[test]
    fn every_game_numbers_its_own_events() {
        let games = [
            (Game::Scooby, 304, [Some("OnGuard"), None, None]),
            (Game::Bfbb, 541, [Some("NPCWanderOn"), None, None]),
            (
                Game::Incredibles,
                818,
                [Some("NPCWanderOn"), Some("EnableSceneDrawing"), None],
            ),
            (
                Game::Rotu,
                1032,
                [Some("LeverSwitchTurnedOn"), Some("SceneEnableDraw"), None],
            ),
        ];
        for (game, count, names) in games {
            let found = [42, 585, 1032].map(|number| event_name(game, number));
            assert_eq!(found, names, "{game:?}");
            let all = (0..count).filter_map(|number| event_word(game, number));
            assert_eq!((all.count(), event_name(game, count)), (count.into(), None));
            let number = event_number(game).unwrap();
            assert_eq!(number("Expired"), Ok(20));
            assert!(number("Expird").unwrap_err().contains("Expired"));
        }
        assert!(event_name(Game::RatProto, 1108).is_some());
        assert!(event_name(Game::Unknown, 1).is_none() && event_number(Game::Unknown).is_none());
    }
}
