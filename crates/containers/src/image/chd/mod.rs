//! CHD version 5, MAME's compressed disc images (big-endian): hunks of one
//! size, each packed by one of up to four codecs, stored, or equal to an
//! earlier one. Frames of a CD have 2448 bytes, and the metadata describes the
//! tracks.

mod flac;
mod huffman;
mod map;
mod method;
mod tracks;

use std::sync::Arc;

use crc::{CRC_16_IBM_3740, Crc, Table};

use self::map::{Hunk, Storage};
use self::method::Method;
use super::{BlockImage, CdTrack, ImageFormat, block_error, block_length, starts_with};
use crate::file_type::{FileType, Magic};
use crate::io::{Cursor, Endian, Error, ReadAt, Result, check_sum, read_vec};

/// The format of CHD images.
pub(super) const FORMAT: ImageFormat = ImageFormat {
    name: "CHD",
    extensions: &["chd"],
    types: &[FileType {
        magic: &[Magic::at(0, MAGIC)],
        patterns: &["*.chd"],
        ..FileType::new("application/x-mame-chd", Some("CHD disc image"))
    }],
    matches: |source| starts_with(source, MAGIC),
    open,
};

const MAGIC: &[u8; 8] = b"MComprHD";

/// The supported version, and the length of its header.
const VERSION: u32 = 5;
const HEADER: u64 = 124;

/// Maximum size of an image and of a hunk, in bytes.
const MAX_LENGTH: u64 = 64 << 30;
const MAX_HUNK: u32 = 1 << 20;

/// Maximum number of hunks: 8 GiB in hunks of 4 KiB, as in images of DVDs.
const MAX_HUNKS: u64 = 1 << 21;

/// Number of codecs in the header.
const CODECS: usize = 4;

/// The checksum of hunks and of their map.
const CRC: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&CRC_16_IBM_3740);

struct Chd {
    source: Arc<dyn ReadAt>,
    len: u64,
    hunk_size: u32,
    methods: [Option<Method>; CODECS],
    hunks: Vec<Hunk>,
    tracks: Vec<CdTrack>,
    warnings: Vec<String>,
}

/// The fields of the header that describe the rest of the file.
struct Header {
    len: u64,
    map: u64,
    metadata: u64,
    hunk_size: u32,
    unit_size: u32,
    codecs: [[u8; 4]; CODECS],
}

impl Header {
    fn read(source: &dyn ReadAt) -> Result<Self> {
        let start = read_vec(source, 0, 16, "header")?;
        let mut fields = Cursor::new(&start, 0, Endian::Big);
        fields.take(12, "magic")?;
        let version = fields.u32("version")?;
        if (1..VERSION).contains(&version) {
            return Err(Error::Unsupported(format!(
                "is a CHD of version {version}, which is not supported; \
                 `chdman copy` converts it to version {VERSION}"
            )));
        }
        if version != VERSION {
            let problem = format!("is {version}");
            return Err(Error::damaged(12, "version", problem));
        }
        let bytes = read_vec(source, 0, HEADER, "header")?;
        let mut fields = Cursor::new(&bytes, 0, Endian::Big);
        fields.take(16, "header")?;
        let mut codecs = [[0; 4]; CODECS];
        for codec in &mut codecs {
            codec.copy_from_slice(fields.take(4, "codec")?);
        }
        let header = Self {
            codecs,
            len: fields.u64("logical size")?,
            map: fields.u64("map offset")?,
            metadata: fields.u64("metadata offset")?,
            hunk_size: fields.u32("hunk size")?,
            unit_size: fields.u32("unit size")?,
        };
        fields.take(40, "checksums")?;
        if fields.take(20, "parent")? != [0; 20] {
            return Err(Error::Unsupported(
                "is the difference to another CHD, its parent, which is not supported; \
                 `chdman copy -ip` combines the two"
                    .into(),
            ));
        }
        header.check()?;
        Ok(header)
    }

