//! Single compressed files (gzip, bzip2, xz, Zstandard), as containers of one
//! file. See `docs/formats/compressed.md`.

use std::io::Read;
use std::sync::{Arc, OnceLock};

use serde_json::json;

use crate::codec::{Codec, GZIP, Gzip, GzipHeader, Method, PackedFile, XZ, ZSTANDARD};
use crate::format::{Format, Input, Options};
use crate::io::{Error, ReadAt, Result, undamaged};
use crate::tar;
use crate::text::{Charset, Name, has_extension};
use crate::volume::{
    Content, Decoder, Entry, FileId, Mountable, Needs, STREAM_PIECE, Sink, Streams, Volume,
    no_such_file,
};

/// Largest decoded size that is determined by decoding, in bytes: so that a
/// small hostile file does not take hours.
const MAX_MEASURED: u64 = 16 << 30;

/// Largest decoded size that is determined when a file is opened, in bytes. Larger ones
/// are determined when they are needed.
const MEASURED_AT_ONCE: u64 = 16 << 20;

/// The formats of compressed files.
pub(super) const GZIP_FORMAT: Format = format(Kind::Gzip, &["gz", "tgz"], |input| {
    Ok(Kind::of(input)? == Some(Kind::Gzip))
});
pub(super) const BZIP2_FORMAT: Format = format(Kind::Bzip2, &["bz2", "tbz", "tbz2"], |input| {
    Ok(Kind::of(input)? == Some(Kind::Bzip2))
});
pub(super) const XZ_FORMAT: Format = format(Kind::Xz, &["xz", "txz"], |input| {
    Ok(Kind::of(input)? == Some(Kind::Xz))
});
pub(super) const ZSTANDARD_FORMAT: Format = format(Kind::Zstandard, &["zst", "tzst"], |input| {
    Ok(Kind::of(input)? == Some(Kind::Zstandard))
});

const fn format(
    kind: Kind,
    extensions: &'static [&'static str],
    matches: fn(&Input<'_>) -> Result<bool>,
) -> Format {
    Format {
        name: kind.name(),
        extensions,
        matches,
        open,
        ..Format::PLAIN
    }
}

/// The compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gzip,
    Bzip2,
    Xz,
    Zstandard,
}

impl Kind {
    /// Detects the kind of a source.
    fn of(input: &Input<'_>) -> Result<Option<Self>> {
        // The block of bzip2, or its end if there is none.
        const BZIP2: [&[u8]; 2] = [b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"];
        let head = input.bytes(0, 10)?;
        let is_bzip2 =
            matches!(head[..], [b'B', b'Z', b'h', b'1'..=b'9', ..]) && BZIP2.contains(&&head[4..]);
        Ok(match &head[..] {
            head if head.starts_with(&GZIP) => Some(Self::Gzip),
            _ if is_bzip2 => Some(Self::Bzip2),
            head if head.starts_with(XZ) => Some(Self::Xz),
            head if head.starts_with(&ZSTANDARD) => Some(Self::Zstandard),
            // `pzstd` begins with a frame that decoders skip.
            [0x50..=0x5F, 0x2A, 0x4D, 0x18, 4, 0, 0, 0, ..] if input.bytes(12, 4)? == ZSTANDARD => {
                Some(Self::Zstandard)
            }
            _ => None,
        })
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zstandard => "Zstandard",
        }
    }

    fn packing(self, packed: &PackedFile) -> Result<Packing> {
        Ok(Packing::Reader(match self {
            Self::Gzip => return Ok(Packing::Gzip),
            Self::Bzip2 => Method::Bzip2,
            Self::Xz => packed.xz()?,
            Self::Zstandard => packed.zstandard()?,
        }))
    }
}

/// The decoder of a file.
#[derive(Debug, Clone, Copy)]
enum Packing {
    Gzip,
    Reader(Method),
}

/// Decodes the next bytes into a buffer; returns 0 at the end.
type Decode = Box<dyn FnMut(&mut [u8]) -> Result<usize>>;

