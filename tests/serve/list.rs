//! Listings.

use std::fs;
use std::time::{Duration, Instant};

use fixtures::hpi::{File, V1, dir, file};
use hpimount_containers::hpi::chunk::Method;
use serde_json::Value;
use testkit::mount::{Fixture, eventually};

use crate::kit::Server;
use crate::nfs::Export;

/// Returns the names of all pages of a directory.
fn names(server: &Server, path: &str, limit: usize) -> Vec<String> {
    let mut names = Vec::new();
    let mut after = "0".to_owned();
    loop {
        let page = server.json(&format!(
            "/api/list?path={path}&limit={limit}&after={after}"
        ));
        let entries = page["entries"].as_array().unwrap();
        assert!(entries.len() <= limit);
        names.extend(
            entries
                .iter()
                .map(|entry| entry["name"].as_str().unwrap().to_owned()),
        );
        match &page["next"] {
            Value::Null => {
                assert_eq!(page["total"], names.len());
                return names;
            }
            next => after = next.as_str().unwrap().to_owned(),
        }
    }
}

#[test]
fn pages_have_each_name_once() {
    let files = (0..3000).map(|number| {
        let name = format!("file {number:04}.txt");
        file(
            name.as_bytes(),
            File::new(format!("{number}"), Method::Stored),
        )
    });
    let fixture = Fixture::new();
    let archive = V1::new(vec![dir(b"many", files.collect())]).build();
    fs::write(&fixture.archive, archive.bytes).unwrap();
    let server = Server::start([&fixture.archive]);
    let expected: Vec<String> = (0..3000)
        .map(|number| format!("file {number:04}.txt"))
        .collect();
    for limit in [7, 1000, 5000] {
        let mut names = names(&server, "many", limit);
        names.sort();
        assert_eq!(names, expected, "{limit}");
    }
    assert_eq!(server.bytes("/files/many/file%202999.txt"), b"2999");
}

/// Returns how many entries a server has listed until now; its search must be complete.
fn listed(server: &Server) -> u64 {
    eventually("all names are collected", || {
        server.json("/api/state")["index"]["names"] == "done"
    });
    let stats = server.json("/files/.hpimount/stats.json");
    stats["entries"].as_u64().unwrap()
}

#[test]
fn each_entry_of_a_large_directory_is_listed_about_once() {
    let count = testkit::trial::part(3000, 100_000);
    let files = (0..count).map(|number| {
        // Some are converted.
        let extension = if number % 10 == 0 { "pcx" } else { "bin" };
        let picture = fixtures::ta::pcx::Pcx::indexed(1, 1, vec![0]).file();
        file(
            format!("{number}.{extension}").as_bytes(),
            File::new(picture, Method::Stored),
        )
    });
    let fixture = Fixture::new();
    let archive = V1::new(vec![dir(b"many", files.collect())]).build();
    fs::write(&fixture.archive, archive.bytes).unwrap();
    let export = Export::start(&fixture.archive, &[]);
    let server = &export.server;
    let mut before = listed(server);
    let mut at_most = |factor: u64, what: &str| {
        let after = listed(server);
        assert!(
            after - before <= factor * count,
            "{what}: {}",
            after - before
        );
        before = after;
    };
    let memory = server.memory();
    let limit = testkit::trial::part(50, 5000);
    assert_eq!(names(server, "many", limit).len() as u64, count);
    at_most(2, "pages");
    let more = server.memory().saturating_sub(memory) >> 20;
    assert!(more < 64, "{more} MiB");
    let all = server.send("PROPFIND", "/dav/many", &[("Depth", "1")]);
    assert_eq!(all.text().matches("<D:href>").count() as u64, count + 1);
    at_most(2, "WebDAV");
    let many = export.mount_path("many");
    assert_eq!(export.listed(&many).len() as u64, count + 2);
    at_most(2, "NFS");
}

