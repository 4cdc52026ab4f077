//! The mounted tree as the kernel sees it: this file answers requests, and
//! `session` starts what answers them. Nothing else names `fuser`.
//!
//! The tree never changes, so every feature that avoids requests is enabled:
//! names and attributes never expire, including negative lookups; `open` and
//! `opendir` are answered once, with "not needed"; listings include attributes.
//! A warm walk needs no requests at all.
//!
//! # A read
//!
//! A read resolves its inode once: the prefetch, [`Vfs::read_node`] and the answer share the
//! node. It allocates nothing on the way to a cached block (`tests/memory/hot_paths.rs`), and
//! takes two locks: of the prefetch, and of the shard of the cache that has the block. Where
//! the block is not cached, it takes four before it reads the source: it claims the block,
//! finds its chunk in a cached table, and passes it to other readers when it is decoded. In an
//! archive in an archive, two more find the directory.

#[cfg(edit)]
mod edited;
mod session;

use std::ffi::OsStr;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite,
    ReplyXattr, Request, TimeOrNow, WriteFlags,
};

#[cfg(not(target_os = "linux"))]
pub use self::session::mount_and_serve;
pub use self::session::{OpenDevice, Running, SessionOptions};
#[cfg(edit)]
pub use self::session::{serve, serve_edited};
use crate::mount::{Attr, Bytes, Error, FileKind, Ino, Vfs};
use crate::prefetch::Prefetch;
use crate::requester;

/// Cache lifetime of a lasting answer in the kernel. The tree never changes; 100 years stay clear
/// of overflows in the kernel's arithmetic.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Cache lifetime of an answer that changes.
const NOT_AT_ALL: Duration = Duration::ZERO;

/// The generation of the root directory, fixed by the kernel.
const ROOT_GENERATION: Generation = Generation(0);

/// Preferred size of a read, and of the chunks in the archives.
const BLOCK_SIZE: u32 = 65_536;

/// Unit of `st_blocks`.
const SECTOR: u64 = 512;

/// Requests that the kernel may have under way for read-ahead.
const MAX_BACKGROUND: u16 = 64;

/// Maximum length of a name in bytes, as in other file systems of Linux.
const MAX_NAME: u32 = 255;

/// Offsets of a listing: `.` and `..` come before the entries of the tree.
const DOTS: u64 = 2;

/// Log target of the FUSE library.
pub const LOG_TARGET: &str = "fuser";

/// Ownership and permissions of the files.
#[derive(Debug, Clone, Copy)]
pub struct Ownership {
    /// Owner of everything.
    pub uid: u32,
    /// Group of everything.
    pub gid: u32,
    /// Permission bits to remove.
    pub umask: u16,
}

/// Called with its name at the start of every handler, and with `prefetch`
/// before a block is pushed, for the tests.
type Hook = Option<Arc<dyn Fn(&str) + Send + Sync>>;

/// The file system that `fuser` calls.
struct Mounted {
    vfs: Arc<Vfs>,
    ownership: Ownership,
    prefetch: Option<Arc<Prefetch>>,
    /// Inode numbers are never reused in a mount, but may refer to other inodes
    /// in the next one. The generation tells NFS clients that their handles are
    /// stale.
    generation: Generation,
    /// Cache lifetime of a lasting answer in the kernel.
    lifetime: Duration,
    hook: Hook,
}

impl Mounted {
    fn new(vfs: Arc<Vfs>, ownership: Ownership, options: SessionOptions) -> Self {
        Self {
            vfs,
            ownership,
            prefetch: options.prefetch.then(Arc::default),
            generation: generation(),
            lifetime: options.lifetime.unwrap_or(FOREVER),
            hook: panic_hook(),
        }
    }

    fn guard(&self, name: &str, request: &Request, handler: impl FnOnce()) {
        guard(&self.hook, name, request, handler);
    }

    /// Returns the entry `.` or `..` at `offset` of a listing: name, attributes
    /// and the next offset.
    fn dots(&self, directory: Ino, offset: u64) -> Result<Vec<(&'static str, Attr, u64)>, Error> {
        let mut dots = Vec::new();
        if offset < 1 {
            dots.push((".", self.vfs.getattr(directory)?, 1));
        }
        if offset < DOTS {
            let parent = self.vfs.parent(directory)?;
            dots.push(("..", self.vfs.getattr(parent)?, DOTS));
        }
        Ok(dots)
    }

    /// Returns how long the kernel may rely on the attributes.
    fn ttl(&self, attr: Attr) -> Duration {
        if attr.lasting {
            self.lifetime
        } else {
            NOT_AT_ALL
        }
    }

