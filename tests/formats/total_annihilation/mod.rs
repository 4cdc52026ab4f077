//! Assets of Total Annihilation.

mod palette;
mod properties;
mod tables;
mod views;
