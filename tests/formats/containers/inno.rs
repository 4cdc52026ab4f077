//! Installers of Inno Setup: all versions of the format, slices, files split by GOG,
//! shared destinations, and random access.

use std::collections::BTreeMap;
use std::fs;

use fixtures::container_seeds::zip_with;
use fixtures::inno::{Inno, InnoFile, Packing, Slice, gog_files, inno_file};
use fixtures::{noise, text};
use hpimount_containers::Archive;
use hpimount_containers::io::Error;
use hpimount_containers::volume::{Content, FileId};
use testkit::containers::{Contents as _, open};
use testkit::{nested, walked};

/// Flags of files for one architecture.
const BITS_32: u64 = 1 << 26;
const BITS_64: u64 = 1 << 27;

fn opened(installer: &Inno) -> Result<Archive, Error> {
    open("setup.exe", installer.program(), &|_| None, true)
}

/// Opens an installer whose slices have names that begin with `stem`.
fn opened_with_slices(installer: &Inno, stem: &str, edit: impl Fn(&mut Vec<Slice>)) -> Archive {
    let built = installer.build();
    let mut slices = built.slices;
    edit(&mut slices);
    let beside = |wanted: &str| {
        let mut slices = slices.iter();
        let found = slices.find(|(end, _)| format!("{stem}{end}") == wanted);
        found.map(|(_, bytes)| bytes.clone())
    };
    open("setup.exe", built.program, &beside, false).unwrap()
}

type Read = BTreeMap<String, Result<Vec<u8>, String>>;

/// Returns the files with their bytes, or the errors of reading them.
fn read(opened: &Archive) -> Read {
    let files = opened.files().map(|(path, entry)| {
        let bytes = opened.bytes(entry).map_err(|error| error.to_string());
        (path.to_owned(), bytes)
    });
    files.collect()
}

fn names(installer: &Inno) -> Vec<String> {
    read(&opened(installer).unwrap()).into_keys().collect()
}

/// Returns files. One is empty, one is not in the installer, and one is not installed.
fn files() -> Vec<InnoFile> {
    let external = InnoFile {
        is_external: true,
        ..inno_file("{app}\\external.txt", b"")
    };
    vec![
        inno_file("{app}\\a.txt", &text(70_000)),
        external,
        inno_file("{app}\\sub\\empty.dat", b""),
        inno_file("{sys}\\b.dat", b"some more"),
        inno_file("", b"not installed"),
    ]
}

fn expected() -> Read {
    let files = [
        ("app/a.txt", text(70_000)),
        ("app/sub/empty.dat", Vec::new()),
        ("sys/b.dat", b"some more".to_vec()),
    ];
    let files = files
        .into_iter()
        .map(|(path, bytes)| (path.to_owned(), Ok(bytes)));
    files.collect()
}

#[test]
fn every_version_from_5_0_on_is_read() {
    let ansi = [
        [5, 0, 0, 0],
        [5, 0, 3, 0],
        [5, 0, 4, 0],
        [5, 1, 0, 0],
        [5, 1, 2, 0],
        [5, 1, 7, 0],
        [5, 1, 13, 0],
        [5, 2, 0, 0],
        [5, 2, 1, 0],
        [5, 2, 3, 0],
        [5, 2, 5, 0],
        [5, 3, 0, 0],
        [5, 3, 3, 0],
        [5, 3, 6, 0],
        [5, 3, 8, 0],
        [5, 3, 9, 0],
        [5, 3, 10, 0],
        [5, 5, 0, 0],
        [5, 5, 6, 0],
        [5, 5, 7, 0],
        [5, 6, 2, 0],
    ];
    let unicode = [
        [5, 2, 5, 0],
        [5, 3, 0, 0],
        [5, 3, 10, 0],
        [5, 4, 2, 0],
        [5, 5, 0, 0],
        [5, 5, 6, 0],
        [5, 5, 7, 0],
        [5, 6, 0, 0],
        [5, 6, 2, 0],
        [6, 0, 0, 0],
        [6, 1, 0, 0],
        [6, 3, 0, 0],
        [6, 4, 0, 1],
        [6, 4, 2, 0],
        [6, 4, 3, 0],
        [6, 5, 0, 0],
        [6, 5, 2, 0],
        [6, 6, 0, 0],
        [6, 6, 1, 0],
        [6, 7, 0, 0],
        [7, 0, 0, 3],
    ];
    let versions = ansi.map(|version| (version, false)).into_iter();
    for (version, is_unicode) in versions.chain(unicode.map(|version| (version, true))) {
        for (packing, is_solid) in [(Packing::Stored, false), (Packing::Zlib, true)] {
            let installer = Inno {
                version,
                is_unicode,
                packing,
                is_solid,
                components: vec!["main", "extra"],
                directories: vec!["{app}\\saves"],
                ..Inno::new(files())
            };
            let opened = opened(&installer).unwrap_or_else(|error| panic!("{version:?}: {error}"));
            assert_eq!(read(&opened), expected(), "{version:?} {is_unicode}");
            assert_eq!(opened.directories(), ["app", "app/saves", "app/sub", "sys"]);
            let info = opened.volume().info();
            assert_eq!(info["components"], serde_json::json!(["main", "extra"]));
            assert_eq!(info["publisher"], "Nobody");
            assert!(
                opened
                    .files()
                    .all(|(_, entry)| entry.modified == Some(1_000_000_000))
            );
        }
    }
}

