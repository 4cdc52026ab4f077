//! Random sequences of operations on the mount of a valid archive, compared
//! with a model.

use std::collections::HashMap;

use arbitrary::{Arbitrary, Unstructured};
use hpimount::mount::{Attr, Error, FileKind, Ino, Meta, Options, Vfs};
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::text::windows_1252;

use super::mount::{list, mounted};
use fixtures::hpi::{self, Entry, File, V1, V2};
use fixtures::{noise, text};

/// Names for entries; some differ in case only.
const NAMES: [&[u8]; 12] = [
    b"a",
    b"A",
    b"b.txt",
    b"B.TXT",
    b"B.txt",
    b"Maps",
    b"maps",
    b"MAPS",
    b"\xFC",
    b"\xDC",
    b"with space",
    b"z.hpi",
];

/// Maximum number of entries, plus one.
const MAX_PARTS: u8 = 40;

/// Sizes of files.
const SIZES: [usize; 8] = [0, 1, 100, 4096, 9000, 65_535, 65_536, 70_000];

/// Maximum total size of all files in bytes: packing them takes most of the time.
const BYTES: usize = 150_000;

/// The sources to build, and the steps to run.
struct Case {
    version_2: bool,
    key: u8,
    case_sensitive: bool,
    small_cache: bool,
    parts: Vec<Part>,
    steps: Vec<Step>,
}

impl Case {
    /// Returns the case encoded in these bytes, with as many steps as they
    /// contain.
    fn new(data: &[u8]) -> arbitrary::Result<Self> {
        let mut input = Unstructured::new(data);
        let [how, key, parts] = input.arbitrary::<[u8; 3]>()?;
        let mut case = Self {
            version_2: how & 1 != 0,
            key,
            case_sensitive: how & 2 != 0,
            small_cache: how & 4 != 0,
            parts: Vec::new(),
            steps: Vec::new(),
        };
        for _ in 0..parts % MAX_PARTS {
            case.parts.push(input.arbitrary()?);
        }
        while !input.is_empty() {
            case.steps.push(input.arbitrary()?);
        }
        Ok(case)
    }
}

/// An entry. It is omitted if there is another of its name.
#[derive(Debug, Arbitrary)]
struct Part {
    parent: u8,
    name: u8,
    /// Size and content of a file, `None` for a directory.
    file: Option<(u8, u8)>,
}

/// One operation. Inodes are given by position in the list of known inodes.
#[derive(Debug, Arbitrary)]
enum Step {
    Lookup { parent: u8, name: u8, spelling: u16 },
    Getattr { of: u8 },
    Readdir { of: u8, offset: u8, most: u8 },
    ReaddirPlus { of: u8, offset: u8, most: u8 },
    Read { of: u8, offset: u32, size: u32 },
    Readlink { of: u8 },
    Xattrs { of: u8 },
    Parent { of: u8 },
    Forget { of: u8, lookups: u8 },
    Extent,
    Twice { parent: u8, name: u8, spelling: u16 },
}

/// The case encoded in any bytes.
pub fn ops(data: &[u8]) {
    let Ok(case) = Case::new(data) else {
        return;
    };
    let model = Model::new(&case);
    let entries = model.entries(0);
    let bytes = match case.version_2 {
        true => V2::new(entries).build().bytes,
        false => V1::new(entries).keyed(case.key).build().bytes,
    };
    let options = Options {
        case_sensitive: case.case_sensitive,
        cache_size: if case.small_cache { 70_000 } else { 64 << 20 },
        companions: false,
        meta: Meta::Off,
        ..Options::default()
    };
    let vfs = mounted(&[("a.hpi", bytes)], false, options).expect("the archive is valid");
    let mut trial = Trial {
        vfs: &vfs,
        model: &model,
        folds: !case.case_sensitive,
        known: vec![Known {
            ino: Ino::ROOT,
            node: 0,
            parent: 0,
            alias: false,
            lookups: 1,
        }],
        inos: HashMap::from([(0, Ino::ROOT)]),
        aliases: HashMap::new(),
    };
    for step in &case.steps {
        trial.step(step);
    }
}

/// The tree that is mounted.
struct Model {
    nodes: Vec<Node>,
}

struct Node {
    raw: Vec<u8>,
    name: String,
    parent: usize,
    content: What,
}

enum What {
    /// The children, in the order of a listing.
    Directory(Vec<usize>),
    File(Vec<u8>, Method),
}

impl Model {
    fn new(case: &Case) -> Self {
        let root = Node {
            raw: Vec::new(),
            name: String::new(),
            parent: 0,
            content: What::Directory(Vec::new()),
        };
        let mut model = Self { nodes: vec![root] };
        for part in &case.parts {
            model.add(part);
        }
        if case.version_2 {
            model.directories_first();
        }
        model
    }