impl Packing {
    /// Returns a function that decodes the file from its start on, whatever its
    /// declared size is.
    fn decode(self, packed: &PackedFile) -> Result<Decode> {
        Ok(match self {
            Self::Gzip => {
                let (mut bytes, mut codec) = (packed.packed(), Gzip::new(packed.force));
                Box::new(move |out| codec.decode(&mut bytes, out))
            }
            Self::Reader(method) => {
                let mut reader = packed.stream(method, 0)?;
                let start = packed.offset;
                Box::new(move |out| {
                    reader.read(out).map_err(|error| {
                        Error::of_reader(&error, |text| Error::damaged(start, "packed data", text))
                    })
                })
            }
        })
    }
}

/// A compressed file.
struct Compressed {
    /// Its packed bytes; the decoded size there is not used.
    packed: PackedFile,
    packing: Packing,
    options: Options,
    decoded: OnceLock<DecodedSize>,
}

/// The decoded size of a file.
struct DecodedSize {
    size: u64,
    /// The warning that decoding has ended before the end, with the position.
    warning: Option<String>,
}

impl Compressed {
    /// Prepares the decoding of a source whose decoded size is not known yet.
    fn new(source: &Arc<dyn ReadAt>, kind: Kind, options: &Options) -> Result<Self> {
        let packed = PackedFile {
            stored: source.len(),
            source: source.clone(),
            offset: 0,
            size: 0,
            crc: None,
            force: options.force,
        };
        Ok(Self {
            packing: kind.packing(&packed)?,
            packed,
            options: options.clone(),
            decoded: OnceLock::new(),
        })
    }

    /// Takes the decoded size from what xz and Zstandard record.
    fn read_size(&self, kind: Kind) -> Result<()> {
        let recorded = match kind {
            Kind::Gzip | Kind::Bzip2 => Ok(None),
            Kind::Xz => self.packed.xz_size().map(Some),
            Kind::Zstandard => self.packed.zstandard_size(),
        };
        match recorded {
            Ok(Some(size)) => {
                let warning = None;
                self.decoded.get_or_init(|| DecodedSize { size, warning });
            }
            Err(error) if !self.packed.force || error.is_fault() => return Err(error),
            Ok(None) | Err(_) => {}
        }
        Ok(())
    }

    /// Returns the number of bytes that can be decoded; `None` if they are more than
    /// `most`. With `force` this is less than everything if the file is damaged.
    /// `decoded` receives the bytes as in [`Streams::size`].
    fn measure(
        &self,
        most: u64,
        decoded: &mut dyn FnMut(u64, &[u8]),
    ) -> Result<Option<DecodedSize>> {
        let mut decode = self.packing.decode(&self.packed)?;
        let mut piece = vec![0; STREAM_PIECE];
        let (mut start, mut filled) = (0, 0);
        let warning = loop {
            self.options.step()?;
            let size = start + filled as u64;
            match decode(&mut piece[filled..]) {
                Ok(0) => break None,
                Ok(length) => filled += length,
                Err(error) if self.packed.force && !error.is_fault() => {
                    let text = format!("only the first {size} bytes can be decoded: {error}");
                    break Some(text);
                }
                Err(error) => return Err(error),
            }
            if start + filled as u64 > most {
                return Ok(None);
            }
            if filled == STREAM_PIECE {
                decoded(start, &piece);
                start += filled as u64;
                filled = 0;
            }
        };
        if filled > 0 {
            decoded(start, &piece[..filled]);
        }
        let size = start + filled as u64;
        Ok(Some(DecodedSize { size, warning }))
    }

    /// Returns the decoded size; `None` if it has to be determined by decoding more than
    /// `most` bytes. `decoded` receives the bytes as in [`Streams::size`].
    fn size(&self, most: u64, decoded: &mut dyn FnMut(u64, &[u8])) -> Result<Option<u64>> {
        if let Some(known) = self.decoded.get() {
            return Ok(Some(known.size));
        }
        // Readers that ask at the same time may all decode: the one that another waits
        // for could be killed.
        let measured = self.measure(most, decoded)?;
        Ok(measured.map(|measured| self.decoded.get_or_init(|| measured).size))
    }

    /// Returns the first `length` decoded bytes, as far as they exist.
    fn head(&self, length: usize) -> Result<Vec<u8>> {
        let mut decode = self.packing.decode(&self.packed)?;
        let mut head = vec![0; length];
        let mut filled = 0;
        while filled < length {
            match decode(&mut head[filled..])? {
                0 => break,
                decoded => filled += decoded,
            }
        }
        head.truncate(filled);
        Ok(head)
    }
}