    fn generation(&self, attr: Attr) -> Generation {
        if attr.ino == Ino::ROOT {
            ROOT_GENERATION
        } else {
            self.generation
        }
    }

    fn attr(&self, attr: Attr) -> FileAttr {
        self.ownership.attr(attr, time(attr.modified))
    }
}

impl Ownership {
    /// Returns the attributes of an inode for the kernel.
    fn attr(self, attr: Attr, modified: SystemTime) -> FileAttr {
        let perm = match attr.kind {
            FileKind::Symlink => attr.mode,
            _ => attr.mode & !self.umask,
        };
        FileAttr {
            ino: number(attr.ino),
            size: attr.size,
            // Of the decoded size: with a smaller number, `cp` and `grep` would
            // treat the file as sparse. The text of a link is in its inode.
            blocks: match attr.kind {
                FileKind::Symlink => 0,
                _ => attr.size.div_ceil(SECTOR),
            },
            atime: modified,
            mtime: modified,
            ctime: modified,
            crtime: modified,
            kind: file_type(attr.kind),
            perm,
            nlink: attr.nlink,
            uid: self.uid,
            gid: self.gid,
            rdev: 0,
            blksize: BLOCK_SIZE,
            flags: 0,
        }
    }
}

/// Runs a handler. A panic in it must not end the thread that answers the kernel; the
/// reply, dropped on the way, has answered EIO.
fn guard(hook: &Hook, name: &str, request: &Request, handler: impl FnOnce()) {
    let guarded = AssertUnwindSafe(|| {
        if let Some(hook) = hook {
            hook(name);
        }
        handler();
    });
    requester::serve(request.pid(), || {
        if catch_unwind(guarded).is_err() {
            log::error!("{name}: internal error, answered with EIO");
        }
    });
}

/// Returns the generation of a mount that begins now.
fn generation() -> Generation {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    // The kernel keeps 32 bits: milliseconds of seven weeks.
    Generation(since.map_or(0, |since| since.as_millis() as u64))
}

/// Returns a handler named in this variable panics: that is how the tests see
/// that the mount survives it. Not in released programs.
fn panic_hook() -> Hook {
    if !cfg!(debug_assertions) {
        return None;
    }
    let victim = std::env::var("HPIMOUNT_TEST_PANIC").ok()?;
    Some(Arc::new(move |name| assert_ne!(name, victim)))
}

/// Defines the requests that change something. The kernel sends them if the
/// mount was remounted read-write; they are answered with EROFS.
macro_rules! refused {
    ($($request:ident($($argument:ty),*) -> $reply:ty;)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "they are those of the trait")]
        fn $request(&self, _: &Request, $(_: $argument,)* reply: $reply) {
            reply.error(Errno::EROFS);
        }
    )*};
}

