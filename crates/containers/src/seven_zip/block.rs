//! Solid blocks, and their coders.

use std::sync::OnceLock;

use crc32fast::Hasher;

use super::Problem;
use crate::codec::{self, Restart, Restarts, Solid};
use crate::crypt::SevenZipParameters;
use crate::io::{Error, ReadAt, Result, check_sum};

/// Largest dictionary that is supported, in bytes.
const MAX_DICTIONARY: u32 = 256 << 20;

/// Smallest dictionary that LZMA has, in bytes.
const MIN_DICTIONARY: u32 = 4096;

/// A coder of a block.
#[derive(Debug)]
pub(super) struct Coder {
    /// The id of its method.
    pub(super) method: Vec<u8>,
    /// Number of its first input stream.
    pub(super) first_input: usize,
    pub(super) inputs: usize,
    pub(super) properties: Vec<u8>,
    /// Size of its output in bytes.
    pub(super) size: u64,
}

/// The method of a coder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Copy,
    Deflate,
    /// By a reader of [`codec`].
    Reader(codec::Method),
    Delta {
        distance: usize,
    },
    /// Converts absolute branch targets of programs to relative ones.
    Branches(Processor),
    /// The same for x86, in four streams.
    Bcj2,
    /// Encryption of a packed stream.
    Aes,
}

/// The processor that a program is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Processor {
    X86,
    PowerPc,
    Ia64,
    Arm,
    ArmThumb,
    Sparc,
    Arm64,
    RiscV,
}

impl Coder {
    /// Returns its method.
    ///
    /// # Errors
    /// Returns an error if it is not supported.
    pub(super) fn method(&self) -> std::result::Result<Method, Problem> {
        let branches = |processor| Ok(Method::Branches(processor));
        let unsupported = |name: &str| Err(Problem::Unsupported(format!("is packed by {name}")));
        match self.method[..] {
            [] | [0] => Ok(Method::Copy),
            [3, 1, 1] => {
                let (first, dictionary) = self.properties.split_first().unwrap_or((&0xFF, &[]));
                let dictionary = dictionary.first_chunk().copied().map(u32::from_le_bytes);
                match dictionary {
                    Some(dictionary) if *first < 225 => Ok(Method::Reader(codec::Method::Lzma {
                        properties: *first,
                        dictionary: self.dictionary(dictionary)?,
                    })),
                    _ => unsupported("LZMA with unknown properties"),
                }
            }
            [0x21] => {
                let byte = self.properties.first().copied();
                match byte.and_then(codec::lzma2_dictionary) {
                    Some(dictionary) => Ok(Method::Reader(codec::Method::Lzma2 {
                        dictionary: self.dictionary(dictionary)?,
                    })),
                    None => unsupported("LZMA2 with unknown properties"),
                }
            }
            [4, 1, 8] => Ok(Method::Deflate),
            [3] => {
                let distance = usize::from(self.properties.first().copied().unwrap_or(0)) + 1;
                Ok(Method::Delta { distance })
            }
            [4] | [3, 3, 1, 3] => branches(Processor::X86),
            [5] | [3, 3, 2, 5] => branches(Processor::PowerPc),
            [6] | [3, 3, 4, 1] => branches(Processor::Ia64),
            [7] | [3, 3, 5, 1] => branches(Processor::Arm),
            [8] | [3, 3, 7, 1] => branches(Processor::ArmThumb),
            [9] | [3, 3, 8, 5] => branches(Processor::Sparc),
            [10] => branches(Processor::Arm64),
            [11] => branches(Processor::RiscV),
            [3, 3, 1, 0x1B] => Ok(Method::Bcj2),
            [6, 0xF1, 7, 1] => match self.encryption() {
                Some(_) => Ok(Method::Aes),
                None => unsupported("AES with unknown properties"),
            },
            [3, 4, 1] => {
                let (&order, memory) = self.properties.split_first().unwrap_or((&0, &[]));
                let memory = memory.first_chunk().copied().map(u32::from_le_bytes);
                match memory {
                    Some(memory @ ..=MAX_DICTIONARY) => Ok(Method::Reader(codec::Method::PpmdH {
                        order: order.into(),
                        memory,
                    })),
                    _ => unsupported("PPMd with a model that is too large"),
                }
            }
            [4, 1, 9] => Ok(Method::Reader(codec::Method::Deflate64)),
            [4, 2, 2] => Ok(Method::Reader(codec::Method::Bzip2)),
            [4, 0xF7, 0x11, 1] => Ok(Method::Reader(codec::Method::Zstandard {
                window: codec::ZSTANDARD_WINDOW,
            })),
            ref other => unsupported(&format!("the unknown method {other:02x?}")),
        }
    }

    /// Returns the parameters of its encryption, if they are valid.
    pub(super) fn encryption(&self) -> Option<SevenZipParameters> {
        SevenZipParameters::read(&self.properties)
    }