    fn add(&mut self, part: &Part) {
        let number = self.nodes.len();
        let parent = usize::from(part.parent) % number;
        let raw = NAMES[usize::from(part.name) % NAMES.len()].to_vec();
        let name = windows_1252(&raw).into_owned();
        let siblings = match &self.nodes[parent].content {
            What::Directory(siblings) => siblings,
            What::File(..) => return,
        };
        if siblings
            .iter()
            .any(|&sibling| self.nodes[sibling].name == name)
        {
            return;
        }
        let content = match part.file {
            None => What::Directory(Vec::new()),
            Some((size, pattern)) => {
                let size = SIZES[usize::from(size) % SIZES.len()];
                let sizes = self.nodes.iter().map(|node| node.bytes().len());
                file_content(size.min(BYTES - sizes.sum::<usize>()), pattern)
            }
        };
        self.nodes.push(Node {
            raw,
            name,
            parent,
            content,
        });
        if let What::Directory(siblings) = &mut self.nodes[parent].content {
            siblings.push(number);
        }
    }

    /// Sorts directories before files, because version 2 has separate lists.
    fn directories_first(&mut self) {
        let is_file: Vec<bool> = self.nodes.iter().map(|node| !node.is_directory()).collect();
        for node in &mut self.nodes {
            if let What::Directory(children) = &mut node.content {
                children.sort_by_key(|&child| is_file[child]);
            }
        }
    }

    fn entries(&self, directory: usize) -> Vec<Entry> {
        let children = self.children(directory).iter();
        let entries = children.map(|&child| {
            let node = &self.nodes[child];
            match &node.content {
                What::Directory(_) => hpi::dir(&node.raw, self.entries(child)),
                What::File(bytes, method) => {
                    hpi::file(&node.raw, File::new(bytes.clone(), *method))
                }
            }
        });
        entries.collect()
    }

    fn children(&self, node: usize) -> &[usize] {
        match &self.nodes[node].content {
            What::Directory(children) => children,
            What::File(..) => &[],
        }
    }

    /// Returns the exact name, or else the last name that differs only in case.
    fn find(&self, directory: usize, name: &str, folds: bool) -> Option<usize> {
        let find = |fits: &dyn Fn(&str) -> bool| {
            let children = self.children(directory).iter().rev();
            children
                .copied()
                .find(|&child| fits(&self.nodes[child].name))
        };
        find(&|other| other == name)
            .or_else(|| find(&|other| folds && other.eq_ignore_ascii_case(name)))
    }
}

impl Node {
    fn is_directory(&self) -> bool {
        matches!(self.content, What::Directory(_))
    }

    fn kind(&self) -> FileKind {
        match self.content {
            What::Directory(_) => FileKind::Directory,
            What::File(..) => FileKind::File,
        }
    }

    fn bytes(&self) -> &[u8] {
        match &self.content {
            What::Directory(_) => &[],
            What::File(bytes, _) => bytes,
        }
    }
}

fn file_content(size: usize, pattern: u8) -> What {
    let method = [Method::Stored, Method::Lz77, Method::Zlib][usize::from(pattern) % 3];
    let bytes = match pattern & 0x40 {
        0 => text(size),
        _ => noise(pattern.into(), size),
    };
    What::File(bytes, method)
}

/// An inode that was returned.
struct Known {
    ino: Ino,
    node: usize,
    /// The position in the list of the directory where it was looked up.
    parent: usize,
    /// True if it is an alias, a directory in another spelling, which exists as long as
    /// it has lookups.
    alias: bool,
    lookups: u64,
}

impl Known {
    fn exists(&self) -> bool {
        !self.alias || self.lookups > 0
    }
}

struct Trial<'a> {
    vfs: &'a Vfs,
    model: &'a Model,
    folds: bool,
    known: Vec<Known>,
    /// The inodes of the nodes in their original spelling.
    inos: HashMap<usize, Ino>,
    /// The positions of the live aliases, by directory and spelling.
    aliases: HashMap<(Ino, String), usize>,
}

