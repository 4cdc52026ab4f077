//! Discs with UDF: their files are found in every storage layout.

use std::fs;

use hpimount_containers::Archive;
use hpimount_containers::io::Result;

use super::foreign::mounted;
use fixtures::disc::raw_sectors;
use fixtures::noise;
use fixtures::udf::{Allocation, BLOCK, MAIN, MODIFIED, Map, Udf};
use testkit::chd::{chdman, text};
use testkit::containers::{self, Contents as _};
use testkit::programs::{run_in, run_python};

fn open(image: Vec<u8>) -> Result<Archive> {
    containers::open("disc.iso", image, &|_| None, true)
}

/// Returns the paths of the files with their bytes, in order.
fn files(opened: &Archive) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = opened.files().collect();
    files.sort_by_key(|(path, _)| path.to_owned());
    let read = |(path, entry): (&str, _)| (path.to_owned(), opened.bytes(entry).unwrap());
    files.into_iter().map(read).collect()
}

/// The contents of the discs.
fn content() -> Vec<(String, Vec<u8>)> {
    [
        ("EMPTY", Vec::new()),
        ("d/deep/テスト.txt", b"16 bits".to_vec()),
        ("d/large.bin", noise(1, 5 * BLOCK + 100)),
        ("grüße.txt", b"8 bits".to_vec()),
    ]
    .map(|(path, bytes)| (path.to_owned(), bytes))
    .into()
}

#[test]
fn files_are_found_in_every_allocation_and_partition() {
    let maps = [
        Map::Physical,
        Map::Sparable,
        Map::Virtual { is_new: false },
        Map::Virtual { is_new: true },
    ];
    let allocations = [
        Allocation::Embedded,
        Allocation::Short,
        Allocation::Long,
        Allocation::Chained,
    ];
    for map in maps {
        for allocation in allocations {
            for is_extended in [false, true] {
                let mut disc = Udf::mapped(map);
                disc.allocation = allocation;
                disc.is_extended = is_extended;
                for (path, bytes) in &content() {
                    disc.file(path, bytes);
                }
                let opened = open(disc.image()).unwrap();
                let what = format!("{map:?}, {allocation:?}, {is_extended}");
                assert_eq!(opened.format().name, "UDF");
                assert!(files(&opened) == content(), "{what}");
                assert_eq!(opened.volume().warnings(), [""; 0], "{what}");
                assert!(
                    opened
                        .files()
                        .all(|(_, entry)| entry.modified == Some(MODIFIED))
                );
                let info = opened.volume().info();
                assert_eq!(
                    (&info["volume"], &info["revision"]),
                    (&"Täst".into(), &"1.50".into())
                );
            }
        }
    }
}

#[test]
fn entries_that_were_written_again_are_found_behind_the_older_ones() {
    for map in [Map::Physical, Map::Sparable] {
        let mut disc = Udf::mapped(map);
        disc.is_rewritten = true;
        for (path, bytes) in &content() {
            disc.file(path, bytes);
        }
        let opened = open(disc.image()).unwrap();
        assert!(files(&opened) == content(), "{map:?}");
        assert_eq!(opened.volume().warnings(), [""; 0], "{map:?}");
    }
}

#[test]
fn deleted_entries_are_left_out_and_links_are_links() {
    let mut disc = Udf::default();
    disc.file("a.txt", b"a").deleted("gone.txt");
    disc.hard_link("z.txt", "a.txt");
    disc.symbolic_link("link", &[(3, ""), (5, "d"), (5, "テ")]);
    let opened = open(disc.image()).unwrap();
    assert_eq!(opened.volume().warnings(), [""; 0]);
    assert_eq!(opened.links(), [("link", "../d/テ")]);
    let shown: Vec<_> = opened
        .files()
        .map(|(path, entry)| (path, entry.file))
        .collect();
    let file = shown[0].1;
    assert_eq!(shown, [("a.txt", file), ("z.txt", file)]);
    assert_eq!(files(&opened)[1], ("z.txt".to_owned(), b"a".to_vec()));
}

#[test]
fn the_reserve_is_used_for_damaged_descriptors() {
    let mut disc = Udf::default();
    disc.file("a.txt", b"a");
    let mut image = disc.image();
    image[(MAIN + 1) * BLOCK + 100] ^= 1;
    let opened = open(image).unwrap();
    assert_eq!(files(&opened).len(), 1);
    assert!(opened.volume().warnings()[0].contains("reserve"));
}

#[test]
fn a_metadata_partition_is_refused_by_name() {
    let mut disc = Udf::mapped(Map::Metadata);
    let error = open(disc.file("a.txt", b"a").image()).err().unwrap();
    assert!(error.to_string().contains("metadata partition of UDF 2.50"));
}

#[test]
fn a_disc_that_is_cut_before_its_virtual_table_says_so() {
    let mut disc = Udf::mapped(Map::Virtual { is_new: true });
    let mut image = disc.file("a.txt", b"a").image();
    image.truncate(image.len() - BLOCK);
    let error = open(image).err().unwrap().to_string();
    assert!(error.contains("virtual allocation table"), "{error}");
}

/// Creates a disc with ISO 9660 and UDF. Only UDF has `hidden.txt`.
fn bridge() -> Option<Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("content")).unwrap();
    for (path, bytes) in [("README.TXT", "shown"), ("hidden.txt", "in UDF alone")] {
        fs::write(directory.path().join("content").join(path), bytes).unwrap();
    }
    let arguments = [
        "-quiet",
        "-udf",
        "-hide",
        "hidden.txt",
        "-o",
        "disc.iso",
        "content",
    ];
    run_in(directory.path(), "genisoimage", &arguments)
        .then(|| fs::read(directory.path().join("disc.iso")).unwrap())
}

