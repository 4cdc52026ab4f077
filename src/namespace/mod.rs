//! Inodes, names and directories of a mount.

pub mod aliases;
pub mod names;
pub mod table;
pub mod tree;
