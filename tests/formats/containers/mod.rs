//! Containers of any files, and images of discs.

mod chd;
mod discs;
mod foreign;
mod forms;
mod inno;
mod long;
mod nested;
mod rock_ridge;
mod seven_zip;
mod tar;
mod udf;
mod writers;
