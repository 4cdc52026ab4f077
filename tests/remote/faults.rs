//! A web server with faults, wrong answers, or a changed file.

use std::fs;
use std::ops::Range;
use std::process::Command;
use std::time::{Duration, Instant};
use testkit::fuse_test;

use crate::fixtures::big::{
    BIG, BLOCK, LENGTH, archive, assert_eio, assert_recovers, assert_right, origin, ranges, served,
};
use crate::fixtures::origin::{Faults, Object, Origin};
use crate::fixtures::{mounted, refused, refused_with};
use fixtures::hpi::{File, V1, file};
use fixtures::noise;
use hpimount_containers::hpi::chunk::Method;
use rustix::process::Signal;
use testkit::mount::{eventually, sample};
use testkit::mounted::stats;
use testkit::trial;

#[fuse_test]
fn listings_do_not_wait_for_slow_reads() {
    let (origin, mount) = served("noprefetch,timeout=60");
    origin.set(Faults {
        silent: true,
        ..Faults::default()
    });
    std::thread::scope(|scope| {
        for reader in 0..4 {
            let mount = &mount;
            // They end when the server answers again.
            scope.spawn(move || assert_right(mount, (1 + reader) << 20));
        }
        eventually("all readers wait", || origin.take_requests().is_empty());
        let names = fs::read_dir(mount.file("data")).unwrap();
        assert_eq!(names.count(), 1);
        mount.assert_answers();
        origin.set(Faults::default());
    });
}

#[fuse_test]
fn a_reader_that_is_killed_does_not_wait_for_a_silent_server() {
    let (origin, mount) = served("noprefetch,timeout=600");
    origin.set(Faults {
        silent: true,
        ..Faults::default()
    });
    let mut command = Command::new("tail");
    command.arg("-c1").arg(mount.file(BIG));
    let mut reader = command.spawn().unwrap();
    eventually("the reader waits", || !origin.take_requests().is_empty());
    // After the interval of checks whether the reader was killed.
    std::thread::sleep(Duration::from_millis(300));
    reader.kill().unwrap();
    eventually("it ends", || reader.try_wait().unwrap().is_some());
    origin.set(Faults::default());
    assert_right(&mount, 1 << 20);
}

