//! The hpipack program.

mod applied;
mod apply;
mod changed_mounts;
mod confinement;
mod converted;
mod cue_changes;
mod edited_records;
mod edited_views;
mod export;
mod foreign;
mod foreign_edits;
mod gdi_changes;
mod hip;
mod hip_changes;
mod hpi;
mod kernel;
mod later_tracks;
mod metadata;
mod modding;
mod patches;
mod planning;
mod refused;
mod replace;
mod riivolution;
mod textures;
mod values;