    /// Returns the dictionary size that is needed, given the declared one.
    fn dictionary(&self, announced: u32) -> std::result::Result<u32, Problem> {
        let size = u32::try_from(self.size).unwrap_or(u32::MAX);
        let needed = announced.min(size).max(MIN_DICTIONARY);
        if needed > MAX_DICTIONARY {
            let text = format!("needs a dictionary of {needed} bytes, more than {MAX_DICTIONARY}");
            return Err(Problem::Unsupported(text));
        }
        Ok(needed)
    }
}

impl Method {
    /// Returns the number of its input streams.
    fn inputs(self) -> usize {
        if self == Self::Bcj2 { 4 } else { 1 }
    }

    /// Returns its memory in bytes, without small buffers.
    fn memory(self) -> usize {
        match self {
            Self::Reader(method) => method.memory(),
            _ => 0,
        }
    }
}

/// The end of a file in a block.
#[derive(Debug)]
struct FileEnd {
    /// Offset in the decoded block after its last byte.
    end: u64,
    /// CRC-32 of its data, if known.
    sum: Option<u32>,
    /// The error of a mismatch, once found.
    mismatch: OnceLock<Error>,
}

/// A solid block: files that are packed together.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) coders: Vec<Coder>,
    /// Bound streams: the input, and the coder that it comes from.
    bound: Vec<(usize, usize)>,
    /// The inputs of the packed streams, in their order.
    packed: Vec<usize>,
    /// Absolute offset and length of the packed streams.
    locations: Vec<(u64, u64)>,
    sum: Option<u32>,
    files: Vec<FileEnd>,
    /// The reason why it cannot be decoded.
    problem: Option<Problem>,
    /// Its restart points, if it is packed by LZMA2 alone.
    restarts: Restarts,
    /// True if wrong checksums are only logged.
    force: bool,
}

impl Block {
    /// Creates a block without positions and files.
    pub(super) fn new(coders: Vec<Coder>, bound: Vec<(usize, usize)>, packed: Vec<usize>) -> Self {
        Self {
            coders,
            bound,
            packed,
            locations: Vec::new(),
            sum: None,
            files: Vec::new(),
            problem: None,
            restarts: Restarts::default(),
            force: false,
        }
    }

    /// Returns its number of packed streams.
    pub(super) fn packed_count(&self) -> usize {
        self.packed.len()
    }

    /// Sets the positions of the packed streams, and determines whether the
    /// block can be decoded.
    pub(super) fn location(&mut self, locations: Vec<(u64, u64)>) {
        self.locations = locations;
        self.problem = self.find_problem();
    }

    fn find_problem(&self) -> Option<Problem> {
        for coder in &self.coders {
            match coder.method() {
                Err(problem) => return Some(problem),
                Ok(method) if method.inputs() != coder.inputs => {
                    let text = format!("has a coder that takes {} streams", coder.inputs);
                    return Some(Problem::Unsupported(text));
                }
                Ok(_) => {}
            }
        }
        None
    }

    /// Returns whether it can be decoded only with a password.
    pub(super) fn is_encrypted(&self) -> bool {
        let mut coders = self.coders.iter();
        coders.any(|coder| coder.method() == Ok(Method::Aes))
    }