/// A kind of server: its name, a change to its objects, and its faults.
type Server = (&'static str, fn(&mut Object), Faults);

/// Returns kinds of servers, which differ in how they report that an object was
/// replaced.
fn versions() -> [Server; 4] {
    let ignores = Faults {
        no_conditions: true,
        ..Faults::default()
    };
    [
        ("a server that knows If-Match", |_| {}, Faults::default()),
        ("a server that ignores If-Match", |_| {}, ignores.clone()),
        (
            "a server with weak ETags",
            |object| {
                let strong = object.etag.take().unwrap_or_default();
                object.etag = Some(format!("W/{strong}"));
            },
            ignores,
        ),
        (
            "a server without ETags",
            |object| object.etag = None,
            Faults::default(),
        ),
    ]
}

#[fuse_test]
fn bytes_of_another_version_are_never_returned_and_the_old_one_recovers() {
    for (what, change, faults) in versions() {
        let object = |mut object: Object| {
            change(&mut object);
            object
        };
        let origin = Origin::with("a.hpi", object(Object::new(archive(), "one")));
        let mount = mounted(&origin.url("a.hpi"), "noprefetch");
        assert_right(&mount, 0);
        let mut other = Object::new(vec![b'B'; archive().len()], "two");
        other.modified = Some("Sun, 02 Feb 2020 03:04:05 GMT");
        origin.put("a.hpi", object(other));
        origin.set(faults);
        assert_eio(&mount, 3 << 20);
        assert_right(&mount, 0);
        assert_eq!(stats(&mount)["remote"]["changed"], 1, "{what}");

        // A shorter object, and none at all.
        origin.put("a.hpi", object(Object::new(vec![b'B'; 1 << 20], "three")));
        std::thread::sleep(Duration::from_millis(1100));
        assert_eio(&mount, 3 << 20);
        origin.remove("a.hpi");
        std::thread::sleep(Duration::from_millis(1100));
        assert_eio(&mount, 3 << 20);
        origin.put("a.hpi", object(Object::new(archive(), "one")));
        assert_recovers(&mount, 3 << 20);
        trial::record(
            &format!("file replaced, shortened and removed on {what}"),
            3,
            "right bytes where they are cached, EIO elsewhere; right when the old file is back",
        );
    }
}

#[fuse_test]
fn every_request_is_for_the_version_that_was_opened() {
    let (origin, mount) = served("noprefetch");
    assert_right(&mount, 3 << 20);
    let requests = origin.take_requests();
    let conditions: Vec<_> = requests
        .iter()
        .map(|request| request.headers.get("if-match").map(String::as_str))
        .collect();
    assert_eq!(conditions[0], None);
    assert!(conditions.len() > 1);
    assert!(conditions[1..].iter().all(|etag| *etag == Some("\"one\"")));
}

#[fuse_test]
fn an_object_that_cannot_be_read_is_refused_with_its_url_and_the_cause() {
    let status = |status, more: &str| Faults {
        status: Some((status, more.to_owned())),
        ..Faults::default()
    };
    let no_ranges = Faults {
        no_ranges: true,
        ..Faults::default()
    };
    let shifted = Faults {
        shift: 1,
        ..Faults::default()
    };
    let short = Faults {
        short: 1,
        ..Faults::default()
    };
    let origin = origin();
    let url = format!("{}?key=secret", origin.url("mods/big.hpi"));
    let elsewhere = "Location: http://127.0.0.1:1/secret\r\n";
    for (faults, said) in [
        (status(404, ""), "the server answers 404 Not Found"),
        (status(403, ""), "the server answers 403 Forbidden"),
        (no_ranges, "the server does not support range requests"),
        (shifted, "the server answers with bytes 1-131072/"),
        (short, "instead of bytes 0-131071"),
        (status(302, elsewhere), "the server redirects to port 1"),
        (
            status(503, ""),
            "503 Service Unavailable, and no byte came for 1 s",
        ),
        (
            status(429, ""),
            "429 Too Many Requests, and no byte came for 1 s",
        ),
        (
            status(200, "ETag: x\r\n"),
            "is not an archive of a known format",
        ),
    ] {
        origin.set(faults);
        let ran = refused(&url, "timeout=1");
        let begin = format!("hpimount: {}: ", origin.url("mods/big.hpi"));
        assert!(ran.stderr.starts_with(&begin), "{ran:?}");
        assert!(ran.stderr.contains(said), "{said}: {ran:?}");
        assert!(!ran.stderr.contains("secret"), "{ran:?}");
        assert!(matches!(ran.code, Some(10 | 11)), "{ran:?}");
    }
    let ran = refused("http://127.0.0.1:1/a.hpi", "timeout=1");
    assert_eq!(ran.code, Some(10));
    assert!(ran.stderr.contains("refused"), "{ran:?}");
}

#[fuse_test]
fn a_server_that_trickles_is_given_up_within_the_timeout() {
    let origin = origin();
    origin.set(Faults {
        trickle: Duration::from_millis(100),
        ..Faults::default()
    });
    let begun = Instant::now();
    let ran = refused(&origin.url("mods/big.hpi"), "timeout=3");
    assert!(ran.stderr.contains("sends too slowly"), "{ran:?}");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[fuse_test]
fn a_server_that_asks_for_a_long_pause_is_not_said_to_be_silent() {
    let origin = origin();
    origin.set(Faults {
        status: Some((429, "Retry-After: 60\r\n".to_owned())),
        ..Faults::default()
    });
    let ran = refused(&origin.url("mods/big.hpi"), "timeout=3");
    assert!(ran.stderr.contains("asks for a pause of"), "{ran:?}");
    assert!(!ran.stderr.contains("no byte came"), "{ran:?}");
}

#[fuse_test]
fn a_small_file_needs_no_ranges_and_an_empty_one_is_no_archive() {
    let origin = Origin::with("a.hpi", Object::new(sample().bytes, "small"));
    origin.put("empty", Object::new("", "empty"));
    for no_ranges in [true, false] {
        origin.set(Faults {
            no_ranges,
            ..Faults::default()
        });
        let ran = refused(&origin.url("empty"), "timeout=5");
        assert!(matches!(ran.code, Some(11 | 12)), "{ran:?}");
    }
    let small = V1::new(vec![file(b"hello.txt", File::new("hello\n", Method::Zlib))]);
    origin.put("small.hpi", Object::new(small.build().bytes, "x"));
    origin.set(Faults {
        no_ranges: true,
        ..Faults::default()
    });
    let mount = mounted(&origin.url("small.hpi"), "timeout=5");
    mount.assert_answers();
}

#[fuse_test]
fn broken_connections_only_delay_reads() {
    let limit = Some(1 << 20);
    let faults = [
        (
            "ended",
            60,
            Faults {
                cut_after: limit,
                ..Faults::default()
            },
        ),
        (
            "reset",
            60,
            Faults {
                reset_after: limit,
                ..Faults::default()
            },
        ),
        (
            "silent",
            20,
            Faults {
                stall_after: limit,
                ..Faults::default()
            },
        ),
    ];
    // On a busy machine all data in flight can be lost with a connection, so
    // reads need time for many attempts.
    for (how, timeout, faults) in faults {
        let (origin, mount) = served(&format!("noprefetch,timeout={timeout}"));
        origin.set(faults);
        // A silent connection is closed after half of the timeout.
        assert!(
            fs::read(mount.file(BIG)).unwrap() == noise(1, LENGTH),
            "{how}"
        );
        let retries = stats(&mount)["remote"]["retries"].as_u64().unwrap();
        assert!(retries >= 1, "{how}: {retries}");
        trial::record(
            &format!("every connection {how} after 1 MiB of a file of 6 MiB"),
            retries,
            "right bytes",
        );
    }
}

#[fuse_test]
fn data_lost_in_long_answers_is_requested_in_shorter_ones() {
    let (origin, mount) = served("noprefetch,timeout=60");
    origin.take_requests();
    let longest = 2 * BLOCK;
    origin.set(Faults {
        longest: Some(longest as usize),
        ..Faults::default()
    });
    assert!(fs::read(mount.file(BIG)).unwrap() == noise(1, LENGTH));
    let ranges = ranges(&origin.take_requests());
    let is_lost = |range: &Range<u64>| range.end - range.start > longest;
    let (lost, mut answered): (Vec<_>, Vec<_>) = ranges.into_iter().partition(is_lost);
    assert!(!lost.is_empty(), "{answered:?}");
    // No byte is received twice.
    answered.sort_by_key(|range| range.start);
    for pair in answered.windows(2) {
        assert!(pair[0].end <= pair[1].start, "{pair:?}");
    }
    trial::record(
        "every response of more than 256 KiB of a file of 6 MiB lost",
        lost.len() as u64,
        "right bytes",
    );
}

#[fuse_test]
fn a_request_to_a_busy_server_is_retried() {
    let (origin, mount) = served("noprefetch");
    origin.take_requests();
    origin.set(Faults {
        status: Some((503, "Retry-After: 1\r\n".to_owned())),
        ..Faults::default()
    });
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| assert_right(&mount, 2 << 20));
        testkit::mount::eventually("a request arrives", || !origin.take_requests().is_empty());
        origin.set(Faults::default());
        reader.join().unwrap();
    });
    assert!(stats(&mount)["remote"]["retries"].as_u64().unwrap() > 0);
}

