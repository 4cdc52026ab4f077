//! Assets of Heavy Iron's games: all operations of their models.

use bytes::Bytes;
use hpimount_heavy_iron::{Facts, Game, Platform};

use crate::look;

const PLATFORMS: [Platform; 4] = [
    Platform::GameCube,
    Platform::Xbox,
    Platform::PlayStation2,
    Platform::Unknown,
];

pub(super) const GAMES: [Game; 4] = [Game::Bfbb, Game::Scooby, Game::Incredibles, Game::Rotu];

/// Types of the assets that [`hi_objects`] reads.
pub(super) const CODES: [&str; 78] = [
    "TEXT", "CRDT", "LKIT", "MRKR", "MINF", "ATBL", "ANIM", "FLY", "JAW", "SHRP", "ALST", "LODT",
    "PIPT", "COLL", "SHDW", "PICK", "MAPR", "BOUL", "BUTN", "CAM", "CNTR", "COND", "DPAT", "DYNA",
    "ENV", "GRUP", "MVPT", "PARS", "PKUP", "PLAT", "PLYR", "PORT", "SFX", "SIMP", "SURF", "TIMR",
    "TRIG", "UIFT", "VIL", "ZLIN", "CSNM", "DSCO", "PARE", "PARP", "VILP", "LITE", "LOBM", "PRJT",
    "GUST", "DSTR", "EGEN", "FOG", "UI", "SDFX", "CCRV", "DTRK", "DUPC", "GRSM", "HANG", "NPC",
    "PEND", "PGRS", "RANM", "SCRP", "SGRP", "SPLN", "SPLP", "TPIK", "TRWT", "UIM", "VOLU", "ATKT",
    "CSN", "CTOC", "DEST", "ONEL", "SUBT", "WIRE",
];

/// Returns the parameters encoded in a byte, and the remaining bytes.
fn facts(data: &[u8]) -> Option<(Facts, &[u8])> {
    let (&first, rest) = data.split_first()?;
    let platform = PLATFORMS[usize::from(first & 3)];
    let game = GAMES[usize::from(first >> 2 & 3)];
    Some((Facts::new(platform, game), rest))
}

/// A texture dictionary.
pub fn hi_textures(data: &[u8]) {
    let facts = Facts::new(Platform::Unknown, Game::Unknown);
    check(&look::look_at(
        &facts,
        *b"RWTX",
        &Bytes::copy_from_slice(data),
    ));
}

/// A table of sounds, after a byte with the parameters and two with its length, and the
/// data of all its sounds.
pub fn hi_sounds(data: &[u8]) {
    let Some((facts, rest)) = facts(data) else {
        return;
    };
    let Some((length, rest)) = rest.split_first_chunk() else {
        return;
    };
    let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
    let (table, sound) = rest.split_at(length);
    let (table, sound) = (Bytes::copy_from_slice(table), Bytes::copy_from_slice(sound));
    check(&look::look_at(&facts, *b"SNDI", &table));
    for entry in look::entries(&table, &facts).entries.iter().take(16) {
        check(&look::look_at_sound(&sound, entry));
    }
}

/// A model, and the same as the info of a level.
pub fn hi_models(data: &[u8]) {
    let Some((facts, rest)) = facts(data) else {
        return;
    };
    let bytes = Bytes::copy_from_slice(rest);
    check(&look::look_at(&facts, *b"MODL", &bytes));
    check(&look::look_at_info(&bytes, &facts));
}

/// An object, a text or a table, after a byte with the parameters and one with the
/// type.
pub fn hi_objects(data: &[u8]) {
    let Some((facts, rest)) = facts(data) else {
        return;
    };
    let Some((code, rest)) = rest.split_first() else {
        return;
    };
    let code = look::code(CODES[usize::from(*code) % CODES.len()]);
    check(&look::look_at(&facts, code, &Bytes::copy_from_slice(rest)));
}

/// Asserts that an error has an offset, unless it concerns the whole asset.
fn check(found: &look::Finding) {
    let is_located = found.text.contains("0x") || found.text.contains("not supported");
    assert!(
        found.verdict != look::Verdict::Bad || is_located,
        "{}",
        found.text
    );
}

/// Returns the number of a type in [`CODES`].
pub(super) fn number_of(code: &str) -> u8 {
    let found = CODES.iter().position(|known| *known == code);
    found.expect("a known type") as u8
}