#[test]
fn on_a_disc_with_both_file_systems_udf_wins() {
    let Some(image) = bridge() else { return };
    let opened = open(image).unwrap();
    assert_eq!(opened.format().name, "UDF");
    let expected = [("README.TXT", "shown"), ("hidden.txt", "in UDF alone")];
    let expected = expected.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    assert_eq!(files(&opened), expected);
}

#[test]
fn udf_is_found_in_raw_sectors_and_in_a_chd() {
    let Some(image) = bridge() else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("disc.iso"), &image).unwrap();
    let expected = mounted(&path("disc.iso"));
    assert!(expected.contains_key("hidden.txt"));
    let raw = raw_sectors(&image);
    let with_subchannels = raw
        .chunks(2352)
        .flat_map(|frame| [frame, &[0xEE; 96]].concat());
    fs::write(
        path("subchannels.bin"),
        with_subchannels.collect::<Vec<_>>(),
    )
    .unwrap();
    fs::write(path("raw.bin"), raw).unwrap();
    assert_eq!(mounted(&path("raw.bin")), expected);
    assert_eq!(mounted(&path("subchannels.bin")), expected);
    for (file, mode) in [("disc.iso", "MODE1/2048"), ("raw.bin", "MODE2/2352")] {
        let sheet = format!("FILE \"{file}\" BINARY\nTRACK 01 {mode}\nINDEX 01 00:00:00\n");
        fs::write(path("disc.cue"), sheet).unwrap();
        assert_eq!(mounted(&path("disc.cue")), expected, "{mode}");
        let (sheet, out) = (path("disc.cue"), path("disc.chd"));
        if !chdman(&["createcd", "-f", "-i", text(&sheet), "-o", text(&out)]) {
            return;
        }
        assert_eq!(mounted(&out), expected, "{mode}");
        let extracted = path("extracted.cue");
        assert!(chdman(&[
            "extractcd",
            "-f",
            "-i",
            text(&out),
            "-o",
            text(&extracted)
        ]));
        assert_eq!(mounted(&extracted), expected, "{mode}");
    }
}

#[test]
fn a_disc_by_pycdlib_has_its_files_in_udf() {
    // Revision 2.60, without the optional metadata partition.
    const SCRIPT: &str = "
import io, pycdlib
disc = pycdlib.PyCdlib()
disc.new(interchange_level=3, udf='2.60')
disc.add_directory('/D', udf_path='/d')
for path, udf_path, data in [
    ('/A.TXT;1', '/テスト.txt', b'16 bits'),
    ('/D/B.BIN;1', '/d/large file.bin', bytes(range(256)) * 2000),
]:
    disc.add_fp(io.BytesIO(data), len(data), path, udf_path=udf_path)
disc.write('disc.iso')
";
    let directory = tempfile::tempdir().unwrap();
    if !run_python(directory.path(), &["pycdlib"], SCRIPT, &[]) {
        return;
    }
    let opened = open(fs::read(directory.path().join("disc.iso")).unwrap()).unwrap();
    let large: Vec<u8> = (0..512_000_u32).map(|at| at as u8).collect();
    let expected = [
        ("d/large file.bin", large),
        ("テスト.txt", b"16 bits".to_vec()),
    ];
    let expected = expected.map(|(path, bytes)| (path.to_owned(), bytes));
    assert!(files(&opened) == expected);
    assert_eq!(opened.volume().warnings(), [""; 0]);
}

#[test]
fn with_damaged_udf_iso_9660_is_shown_with_a_warning() {
    let Some(mut image) = bridge() else { return };
    // All anchors.
    for block in [256, image.len() / BLOCK - 1, image.len() / BLOCK - 257] {
        image[block * BLOCK..][..16].fill(0);
    }
    let opened = open(image).unwrap();
    assert_eq!(files(&opened).len(), 1);
    assert!(opened.volume().warnings()[0].contains("anchor of the volume"));
}

#[test]
fn discs_by_mkudffs_are_read() {
    let media: [&[&str]; 10] = [
        &["-r", "1.02", "-b", "2048"],
        &["-r", "2.01", "-b", "2048", "--ad=short"],
        &["-r", "1.50", "-b", "2048", "--ad=long"],
        &["-m", "hd", "-r", "2.01", "-b", "512"],
        &["-m", "hd", "-r", "2.00", "-b", "4096"],
        &["-m", "cdrw", "-r", "2.01", "-b", "2048", "--spartable"],
        &["-m", "cdr", "-r", "1.50", "-b", "2048", "--vat"],
        &["-m", "dvdr", "-r", "2.01", "-b", "2048", "--vat"],
        &["-m", "hd", "-r", "2.01", "-b", "512", "--strategy=4096"],
        &["-m", "dvd", "-r", "1.02", "-b", "2048", "--strategy=4096"],
    ];
    for arguments in media {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("disc.iso");
        fs::write(&path, vec![0; 8 << 20]).unwrap();
        let arguments = [&["--utf8"], arguments, &["--lvid=Grüße", "disc.iso"]].concat();
        if !run_in(directory.path(), "mkudffs", &arguments) {
            return;
        }
        let mut image = fs::read(&path).unwrap();
        if arguments.contains(&"--vat") {
            // A drive writes nothing after the table.
            let end = image.iter().rposition(|&byte| byte != 0).unwrap() + 1;
            image.truncate(end.next_multiple_of(BLOCK));
        }
        let opened = open(image).unwrap();
        assert_eq!(opened.volume().info()["volume"], "Grüße", "{arguments:?}");
        assert_eq!(opened.volume().warnings(), [""; 0], "{arguments:?}");
    }
}
