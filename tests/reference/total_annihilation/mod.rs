//! Assets of Total Annihilation.

mod edited;
mod goldens;
mod known;
mod samples;
mod scripts;
mod views;
