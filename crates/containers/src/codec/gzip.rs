//! Gzip (RFC 1952): deflate streams with headers and checksums, one after the
//! other.

use crc32fast::Hasher;

use super::{Codec, Inflate, Packed, Wrapping, compare_sums};
use crate::io::Result;

/// First bytes of a member: the identification, and deflate as the method.
pub(crate) const GZIP: [u8; 3] = [0x1F, 0x8B, 8];

/// Maximum length of the name in a header, in bytes.
const MAX_NAME: usize = 4096;

/// Flags of a header: which fields follow.
mod flag {
    pub(super) const CHECKSUM: u8 = 2;
    pub(super) const EXTRA: u8 = 4;
    pub(super) const NAME: u8 = 8;
    pub(super) const COMMENT: u8 = 16;
    pub(super) const RESERVED: u8 = 0xE0;
}

/// The header of a member.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GzipHeader {
    /// The name of the packed file in Windows-1252; empty if there is none.
    pub(crate) name: Vec<u8>,
    /// The modification time of the packed file in seconds since 1970 UTC.
    pub(crate) modified: Option<i64>,
}

impl GzipHeader {
    /// Reads the header at the current position; `None` if something else is
    /// there, such as padding.
    ///
    /// # Errors
    /// Returns an error if the header is cut off or has unknown fields.
    pub(crate) fn read(packed: &mut Packed) -> Result<Option<Self>> {
        for byte in GZIP {
            if packed.byte()? != Some(byte) {
                return Ok(None);
            }
        }
        let flags = field(packed)?;
        if flags & flag::RESERVED != 0 {
            return Err(packed.problem(format!("gzip header has unknown flags {flags:#04x}")));
        }
        let modified = number(packed)?;
        // The level, and the file system of the writer.
        for _ in 0..2 {
            field(packed)?;
        }
        if flags & flag::EXTRA != 0 {
            let length = u16::from_le_bytes([field(packed)?, field(packed)?]);
            for _ in 0..length {
                field(packed)?;
            }
        }
        let name = match flags & flag::NAME {
            0 => Vec::new(),
            _ => text(packed)?,
        };
        if flags & flag::COMMENT != 0 {
            text(packed)?;
        }
        if flags & flag::CHECKSUM != 0 {
            for _ in 0..2 {
                field(packed)?;
            }
        }
        Ok(Some(Self {
            name,
            modified: (modified != 0).then_some(modified.into()),
        }))
    }
}

fn field(packed: &mut Packed) -> Result<u8> {
    match packed.byte()? {
        Some(byte) => Ok(byte),
        None => Err(packed.problem("gzip header or trailer is cut off")),
    }
}

fn number(packed: &mut Packed) -> Result<u32> {
    let mut bytes = [0; 4];
    for byte in &mut bytes {
        *byte = field(packed)?;
    }
    Ok(u32::from_le_bytes(bytes))
}

/// Reads a text up to its NUL; only its first [`MAX_NAME`] bytes are returned.
fn text(packed: &mut Packed) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    loop {
        match field(packed)? {
            0 => return Ok(text),
            byte if text.len() < MAX_NAME => text.push(byte),
            _ => {}
        }
    }
}

/// The state of decoding the members of a gzip file, one after the other. What
/// follows the last one is ignored, as by gzip.
pub(crate) struct Gzip {
    state: State,
    inflate: Inflate,
    /// The checksum and the length of the data of the member so far.
    sum: Hasher,
    length: u32,
    /// True if a wrong checksum is only logged.
    force: bool,
}

/// The part of the file that comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The first header.
    Start,
    /// The data of a member, and its trailer.
    Data,
    /// Another header, or the end.
    Next,
    End,
}

impl Gzip {
    /// Creates the state at the first header.
    pub(crate) fn new(force: bool) -> Self {
        Self {
            state: State::Start,
            inflate: Inflate::new(Wrapping::None),
            sum: Hasher::new(),
            length: 0,
            force,
        }
    }

    fn begin(&mut self, packed: &mut Packed) -> Result<()> {
        if GzipHeader::read(packed)?.is_some() {
            *self = Self {
                state: State::Data,
                ..Self::new(self.force)
            };
            return Ok(());
        }
        if self.state == State::Start {
            return Err(packed.problem("gzip header is missing"));
        }
        self.state = State::End;
        Ok(())
    }