impl<'a> Trial<'a> {
    fn step(&mut self, step: &Step) {
        match *step {
            Step::Lookup {
                parent,
                name,
                spelling,
            } => drop(self.lookup(self.place(parent), name, spelling)),
            Step::Getattr { of } => self.getattr(self.place(of)),
            Step::Readdir { of, offset, most } => self.readdir(self.place(of), offset, most),
            Step::ReaddirPlus { of, offset, most } => {
                self.readdir_plus(self.place(of), offset, most);
            }
            Step::Read { of, offset, size } => self.read(self.place(of), offset, size),
            Step::Readlink { of } => {
                let known = &self.known[self.place(of)];
                let expected = match (known.exists(), known.alias) {
                    (false, _) => Error::Stale,
                    (true, true) => Error::NotFound,
                    (true, false) => Error::NotALink,
                };
                assert_eq!(self.vfs.readlink(known.ino), Err(expected));
            }
            Step::Xattrs { of } => self.xattrs(self.place(of)),
            Step::Parent { of } => self.parent(self.place(of)),
            Step::Forget { of, lookups } => self.forget(self.place(of), lookups),
            Step::Extent => self.extent(),
            Step::Twice {
                parent,
                name,
                spelling,
            } => self.lookup_twice(self.place(parent), name, spelling),
        }
    }

    fn place(&self, of: u8) -> usize {
        usize::from(of) % self.known.len()
    }

