//! Files of Neversoft's games and of the PlayStation.

mod bon;
mod ddm;
mod kat;
mod models;
mod pictures;
mod players;
mod psh;
mod psx;
mod qb;
mod samples;
mod tim;
mod trg;
mod vab;
mod vag;
mod xa;