#[test]
fn an_entry_has_what_a_page_shows_of_it() {
    let fixture = Fixture::new();
    let server = Server::start([&fixture.archive]);
    let page = server.json("/api/list?path=MAPS");
    assert_eq!(page["path"], "maps");
    let entry = &page["entries"][0];
    let time = fs::metadata(&fixture.archive).unwrap().modified().unwrap();
    let time = time
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let tag = server.get("/files/maps/big.bin").header("etag").to_owned();
    let expected = serde_json::json!({
        "name": "big.bin", "kind": "file", "type": "bin", "size": 300_000, "modified": time,
        "etag": tag, "view": "hex", "thumb": false, "enter": null, "converted": [],
    });
    assert_eq!(*entry, expected);
    assert_eq!(server.get("/api/list?path=hello.txt").status, 404);
    assert_eq!(server.get("/api/list?path=none").status, 404);
    assert_eq!(server.get("/api/list?after=x").status, 400);
    let after_the_end = server.json("/api/list?after=99");
    assert_eq!(after_the_end["entries"].as_array().unwrap().len(), 0);
}

#[test]
fn hidden_companions_are_listed_on_request() {
    let source = tempfile::tempdir().unwrap();
    let archive = source.path().join("a.hpi");
    let pcx = File::new(
        fixtures::ta::pcx::Pcx::indexed(2, 2, vec![1, 2, 3, 4]).file(),
        Method::Stored,
    );
    fs::write(
        &archive,
        V1::new(vec![file(b"logo.pcx", pcx)]).build().bytes,
    )
    .unwrap();
    let server = Server::start([&archive]);
    let names_of = |target: &str| {
        let page = server.json(target);
        let entries = page["entries"].as_array().unwrap();
        let names = entries
            .iter()
            .map(|entry| entry["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names_of("/api/list"), ["logo.pcx"]);
    assert_eq!(
        names_of("/api/list?all=1"),
        ["converted", "logo.pcx", "logo.pcx.meta"]
    );
    assert!(names_of("/api/list?all=1&after=1").is_empty());
    let inner = names_of("/api/list?path=logo.pcx.meta");
    assert!(inner.contains(&"info.json".to_owned()), "{inner:?}");
}

#[test]
fn a_link_says_where_it_leads() {
    let source = tempfile::tempdir().unwrap();
    fs::create_dir(source.path().join("sub")).unwrap();
    fs::write(source.path().join("sub/file.txt"), "text").unwrap();
    for (link, target) in [("good", "sub/file.txt"), ("none", "sub/none.txt")] {
        std::os::unix::fs::symlink(target, source.path().join(link)).unwrap();
    }
    let server = Server::start([source.path()]);
    let page = server.json("/api/list?path=");
    let entries = page["entries"].as_array().unwrap();
    let target_of = |name: &str| {
        let entry = entries.iter().find(|entry| entry["name"] == name).unwrap();
        entry.get("target").cloned()
    };
    assert_eq!(target_of("good").unwrap(), "sub/file.txt");
    assert_eq!(target_of("none").unwrap(), Value::Null);
    assert_eq!(target_of("sub"), None);
}

#[test]
fn a_hundred_thousand_entries_take_little_time_and_memory() {
    let count = testkit::trial::part(10_000, 100_000);
    let files = (0..count).map(|number| {
        let name = format!("file {number:06}.txt");
        file(name.as_bytes(), File::new("", Method::Stored))
    });
    let fixture = Fixture::new();
    let archive = V1::new(vec![dir(b"many", files.collect())]).build();
    fs::write(&fixture.archive, archive.bytes).unwrap();
    let server = Server::start([&fixture.archive]);
    // The names of all entries are collected meanwhile.
    while server.json("/api/state")["index"]["names"] == "running" {
        std::thread::sleep(Duration::from_millis(50));
    }
    let (before, start) = (server.memory(), Instant::now());
    assert_eq!(names(&server, "many", 5000).len(), count);
    let took = start.elapsed();
    // Optimized and alone, 100,000 take less than 3 s.
    assert!(took < Duration::from_secs(60), "{took:?}");
    let more = server.memory().saturating_sub(before) >> 20;
    assert!(more < 64, "{more} MiB");
    println!("{count} entries: {took:?}, {more} MiB more");
}
