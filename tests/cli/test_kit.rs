//! Tests of the code shared by the test programs.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;
use testkit::facts::differences;
use testkit::mount::unescaped;
use testkit::skip::skip;

#[test]
fn every_difference_is_named_by_its_path() {
    let known = json!({"a": {"b": [1, 2.5, 3]}, "gone": true, "same": "x"});
    let ours = json!({"a": {"b": [1, 2.25]}, "same": "x", "more": 1});
    assert_eq!(
        differences(&known, &ours),
        [
            "a.b: 3 items are known, ours are 2",
            "a.b[1]: 2.5 is known, ours is 2.25",
            "gone: true is known, ours is absent",
        ]
    );
}

#[test]
fn a_number_is_equal_at_both_widths_and_never_to_a_text() {
    assert!(differences(&json!(0.20000000298023224), &json!(0.2)).is_empty());
    assert!(differences(&json!(1.0), &json!(1)).is_empty());
    assert!(!differences(&json!(16777217), &json!(16777216)).is_empty());
    assert!(!differences(&json!(1), &json!("1")).is_empty());
    assert!(!differences(&json!(0), &json!(null)).is_empty());
}

#[test]
fn paths_of_the_mount_table_are_unescaped() {
    let path = unescaped(br"/tmp/two\040words\012a\134b\011");
    assert_eq!(path, Path::new("/tmp/two words\na\\b\t"));
}

#[test]
#[ignore = "is run by the tests below"]
fn a_test_that_cannot_run() {
    skip("something is missing");
}

/// Runs [`a_test_that_cannot_run`] under the test harness.
fn run_it(variables: &[(&str, &str)]) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "test_kit::a_test_that_cannot_run",
            "--test-threads=2",
        ])
        .env_remove("HPIMOUNT_REQUIRE")
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

#[test]
fn a_skipped_test_passes_and_is_reported_also_in_ci() {
    let output = run_it(&[("CI", "true")]);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said,
        "skipped: test_kit::a_test_that_cannot_run: something is missing\n"
    );
}

#[test]
fn a_skipped_test_fails_where_everything_is_required() {
    let output = run_it(&[("HPIMOUNT_REQUIRE", "1")]);
    assert!(!output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("\nsomething is missing\n"), "{said}");
}
