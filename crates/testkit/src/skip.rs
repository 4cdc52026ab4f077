//! Tests that cannot run everywhere.

use std::io::Write;

/// The environment variable that `scripts/test --foreign` sets, which has installed
/// everything that tests need: a test that would be skipped fails.
pub(crate) const REQUIRE: &str = "HPIMOUNT_REQUIRE";

/// Reports that the running test is skipped, at least in part, and why.
///
/// # Panics
/// Panics if `REQUIRE` is set.
pub fn skip(why: &str) {
    assert!(std::env::var_os(REQUIRE).is_none(), "{why}");
    skip_anywhere(why);
}

/// Does the same for software that `scripts/test --foreign` does not install either.
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
