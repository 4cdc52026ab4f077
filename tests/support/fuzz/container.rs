//! Containers: everything that a volume can be asked.

use hpimount::io::{Error, Result};
use hpimount::volume::{Content, Entry};

use crate::support::container_seeds as seeds;
use crate::support::containers::{Opened, open};

/// Most bytes of one container that are decoded.
const DECODED: u64 = 1 << 20;

/// Where the volume descriptor of a disc stands.
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

/// Replaces the first bytes as far as there are any.
fn put(bytes: &mut [u8], with: &[u8]) {
    bytes
        .iter_mut()
        .zip(with)
        .for_each(|(byte, new)| *byte = *new);
}

/// Opens a container and reads what is in it.
fn examine(name: &str, bytes: &[u8], beside: Option<&[u8]>) {
    let partner = |_: &str| beside.map(<[u8]>::to_vec);
    for verify in [false, true] {
        match open(name, bytes.to_vec(), &partner, verify) {
            Ok(opened) => everything(&opened),
            Err(error) => located(&error),
        }
    }
}

/// An error about the bytes says where in them.
fn located(error: &Error) {
    let says = match error {
        Error::Damaged { .. } => error.to_string().contains("0x"),
        Error::Unsupported(_) | Error::Encrypted(_) | Error::UnknownFormat => true,
        _ => false,
    };
    assert!(says, "{error}");
}

fn everything(opened: &Opened) {
    let _ = (opened.volume.info(), opened.volume.warnings());
    assert!(opened.volume.memory() > 0);
    let mut left = DECODED;
    for (_, entry) in opened.files() {
        let size = entry.size.unwrap();
        let read = match opened.volume.content(entry.file) {
            Ok(Content::Stream(_)) => stream(opened, entry, left),
            Ok(_) if size <= left => opened.read(entry, &mut |_| {}),
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

/// Decodes at most so many bytes of a file in two parts; a copy made between
/// them gives the same.
fn stream(opened: &Opened, entry: Entry, left: u64) -> Result<()> {
    let Content::Stream(streams) = opened.volume.content(entry.file)? else {
        unreachable!("it was one before");
    };
    let mut decoder = streams.decoder(entry.file)?;
    assert_eq!(Some(decoder.left()), entry.size);
    let size = decoder.left().min(left) as usize;
    decoder.read(&mut vec![0; size / 3])?;
    let mut copy = decoder.fork();
    let rest = size - size / 3;
    let (mut first, mut second) = (vec![0; rest], vec![0; rest]);
    let results = (decoder.read(&mut first), copy.read(&mut second));
    match &results {
        (Ok(()), Ok(())) => assert!(first == second),
        (Err(first), Err(second)) => assert_eq!(first.to_string(), second.to_string()),
        _ => panic!("a copy decodes differently: {results:?}"),
    }
    results.0
}
