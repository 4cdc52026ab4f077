//! Assets of Heavy Iron's games.

mod archives;
mod native_sounds;
mod properties;
mod reports;
mod views;