fn too_long() -> Error {
    Error::Unsupported(format!("decodes to more than {MAX_MEASURED} bytes"))
}

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    let kind = Kind::of(&input)?.ok_or(Error::UnknownFormat)?;
    let file = Compressed::new(&input.source, kind, &input.options)?;
    file.read_size(kind)?;
    let size = file.size(MEASURED_AT_ONCE, &mut |_, _| ())?;
    let header = match kind {
        Kind::Gzip => GzipHeader::read(&mut file.packed.packed())?.unwrap_or_default(),
        _ => GzipHeader::default(),
    };
    // Some writers record a path.
    let recorded = header.name.rsplit(|byte| b"/\\".contains(byte)).next();
    let outside = name_inside(&input.options.name);
    let name = match recorded {
        Some(name) if !name.is_empty() => Name::in_charset(name, Charset::Windows1252),
        _ => Name::utf_8(&outside),
    };
    let entry = Entry {
        file: FileId(0),
        size,
        modified: header.modified,
        asset: None,
    };
    sink.file(sink.root(), name, entry)?;
    Ok(Box::new(file))
}

/// Returns the name of what is in a compressed file without a recorded name.
fn name_inside(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name);
    let is_tar = ["tgz", "tbz", "tbz2", "txz", "tzst"]
        .iter()
        .any(|extension| has_extension(name.as_bytes(), extension));
    match name.rsplit_once('.') {
        Some((stem, _)) if is_tar => format!("{stem}.tar"),
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => format!("{name}.data"),
    }
}

/// A tar archive in a compressed file.
pub struct PackedTar {
    /// Name of the format of the compressed file.
    pub format: &'static str,
    /// The compressed file; its file number 0 is the archive, a stream.
    pub volume: Box<dyn Volume>,
}

/// Returns the tar archive in a compressed file; `None` if the source is not a
/// compressed file, or something else is in it.
///
/// # Errors
/// Returns an error if the source cannot be read, or is damaged after the
/// beginning of the archive.
pub fn packed_tar(input: &Input<'_>) -> Result<Option<PackedTar>> {
    let Some(kind) = Kind::of(input)? else {
        return Ok(None);
    };
    let begun = Compressed::new(&input.source, kind, &input.options)
        .and_then(|file| Ok((file.head(tar::BLOCK)?, file)));
    let Some((head, file)) = undamaged(begun)? else {
        // Opening it reports the damage.
        return Ok(None);
    };
    if !tar::begins(&head) {
        return Ok(None);
    }
    file.read_size(kind)?;
    Ok(Some(PackedTar {
        format: kind.name(),
        volume: Box::new(file),
    }))
}

impl Streams for Compressed {
    fn decoder(&self, file: FileId) -> Result<Box<dyn Decoder>> {
        let packed = PackedFile {
            size: Streams::size(self, file, &mut |_, _| ())?,
            ..self.packed.clone()
        };
        match self.packing {
            Packing::Gzip => Ok(packed.decoder(Gzip::new(self.packed.force))),
            Packing::Reader(method) => packed.reader(method, 0),
        }
    }

    fn size(&self, _file: FileId, decoded: &mut dyn FnMut(u64, &[u8])) -> Result<u64> {
        Self::size(self, MAX_MEASURED, decoded)?.ok_or_else(too_long)
    }

    fn needs(&self, _file: FileId) -> Needs {
        match self.packing {
            Packing::Gzip => Needs::default(),
            Packing::Reader(method) => Needs {
                memory: method.memory(),
                is_copied: false,
                whole: None,
            },
        }
    }
}

impl Volume for Compressed {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        match file {
            FileId(0) => Ok(Content::Stream(self)),
            _ => Err(no_such_file(file)),
        }
    }

    fn info(&self) -> serde_json::Value {
        let size = self.decoded.get().map(|decoded| decoded.size);
        json!({ "packed": self.packed.stored, "size": size })
    }

    fn warnings(&self) -> &[String] {
        let decoded = self.decoded.get();
        decoded.map_or(&[], |decoded| decoded.warning.as_slice())
    }
}