impl Filesystem for Mounted {
    refused! {
        setattr(
            INodeNo, Option<u32>, Option<u32>, Option<u32>, Option<u64>, Option<TimeOrNow>,
            Option<TimeOrNow>, Option<SystemTime>, Option<FileHandle>, Option<SystemTime>,
            Option<SystemTime>, Option<SystemTime>, Option<BsdFileFlags>
        ) -> ReplyAttr;
        mknod(INodeNo, &OsStr, u32, u32, u32) -> ReplyEntry;
        mkdir(INodeNo, &OsStr, u32, u32) -> ReplyEntry;
        unlink(INodeNo, &OsStr) -> ReplyEmpty;
        rmdir(INodeNo, &OsStr) -> ReplyEmpty;
        symlink(INodeNo, &OsStr, &Path) -> ReplyEntry;
        rename(INodeNo, &OsStr, INodeNo, &OsStr, RenameFlags) -> ReplyEmpty;
        link(INodeNo, INodeNo, &OsStr) -> ReplyEntry;
        write(
            INodeNo, FileHandle, u64, &[u8], WriteFlags, OpenFlags, Option<LockOwner>
        ) -> ReplyWrite;
        create(INodeNo, &OsStr, u32, u32, i32) -> ReplyCreate;
        setxattr(INodeNo, &OsStr, &[u8], i32, u32) -> ReplyEmpty;
        removexattr(INodeNo, &OsStr) -> ReplyEmpty;
        fallocate(INodeNo, FileHandle, u64, u64, i32) -> ReplyEmpty;
    }

    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let wanted = [
            InitFlags::FUSE_PARALLEL_DIROPS,
            InitFlags::FUSE_DO_READDIRPLUS,
            InitFlags::FUSE_CACHE_SYMLINKS,
            InitFlags::FUSE_NO_OPEN_SUPPORT,
            InitFlags::FUSE_NO_OPENDIR_SUPPORT,
            InitFlags::FUSE_EXPORT_SUPPORT,
        ];
        negotiate(config, &wanted);
        Ok(())
    }

    fn lookup(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.guard("lookup", request, || {
            if name.len() > MAX_NAME as usize {
                return reply.error(Errno::ENAMETOOLONG);
            }
            let found = match name.to_str() {
                // NFS exports request these two for inodes whose number is all that
                // they know.
                Some(".") => self.vfs.lookup_again(ino(parent)),
                Some("..") => self.vfs.lookup_parent(ino(parent)),
                Some(name) => self.vfs.lookup(ino(parent), name),
                None => Err(Error::NotFound),
            };
            match found {
                Ok(attr) => {
                    reply.entry(&self.ttl(attr), &self.attr(attr), self.generation(attr));
                    self.vfs.trim_numbers();
                    let is_file = attr.kind == FileKind::File;
                    if let Some(prefetch) = self.prefetch.as_ref().filter(|_| is_file) {
                        prefetch.note_taken(&self.vfs, attr.ino);
                    }
                }
                // Inode 0 makes a negative dentry.
                Err(Error::NotFound) => {
                    reply.entry(&self.lifetime, &self.attr(NO_INODE), self.generation);
                }
                Err(error) => reply.error(errno(error)),
            }
        });
    }

    fn forget(&self, request: &Request, inode: INodeNo, nlookup: u64) {
        self.guard("forget", request, || self.vfs.forget(ino(inode), nlookup));
    }

    fn getattr(
        &self,
        request: &Request,
        inode: INodeNo,
        _fh: Option<FileHandle>,
        reply: ReplyAttr,
    ) {
        self.guard("getattr", request, || {
            if let Some(prefetch) = &self.prefetch {
                prefetch.note_taken(&self.vfs, ino(inode));
            }
            match self.vfs.getattr(ino(inode)) {
                Ok(attr) => reply.attr(&self.ttl(attr), &self.attr(attr)),
                Err(error) => reply.error(errno(error)),
            }
        });
    }

    fn readlink(&self, request: &Request, inode: INodeNo, reply: ReplyData) {
        self.guard("readlink", request, || {
            match self.vfs.readlink(ino(inode)) {
                Ok(target) => reply.data(&target),
                Err(error) => reply.error(errno(error)),
            }
        });
    }

    fn open(&self, _request: &Request, _inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        // The kernel never asks again, and keeps pages from open to open.
        reply.error(Errno::ENOSYS);
    }

    fn read(
        &self,
        request: &Request,
        inode: INodeNo,
        _fh: FileHandle,
        offset: u64,
        size: u32,
        flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.guard("read", request, || {
            let ino = ino(inode);
            let node = match self.vfs.node(ino) {
                Ok(node) => node,
                Err(Error::NotFound) => {
                    return answer_read(reply, self.vfs.read_snapshot(ino, offset, size));
                }
                Err(error) => return reply.error(errno(error)),
            };
            // Reads that bypass the page cache do not profit from a push.
            let prefetch = self.prefetch.as_ref().filter(|_| !is_direct(flags));
            let noted = prefetch.map(|prefetch| prefetch.note(&node, offset, size));
            let access = noted.as_ref().map(|noted| noted.access);
            let read = self
                .vfs
                .read_node(&node, offset, size, access.unwrap_or_default());
            let is_read = read.is_ok();
            answer_read(reply, read);
            if let Some(noted) = noted.filter(|_| is_read) {
                noted.answered();
            }
            if let Some(prefetch) = prefetch.filter(|_| offset == 0) {
                prefetch.note_opened(&self.vfs, &node);
            }
        });
    }

    fn opendir(&self, _request: &Request, _inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        reply.error(Errno::ENOSYS);
    }

    fn readdir(
        &self,
        request: &Request,
        inode: INodeNo,
        _fh: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        self.guard("readdir", request, || {
            let directory = ino(inode);
            let dots = match self.dots(directory, offset) {
                Ok(dots) => dots,
                Err(error) => return reply.error(errno(error)),
            };
            for (name, attr, next) in dots {
                if reply.add(number(attr.ino), next, FileType::Directory, name) {
                    return reply.ok();
                }
            }
            let start = offset.saturating_sub(DOTS);
            let listed = self
                .vfs
                .readdir(directory, start, &mut |name, child, kind, next| {
                    reply.add(number(child), next + DOTS, file_type(kind), name)
                });
            match listed {
                Ok(()) => reply.ok(),
                Err(error) => reply.error(errno(error)),
            }
        });
    }

    fn readdirplus(
        &self,
        request: &Request,
        inode: INodeNo,
        _fh: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        self.guard("readdirplus", request, || {
            let directory = ino(inode);
            let mut is_end = offset > 0;
            let mut add = |name: &str, attr: Attr, next: u64| {
                is_end = false;
                let (ttl, generation) = (self.ttl(attr), self.generation(attr));
                let attr = self.attr(attr);
                reply.add(attr.ino, next, name, &ttl, &attr, generation)
            };
            let dots = match self.dots(directory, offset) {
                Ok(dots) => dots,
                Err(error) => return reply.error(errno(error)),
            };
            for (name, attr, next) in dots {
                if add(name, attr, next) {
                    return reply.ok();
                }
            }
            let start = offset.saturating_sub(DOTS);
            let listed = self
                .vfs
                .readdir_plus(directory, start, &mut |name, attr, next| {
                    add(name, attr, next + DOTS)
                });
            match listed {
                Ok(()) => reply.ok(),
                Err(error) => return reply.error(errno(error)),
            }
            self.vfs.trim_numbers();
            // The kernel has processed the entries of the replies before.
            if let Some(prefetch) = self.prefetch.as_ref().filter(|_| is_end) {
                prefetch.note_listed(directory);
            }
        });
    }

    fn statfs(&self, request: &Request, _inode: INodeNo, reply: ReplyStatfs) {
        self.guard("statfs", request, || {
            let extent = self.vfs.extent();
            let blocks = extent.bytes.div_ceil(BLOCK_SIZE.into());
            reply.statfs(
                blocks,
                0,
                0,
                extent.inodes,
                0,
                BLOCK_SIZE,
                MAX_NAME,
                BLOCK_SIZE,
            );
        });
    }

    fn getxattr(
        &self,
        request: &Request,
        inode: INodeNo,
        name: &OsStr,
        size: u32,
        reply: ReplyXattr,
    ) {
        self.guard("getxattr", request, || {
            let value = match name.to_str() {
                Some(name) => self.vfs.xattr(ino(inode), name),
                None => Err(Error::NoAttribute),
            };
            answer_xattr(reply, size, value);
        });
    }

    fn listxattr(&self, request: &Request, inode: INodeNo, size: u32, reply: ReplyXattr) {
        self.guard("listxattr", request, || {
            let names = self.vfs.xattr_names(ino(inode));
            let terminated = names.iter().flat_map(|name| [*name, "\0"]);
            let list = terminated.collect::<String>().into_bytes();
            answer_xattr(reply, size, Ok(list));
        });
    }
}

