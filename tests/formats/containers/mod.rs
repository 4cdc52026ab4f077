//! Containers of any files, and images of discs.

mod chd;
mod foreign;
mod nested;
mod seven_zip;
mod udf;
mod writers;