#[fuse_test]
fn reads_from_a_dead_server_fail_after_the_timeout_and_recover_with_it() {
    let (mut origin, mount) = served("noprefetch,timeout=2");
    assert_right(&mount, 0);
    let waited = origin.without(|| {
        let start = Instant::now();
        assert_eio(&mount, 3 << 20);
        let (waited, failed) = (start.elapsed(), Instant::now());
        // Now reads fail immediately, and cached data can still be read.
        let errors = stats(&mount)["remote"]["retries"].clone();
        assert_eio(&mount, 4 << 20);
        // On a busy machine the second without requests may be over by then.
        let is_soon = failed.elapsed() < Duration::from_millis(500);
        assert!(!is_soon || stats(&mount)["remote"]["retries"] == errors);
        assert_right(&mount, 0);
        mount.assert_answers();
        waited
    });
    assert!(waited >= Duration::from_millis(900), "{waited:?}");
    assert_recovers(&mount, 3 << 20);
    trial::record(
        "server gone, then back",
        1,
        "EIO after the timeout, then immediately; cached bytes can be read; right without a new mount",
    );

    let (silent, done) = (
        Faults {
            silent: true,
            ..Faults::default()
        },
        Faults::default(),
    );
    origin.set(silent);
    let start = Instant::now();
    assert_eio(&mount, 5 << 20);
    assert!(start.elapsed() >= Duration::from_secs(2));
    origin.set(done);
    assert_recovers(&mount, 5 << 20);
    trial::record(
        "server that accepts connections and is silent, then answers",
        1,
        "EIO after the timeout; right without a new mount",
    );
}

#[fuse_test]
fn a_mount_of_a_dead_server_unmounts_at_once() {
    let (origin, mount) = served("noprefetch,timeout=600");
    origin.set(Faults {
        silent: true,
        ..Faults::default()
    });
    let path = mount.file(BIG);
    let mut reader = std::process::Command::new("dd")
        .arg(format!("if={}", path.display()))
        .args(["iflag=direct", "count=1", "bs=4096", "skip=800"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    testkit::mount::eventually("the read waits", || {
        let requests = origin.take_requests();
        requests
            .iter()
            .any(|request| request.range.as_ref().is_some_and(|r| r.start > 3 << 20))
    });
    mount.signal(Signal::TERM);
    testkit::mount::eventually("it is gone", || mount.layers() == 0);
    // At a second signal it does not wait for the reader.
    mount.signal(Signal::TERM);
    mount.assert_ends();
    assert!(!reader.wait().unwrap().success());
}

#[fuse_test]
fn an_endless_listing_is_refused() {
    let page = |entries: &str| {
        let text = format!(
            "<ListBucketResult><IsTruncated>true</IsTruncated>{entries}\
             <NextContinuationToken>more</NextContinuationToken></ListBucketResult>"
        );
        Object::new(text, "page")
    };
    let origin = Origin::with("mods", page(""));
    let address = origin.url("");
    let variables = [
        ("AWS_ENDPOINT_URL_S3", address.trim_end_matches('/')),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_SKIP_SIGNATURE", "true"),
    ];
    let endless = "<x/>".repeat(5 << 20);
    for (answer, said) in [
        (page(""), "pages without entries, and without end"),
        (
            page(&endless),
            "the server answers with more than 16777216 bytes",
        ),
    ] {
        origin.put("mods", answer);
        let ran = refused_with("s3://mods/", "timeout=60", &variables);
        assert_eq!(ran.code, Some(10), "{ran:?}");
        assert!(ran.stderr.contains(said), "{said}: {ran:?}");
        assert!(origin.take_requests().len() < 200);
    }
}
