//! Code shared by the test programs. Only programs that run fuzz targets include
//! `fuzz`.

// Nothing is public in a test program, and each uses a part of this.
#![allow(dead_code, unreachable_pub)]

pub mod applied;
pub mod assets;
pub mod bombs;
pub mod build;
pub mod chd;
pub mod compared;
pub mod confined;
pub mod consoles;
pub mod container_seeds;
pub mod containers;
pub mod damaged_hpi;
pub mod decoded;
pub mod desktop;
pub mod disc;
pub mod dreamcast;
pub mod each_method;
pub mod edits;
pub mod extracted;
pub mod facts;
pub mod faulty;
pub mod faulty_fs;
pub mod faulty_mount;
pub mod files;
pub mod full;
pub mod gltf;
pub mod heavy_iron;
pub mod hip;
pub mod hip_random;
pub mod hpi;
pub mod hpipack;
pub mod limited;
pub mod limits;
pub mod listed;
pub mod matrix;
pub mod merge_model;
pub mod merging;
pub mod mount;
pub mod mounted;
pub mod native_sounds;
pub mod nested;
pub mod odd_reads;
pub mod packed;
mod patterns;
pub mod pictures;
pub mod plain;
pub mod playstation;
pub mod programs;
pub mod qb;
pub mod record;
pub mod rock_ridge;
pub mod shown;
pub mod skip;
pub mod sources;
pub mod ta;
pub mod ta_files;
pub mod terminal;
pub mod trial;
pub mod udf;
pub mod views;
pub mod walked;
pub mod wit;

pub use patterns::{noise, text};
