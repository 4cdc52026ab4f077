//! Thumbnails: for every kind of file with a picture, never larger than
//! requested, and in bounded time for any file.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use fixtures::consoles;
use fixtures::container_seeds::xdvdfs_with;
use fixtures::disc::Disc;
use fixtures::heavy_iron;
use fixtures::hip::{Asset, Hip};
use fixtures::ta::{gaf, pcx, tdo, tnt};
use hpimount_containers::hip::{Game, Platform};
use tempfile::tempdir;
use testkit::confined::confined_threads;
use testkit::desktop::{draw, drawn, thumbnailer};
use testkit::faulty_fs::{FaultyFs, Mode};
use testkit::fuse_test;
use testkit::mount::{Fixture, eventually, has_programs};
use testkit::pictures::{library, pixels};
use testkit::sources::{folder, pack};

fn fails(input: &Path) {
    let (ran, picture) = draw(128, input);
    assert_eq!((ran.code, ran.stdout), (Some(1), String::new()));
    assert!(
        ran.stderr.starts_with("hpimount-thumbnailer: "),
        "{input:?}"
    );
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert_eq!(picture, None);
}

/// Returns a cube with a texture, so that its picture on a mount differs from
/// the picture of the file alone.
fn cube() -> Vec<u8> {
    let mut root = tdo::object("base");
    tdo::add_box(&mut root, [0; 3], [1 << 20; 3], |_, side| {
        side.texture = Some("plate".to_owned());
    });
    tdo::file(&root)
}

fn sprite(color: u8) -> Vec<u8> {
    let frame = gaf::Frame::rle(16, 16, &[Some(color); 256]);
    gaf::file(&[gaf::sequence("plate", vec![(frame, 1)])])
}

/// Fills a folder with a file of each kind of Total Annihilation and Neversoft.
fn fill(folder: &Path) {
    for name in ["objects3d", "textures", "maps", "unitpics"] {
        fs::create_dir(folder.join(name)).unwrap();
    }
    let write = |name: &str, bytes: Vec<u8>| fs::write(folder.join(name), bytes).unwrap();
    write("objects3d/cube.3do", cube());
    write("textures/plate.gaf", sprite(200));
    write("maps/small.tnt", tnt::Map::small().file(0x2000));
    write("maps/piece.sct", tnt::Section::small(3).file());
    let rows = (0..200 * 100).map(|n| n as u8).collect();
    write(
        "unitpics/cube.pcx",
        pcx::Pcx::indexed(200, 100, rows).file(),
    );
    write("lib.psx", library(Some(7), Some(7)));
}

/// Returns a fixture with an archive of such a folder.
fn packed(fill: impl FnOnce(&Path)) -> Fixture {
    let mut fixture = folder(fill);
    let archive = fixture.dir().join("mod.ufo");
    pack(&fixture.archive, &archive);
    fixture.archive = archive;
    fixture
}

#[test]
fn an_archive_whose_textures_are_called_txd_has_a_picture_on_every_console() {
    let pixels = [200, 100, 50, 128].repeat(8 * 8);
    for (console, texture) in [
        (
            Platform::GameCube,
            heavy_iron::gamecube(4, 0, [8, 4], &[], &[0xFC, 0].repeat(32), 1),
        ),
        (
            Platform::Xbox,
            heavy_iron::xbox(0x600, 0, [8, 8], &[], &pixels, 1),
        ),
        (
            Platform::PlayStation2,
            heavy_iron::playstation2(32, 0, 8, &pixels, &[]),
        ),
    ] {
        let dir = tempdir().unwrap();
        let mut hip = Hip::target(Game::Bfbb, console);
        hip.layer(1);
        for name in ["wood.txd", "stone.TXD"] {
            hip.add(Asset::new(b"RWTX", name, &texture));
        }
        let archive = dir.path().join("menu.HIP");
        fs::write(&archive, hip.build()).unwrap();
        drawn(128, &archive);
    }
}

#[test]
fn an_archive_of_objects_alone_is_shown_as_a_map() {
    let dir = tempdir().unwrap();
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0);
    for (name, x) in [("a", 1.0), ("b", -50.0)] {
        let marker = heavy_iron::big_floats(&[x, 2.0, 30.0]);
        hip.add(Asset::new(b"MRKR", name, &marker));
    }
    let archive = dir.path().join("objects.HIP");
    fs::write(&archive, hip.build()).unwrap();
    drawn(128, &archive);
}

#[test]
fn a_cue_sheet_has_the_picture_of_its_disc() {
    let dir = tempdir().unwrap();
    let rows = (0..200 * 100).map(|n| n as u8).collect();
    let mut disc = Disc::default();
    disc.file("A.PCX", &pcx::Pcx::indexed(200, 100, rows).file());
    fs::write(dir.path().join("a.bin"), disc.raw()).unwrap();
    let sheet = dir.path().join("a.cue");
    let text = "FILE \"a.bin\" BINARY\nTRACK 01 MODE2/2352\nINDEX 01 00:00:00\n";
    fs::write(&sheet, text).unwrap();
    let (width, height, _) = drawn(128, &sheet);
    assert_eq!((width, height), (128, 64));
    fs::remove_file(dir.path().join("a.bin")).unwrap();
    fails(&sheet);
}

