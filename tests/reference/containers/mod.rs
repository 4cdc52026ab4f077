//! Containers of any files.

mod installers;
mod nested;
mod samples;
mod seven_zip;
