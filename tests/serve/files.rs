//! The bytes of files.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use fixtures::container_seeds::zip_with;
use fixtures::hpi::{File, V1, dir, file};
use fixtures::noise;
use fixtures::ta::tdo;
use hpimount_containers::hpi::chunk::Method;
use serde_json::Value;
use testkit::listed::cat;
use testkit::mount::{BIG, Fixture, SMALL, big};

use crate::kit::Server;

#[test]
fn files_have_the_bytes_and_the_length_of_the_mount() {
    let large = noise(7, 3 << 20);
    let files = vec![
        file(b"large.bin", File::new(large.clone(), Method::Zlib)),
        file(b"empty.txt", File::new("", Method::Stored)),
        file(
            "50% #1&'ü é.txt".as_bytes(),
            File::new("odd", Method::Stored),
        ),
    ];
    let dir_of_temp = tempfile::tempdir().unwrap();
    let archive = dir_of_temp.path().join("a.hpi");
    std::fs::write(&archive, V1::new(vec![dir(b"Dir", files)]).build().bytes).unwrap();
    let server = Server::start([&archive]);
    let all = server.get("/files/Dir/large.bin");
    assert_eq!(all.header("content-length"), large.len().to_string());
    assert!(all.body == large);
    let empty = server.get("/files/Dir/empty.txt");
    assert_eq!((empty.status, empty.header("content-length")), (200, "0"));
    let listed = server.json("/api/list?path=Dir");
    let odd = listed["entries"][2]["name"].as_str().unwrap().to_owned();
    let escaped: String = odd.bytes().map(|byte| format!("%{byte:02x}")).collect();
    assert_eq!(server.bytes(&format!("/files/dIR/{escaped}")), b"odd");
}

#[test]
fn another_spelling_finds_the_same_file() {
    let fixture = Fixture::new();
    let server = Server::start([&fixture.archive]);
    assert_eq!(server.bytes("/files/MAPS/Big.BIN"), big());
    assert_eq!(
        server.bytes(&format!("/t/{}/files/{SMALL}", server.token)),
        b"hello\n"
    );
    assert_eq!(server.get("/files/hello.txt/x").status, 404);
    assert_eq!(server.get("/files/missing").status, 404);
}

#[test]
fn a_converted_file_is_that_of_the_mount_with_its_type() {
    let source = tempfile::tempdir().unwrap();
    let pcx = fixtures::ta::pcx::Pcx::indexed(2, 2, vec![1, 2, 3, 4]).file();
    std::fs::write(source.path().join("logo.pcx"), pcx).unwrap();
    let mut model = tdo::object("base");
    tdo::add_box(&mut model, [0; 3], [1 << 20; 3], |_, side| side.color = 5);
    std::fs::write(source.path().join("box.3do"), tdo::file(&model)).unwrap();
    let server = Server::start([source.path()]);
    for (name, kind) in [("logo.png", "image/png"), ("box.glb", "model/gltf-binary")] {
        let sent = server.get(&format!("/converted/{}", name.to_uppercase()));
        let printed = cat(source.path(), &[&format!(".hpimount/converted/{name}")]);
        assert!(!printed.is_empty() && sent.body == printed, "{name}");
        assert_eq!(sent.header("content-type"), kind);
    }
    let listed = server.json("/api/list");
    let mut entries = listed["entries"].as_array().unwrap().iter();
    let entry = entries.find(|entry| entry["name"] == "logo.pcx").unwrap();
    assert_eq!(entry["converted"][0], "converted/logo.png", "{entry}");
    assert_eq!(entry["view"], "picture");
}

#[test]
fn converted_files_downloaded_in_order_have_the_next_ones_made() {
    if thread::available_parallelism().is_ok_and(|cores| cores.get() < 2) {
        return;
    }
    let source = tempfile::tempdir().unwrap();
    for number in 0..4 {
        let pcx = fixtures::ta::pcx::Pcx::indexed(400, 400, noise(number, 400 * 400)).file();
        std::fs::write(source.path().join(format!("{number}.pcx")), pcx).unwrap();
    }
    let server = Server::start([source.path()]);
    let lengths = [0, 1].map(|number| server.bytes(&format!("/converted/{number}.png")).len());
    let stats = || server.json("/files/.hpimount/stats.json");
    let rendered = || stats()["bytes_rendered"].as_u64().unwrap();
    // The statistics are rendered, too, but are short.
    let made_all = || rendered() >= 2 * lengths.iter().sum::<usize>() as u64;
    let tries = 50;
    assert!(stats().to_string().len() * (tries + 1) < lengths[0]);
    let mut tries = (0..tries).map(|_| thread::sleep(Duration::from_millis(100)));
    assert!(tries.any(|()| made_all()), "the others are not made");
}

#[test]
fn nothing_active_is_sent() {
    let source = tempfile::tempdir().unwrap();
    for name in ["a.html", "a.svg", "a.xml", "a.js", "a.pdf"] {
        std::fs::write(source.path().join(name), "<script>alert(1)</script>").unwrap();
    }
    let server = Server::start([source.path()]);
    for name in ["a.html", "a.svg", "a.xml", "a.js", "a.pdf"] {
        let sent = server.get(&format!("/files/{name}"));
        assert_eq!(sent.header("content-type"), "application/octet-stream");
        assert_eq!(sent.header("x-content-type-options"), "nosniff");
        assert_eq!(sent.header("cross-origin-resource-policy"), "same-origin");
        assert!(
            sent.header("content-security-policy")
                .starts_with("sandbox;")
        );
    }
    let saved = server.get("/files/a.html?download");
    assert_eq!(
        saved.header("content-disposition"),
        "attachment; filename*=UTF-8''a.html"
    );
}

