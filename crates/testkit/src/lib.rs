//! Code shared by the test programs: mounts by the program, readers and checks of their
//! contents, faults below them, and the entry points of the fuzz targets.

pub mod applied;
pub mod chd;
pub mod compared;
pub mod confined;
pub mod containers;
pub mod damaged_hpi;
pub mod decoded;
pub mod desktop;
pub mod each_method;
pub mod edits;
pub mod extracted;
pub mod facts;
pub mod faulty_fs;
pub mod files;
pub mod fuzz;
pub mod gltf;
pub mod hip_random;
pub mod hpipack;
pub mod limited;
pub mod limits;
pub mod listed;
pub mod look;
pub mod matrix;
pub mod merge_model;
pub mod merging;
pub mod mount;
pub mod mounted;
pub mod native_sounds;
pub mod nested;
pub mod packed;
pub mod pictures;
pub mod programs;
pub mod record;
pub mod shown;
pub mod skip;
pub mod sources;
pub mod ta_files;
pub mod terminal;
pub mod trial;
pub mod views;
pub mod walked;
pub mod wit;

pub use hpimount_test_attributes::fuse_test;