/// Requests capabilities of the kernel that a mount can do without.
fn negotiate(config: &mut KernelConfig, wanted: &[InitFlags]) {
    for &capability in wanted {
        if config.add_capabilities(capability).is_err() {
            log::debug!("the kernel does not offer {capability:?}");
        }
    }
    // Refused only if it is 0.
    let _ = config.set_max_background(MAX_BACKGROUND);
}

/// Returns whether a file was opened to be read without the page cache.
#[cfg(not(target_os = "macos"))]
fn is_direct(flags: OpenFlags) -> bool {
    flags.0 & libc::O_DIRECT != 0
}

/// Returns false: the system has no such flag.
#[cfg(target_os = "macos")]
fn is_direct(_flags: OpenFlags) -> bool {
    false
}

fn answer_read(reply: ReplyData, read: Result<Bytes, Error>) {
    match read {
        Ok(bytes) => reply.data(&bytes),
        Err(error) => reply.error(errno(error)),
    }
}

/// Answers `getxattr` and `listxattr`: a size of 0 requests the size only.
fn answer_xattr(reply: ReplyXattr, size: u32, value: Result<Vec<u8>, Error>) {
    match value {
        Ok(value) if size == 0 => reply.size(value.len() as u32),
        Ok(value) if value.len() <= size as usize => reply.data(&value),
        Ok(_) => reply.error(Errno::ERANGE),
        Err(error) => reply.error(errno(error)),
    }
}

/// The answer for a name that does not exist.
const NO_INODE: Attr = Attr {
    ino: Ino(0),
    kind: FileKind::File,
    size: 0,
    mode: 0,
    modified: 0,
    nlink: 0,
    lasting: true,
};

fn errno(error: Error) -> Errno {
    Errno::from_i32(crate::errno::errno(error))
}

fn number(ino: Ino) -> INodeNo {
    INodeNo(ino.0)
}

fn ino(number: INodeNo) -> Ino {
    Ino(number.0)
}

fn file_type(kind: FileKind) -> FileType {
    match kind {
        FileKind::Directory => FileType::Directory,
        FileKind::File => FileType::RegularFile,
        FileKind::Symlink => FileType::Symlink,
    }
}

fn time(seconds: i64) -> SystemTime {
    let distance = Duration::from_secs(seconds.unsigned_abs());
    let time = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    };
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}
