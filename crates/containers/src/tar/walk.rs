//! Walking the headers of a tar archive.

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use super::header::{BLOCK, Header, Kind};
use super::pax::Fields;
use crate::format::Input;
use crate::io::{Compact, Error, ReadAt, Result, Warnings, read_vec};
use crate::paths::{Paths, Span, components};
use crate::text::Charset;
use crate::volume::{Entry, FileId, MAX_ENTRIES, NodeId, Sink};

/// Largest extended header or long name, in bytes.
const MAX_FIELDS: u64 = 1 << 20;

/// The separator of paths.
const SEPARATOR: &[u8] = b"/";

/// The contents of an archive.
pub(super) struct Contents {
    pub(super) members: Vec<Span>,
    /// The files with holes.
    pub(super) sparse: HashSet<FileId>,
    pub(super) warnings: Warnings,
}

/// Reads all headers and declares the files.
///
/// # Errors
/// Returns an error if a header is damaged and `force` is not set, or if there
/// are too many files.
pub(super) fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<Contents> {
    let mut walk = Walk {
        source: &*input.source,
        force: input.options.force,
        charset: input.options.encoding.map_or(Charset::Utf8, Charset::Other),
        paths: Paths::new(sink),
        nodes: HashMap::new(),
        keys: RandomState::new(),
        global: Fields::default(),
        next: Fields::default(),
        found: Contents {
            members: Vec::new(),
            sparse: HashSet::new(),
            warnings: Warnings::default(),
        },
    };
    let mut at = 0;
    while let Some(next) = walk.step(at)? {
        at = next;
    }
    let mut found = walk.found;
    found.members.compact();
    Ok(found)
}

struct Walk<'a> {
    source: &'a dyn ReadAt,
    force: bool,
    /// The character set of names that do not say theirs.
    charset: Charset,
    paths: Paths<'a>,
    /// The files by the keyed hashes of their paths: the targets of hard links.
    nodes: HashMap<u64, NodeId>,
    keys: RandomState,
    /// Fields of all entries that follow, and of the next one.
    global: Fields,
    next: Fields,
    found: Contents,
}

/// An entry: its header, and what comes from elsewhere.
struct Member<'h> {
    header: Header<'h>,
    kind: Kind,
    /// Offset in the source of its data.
    data: u64,
    /// Length of the data in bytes.
    stored: u64,
    fields: Fields,
}

