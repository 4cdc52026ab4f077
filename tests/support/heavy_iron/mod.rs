//! Code shared by the tests of the assets in HIP archives.

// Every integration test is a separate program, in which nothing is public, and
// uses a part of this.
#![allow(dead_code, unreachable_pub)]

pub mod build;
pub mod kinds;
pub mod look;
pub mod samples;
pub mod shown;
