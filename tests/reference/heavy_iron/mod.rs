//! Assets of Heavy Iron's games.

mod banks;
mod damage;
mod decoders;
mod edited;
mod fields;
mod goldens;
mod later;
mod models;
mod native_models;
mod native_sounds;
mod objects;
mod random;
mod reports;
mod samples;
mod shown;
mod views;
mod worlds;
