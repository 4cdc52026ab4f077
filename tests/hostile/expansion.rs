//! A zip bomb does not keep programs busy that process all its contents.

use std::path::Path;
use std::time::{Duration, Instant};

use fixtures::container_seeds::{zip_of_copies, zip_with};
use testkit::mount::{Run, hpi, run};
use testkit::sources::{file, folder};

/// Entries of the directory of each archive.
const COUNT: usize = 1000;

/// Time limit for a check.
const LONGEST: Duration = Duration::from_secs(30);

/// Returns a zip of a thousand zips of a thousand zips, in less than 200 KB.
fn million() -> Vec<u8> {
    let inner = zip_of_copies("zip", &zip_with("a.txt", b"a"), COUNT);
    zip_of_copies("zip", &inner, COUNT)
}

/// Returns the exit code of a check, and its output.
fn check(source: &Path, options: &[&str]) -> (Option<i32>, String) {
    let begun = Instant::now();
    let Run { code, stdout, .. } = run(hpi("check").args(options).arg(source));
    assert!(begun.elapsed() < LONGEST, "{:?}", begun.elapsed());
    (code, stdout)
}

#[test]
fn a_check_of_a_million_archives_in_a_small_file_ends_and_says_so() {
    let fixture = file("million.zip", &million());
    let (code, text) = check(&fixture.archive, &[]);
    assert_eq!(code, Some(10), "{text}");
    assert!(
        text.contains("not checked: has more than 1000 archives in archives"),
        "{text}"
    );
    assert!(text.contains("`--expansion` raises the limit"), "{text}");
    // In a folder, the file counts as it is.
    let fixture = folder(|source| std::fs::write(source.join("a.zip"), million()).unwrap());
    let (code, text) = check(&fixture.archive, &["--expansion=50"]);
    assert_eq!(code, Some(10), "{text}");
    assert!(text.contains("more than 50 archives"), "{text}");
}

#[test]
fn the_option_raises_the_number_of_archives_that_are_checked() {
    let zip = zip_of_copies("zip", &zip_with("a.txt", b"a"), 30);
    let fixture = file("thirty.zip", &zip);
    assert_eq!(check(&fixture.archive, &["--expansion=29"]).0, Some(10));
    let (code, text) = check(&fixture.archive, &["--expansion=30"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(", 31 archives, "), "{text}");
}

#[test]
fn bytes_that_a_small_file_pretends_to_have_are_not_read_without_end() {
    let zip = zip_of_copies("bin", &vec![0; 100_000], COUNT);
    let fixture = file("zeros.zip", &zip);
    let (code, text) = check(&fixture.archive, &["--expansion=1"]);
    assert_eq!(code, Some(10), "{text}");
    assert!(
        text.contains("holds more than 16777216 bytes in archives"),
        "{text}"
    );
}

/// Returns the result of the program with these arguments, which must end soon.
fn soon(command: &str, arguments: &[&std::ffi::OsStr]) -> Run {
    let begun = Instant::now();
    let ran = run(hpi(command).args(arguments));
    assert!(begun.elapsed() < LONGEST, "{:?}", begun.elapsed());
    ran
}

#[test]
fn a_comparison_of_two_million_archives_ends_and_says_so() {
    let million = |text: &[u8]| {
        let inner = zip_of_copies("zip", &zip_with("a.txt", text), COUNT);
        zip_of_copies("zip", &inner, COUNT)
    };
    let fixture = folder(|source| {
        std::fs::write(source.join("a.zip"), million(b"a")).unwrap();
        std::fs::write(source.join("b.zip"), million(b"b")).unwrap();
    });
    let side = |name: &str| fixture.archive.join(name).into_os_string();
    let ran = soon(
        "diff",
        &["--expansion=50".as_ref(), &side("a.zip"), &side("b.zip")],
    );
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let said = "a.zip: has more than 50 archives in archives, and the others are left out; \
        `--expansion` raises the limit";
    assert_eq!(
        ran.stderr
            .lines()
            .filter(|line| line.contains(said))
            .count(),
        1,
        "{}",
        ran.stderr
    );
    // All of the outer archives, and of the entered archives in them.
    let changed = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with("changed"));
    assert_eq!(changed.count(), COUNT + 50 * COUNT);
}

#[test]
fn bytes_that_a_small_file_pretends_to_have_are_not_compared_or_listed_without_end() {
    let zeros = file("zeros.zip", &zip_of_copies("bin", &vec![0; 100_000], COUNT));
    let ones = file("ones.zip", &zip_of_copies("bin", &vec![1; 100_000], COUNT));
    let (zeros, ones) = (zeros.archive.as_os_str(), ones.archive.as_os_str());
    let option = "--expansion=1".as_ref();
    let said = "holds more than 16777216 bytes in archives";
    let ran = soon("diff", &[option, zeros, ones]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let ran = soon("list", &["--hash=sha256".as_ref(), option, zeros]);
    assert_eq!(ran.code, Some(10), "{ran:?}");
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    // Files within the limit are listed, and all files without checksums.
    assert_eq!(ran.stdout.lines().count(), 166);
    let ran = soon("list", &[option, zeros]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (Some(0), COUNT));
}

#[cfg(feature = "index")]
#[test]
fn an_index_of_a_million_archives_in_a_small_file_ends_and_says_so() {
    let fixture = file("million.zip", &million());
    let database = fixture.archive.with_file_name("million.sqlite");
    let begun = Instant::now();
    let index = |options: &[&str]| {
        let mut command = hpi("index");
        command.arg(&database).args(options);
        run(command.arg(&fixture.archive))
    };
    let Run { code, stderr, .. } = index(&["--expansion=50"]);
    assert!(begun.elapsed() < LONGEST, "{:?}", begun.elapsed());
    assert_eq!(code, Some(10), "{stderr}");
    assert!(
        stderr.contains("million.zip: has more than 50 archives in archives"),
        "{stderr}"
    );
    let connection = rusqlite::Connection::open(&database).unwrap();
    let number = |query| connection.query_row(query, [], |row| row.get::<_, i64>(0));
    // All of the outer archive and of the first one in it, and one file in each of 49
    // archives of that one.
    let entries = number("SELECT count(*) FROM entries").unwrap();
    assert_eq!(entries, 2 * COUNT as i64 + 49);
    let errors = "SELECT count(*) FROM sources WHERE error LIKE '%archives in archives%'";
    assert_eq!(number(errors), Ok(1));
}
