//! Directories as zip archives.

use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use fixtures::hpi::{File, V1, dir, file};
use fixtures::noise;
use fixtures::ta::pcx::Pcx;
use hpimount_containers::hpi::chunk::Method;
use testkit::listed::cat;
use testkit::mount::{Fixture, has_programs, hpi, run};

use crate::kit::Server;

/// Saves an archive in a folder, and returns its path.
fn saved(server: &Server, target: &str, folder: &Path) -> std::path::PathBuf {
    let sent = server.get(target);
    assert_eq!(
        (sent.status, sent.header("content-type")),
        (200, "application/zip")
    );
    let path = folder.join("saved.zip");
    fs::write(&path, sent.body).unwrap();
    path
}

#[test]
fn a_directory_is_an_archive_with_its_files() {
    let large = noise(5, 200_000);
    let files = vec![
        file(b"large.bin", File::new(large.clone(), Method::Zlib)),
        file(b"empty", File::new("", Method::Stored)),
        dir(
            b"inner",
            vec![file(b"\xfc.txt", File::new("x", Method::Stored))],
        ),
    ];
    let picture = Pcx::indexed(2, 2, vec![1, 2, 3, 4]).file();
    let picture = file(b"logo.pcx", File::new(picture, Method::Stored));
    let fixture = Fixture::new();
    let archive = V1::new(vec![dir(b"sub", files), picture]).build();
    fs::write(&fixture.archive, archive.bytes).unwrap();
    let server = Server::start([&fixture.archive]);
    let folder = tempfile::tempdir().unwrap();
    let path = saved(&server, "/zip/SUB", folder.path());
    assert!(cat(&path, &["large.bin"]) == large);
    assert_eq!(cat(&path, &["inner/ü.txt"]), b"x");
    let checked = run(hpi("check").arg(&path));
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let whole = saved(&server, "/zip/", folder.path());
    let listed = run(hpi("list").arg(&whole).args(["--json"]));
    assert_eq!(listed.stdout.lines().count(), 6, "{}", listed.stdout);
    let converted = saved(&server, "/zip/?converted", folder.path());
    assert!(!cat(&converted, &["logo.png"]).is_empty());
    assert_eq!(server.get("/zip/missing").status, 404);
    assert_eq!(server.get("/zip/logo.pcx").status, 404);
}

#[test]
fn other_programs_read_the_archive() {
    if !has_programs(&["unzip", "7z"]) {
        return;
    }
    let source = tempfile::tempdir().unwrap();
    let sub = source.path().join("sub");
    fs::create_dir_all(sub.join("empty")).unwrap();
    fs::write(sub.join("a.bin"), noise(9, 100_000)).unwrap();
    symlink("a.bin", sub.join("link")).unwrap();
    let server = Server::start([source.path()]);
    let folder = tempfile::tempdir().unwrap();
    let path = saved(&server, "/zip/sub", folder.path());
    let out = folder.path().join("out");
    let unzipped = Command::new("unzip")
        .arg("-q")
        .arg(&path)
        .arg("-d")
        .arg(&out)
        .output();
    let unzipped = unzipped.unwrap();
    assert!(unzipped.status.success(), "{unzipped:?}");
    let tested = Command::new("7z").args(["t", "-bd"]).arg(&path).output();
    let tested = tested.unwrap();
    assert!(tested.status.success(), "{tested:?}");
    let compared = Command::new("diff")
        .arg("-r")
        .args([&sub, &out])
        .status()
        .unwrap();
    assert!(compared.success());
    if has_programs(&["7z"]) {
        let tested = Command::new("7z").arg("t").arg(&path).output().unwrap();
        assert!(tested.status.success(), "{tested:?}");
    }
    let times = [sub.join("a.bin"), out.join("a.bin")].map(|path| {
        let modified = fs::metadata(path).unwrap().modified().unwrap();
        modified
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs()
    });
    assert_eq!(times[0], times[1]);
    assert_eq!(fs::read_link(out.join("link")).unwrap(), Path::new("a.bin"));
}

#[test]
fn a_folder_on_disk_of_any_size_is_sent() {
    let source = tempfile::tempdir().unwrap();
    let sparse = fs::File::create(source.path().join("a sparse file")).unwrap();
    sparse.set_len(20 << 30).unwrap();
    let server = Server::start([source.path()]);
    let mut stream = server.connect();
    let token = format!("Bearer {}", server.token);
    let headers = [("Authorization", token.as_str())];
    crate::kit::write_request(&mut stream, "GET", "/zip/", &server.address, &headers);
    let mut begun = vec![0; 1 << 20];
    stream.read_exact(&mut begun).unwrap();
    assert!(begun.windows(4).any(|bytes| bytes == b"PK\x03\x04"));
}

#[test]
fn an_archive_larger_than_4_gib_is_read_by_its_directory() {
    let size = testkit::trial::part(1_u64 << 20, (4 << 30) + 5);
    let source = tempfile::tempdir().unwrap();
    let sub = source.path().join("sub");
    fs::create_dir(&sub).unwrap();
    let sparse = fs::File::create(sub.join("a sparse file")).unwrap();
    sparse.set_len(size).unwrap();
    fs::write(sub.join("b"), "after it").unwrap();
    let server = Server::start([source.path()]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved.zip");
    let mut stream = server.connect();
    let token = format!("Bearer {}", server.token);
    let headers = [("Authorization", token.as_str())];
    crate::kit::write_request(&mut stream, "GET", "/zip/sub", &server.address, &headers);
    crate::kit::save(stream, &path);
    assert_eq!(cat(&path, &["b"]), b"after it");
    if has_programs(&["unzip"]) {
        let read = Command::new("unzip")
            .arg("-p")
            .args([&path, Path::new("b")])
            .output();
        assert_eq!(read.unwrap().stdout, b"after it");
    }
    let listed = run(hpi("list").arg("--json").arg(&path));
    assert!(
        listed.stdout.contains(&format!("\"size\":{size}")),
        "{}",
        listed.stdout
    );
}