#[test]
fn headers_that_compilers_by_others_write_are_read_as_well() {
    for version in [[5, 4, 2, 0], [5, 5, 0, 0]] {
        let installer = Inno {
            version,
            variant: 1,
            ..Inno::new(files())
        };
        assert_eq!(read(&opened(&installer).unwrap()), expected());
    }
}

#[test]
fn versions_that_are_not_supported_are_named_with_a_program_that_unpacks_them() {
    for (version, name) in [([4, 2, 6, 0], "4.2.6"), ([9, 5, 7, 0], "9.5.7")] {
        let installer = Inno {
            version,
            ..Inno::new(files())
        };
        let error = opened(&installer).err().unwrap().to_string();
        assert!(
            error.contains(name) && error.contains("`innoextract`"),
            "{error}"
        );
    }
}

#[test]
fn an_installer_before_4_1_6_is_refused_by_its_table() {
    let mut program = Inno {
        version: [5, 0, 0, 0],
        ..Inno::new(files())
    }
    .program();
    for mark in [*b"2\x87eVx", *b"4\x87eVx", *b"5\x87eVx", *b"6\x87eVx"] {
        let table = program.windows(7).position(|bytes| bytes == b"rDlPtS0");
        let at = table.unwrap() + 7;
        program[at..at + 5].copy_from_slice(&mark);
        let error = open("setup.exe", program.clone(), &|_| None, false).err();
        let error = error.unwrap().to_string();
        assert!(
            error.contains("before 4.1.6") && error.contains("`innoextract`"),
            "{error}"
        );
    }
}

#[test]
fn names_have_the_code_page_of_the_languages() {
    let languages = [
        (vec![("ru", 1251)], "\u{e9}", "app/й.txt"),
        (vec![("ru", 1251), ("en", 1252)], "\u{e9}", "app/é.txt"),
    ];
    for (languages, name, path) in languages {
        let installer = Inno {
            is_unicode: false,
            languages,
            ..Inno::new(vec![inno_file(&format!("{{app}}\\{name}.txt"), b"x")])
        };
        assert_eq!(names(&installer), [path]);
    }
}

/// An empty file and one that is not installed are before it in its chunk.
#[test]
fn a_file_that_is_read_in_place_has_its_own_bytes() {
    let installer = Inno {
        packing: Packing::Stored,
        is_solid: true,
        ..Inno::new(vec![
            inno_file("{app}\\a.dat", b"some"),
            inno_file("{app}\\empty.dat", b""),
            inno_file("", b"not installed"),
            inno_file("{app}\\b.dat", b"some more"),
        ])
    };
    let opened = open("setup.exe", installer.program(), &|_| None, false).unwrap();
    let found = read(&opened);
    assert_eq!(found["app/a.dat"], Ok(b"some".to_vec()));
    assert_eq!(found["app/b.dat"], Ok(b"some more".to_vec()));
}

