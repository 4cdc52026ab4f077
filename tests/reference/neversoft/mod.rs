//! Files of Neversoft's games and of the PlayStation.

mod kat;
mod pictures;
mod psh;
mod psx;
mod qb;
mod samples;
mod tim;
mod trg;
mod vab;
mod vag;
mod xa;
