//! HPI, the container of Total Annihilation (version 1: `.hpi`, `.ufo`,
//! `.ccx`, `.gp3`, `.gpf`) and TA: Kingdoms (version 2: `.hpi`, `.kmp`).
//!
//! Section numbers in the comments below this module are those of
//! `docs/FORMATS.md`, chapter HPI.

pub mod chunk;
pub mod cipher;
pub mod lz77;
