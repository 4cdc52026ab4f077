//! The contents of mounts, and the memory and work to show them: a module for each
//! section of docs/SEMANTICS.md.

mod bytes;
mod case;
mod companions;
mod control_directory;
mod converted;
mod converted_properties;
mod file_handles;
mod file_managers;
mod folder_source;
mod listing;
mod load;
mod memory_budget;
mod merging;
mod meta_budget;
mod names;
mod owner_and_modes;
mod plain_discs;
mod real_use;
mod solid;
mod statfs_and_times;
mod xattrs;
