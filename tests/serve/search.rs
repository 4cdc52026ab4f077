//! Search, where files come from, and how they differ.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use fixtures::container_seeds::zip_with;
use fixtures::hpi::{File, V1, dir, file};
use hpimount_containers::hpi::chunk::Method;
use serde_json::{Value, json};
use testkit::mount::{hpi, run};

use crate::kit::{Server, folder_of};

/// Waits until all names and texts are indexed.
fn wait_for_names(server: &Server) {
    let start = Instant::now();
    let is_done = |index: &Value| index["names"] == "done" && index["texts"] != "running";
    while !is_done(&server.json("/api/state")["index"]) {
        assert!(start.elapsed() < Duration::from_secs(30));
        thread::sleep(Duration::from_millis(20));
    }
}

fn paths(answer: &Value) -> Vec<&str> {
    let entries = answer["entries"].as_array().unwrap();
    entries
        .iter()
        .map(|entry| entry["path"].as_str().unwrap())
        .collect()
}

#[test]
fn names_are_found_also_in_archives() {
    let source = tempfile::tempdir().unwrap();
    fs::create_dir(source.path().join("sub")).unwrap();
    fs::write(source.path().join("sub/Quokka.txt"), "x").unwrap();
    fs::write(source.path().join("sub/other.txt"), "quokka").unwrap();
    let inner = zip_with("deep/quokka.pcx", b"x");
    fs::write(source.path().join("a.zip"), zip_with("inner.zip", &inner)).unwrap();
    let server = Server::start([source.path()]);
    wait_for_names(&server);
    let found = server.json("/api/search?q=QUOKKA&in=name");
    let mut all = paths(&found);
    all.sort_unstable();
    assert_eq!(
        all,
        ["a.zip.d/inner.zip.d/deep/quokka.pcx", "sub/Quokka.txt"]
    );
    for path in all {
        assert_eq!(server.get(&format!("/files/{path}")).status, 200, "{path}");
    }
    let below = server.json("/api/search?q=quokka&path=SUB&in=name");
    assert_eq!(paths(&below), ["sub/Quokka.txt"]);
    let entry = &below["entries"][0];
    let expected = json!({
        "path": "sub/Quokka.txt", "kind": "file", "size": 1, "view": "text", "in": "name", "snippet": null,
    });
    assert_eq!(*entry, expected);
    assert_eq!(
        paths(&server.json("/api/search?q=quokka&type=PCX")).len(),
        1
    );
    assert_eq!(server.get("/api/search?q=").status, 400);
    assert_eq!(server.get("/api/search?q=a&path=missing").status, 404);
}

