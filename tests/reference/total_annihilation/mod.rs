//! Assets of Total Annihilation.

mod goldens;
mod known;
mod samples;
mod scripts;
mod views;
