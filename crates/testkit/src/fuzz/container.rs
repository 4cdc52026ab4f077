//! Containers: all operations of volumes.

use std::sync::Arc;

use hpimount_containers::Archive;
use hpimount_containers::io::{Error, ReadAt, Result};
use hpimount_containers::volume::{Content, Entry};
use hpimount_containers::{extract, image};

use super::changed::changed;
use crate::containers::open;
use fixtures::container_seeds as seeds;
use fixtures::disc::Disc;
use fixtures::dreamcast::{self, Gd};
use fixtures::inno::{Inno, Packing, Parts, gog_files, inno_file};
use fixtures::rock_ridge;
use fixtures::udf::{self, Allocation, Map, Udf};

/// Maximum number of bytes of one container that are decoded.
const DECODED: u64 = 1 << 20;

/// Offset of the volume descriptor of a disc.
const DESCRIPTOR: usize = 32 * seeds::SECTOR;

/// An IMG: version 2, and the directory of version 1.
pub fn img(data: &[u8]) {
    let mut bytes = data.to_vec();
    put(&mut bytes, b"VER2");
    examine("x.img", &bytes, None);
    examine("x.dir", data, Some(&seeds::sectors()));
}

/// Seeds for [`img`].
pub fn img_seeds() -> Vec<Vec<u8>> {
    vec![seeds::img(), seeds::img_directory()]
}

/// The directory of a WAD.
pub fn wad(data: &[u8]) {
    examine("x.hed", data, Some(&seeds::sectors()));
}

/// Seeds for [`wad`].
pub fn wad_seeds() -> Vec<Vec<u8>> {
    seeds::wad_directories().into()
}

/// A PKR of either version.
pub fn pkr(data: &[u8]) {
    for magic in [b"PKR2", b"PKR3"] {
        let mut bytes = data.to_vec();
        put(&mut bytes, magic);
        examine("x.pkr", &bytes, None);
    }
}

/// Seeds for [`pkr`].
pub fn pkr_seeds() -> Vec<Vec<u8>> {
    vec![seeds::pkr()]
}

/// A PRE of any form.
pub fn pre(data: &[u8]) {
    examine("x.pre", data, None);
}

/// Seeds for [`pre`].
pub fn pre_seeds() -> Vec<Vec<u8>> {
    vec![seeds::pre_flat(), seeds::pre_packed()]
}

/// A zip archive.
pub fn zip(data: &[u8]) {
    let mut bytes = data.to_vec();
    put(&mut bytes, b"PK\x03\x04");
    examine("x.zip", &bytes, None);
}

/// Seeds for [`zip`].
pub fn zip_seeds() -> Vec<Vec<u8>> {
    vec![seeds::zip()]
}

/// An Xbox disc from its volume descriptor on.
pub fn xdvdfs(data: &[u8]) {
    let mut bytes = vec![0; DESCRIPTOR];
    bytes.extend_from_slice(data);
    put(&mut bytes[DESCRIPTOR..], b"MICROSOFT*XBOX*MEDIA");
    examine("x.iso", &bytes, None);
}

/// Seeds for [`xdvdfs`].
pub fn xdvdfs_seeds() -> Vec<Vec<u8>> {
    vec![seeds::xdvdfs()]
}

/// A 7z archive, with corrected checksums if possible.
pub fn seven_zip(data: &[u8]) {
    let mut bytes = data.to_vec();
    put(&mut bytes, b"7z\xBC\xAF\x27\x1C\0");
    if let Some(index) = bytes.get(12..32) {
        let number = |at: usize| u64::from_le_bytes(index[at..at + 8].try_into().unwrap());
        let start = number(0).saturating_add(32);
        let end = start.saturating_add(number(8));
        let database = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let database = database.and_then(|(start, end)| bytes.get(start..end));
        if let Some(sum) = database.map(crc32fast::hash) {
            bytes[28..32].copy_from_slice(&sum.to_le_bytes());
        }
        let sum = crc32fast::hash(&bytes[12..32]);
        bytes[8..12].copy_from_slice(&sum.to_le_bytes());
    }
    examine("x.7z", &bytes, None);
}