#[test]
fn a_directory_is_shown_by_the_page_and_named_for_programs() {
    let fixture = Fixture::new();
    let server = Server::start([&fixture.archive]);
    let for_programs = server.get("/files/maps");
    assert_eq!(for_programs.status, 404);
    assert!(for_programs.text().contains("/api/list?path=maps"));
    let for_people = server.send("GET", "/files/maps/", &[("Accept", "text/html")]);
    assert_eq!(for_people.status, 303);
    assert!(for_people.header("location").ends_with("maps"));
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    let around = tempfile::tempdir().unwrap();
    std::fs::write(around.path().join("secret"), "secret").unwrap();
    let source = around.path().join("source");
    std::fs::create_dir(&source).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", source.join("link")).unwrap();
    std::os::unix::fs::symlink("../secret", source.join("up")).unwrap();
    let server = Server::start([&source]);
    for target in [
        "/files/../secret",
        "/files/%2e%2e/secret",
        "/files/..%2fsecret",
        "/files//etc/passwd",
        "/files/%00",
        "/files/%ff",
        "/files/link",
        "/files/up",
        "/api/list?path=../",
        "/api/list?path=link",
        "/?path=..",
        "/?path=up",
    ] {
        let response = server.get(target);
        assert!(
            (400..500).contains(&response.status),
            "{target}: {}",
            response.status
        );
        let text = response.text();
        assert!(
            !text.contains("root:") && text != "secret",
            "{target}: {text}"
        );
    }
}

/// Returns a folder with a link that leads out, and archives of it.
fn sources_with_a_link(work: &Path) -> Vec<PathBuf> {
    let folder = work.join("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.txt"), "text").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("link")).unwrap();
    let (zip, tar) = (work.join("a.zip"), work.join("a.tar"));
    std::fs::write(&zip, Server::start([&folder]).bytes("/zip/")).unwrap();
    let mut packing = std::process::Command::new("tar");
    packing.arg("-cf").arg(&tar).arg("-C").arg(&folder);
    assert!(packing.args(["a.txt", "link"]).status().unwrap().success());
    vec![folder, zip, tar]
}

#[test]
fn a_link_that_leads_out_is_found_by_no_route() {
    let work = tempfile::tempdir().unwrap();
    for source in sources_with_a_link(work.path()) {
        let server = Server::start([&source]);
        let listed = server.json("/api/list");
        let links = listed["entries"].as_array().unwrap().iter();
        let mut links = links.filter(|entry| entry["kind"] == "link");
        let link = links.next().unwrap();
        assert_eq!(
            (&link["name"], &link["target"]),
            (&"link".into(), &Value::Null)
        );
        for target in [
            "/files/link",
            "/converted/link",
            "/dav/link",
            "/thumb/link",
            "/zip/link",
            "/api/list?path=link",
            "/api/where?path=link",
            "/api/diff?a=link&b=link",
            "/?path=link",
        ] {
            let sent = server.get(target);
            assert_eq!(sent.status, 404, "{} {target}", source.display());
            assert!(!sent.text().contains("root:"), "{target}");
        }
        let asked = server.send("PROPFIND", "/dav/link", &[("Depth", "0")]);
        assert_eq!(asked.status, 404);
    }
}

#[test]
fn a_damaged_chunk_is_an_error_before_the_first_byte_and_a_reset_after_it() {
    let fixture = Fixture::new();
    let mut archive = std::fs::read(&fixture.archive).unwrap();
    let server_of = |bytes: &[u8]| {
        std::fs::write(&fixture.archive, bytes).unwrap();
        Server::start([&fixture.archive])
    };
    // The last chunk of the file: the end of the archive.
    let at = archive.len() - 100;
    archive[at] ^= 0xff;
    let server = server_of(&archive);
    let range = server.send("GET", &format!("/files/{BIG}"), &[("Range", "bytes=-10")]);
    assert_eq!(range.status, 500, "{}", range.text());
    assert!(range.text().contains("chunk 4"), "{}", range.text());
    // The response begins, and ends before its last byte.
    let mut stream = server.connect();
    let token = format!("Bearer {}", server.token);
    let headers = [("Authorization", token.as_str())];
    crate::kit::write_request(
        &mut stream,
        "GET",
        &format!("/files/{BIG}"),
        &server.address,
        &headers,
    );
    let mut received = Vec::new();
    let ended = std::io::Read::read_to_end(&mut stream, &mut received);
    assert!(ended.is_err() || received.len() < big().len(), "{ended:?}");
    let body = received
        .windows(4)
        .position(|end| end == b"\r\n\r\n")
        .map(|end| &received[end + 4..]);
    assert!(
        body.is_none_or(|body| big().starts_with(body)),
        "other bytes are sent"
    );
    assert_eq!(server.bytes(&format!("/files/{SMALL}")), b"hello\n");
    assert_eq!(server.json("/api/state")["errors"], 2);
}

#[test]
fn archives_in_archives_are_entered() {
    let folder = tempfile::tempdir().unwrap();
    let outer = folder.path().join("outer.zip");
    std::fs::write(&outer, zip_with("inner.zip", &zip_with("a.txt", b"inside"))).unwrap();
    let server = Server::start([&outer]);
    assert_eq!(server.bytes("/files/inner.zip.d/a.txt"), b"inside");
    let listed = server.json("/api/list");
    assert_eq!(listed["entries"][0]["enter"], "inner.zip.d");
}