#[test]
fn a_header_without_its_program_is_an_installer() {
    let installer = Inno {
        slices: Some((30_000, 1)),
        packing: Packing::Stored,
        ..Inno::new(files())
    };
    let built = installer.build();
    let beside = |wanted: &str| {
        let mut slices = built.slices.iter();
        let found = slices.find(|(end, _)| format!("setup{end}") == wanted);
        found.map(|(_, bytes)| bytes.clone())
    };
    let opened = open("setup-0.bin", built.header, &beside, false).unwrap();
    assert_eq!(read(&opened), expected());
}

#[test]
fn chunks_run_from_one_slice_to_the_next() {
    for per_disk in [1, 2] {
        for packing in [Packing::Stored, Packing::Lzma2] {
            let installer = Inno {
                slices: Some((30_000, per_disk)),
                packing,
                is_solid: packing == Packing::Lzma2,
                ..Inno::new(files())
            };
            for stem in ["setup", "compiled"] {
                let opened = opened_with_slices(&installer, stem, |_| ());
                assert_eq!(read(&opened), expected(), "{per_disk}");
                assert!(opened.volume().warnings().is_empty());
            }
        }
    }
}

#[test]
fn files_in_a_missing_slice_are_listed_and_cannot_be_read() {
    let installer = Inno {
        slices: Some((30_000, 1)),
        packing: Packing::Stored,
        ..Inno::new(files())
    };
    let opened = opened_with_slices(&installer, "setup", |slices| {
        slices.remove(2);
    });
    let found = read(&opened);
    assert!(found["app/a.txt"].is_err() && found["sys/b.dat"].is_err());
    let warnings = opened.volume().warnings().join("");
    assert!(warnings.contains("setup-3.bin is missing"), "{warnings}");
    let error = found["sys/b.dat"].as_ref().unwrap_err();
    assert!(error.contains("setup-3.bin"), "{error}");
}

#[test]
fn a_slice_that_is_none_is_missing_and_what_follows_one_is_no_data() {
    let installer = Inno {
        slices: Some((30_000, 1)),
        packing: Packing::Stored,
        ..Inno::new(files())
    };
    let cut: [fn(&mut Vec<u8>); 3] = [
        Vec::clear,
        |slice| slice.truncate(11),
        |slice| slice[0] ^= 1,
    ];
    for cut in cut {
        let opened = opened_with_slices(&installer, "compiled", |slices| cut(&mut slices[2].1));
        assert!(read(&opened)["sys/b.dat"].is_err());
        let warnings = opened.volume().warnings().join("");
        assert!(
            warnings.contains("the start of compiled-3.bin is missing"),
            "{warnings}"
        );
    }
    let longer = opened_with_slices(&installer, "setup", |slices| slices[0].1.extend([0; 99]));
    assert_eq!(read(&longer), expected());
}

#[test]
fn an_encrypted_installer_is_refused_and_an_encrypted_file_listed() {
    let encrypted = InnoFile {
        is_encrypted: true,
        ..inno_file("{app}\\secret.txt", b"secret")
    };
    let error = opened(&Inno::new(vec![encrypted.clone()])).err().unwrap();
    assert!(matches!(error, Error::Encrypted(_)), "{error}");
    let both = Inno::new(vec![encrypted, inno_file("{app}\\plain.txt", b"plain")]);
    let opened = opened(&both).unwrap();
    let found = read(&opened);
    assert_eq!(found["app/plain.txt"], Ok(b"plain".to_vec()));
    assert!(
        found["app/secret.txt"]
            .as_ref()
            .unwrap_err()
            .contains("encrypted")
    );
}

#[test]
fn parts_of_gog_are_one_file_in_one_chunk_or_in_many() {
    let parts = [text(100_000), noise(1, 50_000), text(7)];
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    let all = parts.concat();
    let check = "check_if_install('', '32#64#', '')";
    for (packing, is_solid) in [
        (Packing::Stored, false),
        (Packing::Stored, true),
        (Packing::Zlib, false),
        (Packing::Lzma2, true),
    ] {
        let mut files = vec![inno_file("{app}\\first.txt", b"first")];
        files.extend(gog_files("Data\\It's.dat", &parts, check));
        files.push(inno_file("{app}\\last.txt", b"last"));
        let installer = Inno {
            packing,
            is_solid,
            ..Inno::new(files)
        };
        let opened = opened(&installer).unwrap();
        let found = read(&opened);
        assert_eq!(found.len(), 3);
        assert_eq!(found["app/Data/It's.dat"], Ok(all.clone()), "{is_solid}");
        assert_eq!(found["app/last.txt"], Ok(b"last".to_vec()));
    }
}