/// Seeds for [`seven_zip`].
pub fn seven_zip_seeds() -> Vec<Vec<u8>> {
    vec![seeds::seven_zip()]
}

/// A program, and an installer of one of `INSTALLERS`: the number of the version, the
/// lengths of the two blocks of the header, the blocks, and the data.
pub fn inno(data: &[u8]) {
    examine("x.exe", data, None);
    let Some((&[version, a, b, c, d], rest)) = data.split_first_chunk() else {
        return;
    };
    let lengths = [[a, b], [c, d]].map(|length| usize::from(u16::from_le_bytes(length)));
    let (first, rest) = rest.split_at(lengths[0].min(rest.len()));
    let (second, rest) = rest.split_at(lengths[1].min(rest.len()));
    let parts = Parts {
        first: first.to_vec(),
        second: second.to_vec(),
        data: rest.to_vec(),
    };
    let installer = installer(usize::from(version) % INSTALLERS.len());
    examine("x.exe", &installer.assemble(&parts), None);
}

/// Versions of installers, with true for UTF-16 strings.
const INSTALLERS: [([u8; 4], bool); 5] = [
    ([5, 5, 7, 0], true),
    ([5, 0, 0, 0], false),
    ([5, 3, 10, 0], false),
    ([6, 4, 0, 1], true),
    ([6, 7, 0, 0], true),
];

fn installer(number: usize) -> Inno {
    let mut files = vec![
        inno_file("{app}\\a.txt", b"text"),
        inno_file("{app}\\A.TXT", b"other"),
    ];
    files.extend(gog_files(
        "d\\b.txt",
        &[b"first", b"second"],
        "check_if_install('en#', '32#', '')",
    ));
    let (version, is_unicode) = INSTALLERS[number];
    Inno {
        version,
        is_unicode,
        is_solid: number.is_multiple_of(2),
        packing: if number < 3 {
            Packing::Zlib
        } else {
            Packing::Lzma2
        },
        directories: vec!["{app}\\empty"],
        ..Inno::new(files)
    }
}

/// Seeds for [`inno`].
pub fn inno_seeds() -> Vec<Vec<u8>> {
    let numbers = 0..INSTALLERS.len();
    let seeds = numbers.map(|number| {
        let (parts, _) = installer(number).parts();
        let mut seed = vec![number as u8];
        for block in [&parts.first, &parts.second] {
            seed.extend((block.len() as u16).to_le_bytes());
        }
        [seed, parts.first, parts.second, parts.data].concat()
    });
    seeds.chain([installer(0).program()]).collect()
}

/// A tar archive, with the checksums of its headers corrected.
pub fn tar(data: &[u8]) {
    let mut bytes = data.to_vec();
    for header in bytes
        .chunks_exact_mut(512)
        .filter(|block| &block[257..262] == b"ustar")
    {
        seeds::sign_tar(header);
    }
    examine("x.tar", &bytes, None);
}

/// Seeds for [`tar`].
pub fn tar_seeds() -> Vec<Vec<u8>> {
    vec![seeds::tar()]
}

/// A compressed file of any kind.
pub fn compressed(data: &[u8]) {
    examine("x.gz", data, None);
}

/// Seeds for [`compressed`].
pub fn compressed_seeds() -> Vec<Vec<u8>> {
    seeds::compressed()
}

/// A GameCube disc, or one in a TGC.
pub fn gcm(data: &[u8]) {
    examine("x.gcm", data, None);
}

/// Seeds for [`gcm`].
pub fn gcm_seeds() -> Vec<Vec<u8>> {
    vec![seeds::gcm(), seeds::tgc(0x10_0000)]
}