    fn check(&self) -> Result<()> {
        let Self {
            len,
            hunk_size,
            unit_size,
            ..
        } = *self;
        if !(1..=MAX_HUNK).contains(&hunk_size) {
            return Err(Error::damaged(56, "hunk size", format!("is {hunk_size}")));
        }
        if unit_size == 0 || !hunk_size.is_multiple_of(unit_size) {
            let problem = format!("is {unit_size}, in hunks of {hunk_size} bytes");
            return Err(Error::damaged(60, "unit size", problem));
        }
        if len > MAX_LENGTH || self.hunk_count() > MAX_HUNKS {
            let problem = format!(
                "is {len}, {} hunks of {hunk_size} bytes; at most {MAX_LENGTH} and {MAX_HUNKS} \
                 are supported",
                self.hunk_count()
            );
            return Err(Error::damaged(32, "logical size", problem));
        }
        Ok(())
    }

    fn hunk_count(&self) -> u64 {
        self.len.div_ceil(self.hunk_size.into())
    }

    fn is_compressed(&self) -> bool {
        self.codecs[0] != [0; 4]
    }

    /// Returns the methods of the codecs; `None` for unused ones.
    fn methods(&self) -> Result<[Option<Method>; CODECS]> {
        let mut methods = [None; CODECS];
        for (method, codec) in methods.iter_mut().zip(self.codecs) {
            if codec != [0; 4] {
                *method = Some(Method::of(codec)?);
            }
        }
        Ok(methods)
    }
}

fn open(source: Arc<dyn ReadAt>) -> Result<Box<dyn BlockImage>> {
    let header = Header::read(&*source)?;
    let methods = header.methods()?;
    let hunks = match header.is_compressed() {
        true => map::read_compressed(&*source, &header)?,
        false => map::read_plain(&*source, &header)?,
    };
    let mut warnings = Vec::new();
    // Without tracks the image can still be read.
    let tracks = match tracks::read(&*source, header.metadata) {
        Ok(tracks) => tracks,
        Err(error) if error.is_fault() => return Err(error),
        Err(error) => {
            warnings.push(format!("the metadata is ignored: {error}"));
            Vec::new()
        }
    };
    Ok(Box::new(Chd {
        len: header.len,
        hunk_size: header.hunk_size,
        source,
        methods,
        hunks,
        tracks,
        warnings,
    }))
}

impl BlockImage for Chd {
    fn len(&self) -> u64 {
        self.len
    }

    fn block_size(&self) -> u32 {
        self.hunk_size
    }

    fn decode(&self, block: u64) -> Result<Vec<u8>> {
        let size = self.hunk_size as usize;
        let hunk = self.hunks.get(block as usize).copied();
        let hunk = hunk.ok_or_else(|| block_error(block, HEADER, "is not in the map"))?;
        let stored = |length: u32| {
            let bytes = read_vec(&*self.source, hunk.offset(), length.into(), "hunk");
            bytes.map_err(|error| error.within(format!("block {block}")))
        };
        let mut bytes = match hunk.storage() {
            Storage::Zeros => vec![0; size],
            Storage::Stored => stored(self.hunk_size)?,
            Storage::Packed { codec, length } => {
                let method = self.methods.get(usize::from(codec)).copied().flatten();
                let method = method
                    .ok_or_else(|| block_error(block, hunk.offset(), "has an undeclared codec"))?;
                let packed = stored(length)?;
                method.decode(&packed, size).map_err(|problem| {
                    let problem = format!("{}: {problem}", method.name());
                    block_error(block, hunk.offset(), problem)
                })?
            }
        };
        if let Some(sum) = hunk.checksum() {
            check_sum("CRC-16", CRC.checksum(&bytes), sum)
                .map_err(|problem| block_error(block, hunk.offset(), problem))?;
        }
        bytes.truncate(block_length(self.len, self.hunk_size, block));
        Ok(bytes)
    }

    fn memory(&self) -> usize {
        size_of::<Self>()
            + self.hunks.capacity() * size_of::<Hunk>()
            + self.tracks.capacity() * size_of::<CdTrack>()
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn tracks(&self) -> &[CdTrack] {
        &self.tracks
    }
}

#[cfg(test)]
mod tests;
