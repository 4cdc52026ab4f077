//! A mount that can be edited, as the kernel sees it.
//!
//! Names are looked up each time, since what follows from a change has another inode
//! afterwards; so nothing has to be announced to the kernel. Files are opened, so that
//! the bytes of an open file stay, and only those that were written are flushed.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite,
    ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::OFlags;

use super::{
    DOTS, FOREVER, Hook, MAX_NAME, NO_INODE, NOT_AT_ALL, Ownership, answer_xattr, file_type,
    generation, guard, negotiate, panic_hook,
};
use crate::edit::{Attributes, Change, EditedMount, Entry, Result};
use crate::mount::{self, Attr, Ino};

/// The bits of a mode with the type of a file, and the type of a regular file.
const TYPE: u32 = libc::S_IFMT;
const REGULAR: u32 = libc::S_IFREG;

/// The file system that `fuser` calls.
pub(super) struct Edited {
    mount: Arc<EditedMount>,
    ownership: Ownership,
    generation: Generation,
    hook: Hook,
}

impl Edited {
    pub(super) fn new(mount: Arc<EditedMount>, ownership: Ownership) -> Self {
        Self {
            mount,
            ownership,
            generation: generation(),
            hook: panic_hook(),
        }
    }

    fn guard(&self, name: &str, request: &Request, handler: impl FnOnce()) {
        guard(&self.hook, name, request, handler);
    }

    fn attr(&self, attributes: Attributes) -> FileAttr {
        let attr = Attr {
            ino: Ino(attributes.number),
            kind: attributes.kind,
            size: attributes.size,
            mode: attributes.mode,
            modified: 0,
            nlink: attributes.nlink,
            lasting: attributes.is_lasting,
        };
        self.ownership.attr(attr, attributes.modified)
    }

    fn answer_entry(&self, reply: ReplyEntry, found: Result<Attributes>) {
        match found {
            Ok(found) => {
                let attr = self.attr(found);
                reply.entry_with_ttls(&ttl(found), &NOT_AT_ALL, &attr, self.generation);
            }
            Err(error) => reply.error(errno(error)),
        }
    }

    fn answer_attr(&self, reply: ReplyAttr, found: Result<Attributes>) {
        match found {
            Ok(found) => reply.attr(&ttl(found), &self.attr(found)),
            Err(error) => reply.error(errno(error)),
        }
    }
}

/// Returns how long the kernel may rely on attributes.
fn ttl(attributes: Attributes) -> Duration {
    match attributes.is_lasting {
        true => FOREVER,
        false => NOT_AT_ALL,
    }
}

fn errno(error: rustix::io::Errno) -> Errno {
    Errno::from_i32(error.raw_os_error())
}

/// Returns a name as a text; those that are none are in no source.
fn text(name: &OsStr) -> Result<&str> {
    name.to_str().ok_or(rustix::io::Errno::INVAL)
}

fn answer_empty(reply: ReplyEmpty, done: Result<()>) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(errno(error)),
    }
}

fn flags_of(flags: i32) -> OFlags {
    OFlags::from_bits_retain(flags as u32)
}

/// Returns how the kernel treats an open file: it keeps the pages of the inode, and flushes
/// only writers.
fn opened_as(flags: OFlags) -> FopenFlags {
    match flags.intersects(OFlags::WRONLY | OFlags::RDWR) {
        true => FopenFlags::FOPEN_KEEP_CACHE,
        false => FopenFlags::FOPEN_KEEP_CACHE | FopenFlags::FOPEN_NOFLUSH,
    }
}

