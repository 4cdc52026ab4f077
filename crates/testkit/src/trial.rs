//! Reliability trials of two lengths: a short one in every test run, and the long one
//! of `scripts/soak`, which records each trial, its number of runs, and the outcome.

use std::env;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::sync::LazyLock;

use crate::skip;

/// The environment variable with the file for the rows of a long run.
const ROWS: &str = "HPIMOUNT_SOAK";

/// Returns `long` in `scripts/soak`, otherwise `short`.
pub fn length<T>(short: T, long: T) -> T {
    match env::var_os(ROWS) {
        Some(_) => long,
        None => short,
    }
}

/// Returns `whole` in `scripts/test --foreign` and in `scripts/soak`, which may take
/// long, otherwise `part`.
pub fn part<T>(part: T, whole: T) -> T {
    let is_whole = env::var_os(skip::REQUIRE).is_some() || env::var_os(ROWS).is_some();
    if is_whole { whole } else { part }
}

/// Returns the step between the cases of a trial: `step` in most test runs, 1 where all
/// cases are tried.
pub fn step(step: usize) -> usize {
    part(step, 1)
}

/// The environment variable with the number that selects the first cases of trials.
const FIRST: &str = "HPIMOUNT_FIRST";

/// Returns the first case of a trial with a step. Each run uses another one, so that in
/// time all cases are tried. Prints how to repeat it.
pub fn first(step: usize) -> usize {
    static NUMBER: LazyLock<u32> = LazyLock::new(|| match env::var(FIRST) {
        Ok(number) => number.parse().unwrap(),
        Err(_) => RandomState::new().hash_one(FIRST) as u32,
    });
    println!("{FIRST}={} tries the same cases again", *NUMBER);
    *NUMBER as usize % step
}

/// Returns every `step`th of the cases of a trial, where not all are tried.
pub fn some<I: IntoIterator>(cases: I, step: usize) -> impl Iterator<Item = I::Item> {
    let step = self::step(step);
    cases.into_iter().skip(first(step)).step_by(step)
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
