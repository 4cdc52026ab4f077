//! Trees that follow a folder of edits.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use fixtures::hpi::{File, V1, dir, file};
use fixtures::ta::pcx::Pcx;
use fixtures::{noise, png_of};
use hpimount_assets::model::png;
use hpimount_containers::hpi::chunk::Method;
use testkit::fuse_test;
use testkit::mount::{Fixture, eventually, hpimount};

use crate::kit::{Response, Server, write_request};
use crate::nfs::{Export, LOOKUP, NFS, READ, STALE, call, number, opaque};

const PICTURE: &str = "converted/bitmaps/logo.png";

/// Number of bytes of a file that is not sent at once.
const LARGE: usize = 8 << 20;

/// An archive and a folder of edits.
struct Sources {
    fixture: Fixture,
    folder: PathBuf,
}

impl Sources {
    fn new() -> Self {
        let fixture = Fixture::new();
        let stored = |bytes: &[u8]| File::new(bytes, Method::Stored);
        let archive = V1::new(vec![
            file(b"readme.txt", stored(b"read me\n")),
            dir(
                b"bitmaps",
                vec![file(
                    b"logo.pcx",
                    stored(&Pcx::indexed(4, 3, (0..12).collect()).file()),
                )],
            ),
            dir(b"maps", vec![file(b"big.bin", stored(&noise(1, LARGE)))]),
        ]);
        fs::write(&fixture.archive, archive.build().bytes).unwrap();
        let folder = fixture.dir().join("edits");
        fs::create_dir(&folder).unwrap();
        Self { fixture, folder }
    }

    fn words(&self) -> [&Path; 3] {
        [Path::new("--edit"), &self.folder, &self.fixture.archive]
    }

    fn serve(&self) -> Server {
        Server::start(self.words())
    }

    /// Saves a file of the folder as editors do.
    fn save(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let unfinished = self.fixture.dir().join("unfinished");
        fs::write(&unfinished, bytes).unwrap();
        fs::rename(unfinished, path).unwrap();
    }
}

