//! Builds fields of Rock Ridge and zisofs.

use super::disc::Disc;
use super::hpi::zlib;
use super::noise;

/// Bytes of a block of zisofs in [`zisofs`], and its logarithm.
const SHIFT: u8 = 15;
pub const BLOCK: usize = 1 << SHIFT;

/// Returns a field.
pub fn field(signature: &[u8; 2], data: &[u8]) -> Vec<u8> {
    let length = u8::try_from(4 + data.len()).expect("a field is short");
    [&signature[..], &[length, 1], data].concat()
}

/// Returns a number in both byte orders.
pub fn both(number: u32) -> Vec<u8> {
    [number.to_le_bytes(), number.to_be_bytes()].concat()
}

/// Returns the fields of the root: of SUSP and Rock Ridge.
pub fn root() -> Vec<u8> {
    let id = b"RRIP_1991A";
    let extension = [&[id.len() as u8, 0, 0, 1][..], id].concat();
    [field(b"SP", &[0xBE, 0xEF, 0]), field(b"ER", &extension)].concat()
}

/// Returns the field of a name.
pub fn name(name: &str) -> Vec<u8> {
    field(b"NM", &[&[0][..], name.as_bytes()].concat())
}

/// Returns the field of a mode.
pub fn mode(mode: u32) -> Vec<u8> {
    let rest = [1, 0, 0].into_iter().flat_map(both);
    field(
        b"PX",
        &both(mode).into_iter().chain(rest).collect::<Vec<_>>(),
    )
}

/// Returns a file that zisofs has packed, and its field. Blocks of zeros are left
/// out.
pub fn zisofs(bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let size = u32::try_from(bytes.len()).expect("a file is short");
    let mut packed = b"\x37\xE4\x53\x96\xC9\xDB\xD6\x07".to_vec();
    packed.extend(size.to_le_bytes());
    packed.extend([4, SHIFT, 0, 0]);
    let blocks = bytes.chunks(BLOCK).map(|block| match block {
        zeros if zeros.iter().all(|&byte| byte == 0) => Vec::new(),
        block => zlib(block),
    });
    let blocks: Vec<_> = blocks.collect();
    let mut at = packed.len() + 4 * (blocks.len() + 1);
    for length in blocks.iter().map(Vec::len).chain([0]) {
        packed.extend((at as u32).to_le_bytes());
        at += length;
    }
    packed.extend(blocks.concat());
    let data = [&b"pz"[..], &[4, SHIFT], &both(size)].concat();
    (packed, field(b"ZF", &data))
}

/// The file of [`disc`] that zisofs has packed.
pub fn unpacked() -> Vec<u8> {
    let mut bytes = vec![0; 2 * BLOCK];
    bytes.extend(b"line\n".repeat(10_000));
    bytes.extend(noise(3, BLOCK));
    bytes
}

/// Path of a file in lists of ISO 9660, its bytes, and its fields.
type File<'a> = (&'a str, &'a [u8], Vec<Vec<u8>>);

/// Returns a disc with a file of each kind.
pub fn disc() -> Disc {
    disc_with(&unpacked())
}

/// Returns a disc with a file of each kind, one of them packed.
pub fn disc_with(unpacked: &[u8]) -> Disc {
    let mut disc = Disc::default();
    disc.fields("", &root());
    let (packed, packing) = zisofs(unpacked);
    let files: [File<'_>; 6] = [
        (
            "LONG.TXT",
            b"long",
            vec![name("a long name.text"), mode(0o100_755)],
        ),
        ("PACKED.TXT", &packed, vec![name("packed.txt"), packing]),
        (
            "LINK",
            b"",
            vec![name("link"), mode(0o120_777), field(b"SL", b"\0\0\x01d")],
        ),
        ("DEVICE", b"", vec![name("device"), mode(0o020_644)]),
        ("D/INNER.TXT", b"inner", vec![name("inner")]),
        ("PLAIN.TXT", b"plain", Vec::new()),
    ];
    for (path, bytes, fields) in files {
        disc.file(path, bytes).fields(path, &fields.concat());
    }
    disc.fields("D", &name("d"));
    disc
}
