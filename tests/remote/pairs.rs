//! Sources on servers that consist of several files: pairs of a directory and
//! its bytes, cue sheets with the files of their tracks, and installers with slices.

use std::fs;
use testkit::fuse_test;

use crate::fixtures::origin::{Faults, Object, Origin};
use crate::fixtures::servers::Moto;
use crate::fixtures::{mounted, mounted_with, refused};
use fixtures::container_seeds::{img_directory, sectors, wad_directories};
use fixtures::disc::Disc;
use fixtures::inno::{Inno, inno_file};
use fixtures::noise;
use testkit::files::contents;
use testkit::mount::{Fixture, hpi, run};
use testkit::mounted::{counter, mounted_files};

/// The files of a source. The first is given on the command line.
type Files = Vec<(&'static str, Vec<u8>)>;

/// Returns sources that consist of several files.
fn sources() -> Vec<Files> {
    let [names, ..] = wad_directories();
    let disc = Disc::default().file("A.TXT", b"text\n").raw();
    let sheet = "FILE \"The Game (1).BIN\" BINARY\n  TRACK 01 MODE2/2352\n    INDEX 01 00:00:00\n\
        FILE \"sound #2.bin\" BINARY\n  TRACK 02 AUDIO\n    INDEX 01 00:00:00\n";
    vec![
        vec![("gta3.img", sectors()), ("gta3.dir", img_directory())],
        vec![("GTA3.DIR", img_directory()), ("GTA3.IMG", sectors())],
        vec![("my cd.wad", sectors()), ("my cd.HED", names)],
        vec![
            ("the game.cue", sheet.into()),
            ("The Game (1).bin", disc),
            ("sound #2.bin", vec![7; 2352 * 4]),
        ],
    ]
}

/// Returns an installer of two files in two slices. Without them it is listed.
fn installer() -> Files {
    let noise = inno_file("{app}\\noise.dat", &noise(1, 50_000));
    let installer = Inno {
        slices: Some((40_000, 1)),
        ..Inno::new(vec![noise, inno_file("{app}\\a.txt", b"text")])
    };
    let built = installer.build();
    let [(_, first), (_, second)] = &built.slices[..] else {
        panic!("there are {} slices", built.slices.len());
    };
    vec![
        ("Setup Game.exe", built.program),
        ("Setup Game-1.bin", first.clone()),
        ("Setup Game-2.bin", second.clone()),
    ]
}

/// Returns a name escaped for a URL.
fn escaped(name: &str) -> String {
    name.replace('%', "%25")
        .replace(' ', "%20")
        .replace('#', "%23")
        .replace('(', "%28")
        .replace(')', "%29")
}

/// Returns a server with the files of a source in a directory.
fn serve(files: &Files) -> Origin {
    let origin = Origin::with("unrelated", Object::new("x", "x"));
    for (name, bytes) in files {
        origin.put(
            &format!("cds/{}", escaped(name)),
            Object::new(bytes.clone(), name),
        );
    }
    origin
}

#[fuse_test]
fn the_files_of_a_source_are_found_beside_it_on_a_web_server() {
    for files in sources().into_iter().chain([installer()]) {
        let (name, _) = files[0];
        let origin = serve(&files);
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in &files {
            fs::write(dir.path().join(name), bytes).unwrap();
        }
        let url = origin.url(&format!("cds/{}", escaped(name)));
        let there = mounted(&url, "timeout=5");
        let here = mounted_files(&[dir.path().join(name)], "timeout=5");
        let (there_found, here_found) = (contents(there.path()), contents(here.path()));
        assert!(here_found.len() > 1, "{name}: {here_found:?}");
        assert!(
            there_found == here_found,
            "{name}: {there_found:?} {here_found:?}"
        );
        assert_eq!(counter(&there, "errors"), 0);
        // Only these files were requested, in few spellings.
        let requests = origin.take_requests();
        let others = requests.iter().filter(|request| {
            !files
                .iter()
                .any(|(name, _)| request.target == format!("/cds/{}", escaped(name)))
        });
        let others: Vec<_> = others.map(|request| request.target.clone()).collect();
        assert!(others.len() <= 2, "{others:?}");
        assert!(
            others.iter().all(|target| target.starts_with("/cds/")),
            "{others:?}"
        );
    }
}

#[fuse_test]
fn the_files_of_a_source_are_found_beside_it_in_a_bucket() {
    let Some(moto) = Moto::start() else {
        return;
    };
    moto.make_bucket("cds");
    let variables = moto.variables();
    let variables: Vec<_> = variables
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let sources = sources().into_iter().chain([installer()]);
    for (number, files) in sources.enumerate() {
        for (name, bytes) in &files {
            moto.put("cds", &format!("{number}/{name}"), bytes);
        }
        let url = format!("s3://cds/{number}/{}", files[0].0);
        let mount = mounted_with(&url, "timeout=5", &variables);
        assert!(contents(mount.path()).len() > 1, "{url}");
    }
}

#[fuse_test]
fn a_url_with_a_query_refers_to_no_other_file_and_the_error_says_so() {
    let files = &sources()[0];
    let origin = serve(files);
    let url = format!("{}?X-Amz-Signature=s3cret", origin.url("cds/gta3.img"));
    let ran = refused(&url, "timeout=5");
    assert_eq!(ran.code, Some(10), "{ran:?}");
    assert!(
        ran.stderr
            .contains("needs gta3.dir beside it, and a URL with a query"),
        "{ran:?}"
    );
    assert!(!ran.stderr.contains("s3cret"), "{ran:?}");
    let requests = origin.take_requests();
    assert!(
        requests
            .iter()
            .all(|request| request.target.starts_with("/cds/gta3.img?"))
    );
}

#[fuse_test]
fn a_missing_file_is_distinguished_from_a_forbidden_one_and_a_failing_server() {
    for files in &sources() {
        let origin = serve(&files[..1].to_vec());
        let url = origin.url(&format!("cds/{}", escaped(files[0].0)));
        if files[0].0.ends_with(".exe") {
            // An installer lists the files of all its slices.
            let ran = run(hpi("list").args(["-o", "timeout=5", &url]));
            assert_eq!(ran.code, Some(0), "{ran:?}");
            assert!(ran.stdout.contains("app/noise.dat"), "{ran:?}");
            continue;
        }
        let ran = refused(&url, "timeout=5");
        assert!(matches!(ran.code, Some(11 | 13)), "{ran:?}");
    }
    let files = &sources()[0];
    for (status, said) in [
        (403, "gta3.DIR: the server answers 403 Forbidden"),
        (503, "gta3.DIR: the server answers 503 Service Unavailable"),
    ] {
        let origin = serve(&files[..1].to_vec());
        origin.set(Faults {
            status_where: Some((|request| request.target.ends_with("DIR"), status)),
            ..Faults::default()
        });
        let ran = refused(&origin.url("cds/gta3.img"), "timeout=1");
        assert_eq!(ran.code, Some(10), "{ran:?}");
        assert!(ran.stderr.contains(said), "{ran:?}");
    }
}

#[fuse_test]
fn a_hostile_cue_sheet_requests_nothing_outside_its_directory() {
    let sheet = "FILE \"../../secret.bin\" BINARY\n  TRACK 01 MODE2/2352\n    INDEX 01 00:00:00\n\
        FILE \"..\" BINARY\n  TRACK 02 AUDIO\n    INDEX 01 00:00:00\n\
        FILE \"http://127.0.0.1:1/a?b=c\" BINARY\n  TRACK 03 AUDIO\n    INDEX 01 00:00:00\n";
    let origin = Origin::with("a/b/game.cue", Object::new(sheet, "c"));
    origin.put("secret.bin", Object::new(vec![0; 4704], "s"));
    let ran = refused(&origin.url("a/b/game.cue"), "timeout=2");
    assert!(ran.code != Some(0), "{ran:?}");
    for request in origin.take_requests() {
        assert!(request.target.starts_with("/a/b/"), "{request:?}");
        assert!(!request.target[5..].contains(['/', '?']), "{request:?}");
    }
}

#[fuse_test]
fn sources_that_need_no_other_file_request_none() {
    let origin = Origin::with(
        "disc.iso",
        Object::new(Disc::default().file("A.TXT", b"x").iso(), "i"),
    );
    let mount = mounted(&origin.url("disc.iso"), "timeout=5");
    assert_eq!(fs::read(mount.file("A.TXT")).unwrap(), b"x");
    let fixture = Fixture::new();
    let ran = run(hpi("list")
        .args([&origin.url("disc.iso")])
        .current_dir(fixture.dir()));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for request in origin.take_requests() {
        assert_eq!(request.target, "/disc.iso");
    }
}
