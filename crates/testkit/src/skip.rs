//! Tests that cannot run everywhere.

use std::io::Write;

/// The environment variable that `scripts/test --foreign` sets after installing all
/// requirements of tests. With it, a test that would be skipped fails.
pub(crate) const REQUIRE: &str = "HPIMOUNT_REQUIRE";

/// Reports that the running test is skipped, at least in part, with the reason.
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

/// Reports a skipped test with the reason. `scripts/test` counts these lines.
pub fn report(what: &str, why: &str) {
    let line = format!("skipped: {what}: {why}\n");
    // Not with `eprintln!`, because the test harness captures it in tests that pass.
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// Returns `condition`. If it is false, reports that the test must be skipped, like
/// [`skip`].
#[must_use]
pub fn possible(condition: bool, needed: &str) -> bool {
    if !condition {
        skip(needed);
    }
    condition
}
