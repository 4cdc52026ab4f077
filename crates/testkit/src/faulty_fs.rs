//! A FUSE file system served by the test with faults on demand, like a failing
//! disk or network below an archive.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

pub use fuser::Errno;
use fuser::{
    BackgroundSession, Config, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEntry,
    ReplyOpen, Request, Session, SessionACL,
};
use rustix::mount::UnmountFlags;

/// The subdirectory, which has the same files as the root.
pub const SUB: &str = "sub";

const SUB_INO: u64 = 2;

/// Inode numbers of the first files in the root and in the subdirectory.
const FILES: [u64; 2] = [100, 200];

/// Time limit for hanging reads, because a failed test would otherwise wait for them
/// forever.
const MAX_HANG: Duration = Duration::from_secs(60);

/// The behavior of the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Fine,
    /// Everything fails.
    Fails(Errno),
    /// Reads return a part of the requested bytes.
    Short,
    /// Every other read is interrupted.
    Interrupted,
    /// Reads take that long.
    Slow(Duration),
    /// Reads are not answered before the mode changes.
    Hangs,
    /// The same, after this number of reads.
    HangsAfter(u64),
    /// The request with this number, counted from 0 from now on, fails.
    FailsOnce(u64),
}

impl Mode {
    /// Returns whether reads may not be answered.
    fn hangs(self) -> bool {
        matches!(self, Self::Hangs | Self::HangsAfter(_))
    }
}

/// State shared by the file system and the test.
struct State {
    files: Vec<(String, Vec<u8>)>,
    mode: Mutex<Mode>,
    /// Requests since the mode was set.
    requests: AtomicU64,
    /// Reads that hang.
    held: Mutex<Vec<HungRead>>,
}

struct HungRead {
    ino: INodeNo,
    offset: u64,
    size: u32,
    reply: ReplyData,
}

/// The mounted file system. The kernel caches nothing from it.
pub struct FaultyFs {
    state: Arc<State>,
    point: PathBuf,
    session: Option<BackgroundSession>,
}

impl FaultyFs {
    /// Mounts it on a directory.
    pub fn new(point: &Path, files: &[(&str, &[u8])]) -> Self {
        let files = files.iter();
        let state = Arc::new(State {
            files: files
                .map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()))
                .collect(),
            mode: Mutex::new(Mode::Fine),
            requests: AtomicU64::new(0),
            held: Mutex::default(),
        });
        let mut faulty = Self {
            state,
            point: point.to_owned(),
            session: None,
        };
        faulty.come_back();
        faulty
    }

    /// Returns the path of one of the files.
    pub fn file(&self, name: &str) -> PathBuf {
        self.point.join(name)
    }

    /// Changes how it behaves.
    pub fn set(&self, mode: Mode) {
        self.state.set(mode);
        if mode.hangs() {
            let state = Arc::downgrade(&self.state);
            std::thread::spawn(move || {
                std::thread::sleep(MAX_HANG);
                state.upgrade().inspect(|state| state.set(Mode::Fine));
            });
        }
    }

    /// Returns the number of requests since the mode was set, of the affected kind.
    pub fn requests(&self) -> u64 {
        self.state.requests.load(Ordering::Relaxed)
    }

    /// Returns the number of reads that hang.
    pub fn held(&self) -> usize {
        self.state.held.lock().unwrap().len()
    }

    /// Disconnects: all requests fail with ENOTCONN.
    pub fn go_away(&mut self) {
        // This fails while it is in use, but ends the session.
        let _ = rustix::mount::unmount(&self.point, UnmountFlags::FORCE);
        self.state.held.lock().unwrap().clear();
    }

    /// Mounts it again at the same place.
    pub fn come_back(&mut self) {
        self.end();
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("faulty".to_owned()), MountOption::RO];
        // Programs of ordinary users read it too.
        config.acl = SessionACL::All;
        let session = Session::new(Served(self.state.clone()), &self.point, &config).unwrap();
        self.session = Some(session.spawn().unwrap());
        self.set(Mode::Fine);
    }

    fn end(&mut self) {
        if let Some(session) = self.session.take() {
            self.set(Mode::Fine);
            let _ = rustix::mount::unmount(&self.point, UnmountFlags::FORCE);
            let _ = rustix::mount::unmount(&self.point, UnmountFlags::DETACH);
            // The exit status does not matter.
            let _ = session.join();
        }
    }
}