/// A plain ISO 9660 disc from its volume descriptor on, and the same bytes as
/// raw sectors and as a cue sheet.
pub fn iso(data: &[u8]) {
    const FRONT: usize = 16 * seeds::SECTOR;
    let plain = [&[0; FRONT][..], data].concat();
    examine("x.iso", &plain, None);
    examine("x.bin", data, None);
    for sheet in ["x.ccd", "x.cue", "x.gdi", "x.mds"] {
        examine(sheet, data, Some(&plain));
    }
    examine("x.gdi", b"1\n1 45000 4 2048 x.bin 0\n", Some(&plain));
}

/// Seeds for [`iso`].
pub fn iso_seeds() -> Vec<Vec<u8>> {
    let mut disc = Disc::default();
    disc.file("A.TXT", b"bytes").file("D/B.BIN", &[7; 3000]);
    disc.form_2_file("D/M.STR", &[1; fixtures::disc::MODE_2]);
    let cue = b"FILE \"x.bin\" BINARY\nTRACK 01 MODE1/2048\nINDEX 01 00:00:00\n\
        TRACK 02 AUDIO\nINDEX 00 00:00:18\nINDEX 01 00:00:19\n";
    let ccd = b"[CloneCD]\n[Entry 0]\nPoint=1\nControl=4\nPLBA=0\n[Entry 1]\nPoint=2\n\
        Control=0\nPLBA=19\n[TRACK 2]\nMODE=0\nINDEX 0=18\nINDEX 1=19\n";
    let gdi = b"2\n1 0 0 2352 x.bin 0\n3 45000 4 2048 x.bin 0\n";
    let mut gd = Disc::default();
    gd.file("A.TXT", b"bytes").file("D/B.BIN", &[7; 3000]);
    vec![
        ccd.to_vec(),
        gdi.to_vec(),
        seeds::mds(),
        dreamcast::area(&gd)[16 * seeds::SECTOR..].to_vec(),
        disc.iso()[16 * seeds::SECTOR..].to_vec(),
        rock_ridge::disc_with(b"packed").iso()[16 * seeds::SECTOR..].to_vec(),
        disc.raw(),
        cue.to_vec(),
    ]
}

/// A UDF disc with corrected tags, and the same bytes unchanged.
pub fn udf(data: &[u8]) {
    examine("x.iso", data, None);
    let mut bytes = data.to_vec();
    udf::sign(&mut bytes);
    examine("x.iso", &bytes, None);
}

/// Seeds for `udf`.
pub fn udf_seeds() -> Vec<Vec<u8>> {
    let maps = [
        Map::Physical,
        Map::Sparable,
        Map::Virtual { is_new: true },
        Map::Virtual { is_new: false },
    ];
    let allocations = [
        (Allocation::Embedded, false),
        (Allocation::Chained, false),
        (Allocation::Chained, true),
    ];
    let discs = maps.into_iter().flat_map(|map| {
        allocations.map(|(allocation, is_rewritten)| {
            let mut disc = Udf::mapped(map);
            disc.allocation = allocation;
            disc.is_rewritten = is_rewritten;
            disc.is_extended = is_rewritten;
            disc.file("A.TXT", b"bytes").file("D/B.BIN", &[7; 5000]);
            disc.hard_link("L.TXT", "A.TXT").deleted("D/GONE");
            disc.symbolic_link("S", &[(3, ""), (5, "x")]);
            disc.image()
        })
    });
    discs.collect()
}