    /// Compares the trailer of a member with its data.
    fn finish(&mut self, packed: &mut Packed) -> Result<()> {
        let (should_be, length) = (number(packed)?, number(packed)?);
        let sum = self.sum.clone().finalize();
        compare_sums(sum, should_be, self.force, |problem| {
            packed.problem(problem)
        })?;
        if length != self.length {
            let problem = format!("length is {}, should be {length}", self.length);
            return Err(packed.problem(problem));
        }
        self.state = State::Next;
        Ok(())
    }
}

impl Codec for Gzip {
    const RUNS_ON: bool = false;

    fn decode(&mut self, packed: &mut Packed, out: &mut [u8]) -> Result<usize> {
        loop {
            match self.state {
                State::End => return Ok(0),
                State::Start | State::Next => self.begin(packed)?,
                State::Data => match self.inflate.decode(packed, out)? {
                    0 => self.finish(packed)?,
                    length => {
                        self.sum.update(&out[..length]);
                        self.length = self.length.wrapping_add(length as u32);
                        return Ok(length);
                    }
                },
            }
        }
    }

    fn fork(&self, packed: &Packed) -> (Self, u64) {
        let (inflate, offset) = match self.state {
            State::Data => self.inflate.fork(packed),
            State::Start | State::Next | State::End => {
                (Inflate::new(Wrapping::None), packed.position())
            }
        };
        let copy = Self {
            state: self.state,
            inflate,
            sum: self.sum.clone(),
            length: self.length,
            force: self.force,
        };
        (copy, offset)
    }

    fn take_window(&mut self) -> Box<[u8]> {
        self.inflate.take_window()
    }

    fn set_window(&mut self, window: Box<[u8]>) {
        self.inflate.set_window(window);
    }

    fn memory(&self) -> usize {
        self.inflate.memory()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use super::*;
    use crate::codec::PackedFile;
    use crate::volume::Decoder;

    /// Returns bytes that hardly pack.
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 7_u32;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..length).map(next).collect()
    }

    fn member(bytes: &[u8]) -> Vec<u8> {
        let builder = flate2::GzBuilder::new().filename("noise.bin").mtime(77);
        let mut encoder = builder.write(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn file(packed: Vec<u8>, size: usize) -> PackedFile {
        PackedFile {
            stored: packed.len() as u64,
            source: Arc::new(packed),
            offset: 0,
            size: size as u64,
            crc: None,
            force: false,
        }
    }

    fn decoder(packed: Vec<u8>, size: usize) -> Box<dyn Decoder> {
        file(packed, size).decoder(Gzip::new(false))
    }

    #[test]
    fn members_of_any_length_follow_each_other_and_padding_is_ignored() {
        // Around the length of the pieces that are read.
        let lengths = [0, 1, 32_700, 32_740, 32_768, 100_000, 3];
        let parts = lengths.map(noise);
        let whole = parts.concat();
        let mut packed = parts
            .iter()
            .flat_map(|part| member(part))
            .collect::<Vec<_>>();
        packed.extend([0; 512]);
        let mut read = vec![0; whole.len()];
        let mut decoder = decoder(packed, whole.len());
        decoder.read(&mut read[..70_000]).unwrap();
        let mut copy = decoder.fork().unwrap();
        copy.read(&mut read[70_000..]).unwrap();
        assert!(read == whole);
        decoder.read(&mut read[70_000..]).unwrap();
        assert!(read == whole);
    }

    #[test]
    fn a_wrong_trailer_or_a_missing_one_is_damage() {
        let good = member(b"some text");
        for cut in 0..good.len() {
            assert!(
                decoder(good[..cut].to_vec(), 9).read(&mut [0; 9]).is_err(),
                "{cut}"
            );
        }
        for at in good.len() - 8..good.len() {
            let mut wrong = good.clone();
            wrong[at] ^= 1;
            assert!(decoder(wrong, 9).read(&mut [0; 9]).is_err(), "{at}");
        }
    }

    #[test]
    fn a_header_names_the_file_and_its_time() {
        let packed = file(member(b""), 0);
        let header = GzipHeader::read(&mut packed.packed()).unwrap().unwrap();
        assert_eq!(
            (&header.name[..], header.modified),
            (&b"noise.bin"[..], Some(77))
        );
    }
}
