//! KAT: sounds of the Dreamcast and PC ports; SFX: tables of cues that play
//! them, or those of a VAB (FORMATS, Neversoft 11).
//!
//! [`parse`](mod@parse) finds the sounds and [`cue`] the cues, `aica` decodes
//! the sounds, and [`view`] and `cue_view` declare the formats and write the
//! files of `X.meta`.

mod aica;
pub mod cue;
mod cue_view;
pub mod parse;
pub mod view;

pub use self::cue_view::CUE_FORMAT;
pub use self::parse::*;
pub use self::view::FORMAT;