impl Drop for FaultyFs {
    fn drop(&mut self) {
        self.end();
    }
}

impl State {
    fn set(&self, mode: Mode) {
        *self.mode.lock().unwrap() = mode;
        self.requests.store(0, Ordering::Relaxed);
        if !mode.hangs() {
            let held = std::mem::take(&mut *self.held.lock().unwrap());
            for read in held {
                self.read(read);
            }
        }
    }

    fn mode(&self) -> Mode {
        *self.mode.lock().unwrap()
    }

    /// Returns the error of a request that must fail.
    fn fault(&self) -> Option<Errno> {
        match self.mode() {
            Mode::Fails(error) => Some(error),
            Mode::FailsOnce(at) if self.requests.fetch_add(1, Ordering::Relaxed) == at => {
                Some(Errno::EIO)
            }
            _ => None,
        }
    }

    /// Returns the inode number of the file or directory with this name in a
    /// directory.
    fn entry(&self, parent: INodeNo, name: &str) -> Option<u64> {
        if parent == INodeNo::ROOT && name == SUB {
            return Some(SUB_INO);
        }
        let index = self.files.iter().position(|(known, _)| known == name)?;
        Some(FILES[usize::from(parent != INodeNo::ROOT)] + index as u64)
    }

    fn bytes(&self, ino: INodeNo) -> Option<&[u8]> {
        let index = u64::from(ino) % FILES[0];
        let is_file = u64::from(ino) >= FILES[0];
        let (_, bytes) = self.files.get(index as usize)?;
        is_file.then_some(bytes)
    }

    fn attr(&self, ino: INodeNo) -> FileAttr {
        let bytes = self.bytes(ino);
        FileAttr {
            ino,
            size: bytes.map_or(0, |bytes| bytes.len() as u64),
            blocks: 0,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: match bytes {
                Some(_) => FileType::RegularFile,
                None => FileType::Directory,
            },
            perm: 0o755,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }

    fn read(&self, read: HungRead) {
        let mode = self.mode();
        if let Some(error) = self.fault() {
            return read.reply.error(error);
        }
        let mut size = read.size as usize;
        match mode {
            Mode::Hangs => return self.held.lock().unwrap().push(read),
            Mode::HangsAfter(reads) if self.requests.fetch_add(1, Ordering::Relaxed) >= reads => {
                return self.held.lock().unwrap().push(read);
            }
            Mode::Slow(time) => std::thread::sleep(time),
            Mode::Short => size = size.div_ceil(2).min(4000),
            Mode::Interrupted
                if self
                    .requests
                    .fetch_add(1, Ordering::Relaxed)
                    .is_multiple_of(2) =>
            {
                return read.reply.error(Errno::EINTR);
            }
            _ => {}
        }
        let bytes = self.bytes(read.ino).unwrap_or_default();
        let start = bytes.len().min(read.offset as usize);
        let end = bytes.len().min(start + size);
        read.reply.data(&bytes[start..end]);
    }
}

/// The file system that `fuser` calls.
struct Served(Arc<State>);

impl Filesystem for Served {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if let Some(error) = self.0.fault() {
            return reply.error(error);
        }
        match name.to_str().and_then(|name| self.0.entry(parent, name)) {
            Some(ino) => reply.entry(&Duration::ZERO, &self.0.attr(INodeNo(ino)), Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.0.fault() {
            Some(error) => reply.error(error),
            None => reply.attr(&Duration::ZERO, &self.0.attr(ino)),
        }
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.0.fault() {
            Some(error) => reply.error(error),
            // Every read arrives here as one request of its length.
            None => reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO),
        }
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.0.read(HungRead {
            ino,
            offset,
            size,
            reply,
        });
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        if let Some(error) = self.0.fault() {
            return reply.error(error);
        }
        let names = self.0.files.iter().map(|(name, _)| name.as_str());
        let sub = (ino == INodeNo::ROOT).then_some(SUB);
        for (index, name) in names.chain(sub).enumerate().skip(offset as usize) {
            let entry = self.0.entry(ino, name).unwrap_or_default();
            let kind = self.0.attr(INodeNo(entry)).kind;
            if reply.add(INodeNo(entry), index as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}