#[test]
fn every_kind_of_file_has_a_picture_of_at_most_the_requested_size() {
    let dir = tempdir().unwrap();
    fill(dir.path());
    for name in [
        "objects3d/cube.3do",
        "textures/plate.gaf",
        "maps/small.tnt",
        "maps/piece.sct",
        "unitpics/cube.pcx",
        "lib.psx",
    ] {
        for size in [256, 64, 1] {
            drawn(size, &dir.path().join(name));
        }
    }
    let (width, height, _) = drawn(128, &dir.path().join("unitpics/cube.pcx"));
    assert_eq!((width, height), (128, 64), "the aspect ratio is kept");
}

#[test]
fn an_archive_has_a_contact_sheet_of_its_contents() {
    let dir = tempdir().unwrap();
    let source = dir.path().join("mod");
    fs::create_dir(&source).unwrap();
    fill(&source);
    let archive = dir.path().join("mod.ufo");
    pack(&source, &archive);
    let (width, height, samples) = drawn(256, &archive);
    assert_eq!((width, height), (256, 256));
    let colors: std::collections::HashSet<&[u8]> = samples.chunks(4).collect();
    assert!(colors.len() > 100, "several pictures");

    let mut hip = Hip::default();
    hip.layer(0);
    hip.add(Asset::new(b"PSX ", "lib.psx", &library(Some(7), Some(7))));
    let archive = dir.path().join("level.HIP");
    fs::write(&archive, hip.build()).unwrap();
    drawn(256, &archive);
}

#[test]
fn the_picture_of_a_program_alone_represents_its_disc() {
    let dir = tempdir().unwrap();
    let disc = dir.path().join("game.iso");
    fs::write(&disc, xdvdfs_with("default.xbe", &consoles::program())).unwrap();
    let (width, height, samples) = drawn(64, &disc);
    assert_eq!(
        (width, height, &samples[..4]),
        (8, 8, &[0, 255, 0, 255][..])
    );
}

#[fuse_test]
fn a_file_on_a_mount_is_drawn_as_the_mount_shows_it() {
    let alone = folder(fill);
    let alone = drawn(128, &alone.archive.join("objects3d/cube.3do"));
    let mount = packed(fill).mount(&[]);
    let model = mount.file("objects3d/cube.3do");
    let preview = fs::read(mount.file("objects3d/cube.3do.meta/preview.png")).unwrap();
    assert_eq!(drawn(256, &model), pixels(&preview));
    assert_ne!(drawn(128, &model), alone, "the texture is the mount's");

    let uri = format!("file://{}", model.display()).replace('3', "%33");
    assert_eq!(drawn(256, Path::new(&uri)), pixels(&preview));
}

#[fuse_test]
fn a_file_on_a_mount_is_drawn_alike_where_only_the_file_can_be_opened() {
    if !has_programs(&["unshare", "mount"]) {
        return;
    }
    let mount = packed(fill).mount(&[]);
    let preview = fs::read(mount.file("objects3d/cube.3do.meta/preview.png")).unwrap();

    // Like file managers: the single file is bound to another place.
    let sandbox = tempdir().unwrap();
    let (input, output) = (sandbox.path().join("input.3do"), sandbox.path().join("png"));
    fs::write(&input, "").unwrap();
    let script = "mount --bind \"$1\" \"$2\" && shift 2 && exec \"$@\"";
    let ran = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, "sh"])
        .arg(mount.file("objects3d/cube.3do"))
        .arg(&input)
        .arg(thumbnailer().get_program())
        .args(["--size", "256"])
        .args([&input, &output])
        .status();
    assert!(ran.unwrap().success());
    assert_eq!(pixels(&fs::read(output).unwrap()), pixels(&preview));
}

#[test]
fn hostile_files_only_cause_an_error() {
    let dir = tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    for name in [
        "a.3do", "a.gaf", "a.tnt", "a.psx", "a.hgo", "a.rwtx", "a.hpi",
    ] {
        fails(&file(name, &[0xFF; 4096]));
        fails(&file(name, b""));
        fails(&file(name, b"HAPI"));
    }
    fails(&dir.path().join("missing.hpi"));
    fails(&file("text.txt", b"nothing to see"));
    let mut cut = cube();
    cut.truncate(cut.len() / 2);
    fails(&file("cut.3do", &cut));
}

#[fuse_test]
fn a_file_that_hangs_is_read_by_a_confined_thread_and_given_up() {
    let dir = tempdir().unwrap();
    let faulty = FaultyFs::new(dir.path(), &[("a.gaf", &sprite(7))]);
    faulty.set(Mode::Hangs);
    let mut child = thumbnailer()
        .arg(faulty.file("a.gaf"))
        .arg(dir.path().with_extension("png"))
        .env("HPIMOUNT_TEST_PATIENCE", "3")
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    eventually("a confined thread waits for the file", || {
        faulty.held() > 0 && confined_threads_below(child.id()) > 0
    });
    eventually("it is stopped", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(faulty.held() > 0, "the file still hangs");
}

/// Returns the number of confined threads in the children of a process.
fn confined_threads_below(parent: u32) -> usize {
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let children = children.unwrap_or_default();
    let children = children.split_whitespace();
    children
        .map(|child| confined_threads(child.parse().unwrap()))
        .sum()
}
