//! Mounts that can be edited (`--edit`).

mod converted;
mod entries;
mod files;
mod folder;
mod kit;
mod outside;
mod programs;
mod refused;
mod versions;
