use super::*;
use crate::extract::Listing;
use crate::listing::{open as open_named, read};

/// Returns a header of POSIX with its checksum.
fn header(name: &[u8], kind: u8, size: &[u8], link: &[u8]) -> Vec<u8> {
    let mut block = vec![0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name);
    put(100, b"0000755\0");
    put(124, size);
    put(136, b"00000000021\0");
    put(148, b"        ");
    put(156, &[kind]);
    put(157, link);
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// Returns an entry: a header and data.
fn entry(name: &[u8], kind: u8, data: &[u8]) -> Vec<u8> {
    let size = format!("{:011o} ", data.len());
    let mut bytes = header(name, kind, size.as_bytes(), b"");
    bytes.extend_from_slice(data);
    bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
    bytes
}

fn opened(parts: &[Vec<u8>]) -> (Listing, Box<dyn Volume>) {
    open_named(&FORMAT, "x.tar", parts.concat(), None).unwrap()
}

/// Returns the path and the bytes of each file.
fn files(parts: &[Vec<u8>]) -> Vec<(String, Vec<u8>)> {
    let (listing, volume) = opened(parts);
    let files = listing.files();
    files
        .map(|(path, entry)| (path.to_owned(), read(&*volume, entry).unwrap()))
        .collect()
}

fn end() -> Vec<u8> {
    vec![0; 2 * BLOCK]
}

#[test]
fn long_names_of_gnu_and_fields_of_pax_belong_to_the_next_entry() {
    let long = [b"d/".as_slice(), &[b'n'; 150]].concat();
    let parts = [
        entry(b"././@LongLink", b'L', &[&long[..], b"\0"].concat()),
        entry(b"short", b'0', b"one"),
        entry(
            b"pax",
            b'x',
            b"10 size=3\n13 path=d/\xC3\xA9\n13 mtime=9.5\n",
        ),
        // Its own size is wrong.
        [
            header(b"short", b'0', b"00000000000\0", b""),
            [&b"two"[..], &[0; BLOCK - 3]].concat(),
        ]
        .concat(),
        entry(b"plain", b'0', b"three"),
        end(),
    ];
    let found = files(&parts);
    let long = String::from_utf8(long).unwrap();
    let expected = [(&*long, "one"), ("d/é", "two"), ("plain", "three")];
    let expected = expected.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    assert_eq!(found, expected);
    let (listing, _) = opened(&parts);
    let times: Vec<_> = listing.files().map(|(_, entry)| entry.modified).collect();
    assert_eq!(times, [Some(17), Some(9), Some(17)]);
}

#[test]
fn a_hard_link_is_another_name_of_the_same_bytes_with_or_without_data() {
    let link = |size: &[u8]| header(b"other", b'1', size, b"./a");
    let (with, without) = (b"00000000003\0", b"00000000000\0");
    let data = [&b"abc"[..], &[0; BLOCK - 3]].concat();
    let links = [link(without), link(with), [link(with), data].concat()];
    for link in links {
        let parts = [
            entry(b"a", b'0', b"abc"),
            link,
            entry(b"b", b'0', b"b"),
            end(),
        ];
        let names = files(&parts).into_iter();
        let names: Vec<_> = names.map(|(path, bytes)| (path, bytes.len())).collect();
        assert_eq!(
            names,
            [("a", 3), ("other", 3), ("b", 1)].map(|(n, l)| (n.to_owned(), l))
        );
    }
    let (_, volume) = opened(&[link(without), end()]);
    assert!(volume.warnings()[0].contains("not in the archive"));
}

#[test]
fn sizes_may_be_binary_and_negative_ones_are_damage() {
    let mut size = [0; 12];
    size[0] = 0x80;
    size[11] = 3;
    let data = [&b"abc"[..], &[0; BLOCK - 3]].concat();
    let parts = [header(b"a", b'0', &size, b""), data, end()];
    assert_eq!(files(&parts), [("a".to_owned(), b"abc".to_vec())]);
    let first = entry(b"first", b'0', b"");
    for wrong in [[0xFF; 12], [0x80 | 0x3F; 12]] {
        let parts = [first.clone(), header(b"a", b'0', &wrong, b"")].concat();
        let error = open_named(&FORMAT, "x", parts, None).err().unwrap();
        assert!(error.to_string().contains("size at 0x"), "{error}");
    }
}

#[test]
fn a_sparse_file_has_its_size_and_the_reason_why_it_is_not_read() {
    let fields = b"22 GNU.sparse.major=1\n33 GNU.sparse.realsize=123456789\n";
    let fields = [&b"28 GNU.sparse.name=dir/real\n"[..], fields].concat();
    let parts = [entry(b"x", b'x', &fields), entry(b"x", b'0', b"abc"), end()];
    let (listing, volume) = opened(&parts);
    let (path, entry) = listing.files().next().unwrap();
    assert_eq!((path, entry.size), ("dir/real", Some(123_456_789)));
    let error = read(&*volume, entry).unwrap_err().to_string();
    assert!(error.contains("sparse"), "{error}");
}

#[test]
fn an_archive_that_is_cut_off_lists_what_is_there_and_a_cut_file_cannot_be_read() {
    let mut bytes = [entry(b"a", b'0', b"abc"), entry(b"b", b'0', &[7; 600])].concat();
    bytes.truncate(bytes.len() - BLOCK);
    let (listing, volume) = open_named(&FORMAT, "x", bytes, None).unwrap();
    let read: Vec<_> = listing
        .files()
        .map(|(_, entry)| read(&*volume, entry))
        .collect();
    assert_eq!(read[0].as_deref().unwrap(), b"abc");
    assert!(read[1].is_err());
    assert!(volume.warnings()[0].contains("cut off"));
}

#[test]
fn a_damaged_header_is_refused_and_skipped_with_force() {
    let mut bytes = [
        entry(b"a", b'0', b"abc"),
        entry(b"b", b'0', b"b"),
        entry(b"c", b'0', b"c"),
    ];
    bytes[1][0] = b'x';
    let bytes = bytes.concat();
    let error = open_named(&FORMAT, "x", bytes.clone(), None).err().unwrap();
    assert_eq!(error.to_string(), "header at 0x400: its checksum is wrong");
    let mut listing = Listing::default();
    let options = Options {
        force: true,
        ..Options::default()
    };
    let input = Input::alone(Arc::new(bytes), options);
    open(input, &mut listing).unwrap();
    assert_eq!(listing.paths(), ["a", "c"]);
}

#[test]
fn zeros_and_texts_are_not_archives() {
    assert!(!begins(&[0; BLOCK]));
    assert!(!begins(&[b'1'; BLOCK]));
    assert!(!begins(&header(b"a", b'0', b"", b"")[..511]));
    assert!(begins(&header(b"a", b'0', b"", b"")));
}
