//! Containers of any files.

mod nested;
mod seven_zip;
mod writers;