#[test]
#[cfg(feature = "index")]
fn words_of_texts_are_found_after_names() {
    let source = tempfile::tempdir().unwrap();
    let text = "Down by the river a quokka lives.";
    fs::write(
        source.path().join("a.zip"),
        zip_with("deep/b.txt", text.as_bytes()),
    )
    .unwrap();
    fs::write(source.path().join("quokka.txt"), "not here").unwrap();
    for number in 0..150 {
        let name = format!("many {number}.txt");
        fs::write(source.path().join(name), "the same wombat").unwrap();
    }
    let server = Server::start([source.path()]);
    wait_for_names(&server);
    let state = server.json("/api/state")["index"].clone();
    assert_eq!(state["texts"], "done");
    assert!(state["done"].as_u64().unwrap() >= 152, "{state}");
    let found = server.json("/api/search?q=Quokka");
    assert_eq!(paths(&found), ["quokka.txt", "a.zip.d/deep/b.txt"]);
    let expected = json!({
        "path": "a.zip.d/deep/b.txt", "kind": "file", "size": text.len(), "view": "text", "in": "text",
        "snippet": "Down by the river a <quokka> lives.",
    });
    assert_eq!(found["entries"][1], expected);
    let words = server.json("/api/search?q=a+quokka+liv&in=text");
    assert_eq!(paths(&words), ["a.zip.d/deep/b.txt"]);
    assert!(paths(&server.json("/api/search?q=quokka&in=text&type=tdf")).is_empty());
    let (mut count, mut after) = (0, "0".to_owned());
    loop {
        let answer = server.json(&format!("/api/search?q=wombat&after={after}"));
        count += paths(&answer).len();
        match answer["next"].as_str() {
            Some(next) => after = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(count, 150);
}

#[test]
fn a_long_search_has_several_answers() {
    let source = folder_of(250);
    let server = Server::start([source.path()]);
    wait_for_names(&server);
    let (mut count, mut after) = (0, "0".to_owned());
    loop {
        let answer = server.json(&format!("/api/search?q=.bin&after={after}"));
        count += paths(&answer).len();
        match answer["next"].as_str() {
            Some(next) => after = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(count, 250);
}

#[test]
fn a_merged_file_says_where_it_comes_from_and_what_it_hides() {
    let folder = tempfile::tempdir().unwrap();
    let archive = |name: &str, text: &str| {
        let path = folder.path().join(name);
        let units = vec![file(b"A.FBI", File::new(text, Method::Stored))];
        fs::write(&path, V1::new(vec![dir(b"units", units)]).build().bytes).unwrap();
        path
    };
    let old = archive("base.hpi", "[UNITINFO]\n{\n\tName=Old;\n}\n");
    let new = archive("mod.ufo", "[UNITINFO]\n{\n\tName=New;\n}\n");
    let server = Server::start([&old, &new]);
    let answer = server.json("/api/where?path=UNITS/a.fbi");
    assert_eq!(answer["path"], "units/A.FBI");
    assert_eq!(
        answer["chain"],
        json!([{ "source": "mod.ufo", "format": "HPI" }])
    );
    assert_eq!(answer["attributes"]["user.hpimount.source"], "mod.ufo");
    assert_eq!(answer["raw_name"], "A.FBI");
    assert_eq!(answer["meta"], "units/A.FBI.meta");
    let hidden = answer["shadows"][0]["path"].as_str().unwrap();
    assert_eq!(answer["shadows"][0]["source"], "base.hpi");
    assert!(
        server
            .get(&format!("/files/{hidden}"))
            .text()
            .contains("Old")
    );
    // `hpi diff` finds the same differences.
    let lines = server.bytes(&format!("/api/diff?a={hidden}&b=units/A.FBI"));
    let differences = |text: &str| {
        let lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let changed = lines.filter(|line| line["type"] == "changed");
        changed
            .map(|line| line["differences"].clone())
            .collect::<Vec<_>>()
    };
    let printed = run(hpi("diff").arg("--json").args([&old, &new]));
    let sent = differences(std::str::from_utf8(&lines).unwrap());
    assert_eq!(sent, differences(&printed.stdout));
    assert_eq!(sent.len(), 1);
    let folders = server.bytes("/api/diff?a=.hpimount/shadowed/base.hpi/units&b=units");
    assert_eq!(differences(std::str::from_utf8(&folders).unwrap()), sent);
    assert_eq!(server.get("/api/diff?a=units&b=units/A.FBI").status, 400);
    assert_eq!(server.get("/api/diff?a=units&b=missing").status, 404);
}

#[test]
fn a_file_in_an_archive_in_an_archive_names_both() {
    let folder = tempfile::tempdir().unwrap();
    let outer = folder.path().join("outer.zip");
    fs::write(&outer, zip_with("sub/inner.zip", &zip_with("a.txt", b"x"))).unwrap();
    let server = Server::start([&outer]);
    let answer = server.json("/api/where?path=sub/inner.zip.d/a.txt");
    let expected = json!([
        { "source": "outer.zip", "format": "zip" },
        { "path": "sub/inner.zip", "format": "zip" },
    ]);
    assert_eq!(answer["chain"], expected);
    let info = server.json("/api/where?path=.hpimount/info.json");
    assert_eq!(info["shadows"], json!([]));
}
