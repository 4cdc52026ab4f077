//! Containers of any files, and images of discs.

mod chd;
mod foreign;
mod forms;
mod nested;
mod seven_zip;
mod tar;
mod udf;
mod writers;
