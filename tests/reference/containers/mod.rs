//! Containers of any files.

mod nested;
mod samples;
mod seven_zip;