impl Walk<'_> {
    /// Reads the header at `at` and declares its entry. Returns the offset of
    /// the next header; `None` at the end.
    fn step(&mut self, at: u64) -> Result<Option<u64>> {
        let Some(block) = self.block(at)? else {
            return Ok(None);
        };
        let after = at + BLOCK as u64;
        let Some(header) = Header::new(&block, at) else {
            return self.without_header(&block, at);
        };
        let kind = header.kind();
        let stored = match kind {
            Kind::Directory | Kind::SymbolicLink | Kind::Special => self.listed(header)?,
            Kind::HardLink => self.of_hard_link(header, after)?,
            Kind::LongName | Kind::LongLink | Kind::Fields | Kind::GlobalFields => header.size()?,
            _ => {
                let size = self.next.size.or(self.global.size);
                size.map_or_else(|| header.size(), Ok)?
            }
        };
        let mut data = after;
        if kind == Kind::Sparse && header.has_more_holes() {
            data = self.after_holes(after)?;
        }
        let end = data.checked_add(stored);
        let end = end.and_then(|end| end.checked_next_multiple_of(BLOCK as u64));
        let Some(end) = end else {
            return Err(Error::damaged(at, "size", format!("is {stored}")));
        };
        match kind {
            Kind::LongName => self.next.path = Some(self.long_text(data, stored)?),
            Kind::LongLink => self.next.link = Some(self.long_text(data, stored)?),
            Kind::Fields => {
                let bytes = self.fields_at(data, stored)?;
                self.next.read(&bytes, data)?;
            }
            Kind::GlobalFields => {
                let bytes = self.fields_at(data, stored)?;
                self.global.read(&bytes, data)?;
            }
            _ => {
                let fields = self.fields();
                self.entry(&Member {
                    header,
                    kind,
                    data,
                    stored,
                    fields,
                })?;
            }
        }
        Ok(Some(end))
    }

    /// Returns the block at `at`; `None` at the end of the source.
    fn block(&mut self, at: u64) -> Result<Option<[u8; BLOCK]>> {
        let left = self.source.len().saturating_sub(at);
        if left < BLOCK as u64 {
            if at > self.source.len() || left > 0 {
                let text = format!("the archive is cut off at {:#x}", self.source.len());
                self.found.warnings.push(text);
            }
            return Ok(None);
        }
        let bytes = read_vec(self.source, at, BLOCK as u64, "header")?;
        Ok(bytes.first_chunk().copied())
    }

    /// Continues after a block that is not a header: the end, or damage.
    fn without_header(&mut self, block: &[u8; BLOCK], at: u64) -> Result<Option<u64>> {
        let after = at + BLOCK as u64;
        if block.iter().all(|&byte| byte == 0) {
            // Two of them end an archive; one is ignored.
            let next = self.block(after)?;
            let goes_on = next.is_some_and(|next| Header::new(&next, after).is_some());
            return Ok(goes_on.then_some(after));
        }
        let error = Error::damaged(at, "header", "its checksum is wrong");
        if !self.force {
            return Err(error);
        }
        if self.found.warnings.is_empty() {
            self.found.warnings.push(error.to_string());
        }
        Ok(Some(after))
    }

    /// Returns the length of the list of files that GNU adds to directories;
    /// other sizes of what has no data mean nothing.
    fn listed(&self, header: Header<'_>) -> Result<u64> {
        match header.has_list() {
            true => header.size(),
            false => Ok(0),
        }
    }

    /// Returns the length of the data after a hard link. Many programs repeat
    /// the size of the file without its data.
    fn of_hard_link(&mut self, header: Header<'_>, after: u64) -> Result<u64> {
        let size = header.size()?;
        if size == 0 {
            return Ok(0);
        }
        let has_header = match self.block(after)? {
            Some(block) => Header::new(&block, after).is_some() || block == [0; BLOCK],
            None => true,
        };
        Ok(if has_header { 0 } else { size })
    }

    /// Returns the offset after the blocks with a map of holes.
    fn after_holes(&mut self, mut at: u64) -> Result<u64> {
        loop {
            let Some(block) = self.block(at)? else {
                return Err(Error::damaged(at, "map of holes", "is cut off"));
            };
            at += BLOCK as u64;
            if block[504] == 0 {
                return Ok(at);
            }
        }
    }

    fn fields_at(&self, offset: u64, length: u64) -> Result<Vec<u8>> {
        if length > MAX_FIELDS {
            let problem = format!("is {length}; at most {MAX_FIELDS} bytes are supported");
            return Err(Error::damaged(offset, "length of extended header", problem));
        }
        read_vec(self.source, offset, length, "extended header")
    }

    fn long_text(&self, offset: u64, length: u64) -> Result<Vec<u8>> {
        let mut text = self.fields_at(offset, length)?;
        let end = text.iter().position(|&byte| byte == 0);
        text.truncate(end.unwrap_or(text.len()));
        Ok(text)
    }

    /// Returns the fields of the entry that follows.
    fn fields(&mut self) -> Fields {
        let own = std::mem::take(&mut self.next);
        let all = &self.global;
        Fields {
            path: own.path.or_else(|| all.path.clone()),
            link: own.link.or_else(|| all.link.clone()),
            size: own.size.or(all.size),
            modified: own.modified.or(all.modified),
            is_sparse: own.is_sparse,
            sparse_size: own.sparse_size,
        }
    }

    fn entry(&mut self, member: &Member<'_>) -> Result<()> {
        let raw = match &member.fields.path {
            Some(path) => Cow::Borrowed(&path[..]),
            None => member.header.path(),
        };
        // Names of pax are UTF-8, as those of most programs are.
        let charset = match str::from_utf8(&raw) {
            Ok(_) if self.charset == Charset::Utf8 || member.fields.path.is_some() => Charset::Utf8,
            _ => self.charset,
        };
        let path = charset.decode(&raw);
        let path = path.as_bytes();
        let modified = member.fields.modified.or_else(|| member.header.modified());
        let is_directory = member.kind == Kind::Directory || path.ends_with(SEPARATOR);
        match member.kind {
            Kind::Directory | Kind::File if is_directory => {
                self.paths
                    .directory_of(path, SEPARATOR, Charset::Utf8, modified)?;
            }
            Kind::File | Kind::Sparse => self.file(path, member, modified)?,
            Kind::HardLink => self.hard_link(path, &member.link())?,
            Kind::SymbolicLink => {
                let (parent, name) = self.paths.place(path, SEPARATOR, Charset::Utf8)?;
                let sink = self.paths.sink();
                sink.text_link(parent, name, &member.link(), modified)?;
            }
            Kind::Special => self.warn(path, "is a device or a FIFO, which is not shown"),
            _ => {}
        }
        Ok(())
    }

    fn warn(&mut self, path: &[u8], problem: &str) {
        let path = path.escape_ascii();
        self.found.warnings.push(format!("{path} {problem}"));
    }

    fn file(&mut self, path: &[u8], member: &Member<'_>, modified: Option<i64>) -> Result<()> {
        if self.found.members.len() >= MAX_ENTRIES {
            return Err(Error::Unsupported(format!(
                "has more than {MAX_ENTRIES} files"
            )));
        }
        let file = FileId(self.found.members.len() as u32);
        let is_sparse = member.kind == Kind::Sparse || member.fields.is_sparse;
        let mut size = member.stored;
        if is_sparse {
            self.found.sparse.insert(file);
            let of_header = match member.kind {
                Kind::Sparse => Some(member.header.sparse_size()?),
                _ => None,
            };
            size = member.fields.sparse_size.or(of_header).unwrap_or(size);
            self.warn(path, "is a file with holes (sparse), which cannot be read");
        }
        let entry = Entry {
            file,
            size: Some(size),
            modified,
            asset: None,
        };
        let node = self.paths.file(path, SEPARATOR, Charset::Utf8, entry)?;
        if let Some(mode) = member.header.mode() {
            self.paths.sink().permissions(node, mode);
        }
        self.nodes.insert(self.key(path), node);
        self.found.members.push(Span {
            offset: member.data,
            size: member.stored,
        });
        Ok(())
    }

    fn key(&self, path: &[u8]) -> u64 {
        let components: Vec<&[u8]> = components(path, SEPARATOR).collect();
        self.keys.hash_one(components)
    }

    fn hard_link(&mut self, path: &[u8], target: &[u8]) -> Result<()> {
        let target = self.charset.decode(target);
        let Some(&node) = self.nodes.get(&self.key(target.as_bytes())) else {
            let problem = format!("is another name of {target}, which is not in the archive");
            self.warn(path, &problem);
            return Ok(());
        };
        let (parent, name) = self.paths.place(path, SEPARATOR, Charset::Utf8)?;
        self.paths.sink().link(parent, name, node)?;
        self.nodes.insert(self.key(path), node);
        Ok(())
    }
}

impl Member<'_> {
    fn link(&self) -> Cow<'_, [u8]> {
        match &self.fields.link {
            Some(link) => Cow::Borrowed(link),
            None => Cow::Borrowed(self.header.link()),
        }
    }
}