/// A part that occurs in several files is stored once.
#[test]
fn parts_that_are_not_one_after_another_are_read_in_their_order() {
    let (first, last) = (text(90_000), noise(1, 80_000));
    for is_solid in [false, true] {
        let mut files = gog_files("one.dat", &[&first, &last], "");
        files.extend(gog_files("two.dat", &[&last, &first, &last], ""));
        let installer = Inno {
            is_solid,
            ..Inno::new(files)
        };
        let found = read(&opened(&installer).unwrap());
        let expected = [&first[..], &last];
        assert_eq!(found["app/one.dat"], Ok(expected.concat()));
        let expected = [&last[..], &first, &last];
        assert_eq!(found["app/two.dat"], Ok(expected.concat()));
    }
}

#[test]
fn a_file_with_fewer_parts_than_announced_cannot_be_read() {
    let mut files = gog_files("one.dat", &[b"first", b"second"], "");
    files.pop();
    files.push(inno_file("{app}\\other.txt", b"other"));
    let found = read(&opened(&Inno::new(files)).unwrap());
    assert!(
        found["app/one.dat"]
            .as_ref()
            .unwrap_err()
            .contains("1 of 2 parts")
    );
    assert_eq!(found["app/other.txt"], Ok(b"other".to_vec()));
}

#[test]
fn files_for_a_choice_have_names_that_say_for_which() {
    let file = |destination: &str, flags, languages, components| InnoFile {
        flags,
        languages,
        components,
        ..inno_file(destination, destination.as_bytes())
    };
    let app = "{app}\\x";
    for (files, names_of_files) in [
        (
            [file(app, 0, "en", ""), file(app, 0, "de", "")],
            ["app/x@de", "app/x@en"],
        ),
        (
            [file(app, BITS_32, "", ""), file(app, BITS_64, "", "")],
            ["app/x@32bit", "app/x@64bit"],
        ),
        (
            [
                file(app, 0, "", "main"),
                file("{app}\\X", 0, "", "extra\\more"),
            ],
            ["app/X", "app/x#main"],
        ),
        (
            [file(app, 0, "en de", ""), file("{app}\\X", 0, "", "")],
            ["app/X", "app/x$0"],
        ),
    ] {
        assert_eq!(names(&Inno::new(files.into())), names_of_files);
    }
    let check = |language: &str| format!("check_if_install('{language}#', '32#64#', '')");
    let mut files = gog_files("a.txt", &[b"one"], &check("en-US"));
    files.extend(gog_files("a.txt", &[b"two"], &check("de-DE")));
    assert_eq!(
        names(&Inno::new(files)),
        ["app/a.txt@de-DE", "app/a.txt@en-US"]
    );
}

#[test]
fn an_older_version_of_a_program_does_not_replace_a_newer_one() {
    let file = |bytes: &[u8], version, flags| InnoFile {
        version,
        flags,
        ..inno_file("{app}\\x.dll", bytes)
    };
    let last = |files: [InnoFile; 2]| {
        let found = read(&opened(&Inno::new(files.into())).unwrap());
        found["app/x.dll"].clone().unwrap()
    };
    let (old, new) = (Some(1), Some(2));
    assert_eq!(last([file(b"a", new, 0), file(b"b", old, 0)]), b"a");
    assert_eq!(last([file(b"a", old, 0), file(b"b", new, 0)]), b"b");
    assert_eq!(last([file(b"a", new, 0), file(b"b", None, 0)]), b"a");
    let ignores_version = 1 << 17;
    assert_eq!(
        last([file(b"a", new, 0), file(b"b", old, ignores_version)]),
        b"b"
    );
}

/// Returns bytes that are full of calls.
fn calls(length: usize) -> Vec<u8> {
    let mut bytes = noise(1, length);
    for at in (0..length.saturating_sub(5)).step_by(13) {
        bytes[at] = 0xE8;
        bytes[at + 4] = if at % 2 == 0 { 0 } else { 0xFF };
    }
    bytes
}