    /// Returns why the block cannot be decoded.
    pub(super) fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }

    /// Returns the absolute offset of its first packed stream.
    pub(super) fn offset(&self) -> u64 {
        self.locations.first().map_or(0, |(offset, _)| *offset)
    }

    /// Returns the coder that is not bound, which produces the decoded data.
    pub(super) fn last_coder(&self) -> Option<usize> {
        let is_bound = |coder: &usize| self.bound.iter().any(|(_, output)| output == coder);
        (0..self.coders.len()).find(|coder| !is_bound(coder))
    }

    /// Returns the coder that produces the stream `input`.
    pub(super) fn coder_before(&self, input: usize) -> Option<usize> {
        let bound = self.bound.iter().find(|(bound, _)| *bound == input);
        bound.map(|(_, output)| *output)
    }

    /// Returns the absolute offset and length of the packed stream that is
    /// `input`.
    pub(super) fn packed_at(&self, input: usize) -> Option<(u64, u64)> {
        let number = self.packed.iter().position(|packed| *packed == input)?;
        self.locations.get(number).copied()
    }

    /// Returns the last position not after `position` at which decoding can begin.
    pub(super) fn restart(&self, position: u64, source: &dyn ReadAt) -> Restart {
        let (Some(&(offset, length)), true) = (self.locations.first(), self.is_lzma2()) else {
            return Restart::default();
        };
        match position {
            0 => Restart::default(),
            _ => self.restarts.before(position, source, offset, length),
        }
    }

    fn is_lzma2(&self) -> bool {
        let method = match &self.coders[..] {
            [coder] => coder.method(),
            _ => return false,
        };
        matches!(method, Ok(Method::Reader(codec::Method::Lzma2 { .. })))
    }

    /// Returns the offset of the decoded data in the source, if it is stored
    /// unchanged.
    pub(super) fn stored_at(&self) -> Option<u64> {
        match &self.coders[..] {
            [coder] if coder.method() == Ok(Method::Copy) => {
                let (offset, length) = *self.locations.first()?;
                (length == coder.size).then_some(offset)
            }
            _ => None,
        }
    }

    /// Returns the CRC-32 of all decoded data, if known.
    pub(super) fn sum(&self) -> Option<u32> {
        self.sum
    }

    pub(super) fn set_sum(&mut self, sum: Option<u32>) {
        self.sum = sum;
    }

    /// Sets whether wrong checksums are only logged.
    pub(super) fn force(&mut self, force: bool) {
        self.force = force;
    }

    /// Declares the block as one file.
    pub(super) fn hold_one_file(&mut self) {
        self.hold_files(&[self.size()]);
    }

    /// Declares the files of the block, which are consecutive.
    pub(super) fn hold_files(&mut self, sizes: &[u64]) {
        // The checksum of a block with only one file is also the checksum of
        // the file.
        let sum = self.sum.filter(|_| sizes.len() == 1);
        let mut end = 0;
        let files = sizes.iter().map(|size| {
            end += size;
            FileEnd {
                end,
                sum,
                mismatch: OnceLock::new(),
            }
        });
        self.files = files.collect();
    }

    /// Returns the checksums that the database lists after the checksums of
    /// blocks.
    pub(super) fn unknown_sums(&mut self) -> impl Iterator<Item = &mut Option<u32>> {
        let is_known = self.files.len() == 1 && self.sum.is_some();
        let files = self.files.iter_mut().filter(move |_| !is_known);
        files.map(|file| &mut file.sum)
    }

    pub(super) fn file_count(&self) -> usize {
        self.files.len()
    }

    /// Checks that the data of a file was not found to be damaged.
    ///
    /// # Errors
    /// Returns an error if it was.
    pub(super) fn check_sum(&self, number: usize) -> Result<()> {
        let file = self.files.get(number);
        match file.and_then(|file| file.mismatch.get()) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Returns the memory that it uses, in bytes.
    pub(super) fn memory(&self) -> usize {
        let coders = self.coders.iter().map(|coder| {
            size_of::<Coder>() + coder.method.capacity() + coder.properties.capacity()
        });
        size_of::<Self>()
            + coders.sum::<usize>()
            + self.bound.capacity() * size_of::<(usize, usize)>()
            + self.packed.capacity() * size_of::<usize>()
            + self.locations.capacity() * size_of::<(u64, u64)>()
            + self.files.capacity() * size_of::<FileEnd>()
            + match self.is_lzma2() {
                true => Restarts::max_memory(self.size()),
                false => 0,
            }
    }
}

impl Solid for Block {
    type Hasher = Hasher;

    fn size(&self) -> u64 {
        let last = self.last_coder().and_then(|coder| self.coders.get(coder));
        last.map_or(0, |coder| coder.size)
    }

    fn first_file_from(&self, position: u64) -> usize {
        match position {
            0 => 0,
            _ => self.files.partition_point(|file| file.end < position) + 1,
        }
    }

    fn file(&self, number: usize) -> Option<(u64, u64)> {
        let end = self.files.get(number)?.end;
        let before = number
            .checked_sub(1)
            .and_then(|before| self.files.get(before));
        let start = before.map_or(0, |before| before.end);
        Some((start, end - start))
    }

    fn hasher(&self, _number: usize) -> Hasher {
        Hasher::new()
    }

    fn update(hasher: &mut Hasher, bytes: &[u8]) {
        hasher.update(bytes);
    }

    /// Records a mismatch, or with `force` only logs it.
    fn found_sum(&self, number: usize, hasher: Hasher) {
        let Some(file) = self.files.get(number) else {
            return;
        };
        let found = hasher.finalize();
        let Err(problem) = check_sum("checksum", found, file.sum.unwrap_or(found)) else {
            return;
        };
        let field = format!("file {number} of a block");
        let error = Error::damaged(self.offset(), field, problem);
        match self.force {
            true => log::warn!("{error}; ignored"),
            // Fails only if another pass has found the same.
            false => drop(file.mismatch.set(error)),
        }
    }

    fn damaged(&self, position: u64, problem: &str) -> Error {
        let hint = match self.is_encrypted() {
            true => "; the password may be wrong",
            false => "",
        };
        let problem = format!("after byte {position} of the block: {problem}{hint}");
        Error::damaged(self.offset(), "packed stream", problem)
    }

    fn decoder_memory(&self) -> usize {
        let methods = self.coders.iter().filter_map(|coder| coder.method().ok());
        methods.map(Method::memory).sum()
    }
}
