//! Archives of a given shape (number of files, width, depth and size) with
//! meaningless contents.

use std::fs::File as OsFile;
use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hpimount::pack::Threads;
use hpimount_containers::hpi::chunk;
use hpimount_containers::hpi::write::v1;
use hpimount_containers::write::{Directory, File, Node, Source};

use super::generate::{Generator, Kind};

/// Key of the cipher, which the game's archives have too.
const KEY: u8 = 0x7D;

/// The shape of an archive.
#[derive(Args)]
pub(super) struct Shape {
    out: PathBuf,
    /// Number of files
    #[arg(long)]
    files: usize,
    /// Files in a directory
    #[arg(long)]
    width: usize,
    /// Directories above each file
    #[arg(long, default_value_t = 1)]
    depth: usize,
    /// Bytes of a file
    #[arg(long, default_value_t = 0)]
    size: usize,
    /// How files are packed
    #[arg(long, value_enum, default_value_t = Method::Zlib)]
    method: Method,
}

#[derive(Clone, Copy, ValueEnum)]
enum Method {
    Lz77,
    Zlib,
}

impl From<Method> for chunk::Method {
    fn from(method: Method) -> Self {
        match method {
            Method::Lz77 => Self::Lz77,
            Method::Zlib => Self::Zlib,
        }
    }
}

impl Shape {
    /// Writes an archive of this shape.
    pub(super) fn write(&self) -> io::Result<()> {
        let options = v1::Options {
            method: self.method.into(),
            key: KEY,
        };
        let out = io::BufWriter::new(OsFile::create(&self.out)?);
        v1::write(
            &self.tree(),
            options,
            out,
            &mut Threads::start(),
            &mut |_| {},
        )
        .map_err(io::Error::other)
    }

    fn tree(&self) -> Directory {
        // Prose takes a second to generate, and is not needed for empty files.
        let mut generator = (self.size > 0).then(|| Generator::new(super::SEED));
        let mut file = || {
            let bytes = generator
                .as_mut()
                .map(|generator| generator.bytes(Kind::Text, self.size));
            Node::File(File {
                source: Source::Bytes(bytes.unwrap_or_default()),
                modified: 0,
            })
        };
        let directory = |number: usize| {
            let indices = 0..self.width.min(self.files - number * self.width);
            let files = indices.map(|index| (format!("file{index:06}.txt"), file()));
            let innermost = Directory {
                entries: files.collect(),
            };
            let directory = (1..self.depth).fold(innermost, |inner, _| Directory {
                entries: vec![("inner".to_owned(), Node::Directory(inner))],
            });
            (format!("dir{number:05}"), Node::Directory(directory))
        };
        Directory {
            entries: (0..self.files.div_ceil(self.width))
                .map(directory)
                .collect(),
        }
    }
}