#[test]
fn decoding_begins_near_the_bytes_that_are_wanted() {
    let program = InnoFile {
        is_filtered: true,
        ..inno_file("{app}\\game.exe", &calls(1 << 20))
    };
    let data = text(2 << 20);
    let mut files = vec![inno_file("{app}\\a.dat", &data), program];
    files.extend(gog_files(
        "b.dat",
        &[&data[..1 << 20], &data[1 << 20..]],
        "",
    ));
    let all = [&data[..], &files[1].bytes, &data].concat();
    let installer = Inno {
        packing: Packing::Lzma2,
        is_solid: true,
        reset: 1_100_000,
        ..Inno::new(files)
    };
    let opened = opened(&installer).unwrap();
    let whole = FileId(3);
    let Content::Stream(streams) = opened.volume().content(whole).unwrap() else {
        panic!("the chunk is a stream");
    };
    let mut restarts = 0;
    for position in (0..all.len() as u64).step_by(250_000) {
        let restart = streams.restart_before(whole, position);
        assert!(restart <= position, "{restart} {position}");
        restarts += usize::from(restart > 0);
        let mut decoder = streams.decoder_before(whole, position).unwrap();
        assert_eq!(decoder.left(), all.len() as u64 - restart);
        let length = (all.len() as u64 - restart).min(700_000) as usize;
        let mut bytes = vec![0; length];
        decoder.read(&mut bytes).unwrap();
        let start = restart as usize;
        assert!(bytes == all[start..start + length], "{position}");
    }
    assert!(restarts > 10, "{restarts}");
    assert!(read(&opened).values().all(Result::is_ok));
}

#[test]
fn a_wrong_checksum_is_an_error_of_its_file_alone() {
    let installer = Inno {
        packing: Packing::Stored,
        is_solid: true,
        ..Inno::new(files())
    };
    let mut program = installer.program();
    let at = program
        .windows(9)
        .position(|bytes| bytes == b"some more")
        .unwrap();
    program[at] ^= 1;
    let opened = open("setup.exe", program, &|_| None, true).unwrap();
    let found = read(&opened);
    assert!(
        found["sys/b.dat"]
            .as_ref()
            .unwrap_err()
            .contains("SHA-1 is")
    );
    assert!(found["app/a.txt"].is_ok());
}

#[test]
fn truncated_and_damaged_headers_are_refused() {
    let installer = Inno::new(vec![inno_file("{app}\\a.txt", b"text")]);
    let (program, header) = (installer.program(), installer.build().header.len());
    let refused = |bytes: &[u8]| open("setup.exe", bytes.to_vec(), &|_| None, false).is_err();
    for length in program.len() - header..program.len() {
        assert!(refused(&program[..length]), "{length}");
    }
    // The table, and the header after the version.
    let table = 0x258..0x258 + 44;
    for at in table.chain(program.len() - header + 64..program.len()) {
        let mut bytes = program.clone();
        bytes[at] ^= 1;
        assert!(refused(&bytes), "{at:#x}");
    }
}

/// Other programs are not entered, at the cost of a few reads.
#[test]
fn an_installer_in_a_folder_has_its_tree_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let installer = Inno {
        slices: Some((30_000, 1)),
        packing: Packing::Stored,
        ..Inno::new(files())
    };
    let built = installer.build();
    write("Setup.EXE", &built.program);
    for (end, bytes) in &built.slices {
        write(&format!("setup{end}"), bytes);
    }
    let mut other = built.program.clone();
    // The id of the resource.
    other[0x228] ^= 1;
    write("game.exe", &other);
    write("stub.exe", b"MZ");
    let files = nested::files(folder.path());
    for (path, bytes) in expected() {
        let sum = walked::sha256_of(&bytes.unwrap());
        assert_eq!(files[&format!("Setup.EXE.d/{path}")].sha256, Ok(sum));
    }
    assert!(
        !files
            .keys()
            .any(|path| path.starts_with("game.exe.d") || path.starts_with("stub.exe.d"))
    );
}

/// The archive of a game is entered without unpacking the installer.
#[test]
fn an_archive_in_an_installer_is_entered() {
    let inner = zip_with("units/a.txt", b"unit");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("setup.exe");
    let installer = Inno::new(vec![inno_file("{app}\\mod.zip", &inner)]);
    fs::write(&path, installer.program()).unwrap();
    let files = nested::files(&path);
    assert_eq!(
        files["app/mod.zip.d/units/a.txt"].sha256,
        Ok(walked::sha256_of(b"unit"))
    );
}
