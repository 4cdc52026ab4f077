//! Reliability trials with two lengths: a short one in every test run, and the
//! long one of `scripts/soak`, which records each trial, how often it ran, and
//! the outcome.

use std::env;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;

/// The environment variable with the file that a long run appends its rows to.
const ROWS: &str = "HPIMOUNT_SOAK";

/// Returns `long` in `scripts/soak`, otherwise `short`.
pub fn length<T>(short: T, long: T) -> T {
    match env::var_os(ROWS) {
        Some(_) => long,
        None => short,
    }
}

/// Prints the outcome of a successful trial, and appends it to the rows of a
/// long run.
pub fn record(tried: &str, times: impl Display, happened: &str) {
    let row = format!("| {tried} | {times} | {happened} |");
    println!("{row}");
    if let Some(rows) = env::var_os(ROWS) {
        let mut rows = OpenOptions::new()
            .append(true)
            .create(true)
            .open(rows)
            .unwrap();
        writeln!(rows, "{row}").unwrap();
    }
}
