//! HIP and HOP archives.

mod archive;
mod links;
mod mounted;
mod properties;
