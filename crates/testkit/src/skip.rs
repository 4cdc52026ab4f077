//! Tests that cannot run everywhere.

use std::io::Write;

/// Returns whether this is a run of continuous integration, where everything
/// that tests need is installed.
pub fn is_ci() -> bool {
    std::env::var("CI").as_deref() == Ok("true")
}

/// Reports that the running test is skipped, at least in part, and why.
///
/// # Panics
/// Panics if `CI=true`: everything that tests need is installed there.
pub fn skip(why: &str) {
    assert!(!is_ci(), "{why}");
    skip_anywhere(why);
}

/// Does the same for software that is not installed in CI either.
pub fn skip_anywhere(why: &str) {
    let thread = std::thread::current();
    report(thread.name().unwrap_or("a thread"), why);
}

/// Reports a skipped test, and why. `scripts/test` counts these lines.
pub fn report(what: &str, why: &str) {
    let line = format!("skipped: {what}: {why}\n");
    // Not with `eprintln!`, which the test harness captures in tests that
    // pass.
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// Returns `condition`. If it is false, the test must be skipped, which is
/// reported as by [`skip`].
#[must_use]
pub fn possible(condition: bool, needed: &str) -> bool {
    if !condition {
        skip(needed);
    }
    condition
}