impl Mountable for Compressed {
    fn memory(&self) -> usize {
        size_of::<Self>()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::format::Options;
    use crate::listing::{open as open_named, read};

    fn gzip(name: Option<&str>, bytes: &[u8]) -> Vec<u8> {
        let mut builder = flate2::GzBuilder::new();
        if let Some(name) = name {
            builder = builder.filename(name).mtime(5);
        }
        let mut encoder = builder.write(Vec::new(), Default::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn bzip2(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), Default::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn the_file_has_the_recorded_name_or_that_of_the_source() {
        let name = |format: &Format, source: &str, bytes: Vec<u8>| {
            let (listing, volume) = open_named(format, source, bytes, None).unwrap();
            let (name, entry) = listing.files().next().unwrap();
            assert_eq!(read(&*volume, entry).unwrap(), b"text");
            name.to_owned()
        };
        let recorded = gzip(Some("dir/readme.txt"), b"text");
        assert_eq!(name(&GZIP_FORMAT, "x.gz", recorded), "readme.txt");
        let names = [
            ("a/map.ufo.gz", "map.ufo"),
            ("mod.tgz", "mod.tar"),
            ("gz", "gz.data"),
            (".gz", ".gz.data"),
        ];
        for (source, inside) in names {
            assert_eq!(name(&GZIP_FORMAT, source, gzip(None, b"text")), inside);
        }
        assert_eq!(name(&BZIP2_FORMAT, "mod.TBZ2", bzip2(b"text")), "mod.tar");
    }

    #[test]
    fn a_file_that_is_cut_off_is_refused_and_read_as_far_as_possible_with_force() {
        let bytes: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut cut = gzip(None, &bytes);
        cut.truncate(cut.len() / 2);
        let source: Arc<dyn ReadAt> = Arc::new(cut);
        for force in [false, true] {
            let options = Options {
                force,
                ..Options::default()
            };
            let mut listing = crate::extract::Listing::default();
            let opened = open(Input::alone(source.clone(), options), &mut listing);
            if !force {
                let error = opened.err().unwrap().to_string();
                assert!(error.contains("packed data at 0x"), "{error}");
                continue;
            }
            let volume = opened.unwrap();
            assert!(volume.warnings()[0].starts_with("only the first"));
            let (_, entry) = listing.files().next().unwrap();
            let read = read(&*volume, entry).unwrap();
            assert!(read.len() > 100_000 && bytes.starts_with(&read));
        }
    }

    #[test]
    fn the_size_of_a_long_file_is_found_when_it_is_needed() {
        // The end of the packed data has many bytes: those that are cut are behind the
        // ones that are measured.
        let bytes = vec![0; MEASURED_AT_ONCE as usize + (1 << 20)];
        for (format, packed) in [
            (&GZIP_FORMAT, gzip(None, &bytes)),
            (&BZIP2_FORMAT, bzip2(&bytes)),
        ] {
            let (listing, volume) = open_named(format, "x", packed.clone(), None).unwrap();
            let (_, entry) = listing.files().next().unwrap();
            assert_eq!((entry.size, &volume.info()["size"]), (None, &json!(null)));
            assert_eq!(read(&*volume, entry).unwrap().len(), bytes.len());
            assert_eq!(volume.info()["size"], bytes.len());
            // Damage that is found only then is an error.
            let cut = packed[..packed.len() - 9].to_vec();
            // All of bzip2 is one block, which is decoded at once.
            let Ok((listing, volume)) = open_named(format, "x", cut, None) else {
                assert_eq!(format.name, BZIP2_FORMAT.name);
                continue;
            };
            let (_, entry) = listing.files().next().unwrap();
            assert!(read(&*volume, entry).is_err());
        }
    }

    #[test]
    fn damage_anywhere_is_never_read_as_data() {
        let text = b"some text that is packed, some text that is packed".repeat(20);
        for (format, packed) in [
            (&GZIP_FORMAT, gzip(Some("a"), &text)),
            (&BZIP2_FORMAT, bzip2(&text)),
        ] {
            for at in 0..packed.len() {
                let mut wrong = packed.clone();
                wrong[at] ^= 0x10;
                let Ok((listing, volume)) = open_named(format, "x", wrong, None) else {
                    continue;
                };
                let (_, entry) = listing.files().next().unwrap();
                assert!(read(&*volume, entry).is_ok_and(|read| read == text), "{at}");
            }
        }
    }
}
