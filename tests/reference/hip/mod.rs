//! HIP and HOP archives.

mod goldens;
mod mounted;
mod samples;
