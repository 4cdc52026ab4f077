//! Ranges, tags and conditions.

use std::fs;

use testkit::mount::{BIG, BIG_SIZE, Fixture, big, sample};

use crate::kit::Server;

#[test]
fn a_range_is_a_part_of_the_file() {
    let fixture = Fixture::new();
    let server = Server::start([&fixture.archive]);
    let url = format!("/files/{BIG}");
    let part = |range: &str| server.send("GET", &url, &[("Range", range)]);
    for (range, start, end) in [
        ("bytes=0-9", 0, 10),
        ("bytes=65530-131080", 65_530, 131_081),
        ("bytes=299000-", 299_000, BIG_SIZE),
        ("bytes=-7", BIG_SIZE - 7, BIG_SIZE),
        ("bytes=299999-400000", 299_999, BIG_SIZE),
    ] {
        let sent = part(range);
        assert_eq!(sent.status, 206, "{range}");
        let expected = format!("bytes {start}-{}/{BIG_SIZE}", end - 1);
        assert_eq!(sent.header("content-range"), expected);
        assert!(sent.body == big()[start..end], "{range}");
    }
    for range in ["lines=1-2", "bytes=0-1,5-9", "bytes=a-b"] {
        let sent = part(range);
        assert_eq!((sent.status, sent.body.len()), (200, BIG_SIZE), "{range}");
    }
    let head = server.send("HEAD", &format!("/files/{BIG}"), &[("Range", "bytes=0-1")]);
    assert_eq!(head.status, 200, "a range is for GET alone");
    assert_eq!(head.header("content-length"), BIG_SIZE.to_string());
    let past = part("bytes=300000-");
    assert_eq!(past.status, 416);
    assert_eq!(past.header("content-range"), "bytes */300000");
}

#[test]
fn what_a_client_has_is_not_sent_again() {
    let fixture = Fixture::new();
    let server = Server::start([&fixture.archive]);
    let url = format!("/files/{BIG}");
    let tag = server.get(&url).header("etag").to_owned();
    let others = format!("\"x\", {tag}");
    let range = ("Range", "bytes=0-1");
    for (headers, status) in [
        (&[("If-None-Match", &*tag)][..], 304),
        (&[("If-None-Match", &*others)], 304),
        (&[("If-None-Match", "*")], 304),
        (&[("If-None-Match", "\"x\"")], 200),
        (&[("If-Match", "\"x\"")], 412),
        (&[("If-Match", &*tag)], 200),
        (&[("If-Range", "\"x\""), range], 200),
        (&[("If-Range", &*tag), range], 206),
    ] {
        let sent = server.send("GET", &url, headers);
        assert_eq!(sent.status, status, "{headers:?}");
        if status == 304 {
            assert!(sent.body.is_empty() && sent.header("etag") == tag);
        }
    }
}

#[test]
fn a_tag_survives_a_restart_and_not_another_archive() {
    let fixture = Fixture::new();
    let url = format!("/files/{BIG}");
    let tag = || {
        Server::start([&fixture.archive])
            .get(&url)
            .header("etag")
            .to_owned()
    };
    let first = tag();
    assert!(first.starts_with('"') && first.len() == 34, "{first}");
    assert_eq!(tag(), first);
    let forced = Server::start([fixture.archive.as_os_str(), "-oforce".as_ref()]);
    assert_ne!(
        forced.get(&url).header("etag"),
        first,
        "it may have other bytes"
    );
    let other = fixture.archive.with_extension("new");
    fs::write(&other, sample().bytes).unwrap();
    fs::rename(&other, &fixture.archive).unwrap();
    assert_ne!(tag(), first, "it has the same names and sizes");
}

#[test]
fn the_tag_of_a_file_in_a_folder_follows_its_changes() {
    let source = tempfile::tempdir().unwrap();
    let file = source.path().join("a.txt");
    fs::write(&file, "before").unwrap();
    let server = Server::start([source.path()]);
    let tag = || server.get("/files/a.txt").header("etag").to_owned();
    let (before, listed) = (tag(), server.json("/api/list"));
    assert_eq!(listed["entries"][0]["etag"], before.as_str());
    fs::write(&file, "after.").unwrap();
    assert_ne!(tag(), before);
}

#[test]
fn head_has_the_headers_of_get_and_no_body() {
    let fixture = Fixture::new();
    let server = Server::start([&fixture.archive]);
    for target in [&format!("/files/{BIG}")[..], "/api/list", "/api/state", "/"] {
        let mut got = server.get(target);
        let mut head = server.send("HEAD", target, &[]);
        assert!(head.body.is_empty(), "{target}");
        for response in [&mut got, &mut head] {
            response.headers.remove("date");
            // The length of a file that is generated while it is sent is unknown.
            response.headers.remove("transfer-encoding");
        }
        assert_eq!(
            (head.status, head.headers),
            (got.status, got.headers),
            "{target}"
        );
    }
}
