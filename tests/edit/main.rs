//! Mounts that can be edited (`--edit`).

mod converted;
mod crash;
mod disagreeing;
mod editors;
mod entries;
mod files;
mod folder;
mod kit;
mod metadata;
mod model;
mod outside;
mod programs;
mod refused;
mod revert;
mod sources;
mod suites;
mod user;
mod versions;
