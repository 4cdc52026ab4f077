//! Files of Neversoft's games and of the PlayStation.

mod samples;
mod tim;
mod vab;
mod vag;
