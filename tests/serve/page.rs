//! The page without JavaScript.

use std::fs;
use std::io::Read;

use flate2::read::GzDecoder;
use testkit::mount::Fixture;

use crate::kit::{Server, folder_of};

#[test]
fn it_lists_previews_and_saves() {
    let fixture = Fixture::new();
    let server = Server::start([&fixture.archive]);
    let root = server.get("/?path=");
    assert_eq!(root.header("content-type"), "text/html; charset=utf-8");
    let root = root.text();
    assert!(root.contains("<a href=\"?path=maps\">maps/</a>"), "{root}");
    assert!(root.contains("href=\"files/hello.txt?download\""), "{root}");
    let file = server.get("/?path=hello.txt").text();
    assert!(file.contains("<pre>hello\n</pre>"), "{file}");
    let style = server.get("/assets/plain.css");
    assert_eq!(style.header("content-type"), "text/css; charset=utf-8");
    assert_eq!(server.get("/?path=missing").status, 404);
}

#[test]
fn names_and_texts_are_no_html() {
    let source = tempfile::tempdir().unwrap();
    let name = "<img src=x onerror=alert(1)>\"'.html";
    fs::write(source.path().join(name), "<script>alert(1)</script>").unwrap();
    let server = Server::start([source.path()]);
    let list = server.get("/?path=").text();
    let escaped: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let file = server.get(&format!("/?path={escaped}")).text();
    for page in [list, file.clone()] {
        assert!(
            !page.contains("<img src=x") && !page.contains("<script>"),
            "{page}"
        );
    }
    assert!(file.contains("&lt;script&gt;"), "{file}");
}

#[test]
fn long_directories_have_several_pages() {
    let source = folder_of(1001);
    let server = Server::start([source.path()]);
    let first = server.get("/?path=").text();
    let next = first
        .split("rel=\"next\" href=\"")
        .nth(1)
        .expect("a link to the next page");
    let next = next.split('"').next().unwrap().replace("&amp;", "&");
    let second = server.get(&format!("/{next}")).text();
    let count = |page: &str| page.matches(".bin</a>").count();
    assert_eq!((count(&first), count(&second)), (1000, 1));
}

#[test]
fn the_explorer_is_the_same_with_and_without_compression() {
    let fixture = Fixture::new();
    let server = Server::start([&fixture.archive]);
    let page = server.get("/").text();
    let Some(script) = page.split("src=\"").nth(1) else {
        return eprintln!("skipped: the explorer is not built in");
    };
    let script = format!("/{}", script.split('"').next().unwrap());
    let plain = server.get(&script);
    let encoding = [("Accept-Encoding", "deflate, gzip")];
    let packed = server.send("GET", &script, &encoding);
    assert_eq!(packed.header("content-encoding"), "gzip");
    let mut unpacked = Vec::new();
    let read = GzDecoder::new(&*packed.body).read_to_end(&mut unpacked);
    read.unwrap();
    assert!(plain.body == unpacked && packed.body.len() * 2 < plain.body.len());
    assert_ne!(plain.header("etag"), packed.header("etag"));
}

#[test]
fn licences_are_shown() {
    let fixture = Fixture::new();
    let server = Server::start([&fixture.archive]);
    let text = server.get("/licences").text();
    assert!(text.contains("Permission is hereby granted") && text.contains("Apache License"));
    if server.get("/").text().contains("<script") {
        for package in ["\npreact 11", "\nthree 0"] {
            assert!(text.contains(package), "{package:?}");
        }
    }
    let hyper = text
        .lines()
        .any(|line| line.trim_start_matches("* ").starts_with("hyper 1."));
    assert!(hyper, "the crates are listed");
}
