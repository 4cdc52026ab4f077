//! Containers by other programs, in variants that required special care.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use fixtures::container_seeds;
use hpimount::mount::Options;
use hpimount::namespace::companion::Meta;
use testkit::programs::{run_in, run_python};
use testkit::walked::{self, Walked};

/// Returns the files of a mount without companions.
pub(super) fn mounted(path: &Path) -> BTreeMap<String, Walked> {
    let options = Options {
        companions: false,
        meta: Meta::Off,
        ..Options::default()
    };
    let vfs = walked::open(path.to_owned(), options);
    walked::files(&vfs.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// Returns the expected contents of a file in a mount.
pub(super) fn file(bytes: &[u8]) -> Walked {
    Walked {
        size: bytes.len() as u64,
        sha256: Ok(walked::sha256_of(bytes)),
    }
}

#[test]
fn a_ciso_restores_the_zeros_at_the_end_of_a_disc() {
    const ZEROS: usize = 12 << 20;
    let mut disc = container_seeds::gcm();
    let size = disc.len() as u32;
    // The last file: its position and size are the last two numbers of the FST.
    let entry = 0x2600 + 3 * 12;
    disc[entry + 4..entry + 8].copy_from_slice(&size.to_be_bytes());
    disc[entry + 8..entry + 12].copy_from_slice(&(ZEROS as u32).to_be_bytes());
    disc.resize(disc.len() + ZEROS, 0);
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("disc.iso"), disc).unwrap();
    let arguments = ["copy", "disc.iso", "disc.ciso", "--ciso"];
    if !run_in(directory.path(), "wit", &arguments) {
        return;
    }
    let found = mounted(&directory.path().join("disc.ciso"));
    assert_eq!(found["files/bb/c.HIP"], file(&vec![0; ZEROS]));
}

/// Text that every method can pack.
pub(super) fn text() -> Vec<u8> {
    let lines = (0..20_000).map(|number: u32| format!("line {number} of {}\n", number % 977));
    lines.collect::<String>().into_bytes()
}

#[test]
fn members_of_zips_are_read_by_each_method_of_7z_and_python() {
    const SCRIPT: &str = "
import sys, zipfile
with zipfile.ZipFile('out.zip', 'w', getattr(zipfile, sys.argv[1])) as archive:
    archive.write('a.txt')
";
    let programs: [(&str, &[&str]); 8] = [
        ("7z", &["a", "-tzip", "-mm=Deflate64", "out.zip", "a.txt"]),
        ("7z", &["a", "-tzip", "-mm=BZip2", "out.zip", "a.txt"]),
        ("7z", &["a", "-tzip", "-mm=LZMA", "out.zip", "a.txt"]),
        ("7z", &["a", "-tzip", "-mm=PPMd", "out.zip", "a.txt"]),
        (
            "7z",
            &["a", "-tzip", "-mm=PPMd:o=4:mem=3m", "out.zip", "a.txt"],
        ),
        ("7z", &["a", "-tzip", "-mm=xz", "out.zip", "a.txt"]),
        ("python3", &["-c", SCRIPT, "ZIP_BZIP2"]),
        ("python3", &["-c", SCRIPT, "ZIP_LZMA"]),
    ];
    for (program, arguments) in programs {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("a.txt"), text()).unwrap();
        if !run_in(directory.path(), program, arguments) {
            return;
        }
        let found = mounted(&directory.path().join("out.zip"));
        assert_eq!(found["a.txt"], file(&text()), "{program} {arguments:?}");
    }
}

#[test]
fn files_of_7z_are_read_by_each_method_and_filter() {
    let methods = ["BZip2", "PPMd", "Deflate64", "LZMA", "BCJ2"].map(|name| (name, false));
    let filters = [
        "BCJ", "ARM", "ARMT", "ARM64", "PPC", "SPARC", "IA64", "RISCV", "Delta:4",
    ]
    .map(|name| (name, true));
    for (method, is_filter) in methods.into_iter().chain(filters) {
        let method = &*format!("-m0={method}");
        let directory = tempfile::tempdir().unwrap();
        // A program, which the filters change.
        let program = fs::read(env!("CARGO_BIN_EXE_hpimount")).unwrap();
        let program = &program[..program.len().min(2 << 20)];
        fs::write(directory.path().join("a.bin"), program).unwrap();
        fs::write(directory.path().join("b.txt"), text()).unwrap();
        let mut arguments = vec!["a", method];
        if is_filter {
            arguments.push("-m1=LZMA2");
        }
        arguments.extend(["out.7z", "a.bin", "b.txt"]);
        if !run_in(directory.path(), "7z", &arguments) {
            return;
        }
        let found = mounted(&directory.path().join("out.7z"));
        assert_eq!(found["a.bin"], file(program), "{method}");
        assert_eq!(found["b.txt"], file(&text()), "{method}");
    }
}