    fn node(&self, place: usize) -> &'a Node {
        &self.model.nodes[self.known[place].node]
    }

    /// Returns the expected error of a directory operation.
    fn no_directory(&self, place: usize) -> Option<Error> {
        match (self.known[place].exists(), self.node(place).kind()) {
            (false, _) => Some(Error::Stale),
            (true, FileKind::Directory) => None,
            (true, _) => Some(Error::NotADirectory),
        }
    }

    /// Looks up a name, and returns the position of the inode.
    fn lookup(&mut self, place: usize, name: u8, spelling: u16) -> Option<usize> {
        let name = windows_1252(NAMES[usize::from(name) % NAMES.len()]);
        let respelled = name.chars().enumerate().map(|(at, letter)| {
            match (spelling >> (at % 16) & 1, letter.is_ascii_lowercase()) {
                (0, _) => letter,
                (_, true) => letter.to_ascii_uppercase(),
                (_, false) => letter.to_ascii_lowercase(),
            }
        });
        let name: String = respelled.collect();
        let parent = self.known[place].ino;
        let found = self.vfs.lookup(parent, &name);
        let missing = self.no_directory(place);
        let node = self.model.find(self.known[place].node, &name, self.folds);
        let (None, Some(node)) = (missing, node) else {
            assert_eq!(found, Err(missing.unwrap_or(Error::NotFound)));
            return None;
        };
        Some(self.check_entry(place, &name, node, found.unwrap()))
    }

    /// Asserts that forgetting one of two lookups changes nothing.
    fn lookup_twice(&mut self, parent: usize, name: u8, spelling: u16) {
        self.lookup(parent, name, spelling);
        if let Some(place) = self.lookup(parent, name, spelling) {
            self.forget(place, 1);
            self.getattr(place);
            self.parent(place);
        }
    }

    /// Asserts that the attributes and the inode of an entry are right, and returns its
    /// position.
    fn check_entry(&mut self, parent: usize, name: &str, node: usize, attr: Attr) -> usize {
        self.check_attr(node, attr);
        let is_directory = self.model.nodes[node].is_directory();
        let respelled = self.known[parent].alias || self.model.nodes[node].name != name;
        if !is_directory || !respelled {
            let first = *self.inos.entry(node).or_insert(attr.ino);
            assert_eq!(first, attr.ino, "two inodes for one file");
            return self.learn(attr.ino, node, parent, false);
        }
        let key = (self.known[parent].ino, name.to_owned());
        match self.aliases.get(&key) {
            Some(&place) => {
                assert_eq!(self.known[place].ino, attr.ino, "another alias");
                self.known[place].lookups += 1;
                place
            }
            None => {
                self.aliases.insert(key, self.known.len());
                self.learn(attr.ino, node, parent, true)
            }
        }
    }

    /// Returns the position of an inode, and adds an unknown one.
    fn learn(&mut self, ino: Ino, node: usize, parent: usize, alias: bool) -> usize {
        let same = self.known.iter().position(|known| known.ino == ino);
        if let Some(place) = same {
            let same = &self.known[place];
            assert_eq!((same.node, same.alias), (node, false), "a number is reused");
            return place;
        }
        self.known.push(Known {
            ino,
            node,
            parent,
            alias,
            lookups: 1,
        });
        self.known.len() - 1
    }

    fn check_attr(&self, node: usize, attr: Attr) {
        let expected = &self.model.nodes[node];
        assert_eq!(attr.kind, expected.kind());
        assert_eq!(attr.size, expected.bytes().len() as u64);
        let children = self.model.children(node).iter();
        let directories = children.filter(|&&child| self.model.nodes[child].is_directory());
        let links = if expected.is_directory() { 2 } else { 1 };
        assert_eq!(attr.nlink as usize, links + directories.count());
        assert!(attr.lasting);
    }

    fn getattr(&self, place: usize) {
        let known = &self.known[place];
        match self.vfs.getattr(known.ino) {
            Ok(attr) => {
                assert!(known.exists());
                assert_eq!(attr.ino, known.ino);
                self.check_attr(known.node, attr);
            }
            Err(error) => assert_eq!((error, known.exists()), (Error::Stale, false)),
        }
    }

    /// Returns the expected listing from an offset on.
    fn rest(&self, place: usize, offset: u8) -> &'a [usize] {
        let children = self.model.children(self.known[place].node);
        children.get(offset.into()..).unwrap_or_default()
    }

    fn readdir(&self, place: usize, offset: u8, most: u8) {
        let most = usize::from(most);
        let found = list(self.vfs, self.known[place].ino, offset.into(), most);
        if let Some(error) = self.no_directory(place) {
            return assert_eq!(found, Err(error));
        }
        let (found, rest) = (found.unwrap(), self.rest(place, offset));
        assert_eq!(found.len(), rest.len().min(most));
        for (entry, &node) in found.iter().zip(rest) {
            let expected = &self.model.nodes[node];
            assert_eq!((&entry.name, entry.kind), (&expected.name, expected.kind()));
            assert!(self.inos.get(&node).is_none_or(|&ino| ino == entry.ino));
        }
    }

    fn readdir_plus(&mut self, place: usize, offset: u8, most: u8) {
        let mut found = Vec::new();
        let ino = self.known[place].ino;
        let listed = self
            .vfs
            .readdir_plus(ino, offset.into(), &mut |name, attr, _| {
                let is_full = found.len() == usize::from(most);
                if !is_full {
                    found.push((name.to_owned(), attr));
                }
                is_full
            });
        if let Some(error) = self.no_directory(place) {
            return assert_eq!(listed, Err(error));
        }
        listed.unwrap();
        let rest = self.rest(place, offset);
        assert_eq!(found.len(), rest.len().min(most.into()));
        for ((name, attr), &node) in found.into_iter().zip(rest) {
            assert_eq!(name, self.model.nodes[node].name);
            self.check_entry(place, &name, node, attr);
        }
    }

    fn read(&self, place: usize, offset: u32, size: u32) {
        let bytes = self.node(place).bytes();
        let offset = offset as usize % (bytes.len() + 3);
        let size = size % 200_000;
        let read = self.vfs.read(self.known[place].ino, offset as u64, size);
        match (self.node(place).kind(), self.known[place].alias) {
            (FileKind::Directory, false) => {
                assert_eq!(read.err(), Some(Error::IsADirectory));
            }
            (FileKind::Directory, true) => assert!(read.is_err()),
            _ => {
                let end = bytes.len().min(offset + size as usize);
                let expected = bytes.get(offset..end).unwrap_or_default();
                assert!(*read.unwrap() == *expected, "wrong bytes");
            }
        }
    }

    fn xattrs(&self, place: usize) {
        let known = &self.known[place];
        let names = self.vfs.xattr_names(known.ino);
        for name in &names {
            assert!(self.vfs.xattr(known.ino, name).is_ok(), "{name}");
        }
        if known.exists() && known.node != 0 {
            let raw = self.vfs.xattr(known.ino, "user.hpimount.raw_name");
            assert_eq!(raw.as_ref(), Ok(&self.node(place).raw));
        }
    }

    fn parent(&self, place: usize) {
        let known = &self.known[place];
        if !self.node(place).is_directory() {
            return;
        }
        let parent = self.vfs.parent(known.ino);
        match (known.exists(), known.alias) {
            (false, _) => assert_eq!(parent, Err(Error::Stale)),
            (true, true) => assert_eq!(parent, Ok(self.known[known.parent].ino)),
            (true, false) => {
                let parent = parent.unwrap();
                let expected = self.node(place).parent;
                assert!(self.inos.get(&expected).is_none_or(|&ino| ino == parent));
            }
        }
    }

    fn forget(&mut self, place: usize, lookups: u8) {
        let known = &mut self.known[place];
        let lookups = u64::from(lookups).min(known.lookups);
        self.vfs.forget(known.ino, lookups);
        if known.alias {
            known.lookups -= lookups;
            if known.lookups == 0 {
                self.aliases.retain(|_, live| *live != place);
            }
        }
    }

    /// Asserts that the totals include the tree and the mount's own files.
    fn extent(&self) {
        let extent = self.vfs.extent();
        let sizes = self
            .model
            .nodes
            .iter()
            .map(|node| node.bytes().len() as u64);
        assert!(extent.bytes >= sizes.sum());
        assert!(extent.inodes >= self.model.nodes.len() as u64);
    }
}