impl Filesystem for Edited {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let wanted = [
            InitFlags::FUSE_PARALLEL_DIROPS,
            InitFlags::FUSE_DO_READDIRPLUS,
            // Without it, each write asks for an attribute first.
            InitFlags::FUSE_HANDLE_KILLPRIV_V2,
        ];
        negotiate(config, &wanted);
        Ok(())
    }

    fn destroy(&mut self) {
        self.mount.close();
    }

    fn lookup(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.guard("lookup", request, || {
            if name.len() > MAX_NAME as usize {
                return reply.error(Errno::ENAMETOOLONG);
            }
            let found = match name.to_str() {
                Some(name) => self.mount.lookup(parent.0, name),
                None => Err(rustix::io::Errno::NOENT),
            };
            match found {
                // Inode 0: there is no such name, for now.
                Err(rustix::io::Errno::NOENT) => {
                    let attr = self.ownership.attr(NO_INODE, SystemTime::UNIX_EPOCH);
                    reply.entry(&NOT_AT_ALL, &attr, self.generation);
                }
                found => self.answer_entry(reply, found),
            }
        });
    }

    fn forget(&self, request: &Request, inode: INodeNo, nlookup: u64) {
        self.guard("forget", request, || self.mount.forget(inode.0, nlookup));
    }

    fn getattr(&self, request: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.guard("getattr", request, || {
            self.answer_attr(reply, self.mount.getattr(inode.0));
        });
    }

    fn setattr(
        &self,
        request: &Request,
        inode: INodeNo,
        _mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        self.guard("setattr", request, || {
            let Ownership {
                uid: own, gid: of, ..
            } = self.ownership;
            if uid.is_some_and(|uid| uid != own) || gid.is_some_and(|gid| gid != of) {
                return reply.error(Errno::EPERM);
            }
            let modified = mtime.map(|time| match time {
                TimeOrNow::SpecificTime(time) => time,
                TimeOrNow::Now => SystemTime::now(),
            });
            let change = Change { size, modified };
            self.answer_attr(reply, self.mount.setattr(inode.0, change));
        });
    }

    fn readlink(&self, request: &Request, inode: INodeNo, reply: ReplyData) {
        self.guard("readlink", request, || match self.mount.readlink(inode.0) {
            Ok(target) => reply.data(&target),
            Err(error) => reply.error(errno(error)),
        });
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        _rdev: u32,
        reply: ReplyEntry,
    ) {
        self.guard("mknod", request, || {
            if mode & TYPE != REGULAR {
                return reply.error(Errno::EPERM);
            }
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
            let made = text(name).and_then(|name| {
                let (attributes, handle) = self.mount.create(parent.0, name, flags)?;
                let flushed = self.mount.flush(attributes.number, handle);
                self.mount.release(handle);
                flushed.map(|()| attributes)
            });
            self.answer_entry(reply, made);
        });
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        _mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        self.guard("mkdir", request, || {
            let made = text(name).and_then(|name| self.mount.mkdir(parent.0, name));
            self.answer_entry(reply, made);
        });
    }

    fn unlink(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.guard("unlink", request, || {
            let done = text(name).and_then(|name| self.mount.unlink(parent.0, name));
            answer_empty(reply, done);
        });
    }

    fn rmdir(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.guard("rmdir", request, || {
            let done = text(name).and_then(|name| self.mount.rmdir(parent.0, name));
            answer_empty(reply, done);
        });
    }

    fn symlink(&self, _: &Request, _: INodeNo, _: &OsStr, _: &Path, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn link(&self, _: &Request, _: INodeNo, _: INodeNo, _: &OsStr, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn rename(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        self.guard("rename", request, || {
            let flags = rustix::fs::RenameFlags::from_bits_retain(flags.bits());
            let done = text(name).and_then(|name| {
                let new = (newparent.0, text(newname)?);
                self.mount.rename((parent.0, name), new, flags)
            });
            answer_empty(reply, done);
        });
    }

    fn open(&self, request: &Request, inode: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        self.guard("open", request, || {
            let flags = flags_of(flags.0);
            match self.mount.open_file(inode.0, flags) {
                Ok(handle) => reply.opened(FileHandle(handle), opened_as(flags)),
                Err(error) => reply.error(errno(error)),
            }
        });
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        _mode: u32,
        _umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        self.guard("create", request, || {
            let flags = flags_of(flags);
            let created = text(name).and_then(|name| self.mount.create(parent.0, name, flags));
            match created {
                Ok((attributes, handle)) => reply.created(
                    &NOT_AT_ALL,
                    &self.attr(attributes),
                    self.generation,
                    FileHandle(handle),
                    // The first close puts it into DIR, whatever it is opened for.
                    FopenFlags::FOPEN_KEEP_CACHE,
                ),
                Err(error) => reply.error(errno(error)),
            }
        });
    }

    fn read(
        &self,
        request: &Request,
        inode: INodeNo,
        fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.guard("read", request, || {
            match self.mount.read(inode.0, fh.0, offset, size) {
                Ok(bytes) => reply.data(&bytes),
                Err(error) => reply.error(errno(error)),
            }
        });
    }

    fn write(
        &self,
        request: &Request,
        inode: INodeNo,
        _fh: FileHandle,
        offset: u64,
        data: &[u8],
        write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        self.guard("write", request, || {
            let is_late = write_flags.contains(WriteFlags::FUSE_WRITE_CACHE);
            match self.mount.write(inode.0, offset, data, is_late) {
                Ok(()) => reply.written(data.len() as u32),
                Err(error) => reply.error(errno(error)),
            }
        });
    }

    fn flush(
        &self,
        request: &Request,
        inode: INodeNo,
        fh: FileHandle,
        _lock_owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        self.guard("flush", request, || {
            answer_empty(reply, self.mount.flush(inode.0, fh.0));
        });
    }

    fn release(
        &self,
        request: &Request,
        _inode: INodeNo,
        fh: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        self.guard("release", request, || {
            self.mount.release(fh.0);
            reply.ok();
        });
    }

    fn fsync(
        &self,
        request: &Request,
        inode: INodeNo,
        _fh: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        self.guard("fsync", request, || {
            answer_empty(reply, self.mount.fsync(inode.0));
        });
    }

    fn fallocate(
        &self,
        request: &Request,
        inode: INodeNo,
        _fh: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        self.guard("fallocate", request, || {
            let done = self.mount.fallocate(inode.0, offset, length, mode);
            answer_empty(reply, done);
        });
    }

    fn opendir(&self, request: &Request, inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        self.guard("opendir", request, || match self.mount.opendir(inode.0) {
            Ok(handle) => reply.opened(FileHandle(handle), FopenFlags::empty()),
            Err(error) => reply.error(errno(error)),
        });
    }

    fn releasedir(
        &self,
        request: &Request,
        _inode: INodeNo,
        fh: FileHandle,
        _flags: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.guard("releasedir", request, || {
            self.mount.release(fh.0);
            reply.ok();
        });
    }

    fn fsyncdir(
        &self,
        request: &Request,
        inode: INodeNo,
        _fh: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        self.guard("fsyncdir", request, || {
            match self.mount.fsync_directory(inode.0) {
                Ok(()) => reply.ok(),
                Err(error) => reply.error(errno(error)),
            }
        });
    }

    fn readdir(
        &self,
        request: &Request,
        inode: INodeNo,
        fh: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        self.guard("readdir", request, || {
            let mut add = |entry: Entry<'_>| {
                let Attributes { number, kind, .. } = entry.attributes;
                let is_full = reply.add(INodeNo(number), entry.next, file_type(kind), entry.name);
                if !is_full {
                    self.mount.forget(number, 1);
                }
                is_full
            };
            match self.list(inode.0, fh.0, offset, &mut add) {
                Ok(()) => reply.ok(),
                Err(error) => reply.error(errno(error)),
            }
        });
    }

    fn readdirplus(
        &self,
        request: &Request,
        inode: INodeNo,
        fh: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        self.guard("readdirplus", request, || {
            let mut add = |entry: Entry<'_>| {
                let attr = self.attr(entry.attributes);
                let generation = self.generation;
                reply.add(
                    attr.ino,
                    entry.next,
                    entry.name,
                    &NOT_AT_ALL,
                    &attr,
                    generation,
                )
            };
            match self.list(inode.0, fh.0, offset, &mut add) {
                Ok(()) => reply.ok(),
                Err(error) => reply.error(errno(error)),
            }
        });
    }

    fn statfs(&self, request: &Request, _inode: INodeNo, reply: ReplyStatfs) {
        self.guard("statfs", request, || match self.mount.statfs() {
            Ok(stat) => reply.statfs(
                stat.f_blocks,
                stat.f_bfree,
                stat.f_bavail,
                stat.f_files,
                stat.f_ffree,
                stat.f_bsize as u32,
                MAX_NAME,
                stat.f_frsize as u32,
            ),
            Err(error) => reply.error(errno(error)),
        });
    }

    fn setxattr(
        &self,
        _: &Request,
        _: INodeNo,
        _: &OsStr,
        _: &[u8],
        _flags: i32,
        _position: u32,
        reply: ReplyEmpty,
    ) {
        reply.error(Errno::EOPNOTSUPP);
    }

    fn removexattr(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(Errno::EOPNOTSUPP);
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
            match text(name).and_then(|name| self.mount.xattr(inode.0, name)) {
                Ok(value) => answer_xattr(reply, size, Ok(value)),
                Err(error) => reply.error(errno(error)),
            }
        });
    }

    fn listxattr(&self, request: &Request, inode: INodeNo, size: u32, reply: ReplyXattr) {
        self.guard("listxattr", request, || {
            let names = self.mount.xattr_names(inode.0);
            let terminated = names.iter().flat_map(|name| [*name, "\0"]);
            let list = terminated.collect::<String>().into_bytes();
            answer_xattr(reply, size, Ok::<_, mount::Error>(list));
        });
    }
}

impl Edited {
    /// Lists a directory from `offset` on, with `.` and `..` first.
    fn list(
        &self,
        directory: u64,
        handle: u64,
        offset: u64,
        add: &mut dyn FnMut(Entry<'_>) -> bool,
    ) -> Result<()> {
        for (at, name) in (1..).zip([".", ".."]).filter(|(at, _)| *at > offset) {
            let number = match name {
                "." => directory,
                _ => self.mount.parent(directory)?,
            };
            let entry = Entry {
                name,
                attributes: self.mount.getattr(number)?,
                next: at,
            };
            self.mount.looked(number);
            if add(entry) {
                self.mount.forget(number, 1);
                return Ok(());
            }
        }
        let start = offset.saturating_sub(DOTS);
        self.mount.readdir(directory, handle, start, &mut |entry| {
            add(Entry {
                next: entry.next + DOTS,
                ..entry
            })
        })
    }
}