#[test]
fn zstandard_by_other_programs_is_read_in_zip_and_7z() {
    const ZIP: &str = "
try:
    from backports.zstd import zipfile
except ImportError:
    import zipfile
with zipfile.ZipFile('out', 'w', zipfile.ZIP_ZSTANDARD) as archive:
    archive.write('a.bin')
    archive.write('b.txt')
";
    const SEVEN_ZIP: &str = "
import py7zr, sys
filters = [{'id': getattr(py7zr, name)} for name in sys.argv[1:]]
with py7zr.SevenZipFile('out', 'w', filters=filters) as archive:
    archive.write('a.bin')
    archive.write('b.txt')
";
    let programs: [(&str, &[&str]); 3] = [
        (ZIP, &[]),
        (SEVEN_ZIP, &["FILTER_ZSTD"]),
        (SEVEN_ZIP, &["FILTER_X86", "FILTER_ZSTD"]),
    ];
    let program = fs::read(env!("CARGO_BIN_EXE_hpimount")).unwrap();
    let program = &program[..program.len().min(2 << 20)];
    for (script, arguments) in programs {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("a.bin"), program).unwrap();
        fs::write(directory.path().join("b.txt"), text()).unwrap();
        // It provides the zipfile with Zstandard that Python has since 3.14.
        if !run_python(directory.path(), &["py7zr"], script, arguments) {
            return;
        }
        let found = mounted(&directory.path().join("out"));
        assert_eq!(found["a.bin"], file(program), "{arguments:?}");
        assert_eq!(found["b.txt"], file(&text()), "{arguments:?}");
    }
}

#[test]
fn a_stored_member_of_a_zip_with_a_wrong_checksum_is_not_read_to_its_end() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a.txt"), text()).unwrap();
    if !run_in(directory.path(), "zip", &["-0", "-q", "out.zip", "a.txt"]) {
        return;
    }
    let path = directory.path().join("out.zip");
    let mut bytes = fs::read(&path).unwrap();
    bytes[1000] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert!(mounted(&path)["a.txt"].sha256.is_err());
}

/// Runs `hpi check`, and returns its exit code and output.
fn check(arguments: &[&str], source: &Path) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_hpi"))
        .arg("check")
        .args(arguments)
        .arg(source)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), text)
}

#[test]
fn a_source_without_a_disc_to_compare_with_a_list_is_no_success() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let list = r#"<datafile><game name="A"><rom name="a.iso" size="4" crc="00000000"
        sha1="0000000000000000000000000000000000000000"/></game></datafile>"#;
    fs::write(path("one.dat"), list).unwrap();
    fs::write(path("a.zip"), container_seeds::zip()).unwrap();
    let list = path("one.dat");
    let (code, text) = check(&["--dat", list.to_str().unwrap()], &path("a.zip"));
    assert_eq!(code, Some(10), "{text}");
    assert!(text.contains("no disc to compare"), "{text}");
}

#[test]
fn a_zip_member_of_the_largest_size_is_listed_and_found_to_be_damaged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zip");
    for (stored, size) in [(8, u64::MAX), (u64::MAX, u64::MAX)] {
        fs::write(&path, zip64(stored, size)).unwrap();
        let (code, text) = check(&[], &path);
        assert_eq!(code, Some(10), "{text}");
        assert!(text.contains("`--expansion` raises the limit"), "{text}");
        let (code, text) = check(&["--expansion", &u64::MAX.to_string()], &path);
        assert_eq!(code, Some(12), "{text}");
        assert!(text.contains(" 1 file,"), "{text}");
    }
}

/// Returns a zip of a stored file with these sizes in its directory.
fn zip64(stored: u64, size: u64) -> Vec<u8> {
    let header = |sizes: u32, extra: u16| {
        let mut bytes = vec![45, 0, 0, 0, 0, 0, 0, 0, 0x21, 0x28];
        bytes.extend(
            [crc32fast::hash(b"12345678"), sizes, sizes]
                .map(u32::to_le_bytes)
                .concat(),
        );
        bytes.extend([1, extra].map(u16::to_le_bytes).concat());
        bytes
    };
    let mut bytes = [&b"PK\x03\x04"[..], &header(8, 0), b"x12345678"].concat();
    let start = bytes.len();
    let central = [
        &b"PK\x01\x02\x2D\0"[..],
        &header(u32::MAX, 20),
        &[0; 14],
        b"x",
    ];
    bytes.extend(central.concat());
    bytes.extend([1_u16, 16].map(u16::to_le_bytes).concat());
    bytes.extend([size, stored].map(u64::to_le_bytes).concat());
    let length = (bytes.len() - start) as u32;
    bytes.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    bytes.extend([length, start as u32].map(u32::to_le_bytes).concat());
    bytes.extend([0, 0]);
    bytes
}