/// A block image of any format.
pub fn image(data: &[u8]) {
    let mut bytes = data.to_vec();
    if bytes.starts_with(b"RVZ\x01") || bytes.starts_with(b"WIA\x01") {
        seeds::sign_rvz(&mut bytes);
    }
    let source: Arc<dyn ReadAt> = Arc::new(bytes);
    let opened = match image::detect(&*source) {
        Ok(Some(format)) => (format.open)(source.clone()),
        Ok(None) => return,
        Err(error) => return located(&error),
    };
    let image = match opened {
        Ok(image) => image,
        Err(error) => return located(&error),
    };
    let size = image.block_size();
    assert!((1..=image::MAX_BLOCK).contains(&size));
    assert!(image.memory() > 0);
    let blocks = image.len().div_ceil(size.into());
    let most = (DECODED / u64::from(size)).clamp(1, 64);
    let ends = (0..blocks.min(most)).chain(blocks.checked_sub(1));
    for block in ends {
        match image.decode(block) {
            Ok(bytes) => {
                let length = image::block_length(image.len(), size, block);
                assert_eq!(bytes.len(), length, "block {block}");
            }
            Err(error) => located(&error),
        }
    }
    if !image.tracks().is_empty() {
        match Archive::new(source) {
            Ok(opened) => everything(&opened),
            Err(error) => located(&error),
        }
    }
}

/// Seeds for `image`.
pub fn image_seeds() -> Vec<Vec<u8>> {
    let mut files = Disc::default();
    files.file("D/A.TXT", b"bytes");
    let gd = Gd::new(&dreamcast::area(&files), dreamcast::RAW);
    [seeds::images(), vec![gd.chd()]].concat()
}

/// Replaces the first bytes as far as they exist.
fn put(bytes: &mut [u8], with: &[u8]) {
    bytes
        .iter_mut()
        .zip(with)
        .for_each(|(byte, new)| *byte = *new);
}

/// Opens a container and reads the files in it.
fn examine(name: &str, bytes: &[u8], beside: Option<&[u8]>) {
    let partner = |_: &str| beside.map(<[u8]>::to_vec);
    for verify in [false, true] {
        match open(name, bytes.to_vec(), &partner, verify) {
            Ok(opened) => everything(&opened),
            Err(error) => located(&error),
        }
    }
    let _ = changed(name, bytes, beside);
}

/// Asserts that an error about the bytes has an offset.
fn located(error: &Error) {
    let has_offset = match error {
        Error::Damaged { .. } | Error::Read { .. } => error.to_string().contains("0x"),
        Error::Unsupported(_) | Error::Encrypted(_) | Error::UnknownFormat => true,
        _ => false,
    };
    assert!(has_offset, "{error}");
}

fn everything(opened: &Archive) {
    let _ = (opened.volume().info(), opened.volume().warnings());
    assert!(opened.volume().memory() > 0);
    let mut left = DECODED;
    for (_, entry) in opened.files() {
        // It is too long to be decoded here.
        let Some(size) = entry.size else { continue };
        let read = match opened.volume().content(entry.file) {
            Ok(Content::Stream(_)) => stream(opened, entry, left),
            Ok(_) if size <= left => extract::copy(&**opened.volume(), entry, &mut std::io::sink()),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = read {
            located(&error);
        }
        left = left.saturating_sub(size.max(64));
        if left == 0 {
            break;
        }
    }
}

/// Decodes up to this many bytes of a file in two parts. A copy of the decoder made
/// between them must return the same.
fn stream(opened: &Archive, entry: Entry, left: u64) -> Result<()> {
    let Content::Stream(streams) = opened.volume().content(entry.file)? else {
        unreachable!("it was a stream before");
    };
    let mut decoder = streams.decoder(entry.file)?;
    assert_eq!(Some(decoder.left()), entry.size);
    let size = decoder.left().min(left) as usize;
    decoder.read(&mut vec![0; size / 3])?;
    let rest = size - size / 3;
    let (mut first, mut second) = (vec![0; rest], vec![0; rest]);
    let Some(mut copy) = decoder.fork() else {
        return decoder.read(&mut first);
    };
    let results = (decoder.read(&mut first), copy.read(&mut second));
    match &results {
        (Ok(()), Ok(())) => assert!(first == second),
        (Err(first), Err(second)) => assert_eq!(first.to_string(), second.to_string()),
        _ => panic!("a copy decodes differently: {results:?}"),
    }
    results.0
}
