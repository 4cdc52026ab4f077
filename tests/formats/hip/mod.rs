//! HIP and HOP archives.

mod archive;
mod mounted;
mod properties;
