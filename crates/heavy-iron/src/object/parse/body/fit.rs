//! Choice of an object's layout among the layouts of its game.

use super::{Body, first_size};
use crate::Game;
use crate::object::Object;
use crate::object::parse::later;
use crate::object::parse::sections::Section;
use crate::object::parse::{DynaType, dyna_types};
use crate::parts::DYNA;
use crate::record::Value;

/// Maximum number of padding bytes after the last field.
const PADDING: usize = 3;

/// The layout of a type in Battle for Bikini Bottom.
const FIRST: &[Section] = &[Section::First, Section::FirstSections];

impl Body<'_> {
    /// Returns whether the game has special layouts for the type.
    pub(super) fn has_layouts(&self) -> bool {
        let game = self.facts.game;
        game != Game::Unknown && later::layouts(self.code, game).next().is_some()
    }

    /// Reads the body of a type by the special layouts of the game, or by the layout of
    /// Battle for Bikini Bottom if only that has this length.
    pub(super) fn later(&mut self, object: &mut Object) {
        let mut layouts = later::layouts(self.code, self.facts.game).peekable();
        if layouts.peek().is_some_and(|layout| layout.is_entity) {
            object.has_pad = Some(false);
            self.entity_fields(false, object);
        }
        let first = self.kind.and_then(|kind| first_size(kind, object));
        let first = first.filter(|&size| size == self.size).map(|_| FIRST);
        self.fit(layouts.map(|layout| layout.sections), first, object);
    }

    /// Reads the body by the first layout with the same length. Otherwise, reads the
    /// available part of a longer layout. If the body is longer than a layout, it stays
    /// undecoded. `own_length` is a fallback layout of exactly this length.
    fn fit(
        &mut self,
        layouts: impl Iterator<Item = &'static [Section]>,
        own_length: Option<&'static [Section]>,
        object: &mut Object,
    ) {
        let start = self.at;
        let mut best: Option<(Object, usize, bool)> = None;
        let (mut is_longer, mut fits) = (false, false);
        let mut unknown_kinds: Vec<&'static str> = Vec::new();
        for sections in layouts {
            let mut read = Object::default();
            (self.at, self.spare) = (start, PADDING);
            self.sections(sections, &mut read);
            let (is_odd, ends) = (!read.warnings.is_empty(), self.ends());
            if !is_odd && ends {
                best = Some((read, self.at, ends));
                (is_longer, fits) = (false, true);
                break;
            }
            is_longer |= !is_odd;
            unknown_kinds.extend(&read.unknown_kinds);
            if is_odd && best.as_ref().is_none_or(|(_, _, ended)| ends && !ended) {
                best = Some((read, self.at, ends));
            }
        }
        if let Some(sections) = own_length.filter(|_| !fits) {
            self.at = start;
            // With a known kind, another layout may fit.
            object.unknown_kinds.extend(unknown_kinds);
            return self.sections(sections, object);
        }
        let best = best.filter(|_| !is_longer);
        let Some((read, at, _)) = best else {
            self.at = start;
            object.warnings.push(self.no_layout());
            return;
        };
        self.at = at;
        object.parts.extend(read.parts);
        object.lists.extend(read.lists);
        object.counts.extend(read.counts);
        object.offsets.extend(read.offsets);
        object.unknown_kinds.extend(read.unknown_kinds);
        object.list = read.list;
        object.commands = read.commands;
        object.warnings.append(read.warnings);
    }

    /// Returns the warning that no layout has the length of the body.
    fn no_layout(&self) -> String {
        let (start, size, game) = (self.at, self.end - self.at, self.facts.game.name());
        format!("body at {start:#x}: no layout of {game} has {size} bytes")
    }

    /// Returns whether the last field ends the body.
    fn ends(&self) -> bool {
        self.end - self.at <= self.spare
    }

    pub(super) fn dyna(&mut self, object: &mut Object) {
        let number = |name| object.field(name).and_then(Value::unsigned);
        let (Some(number), Some(version)) = (number("dyna_type"), number("version")) else {
            return;
        };
        object.dyna = dyna_types(number).next();
        // Scooby-Doo has no special types.
        let game = match self.facts.game {
            game if game.is_scooby() => Game::Bfbb,
            game => game,
        };
        let known: Vec<_> = dyna_types(number)
            .filter(|known| known.games.contain(game))
            .collect();
        if known.is_empty() {
            object.warnings.push("DYNA type at 0x8: is unknown");
            return;
        }
        self.part = DYNA;
        if !game.is_incredibles_or_later() {
            return self.first_dyna(&known, object);
        }
        let is_version =
            |known: &&DynaType| known.version.is_none_or(|own| version == u32::from(own));
        let mut fitting = known.iter().copied().filter(is_version).peekable();
        if fitting.peek().is_some() {
            return self.fit(fitting.map(|known| known.sections), None, object);
        }
        let mut versions: Vec<_> = known.iter().filter_map(|known| known.version).collect();
        versions.dedup();
        let versions: Vec<_> = versions.iter().map(ToString::to_string).collect();
        let (name, versions) = (known[0].name, versions.join(" and "));
        object.warnings.push(format!(
            "version at 0xc: {name} has version {version}, the game reads {versions}"
        ));
    }

    /// Reads a type like Battle for Bikini Bottom, ignoring the version: by the layout
    /// of this length, or else by the first layout.
    fn first_dyna(&mut self, known: &[&'static DynaType], object: &mut Object) {
        let fits = known.iter().find(|known| self.is_whole(known.sections));
        if fits.is_none() {
            let length = self.size;
            object.warnings.push(match known[0].size() {
                Some(usual) => format!(
                    "object at 0x0: has {length} bytes without its links, usually {}",
                    usual + self.at
                ),
                None => self.no_layout(),
            });
        }
        self.sections(fits.unwrap_or(&known[0]).sections, object);
    }

    /// Returns whether sections are the whole body.
    fn is_whole(&mut self, sections: &[Section]) -> bool {
        let start = self.at;
        let mut read = Object::default();
        self.sections(sections, &mut read);
        let ends = self.at == self.end && read.warnings.is_empty();
        self.at = start;
        ends
    }
}
