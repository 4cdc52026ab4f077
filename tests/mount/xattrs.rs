//! The metadata of files in archives can be requested as extended attributes.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use testkit::fuse_test;

use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{Entry, File, V1, V2, dir, file};
use fixtures::ta::pcx;
use fixtures::{noise, text};
use hpimount_assets::model::png;
use hpimount_containers::hip::asset_id;
use hpimount_containers::hpi::chunk::Method;
use testkit::mount::has_programs;
use testkit::mounted::{mounted, output};

/// Returns all attributes of a file or directory.
fn attributes(path: &Path) -> BTreeMap<String, String> {
    let names = xattr::list(path).unwrap();
    names
        .map(|name| {
            let value = xattr::get(path, &name).unwrap();
            let value = value.unwrap_or_else(|| panic!("{name:?} is listed but missing"));
            let text = String::from_utf8(value).unwrap();
            (name.into_string().unwrap(), text)
        })
        .collect()
}

fn table<const N: usize>(expected: [(&str, &str); N]) -> BTreeMap<String, String> {
    expected
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

fn entries() -> Vec<Entry> {
    vec![
        dir(b"maps", vec![]),
        file(b"a.tdf", File::new(text(200_000), Method::Lz77)),
        file(b"b.wav", File::new(noise(1, 1000), Method::Stored)),
        file(b"c.txt", File::new(b"", Method::Zlib)),
    ]
}

#[fuse_test]
fn files_of_version_1_show_how_they_are_packed() {
    let archive = V1::new(entries()).keyed(0x7D).build();
    let mount = mounted(&archive.bytes, "");
    let [a, b, c] = [0, 1, 2].map(|number| archive.files[number].data);
    let common = |name, offset: usize, size: usize, method, chunks| {
        let (offset, size) = (offset.to_string(), size.to_string());
        table([
            ("user.hpimount.raw_name", name),
            ("user.hpimount.source", "sample.hpi"),
            ("user.hpi.archive", "sample.hpi"),
            ("user.hpi.offset", &offset),
            ("user.hpi.stored_size", &size),
            ("user.hpi.method", method),
            ("user.hpi.encrypted", "1"),
            ("user.hpi.chunks", chunks),
        ])
    };
    let attributes = |name: &str| attributes(&mount.path().join(name));
    assert_eq!(attributes("a.tdf"), common("a.tdf", a, b - a, "lz77", "4"));
    assert_eq!(attributes("B.WAV"), common("b.wav", b, 1000, "stored", "0"));
    assert_eq!(attributes("c.txt"), common("c.txt", c, 0, "stored", "0"));
    assert_eq!(
        attributes("maps"),
        table([("user.hpimount.raw_name", "maps")])
    );
    assert_eq!(
        attributes("Maps"),
        table([("user.hpimount.raw_name", "maps")])
    );
    assert_eq!(attributes("."), table([]));
}

#[fuse_test]
fn files_of_version_2_have_their_checksum() {
    let mount = mounted(&V2::new(entries()).build().bytes, "");
    let found = attributes(&mount.path().join("b.wav"));
    assert_eq!(found["user.hpi.encrypted"], "0");
    assert_eq!(found["user.hpi.checksum"].len(), 8);
    assert_eq!(found["user.hpi.checksum_ok"], "true");
    assert_eq!(found.len(), 10);
}

#[fuse_test]
fn a_changed_byte_of_version_2_does_not_match_the_checksum() {
    let built = V2::new(entries()).build();
    for (name, number) in [("a.tdf", 0), ("b.wav", 1)] {
        let offset = built.files[number].data + 100;
        let flipped = [built.bytes[offset] ^ 1];
        let mount = mounted(&built.patched(offset, flipped), "");
        let path = mount.file(name);
        let attribute = |path| xattr::get(path, "user.hpi.checksum_ok").unwrap().unwrap();
        assert_eq!(attribute(&path), b"false", "{name}");
        assert_eq!(attribute(&mount.file("c.txt")), b"true");
    }
}

#[fuse_test]
fn with_verify_a_stored_file_that_does_not_match_its_checksum_is_an_error() {
    let built = V2::new(entries()).build();
    let offset = built.files[1].data + 100;
    let flipped = [built.bytes[offset] ^ 1];
    let bytes = built.patched(offset, flipped);
    let read = |options: &str| {
        let mount = mounted(&bytes, options);
        std::fs::read(mount.file("a.tdf")).unwrap();
        std::fs::read(mount.file("b.wav")).map_err(|error| error.raw_os_error())
    };
    assert_eq!(read("").unwrap().len(), 1000);
    assert_eq!(read("verify"), Err(Some(libc::EIO)));
    assert_eq!(read("verify,force").unwrap().len(), 1000);
}

#[fuse_test]
fn a_file_whose_first_chunk_is_damaged_has_no_number_of_chunks() {
    let built = V2::new(entries()).build();
    let mount = mounted(&built.patched(built.files[0].data, b"XXXX"), "");
    let names = xattr::list(mount.file("a.tdf")).unwrap();
    let names: Vec<_> = names.collect();
    assert!(
        !names.iter().any(|name| name == "user.hpi.chunks"),
        "{names:?}"
    );
    let value = xattr::get(mount.file("a.tdf"), "user.hpi.chunks").unwrap();
    assert_eq!(value, None);
    let sound = xattr::get(mount.file("b.wav"), "user.hpi.chunks").unwrap();
    assert_eq!(sound.unwrap(), b"0");
}

#[fuse_test]
fn assets_have_the_metadata_of_the_archive() {
    let mut hip = Hip::default();
    let asset = Asset::new(b"MRKR", "MARKER_01", b"0123");
    hip.layer(0).add(asset);
    let bytes = hip.build();
    let mount = mounted(&bytes, "");
    let id = format!("{:08X}", asset_id(b"MARKER_01"));
    let offset = bytes.windows(4).position(|bytes| bytes == b"0123").unwrap();
    let checksum = format!(
        "{:08X}",
        hpimount_containers::hip::CHECKSUM.checksum(b"0123")
    );
    let file = mount.path().join("layers/00-DEFAULT/MARKER_01.mrkr");
    let expected = table([
        ("user.hpimount.raw_name", "MARKER_01.mrkr"),
        ("user.hpimount.source", "sample.hpi"),
        ("user.hip.id", &id),
        ("user.hip.type", "MRKR"),
        ("user.hip.type_name", "Marker"),
        ("user.hip.layer", "0"),
        ("user.hip.layer_name", "DEFAULT"),
        ("user.hip.flags", "2"),
        ("user.hip.alignment", "0"),
        ("user.hip.offset", &offset.to_string()),
        ("user.hip.source_file", ""),
        ("user.hip.checksum", &checksum),
        ("user.hip.checksum_ok", "true"),
        ("user.hip.name", "MARKER_01"),
    ]);
    assert_eq!(attributes(&file), expected);
    // Through the links as well.
    let link = mount.path().join("ids").join(&id);
    let value = xattr::get_deref(&link, "user.hip.type").unwrap();
    assert_eq!(value.as_deref(), Some(&b"MRKR"[..]));
}

/// Linux has no `user.` attributes on symbolic links, so one that was listed
/// could not be read, and `rsync -X` would fail.
#[fuse_test]
fn symbolic_links_list_nothing_that_they_do_not_have() {
    let mut hip = Hip::default();
    hip.layer(0).add(Asset::new(b"MRKR", "MARKER_01", b"0123"));
    let mount = mounted(&hip.build(), "");
    let id = format!("ids/{:08X}", asset_id(b"MARKER_01"));
    assert_eq!(attributes(&mount.path().join(id)), table([]));
}

/// Returns the error of a request for an attribute.
fn refused(path: &Path, name: &str) -> io::Error {
    let mut room = [0; 100];
    rustix::fs::getxattr(path, name, &mut room[..])
        .unwrap_err()
        .into()
}

#[fuse_test]
fn missing_attributes_are_refused_with_the_right_error() {
    let mount = mounted(&V1::new(entries()).build().bytes, "");
    let path = mount.path().join("a.tdf");
    for (name, errno) in [
        ("user.none", libc::ENODATA),
        ("user.hip.id", libc::ENODATA),
        ("user.hpi.checksum", libc::ENODATA),
        ("system.posix_acl_access", libc::ENOTSUP),
        ("security.capability", libc::ENOTSUP),
        ("trusted.overlay.opaque", libc::ENOTSUP),
    ] {
        assert_eq!(refused(&path, name).raw_os_error(), Some(errno), "{name}");
    }
    let write = xattr::set(&path, "user.mine", b"1").unwrap_err();
    assert_eq!(write.raw_os_error(), Some(libc::EROFS));
}

#[fuse_test]
fn a_small_buffer_is_an_error_and_an_empty_one_returns_the_size() {
    let mount = mounted(&V1::new(entries()).build().bytes, "");
    let path = mount.path().join("a.tdf");
    let c_path = CString::new(path.as_os_str().as_bytes()).unwrap();
    let get = |room: &mut [u8]| rustix::fs::getxattr(&c_path, "user.hpi.method", room);
    assert_eq!(
        rustix::fs::getxattr_query(&c_path, "user.hpi.method"),
        Ok(4)
    );
    assert_eq!(get(&mut [0; 3]), Err(rustix::io::Errno::RANGE));
    assert_eq!(get(&mut [0; 4]), Ok(4));

    let list = |room: &mut [u8]| rustix::fs::listxattr(&c_path, room);
    let length = rustix::fs::listxattr_query(&c_path).unwrap();
    assert!(length > 100);
    assert_eq!(
        list(&mut vec![0; length - 1]),
        Err(rustix::io::Errno::RANGE)
    );
    assert_eq!(list(&mut vec![0; length]), Ok(length));
}

#[fuse_test]
fn getfattr_shows_all_attributes_without_errors() {
    if !has_programs(&["getfattr"]) {
        return;
    }
    let mount = mounted(&V1::new(entries()).build().bytes, "");
    let shown = output("getfattr", &["-d", "a.tdf"], mount.path());
    assert!(shown.contains("user.hpi.method=\"lz77\"\n"), "{shown}");
    let control = output("getfattr", &["-Rd", ".hpimount"], mount.path());
    assert!(
        control.contains("user.hpimount.raw_name=\"info.json\"\n"),
        "{control}"
    );
}

#[fuse_test]
fn the_preview_of_an_asset_is_a_png_file_that_fits_into_a_value() {
    const PREVIEW: &str = "user.hpimount.preview";
    let picture = |edge: u32| {
        let noise = noise(1, (edge * edge) as usize);
        pcx::Pcx::indexed(edge as u16, edge as u16, noise).file()
    };
    let entries = vec![
        file(b"small.pcx", File::new(picture(16), Method::Zlib)),
        file(b"noise.pcx", File::new(picture(512), Method::Zlib)),
        file(b"a.txt", File::new(text(10), Method::Zlib)),
    ];
    let archive = V1::new(entries).build();
    let mount = mounted(&archive.bytes, "");
    let preview = |name: &str| xattr::get(mount.path().join(name), PREVIEW).unwrap();
    let edge = |png: &[u8]| png::read(png, 1 << 20).unwrap().width;
    assert_eq!(edge(&preview("small.pcx").unwrap()), 16);
    let reduced = preview("noise.pcx").unwrap();
    assert!(reduced.len() <= 64 << 10, "{} bytes", reduced.len());
    assert!([64, 128, 256].contains(&edge(&reduced)));
    assert_eq!(preview("a.txt"), None);
    assert!(!attributes(&mount.path().join("small.pcx")).contains_key(PREVIEW));

    let mount = mounted(&archive.bytes, "meta=off");
    let absent = xattr::get(mount.path().join("small.pcx"), PREVIEW);
    assert_eq!(absent.unwrap(), None);
}