/// Returns the names that a listing has of a directory.
fn names(server: &Server, path: &str) -> Vec<String> {
    let page = server.json(&format!("/api/list?path={path}"));
    let entries = page["entries"].as_array().unwrap();
    assert_eq!(page["total"], entries.len());
    let names = entries.iter().map(|entry| entry["name"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

/// Returns what a directory says of itself to WebDAV.
fn properties(server: &Server, path: &str) -> String {
    let listed = server.send("PROPFIND", &format!("/dav/{path}"), &[("Depth", "1")]);
    assert_eq!(listed.status, 207);
    listed.text()
}

#[test]
fn what_is_saved_is_what_the_next_request_gives() {
    let sources = Sources::new();
    let server = sources.serve();
    let before = server.get("/files/readme.txt");
    assert_eq!(before.body, b"read me\n");
    let listed = server.json("/api/list");
    sources.save("README.txt", "saved here");
    eventually("it is replaced", || {
        server.bytes("/files/readme.txt") == b"saved here"
    });
    let after = server.get("/files/readme.txt");
    assert_ne!(before.header("etag"), after.header("etag"));
    assert_ne!(listed, server.json("/api/list"));
    let tag = [("If-None-Match", after.header("etag"))];
    assert_eq!(server.send("GET", "/files/readme.txt", &tag).status, 304);
    let entry = &server.json("/api/list")["entries"];
    let entry = entry.as_array().unwrap().iter();
    let mut entry = entry.filter(|entry| entry["name"] == "readme.txt");
    let entry = entry.next().unwrap();
    assert_eq!(
        (&entry["size"], &entry["etag"]),
        (&10.into(), &after.header("etag").into())
    );
    assert!(properties(&server, "").contains("<D:getcontentlength>10<"));
    sources.save("docs/new.txt", "new");
    eventually("it is added", || {
        server.get("/files/docs/new.txt").body == b"new"
    });
    assert_eq!(names(&server, "docs"), ["new.txt"]);
    let found = server.json("/api/search?q=new.t&in=name");
    assert_eq!(found["entries"][0]["path"], "docs/new.txt");
    // With both, the saved file would be refused for its name, and shown.
    fs::remove_file(sources.folder.join("README.txt")).unwrap();
    sources.save(".wh.readme.txt", "");
    eventually("it is deleted", || {
        server.get("/files/readme.txt").status == 404
    });
    assert!(!names(&server, "").contains(&"readme.txt".to_owned()));
    assert!(!properties(&server, "").contains("readme.txt"));
    let found = server.json("/api/search?q=readme&in=name");
    assert_eq!(found["entries"], serde_json::json!([]));
    fs::remove_file(sources.folder.join(".wh.readme.txt")).unwrap();
    eventually("the edit is undone", || {
        server.get("/files/readme.txt").body == b"read me\n"
    });
    // It is as old as before.
    let date = server
        .get("/files/readme.txt")
        .header("last-modified")
        .to_owned();
    let again = server.send("GET", "/files/readme.txt", &[("If-Modified-Since", &date)]);
    assert_eq!(again.status, 200);
}

#[test]
fn a_saved_picture_is_its_asset_and_its_thumbnail() {
    let sources = Sources::new();
    let server = sources.serve();
    let thumbnails = ["bitmaps/logo.pcx", PICTURE].map(|path| format!("/thumb/{path}?size=64"));
    let before = server.bytes(&thumbnails[0]);
    let asset = server.bytes("/files/bitmaps/logo.pcx");
    let shown = server.bytes(&format!("/files/{PICTURE}"));
    let mut pixels = png::read(&shown, 1 << 16).unwrap().rgba();
    pixels.swap(0, 5);
    let edited = png_of(4, 3, pixels.clone());
    sources.save(PICTURE, &edited);
    eventually("it reads as it was saved", || {
        server.bytes(&format!("/files/{PICTURE}")) == edited
    });
    assert_ne!(server.bytes("/files/bitmaps/logo.pcx"), asset);
    for thumbnail in &thumbnails {
        let after = server.bytes(thumbnail);
        assert_ne!(after, before, "{thumbnail}");
        assert_eq!(png::read(&after, 1 << 16).unwrap().rgba(), pixels);
    }
    assert_eq!(names(&server, "converted/bitmaps"), ["logo.png"]);
    assert_eq!(names(&server, "bitmaps"), ["logo.pcx"]);
}

#[test]
fn what_is_refused_is_explained_and_stays_in_the_folder() {
    let sources = Sources::new();
    let server = sources.serve();
    sources.save(PICTURE, "no picture");
    let reason = format!("/files/{PICTURE}.error.txt");
    eventually("it is refused", || server.get(&reason).status == 200);
    let text = String::from_utf8(server.bytes(&reason)).unwrap();
    assert!(text.starts_with(&format!("{PICTURE}: ")), "{text}");
    assert_eq!(
        names(&server, "converted/bitmaps"),
        ["logo.png", "logo.png.error.txt"]
    );
    let listed = properties(&server, "converted/bitmaps");
    assert!(listed.contains("logo.png.error.txt</D:href>"), "{listed}");
    let changes = String::from_utf8(server.bytes("/files/.hpimount/changes.tsv")).unwrap();
    assert!(
        changes.contains(&format!("\n{PICTURE}\trefused\t")),
        "{changes}"
    );
    let info = server.json("/files/.hpimount/info.json");
    assert_eq!(info["edit"]["entries"]["refused"], 1);
    assert_eq!(server.bytes(&format!("/files/{PICTURE}")), b"no picture");
    assert_eq!(server.get(&format!("/thumb/{PICTURE}")).status, 404);
    let picture = server.get("/thumb/bitmaps/logo.pcx");
    assert_eq!(picture.status, 200, "the asset stays");
    assert_eq!(
        server.send("PUT", &format!("/dav/{PICTURE}"), &[]).status,
        405
    );
    let inside = fs::read_dir(sources.folder.join("converted/bitmaps")).unwrap();
    assert_eq!(inside.count(), 1);
    assert_eq!(fs::read_dir(&sources.folder).unwrap().count(), 1);
}

#[test]
fn a_download_has_the_bytes_that_it_began_with() {
    let sources = Sources::new();
    let server = sources.serve();
    let mut stream = server.connect();
    let token = format!("Bearer {}", server.token);
    let headers = [("Authorization", token.as_str())];
    write_request(
        &mut stream,
        "GET",
        "/files/maps/big.bin",
        &server.address,
        &headers,
    );
    let mut received = vec![0; 100_000];
    stream.read_exact(&mut received).unwrap();
    sources.save("maps/big.bin", noise(2, LARGE));
    eventually("it is replaced", || {
        server
            .send("GET", "/files/maps/big.bin", &[("Range", "bytes=0-99")])
            .body
            == noise(2, LARGE)[..100]
    });
    stream.read_to_end(&mut received).unwrap();
    assert!(Response::parse(&received, "GET").body == noise(1, LARGE));
}

#[test]
fn handles_of_changed_files_are_stale_and_those_of_directories_last() {
    let sources = Sources::new();
    let words = [Path::new("--edit"), &sources.folder];
    let export = Export::start(
        &sources.fixture.archive,
        &words.map(|word| word.to_str().unwrap()),
    );
    let root = export.mount_root();
    let maps = export.mount_path("maps");
    let find = |name: &str| {
        let args = [opaque(&root), opaque(name.as_bytes())].concat();
        let found = call(&mut export.connect(), NFS, LOOKUP, &args);
        match number(&found, 0) {
            0 => Ok(found[8..24].to_vec()),
            status => Err(status),
        }
    };
    let read = |handle: &[u8]| {
        let args = [&opaque(handle)[..], &[0; 8], &100_u32.to_be_bytes()].concat();
        let read = call(&mut export.connect(), NFS, READ, &args);
        match number(&read, 0) {
            0 => Ok(read[20..20 + number(&read, 16) as usize].to_vec()),
            status => Err(status),
        }
    };
    let before = find("README.TXT").unwrap();
    assert_eq!(read(&before).unwrap(), b"read me\n");
    assert_eq!(
        export.listed(&root),
        [".", "..", "bitmaps", "maps", "readme.txt"]
    );
    sources.save("readme.txt", "saved");
    eventually("it is replaced", || read(&before) == Err(STALE));
    assert_eq!(export.attributes(&before), STALE);
    let after = find("readme.txt").unwrap();
    assert_eq!(read(&after).unwrap(), b"saved");
    sources.save("added.txt", "added");
    eventually("it is added", || find("added.txt").is_ok());
    assert_eq!(
        export.listed(&root),
        [".", "..", "added.txt", "bitmaps", "maps", "readme.txt"]
    );
    sources.save(".wh.readme.txt", "");
    fs::remove_file(sources.folder.join("readme.txt")).unwrap();
    eventually("it is deleted", || find("readme.txt") == Err(2));
    assert_eq!(export.attributes(&after), STALE);
    for directory in [&root, &maps] {
        assert_eq!(export.attributes(directory), 0);
    }
    assert_eq!(export.listed(&maps), [".", "..", "big.bin"]);
}

#[fuse_test]
fn a_mount_may_edit_the_folder_meanwhile() {
    let sources = Sources::new();
    let server = sources.serve();
    let fixture = Fixture::new();
    let mut command = hpimount();
    command.arg("--edit").arg(&sources.folder);
    command.args([&sources.fixture.archive, &fixture.point]);
    let mount = fixture.mount_by(command);
    fs::write(mount.path().join("readme.txt"), "by the mount").unwrap();
    eventually("it is replaced", || {
        server.bytes("/files/readme.txt") == b"by the mount"
    });
    fs::remove_file(mount.path().join("readme.txt")).unwrap();
    eventually("it is deleted", || {
        server.get("/files/readme.txt").status == 404
    });
}

#[test]
fn a_folder_that_is_no_folder_of_edits_is_refused() {
    let sources = Sources::new();
    for folder in ["missing", "."] {
        let folder = sources.fixture.dir().join(folder);
        let words = [Path::new("--edit"), &folder, sources.fixture.dir()];
        let ended = testkit::mount::hpi("serve").arg(":0").args(words).output();
        assert_eq!(ended.unwrap().status.code(), Some(2), "{folder:?}");
    }
}

#[test]
#[cfg(feature = "index")]
fn texts_of_saved_files_are_found_and_those_they_replace_are_not() {
    let sources = Sources::new();
    let server = sources.serve();
    let finds = |word: &str| {
        let found = server.json(&format!("/api/search?q={word}&in=text"));
        let is_done = found["state"]["texts"] == "done";
        is_done.then(|| found["entries"].as_array().unwrap().len())
    };
    eventually("the original is found", || finds("read") == Some(1));
    sources.save("readme.txt", "a quokka");
    sources.save("docs/new.txt", "another quokka");
    eventually("both are found", || finds("quokka") == Some(2));
    assert_eq!(finds("read"), Some(0));
    fs::remove_file(sources.folder.join("readme.txt")).unwrap();
    eventually("the original is found", || finds("read") == Some(1));
    assert_eq!(finds("quokka"), Some(1));
}

/// Returns the names of the threads of a process, and their niceness.
#[cfg(target_os = "linux")]
fn niceness(server: &Server) -> Vec<(String, i32)> {
    let threads = format!("/proc/{}/task", server.pid().as_raw_nonzero());
    let threads = fs::read_dir(threads).unwrap();
    let of_thread = |stat: String| {
        let (head, fields) = stat.rsplit_once(") ").unwrap();
        let name = head.split_once('(').unwrap().1.to_owned();
        (name, fields.split(' ').nth(16).unwrap().parse().unwrap())
    };
    // Some end meanwhile.
    let stats =
        threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("stat")).ok());
    stats.map(of_thread).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn texts_are_collected_at_a_lower_priority_than_clients_are_answered() {
    let sources = Sources::new();
    let server = sources.serve();
    eventually("the thread has begun", || {
        niceness(&server).contains(&("names".to_owned(), 10))
    });
    for (name, nice) in niceness(&server) {
        assert_eq!(nice, if name == "names" { 10 } else { 0 }, "{name}");
    }
}
