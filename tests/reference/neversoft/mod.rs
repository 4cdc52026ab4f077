//! Files of Neversoft's games and of the PlayStation.

mod qb;
mod samples;
mod tim;
mod vab;
mod vag;
