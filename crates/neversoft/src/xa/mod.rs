//! XA and STR: sounds and movies of the PlayStation, in CD sectors (FORMATS, Neversoft
//! 10).
//!
//! [`sector`] finds the sectors, [`sound`] their audio streams, and [`video`] their
//! frames, which [`mdec`] decodes. [`view`] declares the format and writes the files of
//! `X.meta`.

pub mod mdec;
pub mod sector;
pub mod sound;
pub mod video;
pub mod view;

pub use self::view::{FORMAT, MOVIE_FORMAT};
