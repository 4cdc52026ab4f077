//! Thumbnails.

use std::fs;

use fixtures::hpi::{File, V1, file};
use fixtures::ta::pcx::Pcx;
use hpimount_assets::model::png;
use hpimount_containers::hpi::chunk::Method;
use testkit::mount::Fixture;

use crate::kit::Server;

/// Serves an archive with a picture of 300 by 200 pixels, and a text.
fn server(fixture: &Fixture) -> Server {
    let pixels = (0..300 * 200_u32).map(|number| (number % 251) as u8);
    let picture = Pcx::indexed(300, 200, pixels.collect()).file();
    let files = vec![
        file(b"logo.pcx", File::new(picture, Method::Zlib)),
        file(b"a.txt", File::new("text", Method::Stored)),
    ];
    fs::write(&fixture.archive, V1::new(files).build().bytes).unwrap();
    Server::start([&fixture.archive])
}

#[test]
fn a_thumbnail_has_the_size_that_is_asked_for() {
    let fixture = Fixture::new();
    let server = server(&fixture);
    for path in ["logo.pcx", "converted/logo.png", "LOGO.pcx"] {
        for (size, width) in [("32", 32), ("64", 64), ("512", 300), ("9999", 300)] {
            let sent = server.get(&format!("/thumb/{path}?size={size}"));
            assert_eq!(
                (sent.status, sent.header("content-type")),
                (200, "image/png")
            );
            let picture = png::read(&sent.body, 1 << 20).unwrap();
            assert_eq!(picture.width, width, "{path} {size}");
            let height = width * 2 / 3;
            assert!((height..=height + 1).contains(&picture.height), "{path}");
        }
    }
    let listed = server.json("/api/list");
    assert_eq!(listed["entries"][0]["thumb"], true);
    assert_eq!(listed["entries"][1]["thumb"], false);
}

#[test]
fn a_thumbnail_is_sent_once() {
    let fixture = Fixture::new();
    let server = server(&fixture);
    let url = "/thumb/logo.pcx?size=64";
    let first = server.get(url);
    let tag = first.header("etag");
    assert_ne!(tag, server.get("/thumb/logo.pcx?size=65").header("etag"));
    assert_ne!(tag, server.get("/files/logo.pcx").header("etag"));
    let again = server.send("GET", url, &[("If-None-Match", tag)]);
    assert_eq!(again.status, 304);
    assert_eq!(first.header("cache-control"), "private, no-cache");
    let versioned = server.get(&format!("{url}&v=1"));
    assert!(versioned.header("cache-control").contains("immutable"));
}

#[test]
fn what_shows_nothing_has_no_thumbnail() {
    let fixture = Fixture::new();
    let server = server(&fixture);
    for path in ["a.txt", "missing.pcx", "", ".hpimount"] {
        assert_eq!(server.get(&format!("/thumb/{path}")).status, 404, "{path}");
    }
}
