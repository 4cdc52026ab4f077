//! Tests that cannot be read everywhere.

use std::io::Write;

/// Says that the running test leaves something out, and why.
///
/// # Panics
/// Where `CI=true`: all that tests need is there.
pub fn skip(why: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{why}");
    skip_anywhere(why);
}

/// The same for what is not there in CI either.
pub fn skip_anywhere(why: &str) {
    let thread = std::thread::current();
    let line = format!("skipped: {}: {why}\n", thread.name().unwrap_or("a thread"));
    // Not by `eprintln!`, which the test harness keeps from callers that look
    // at tests that pass.
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// Returns whether a test can continue; where it cannot, it is skipped.
#[must_use]
pub fn possible(condition: bool, needed: &str) -> bool {
    if !condition {
        skip(needed);
    }
    condition
}
