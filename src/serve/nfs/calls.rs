//! The calls of NFS.

use nfs3_types::nfs3::{
    ACCESS3_EXECUTE, ACCESS3_LOOKUP, ACCESS3_READ, ACCESS3res, ACCESS3resfail, ACCESS3resok,
    FSF3_HOMOGENEOUS, FSF3_SYMLINK, FSINFO3res, FSINFO3resfail, FSINFO3resok, FSSTAT3res,
    FSSTAT3resfail, FSSTAT3resok, GETATTR3res, GETATTR3resok, LOOKUP3res, LOOKUP3resfail,
    LOOKUP3resok, Nfs3Option, PATHCONF3res, PATHCONF3resfail, PATHCONF3resok, READ3res,
    READ3resfail, READ3resok, READDIR3res, READDIR3resfail, READDIR3resok, READDIRPLUS3res,
    READDIRPLUS3resfail, READDIRPLUS3resok, READLINK3res, READLINK3resfail, READLINK3resok,
    cookieverf3, dirlist3, dirlistplus3, entry3, entryplus3, fattr3, filename3, ftype3, nfs_fh3,
    nfspath3, nfsstat3, nfstime3, specdata3,
};
use nfs3_types::xdr_codec::{List, Opaque, Pack, Void};

use super::rpc::{Args, Outcome};
use crate::mount::{Attr, Error, FileKind, Ino};
use crate::platform::user_and_group;
use crate::serve::handles::Handles;
use crate::serve::nodes::Nodes;
use crate::serve::site::Share;

/// Most bytes of a read, and of a part of a directory.
const MAX_READ: u32 = 256 << 10;
const MAX_LIST: u32 = 64 << 10;

/// Longest handle, and longest name, in bytes.
const MAX_HANDLE: usize = 64;
const MAX_NAME: usize = 255;

/// Entries `.` and `..`, which come before those of the tree.
const DOTS: u64 = 2;

/// Bytes of an entry of a listing beside its name: alone, and with attributes and handle.
const ENTRY: usize = 28;
const ENTRY_PLUS: usize = 144;

/// Unit of the space that files take.
const BLOCK: u64 = 512;

type Result<T> = std::result::Result<T, nfsstat3>;

/// An entry of a listing.
struct Entry {
    name: String,
    ino: Ino,
    /// Its attributes, with a lookup; none of `.` and `..`.
    attr: Option<Attr>,
    /// The cookie of the next one.
    cookie: u64,
}

/// Answers a call.
pub(super) fn answer(share: &Share, procedure: u32, args: Args<'_>) -> Outcome {
    let calls = Calls {
        nodes: share.nodes(),
        handles: share.handles(),
    };
    let answered = match procedure {
        0 => return Outcome::Results(Vec::new()),
        1 => calls.attributes(args),
        3 => calls.lookup(args),
        4 => calls.access(args),
        5 => calls.link(args),
        6 => calls.read(args),
        16 => calls.list(args),
        17 => calls.list_with_attributes(args),
        18 => calls.space(args),
        19 => calls.facts(args),
        20 => calls.limits(args),
        // Procedures that change something; the attributes of their objects are not given.
        2 | 7..=13 | 21 => return refused(2),
        14 => return refused(4),
        15 => return refused(3),
        _ => return Outcome::OtherProcedure,
    };
    answered.unwrap_or(Outcome::Garbage)
}

/// Returns that nothing is written, with this number of absent attributes.
fn refused(absent: usize) -> Outcome {
    let mut results = (nfsstat3::NFS3ERR_ROFS as u32).to_be_bytes().to_vec();
    results.resize(4 + 4 * absent, 0);
    Outcome::Results(results)
}

/// Returns results as they are sent.
pub(super) fn packed(results: &impl Pack) -> Outcome {
    let mut bytes = Vec::with_capacity(results.packed_size());
    match results.pack(&mut bytes) {
        Ok(_) => Outcome::Results(bytes),
        // Writing to memory cannot fail.
        Err(_) => Outcome::Garbage,
    }
}

fn status(error: Error) -> nfsstat3 {
    match error {
        Error::NotFound => nfsstat3::NFS3ERR_NOENT,
        Error::NotADirectory => nfsstat3::NFS3ERR_NOTDIR,
        Error::IsADirectory => nfsstat3::NFS3ERR_ISDIR,
        Error::NotALink => nfsstat3::NFS3ERR_INVAL,
        Error::Encrypted => nfsstat3::NFS3ERR_ACCES,
        Error::NoAttribute | Error::AttributeKind | Error::Unsupported => nfsstat3::NFS3ERR_NOTSUPP,
        Error::Io | Error::Interrupted => nfsstat3::NFS3ERR_IO,
        // The client asks again.
        Error::NoMemory => nfsstat3::NFS3ERR_JUKEBOX,
        Error::Stale => nfsstat3::NFS3ERR_STALE,
    }
}

/// The calls about a share. Each returns `None` if its arguments are wrong.
struct Calls<'s> {
    nodes: &'s dyn Nodes,
    handles: &'s Handles,
}

impl Calls<'_> {
    /// Takes a handle, and returns its inode.
    fn ino(&self, args: &mut Args<'_>) -> Option<Result<Ino>> {
        let handle = args.bytes(MAX_HANDLE)?;
        Some(self.handles.ino(handle).map_err(status))
    }

    fn attr(&self, ino: Ino) -> Result<Attr> {
        match self.nodes.attr(ino) {
            // A number without an inode was of one.
            Err(Error::NotFound) => Err(nfsstat3::NFS3ERR_STALE),
            attr => attr.map_err(status),
        }
    }

    fn fattr(&self, attr: &Attr) -> fattr3 {
        let seconds = attr.modified.clamp(0, u32::MAX.into()) as u32;
        let (uid, gid) = user_and_group();
        let time = || nfstime3 {
            seconds,
            nseconds: 0,
        };
        fattr3 {
            type_: match attr.kind {
                FileKind::Directory => ftype3::NF3DIR,
                FileKind::File => ftype3::NF3REG,
                FileKind::Symlink => ftype3::NF3LNK,
            },
            mode: attr.mode.into(),
            nlink: attr.nlink,
            uid,
            gid,
            size: attr.size,
            used: attr.size.next_multiple_of(BLOCK),
            rdev: specdata3 {
                specdata1: 0,
                specdata2: 0,
            },
            fsid: 1,
            fileid: attr.ino.0,
            atime: time(),
            mtime: time(),
            ctime: time(),
        }
    }

    fn attributes(&self, mut args: Args<'_>) -> Option<Outcome> {
        let attr = self.ino(&mut args)?.and_then(|ino| self.attr(ino));
        Some(packed(&match attr {
            Ok(attr) => GETATTR3res::Ok(GETATTR3resok {
                obj_attributes: self.fattr(&attr),
            }),
            Err(error) => GETATTR3res::Err((error, Void)),
        }))
    }

    fn lookup(&self, mut args: Args<'_>) -> Option<Outcome> {
        let directory = self.ino(&mut args)?;
        let name = args.bytes(MAX_NAME)?;
        let found = directory.and_then(|directory| self.find(directory, name));
        Some(packed(&match found {
            Ok(attr) => LOOKUP3res::Ok(LOOKUP3resok {
                object: self.handle(attr.ino),
                obj_attributes: Nfs3Option::Some(self.fattr(&attr)),
                dir_attributes: Nfs3Option::None,
            }),
            Err(error) => LOOKUP3res::Err((error, LOOKUP3resfail::default())),
        }))
    }

    /// Finds an entry of a directory, and counts a lookup of it.
    fn find(&self, directory: Ino, name: &[u8]) -> Result<Attr> {
        let nodes = self.nodes;
        let name = str::from_utf8(name).map_err(|_| nfsstat3::NFS3ERR_NOENT)?;
        let found = match name {
            "." => nodes.lookup_again(directory),
            ".." => nodes
                .parent(directory)
                .and_then(|parent| nodes.lookup_again(parent)),
            name => nodes.lookup(directory, name),
        };
        found.map_err(status)
    }

    /// Returns the handle of an inode that was just looked up.
    fn handle(&self, ino: Ino) -> nfs_fh3 {
        let handle = self.handles.of_lookup(self.nodes, ino);
        nfs_fh3 {
            data: Opaque::owned(handle.to_vec()),
        }
    }

    fn access(&self, mut args: Args<'_>) -> Option<Outcome> {
        let attr = self.ino(&mut args)?.and_then(|ino| self.attr(ino));
        let wanted = args.number()?;
        Some(packed(&match attr {
            Ok(attr) => {
                let may = match attr.kind {
                    FileKind::Directory => ACCESS3_READ | ACCESS3_LOOKUP | ACCESS3_EXECUTE,
                    _ if attr.mode & 0o111 != 0 => ACCESS3_READ | ACCESS3_EXECUTE,
                    _ => ACCESS3_READ,
                };
                ACCESS3res::Ok(ACCESS3resok {
                    obj_attributes: Nfs3Option::Some(self.fattr(&attr)),
                    access: wanted & may,
                })
            }
            Err(error) => ACCESS3res::Err((error, ACCESS3resfail::default())),
        }))
    }

    fn link(&self, mut args: Args<'_>) -> Option<Outcome> {
        let read = |ino| self.nodes.link(ino).map_err(status);
        let target = self.ino(&mut args)?.and_then(read);
        Some(packed(&match target {
            Ok(target) => READLINK3res::Ok(READLINK3resok {
                symlink_attributes: Nfs3Option::None,
                data: nfspath3(Opaque::owned(target)),
            }),
            Err(error) => READLINK3res::Err((error, READLINK3resfail::default())),
        }))
    }

    fn read(&self, mut args: Args<'_>) -> Option<Outcome> {
        let ino = self.ino(&mut args)?;
        let (offset, count) = (args.long()?, args.number()?.min(MAX_READ));
        let read = ino.and_then(|ino| {
            let bytes = self.nodes.read(ino, offset, count).map_err(status)?;
            let size = self.attr(ino)?.size;
            Ok((offset.saturating_add(bytes.len() as u64) >= size, bytes))
        });
        Some(packed(&match read {
            Ok((eof, ref bytes)) => READ3res::Ok(READ3resok {
                file_attributes: Nfs3Option::None,
                count: bytes.len() as u32,
                eof,
                data: Opaque::borrowed(bytes),
            }),
            Err(error) => READ3res::Err((error, READ3resfail::default())),
        }))
    }

    /// Returns `.` and `..` from a cookie on.
    fn dots(&self, directory: Ino, cookie: u64) -> Result<Vec<(&'static str, Ino, u64)>> {
        let mut dots = Vec::new();
        if cookie < 1 {
            dots.push((".", directory, 1));
        }
        if cookie < DOTS {
            let parent = self.nodes.parent(directory).map_err(status)?;
            dots.push(("..", parent, DOTS));
        }
        Ok(dots)
    }

    /// Takes what both calls that list begin with: the directory, and where to go on.
    fn listed(&self, args: &mut Args<'_>) -> Option<Result<(Ino, u64)>> {
        let directory = self.ino(args)?;
        let (cookie, verifier) = (args.long()?, args.array()?);
        let is_known = cookie == 0 || verifier == self.verifier().0;
        Some(match directory {
            Ok(_) if !is_known => Err(nfsstat3::NFS3ERR_BAD_COOKIE),
            directory => directory.map(|directory| (directory, cookie)),
        })
    }

    fn verifier(&self) -> cookieverf3 {
        cookieverf3(self.handles.verifier(self.nodes.version()))
    }

    /// Returns the entries of a directory from a cookie on that fit into `most` bytes, and
    /// whether these are the last ones. An entry takes this many bytes beside its name.
    fn entries(
        &self,
        (directory, cookie): (Ino, u64),
        most: usize,
        bytes: usize,
    ) -> Result<(Vec<Entry>, bool)> {
        let (mut entries, mut size, mut eof) = (Vec::new(), ENTRY_PLUS, true);
        let mut add = |name: &str, ino: Ino, attr: Option<Attr>, cookie: u64| {
            size += bytes + name.len().next_multiple_of(4);
            if size > most {
                eof = false;
                return true;
            }
            entries.push(Entry {
                name: name.to_owned(),
                ino,
                attr,
                cookie,
            });
            false
        };
        let mut is_full = false;
        for (name, ino, cookie) in self.dots(directory, cookie)? {
            is_full |= add(name, ino, None, cookie);
        }
        if !is_full {
            let start = cookie.saturating_sub(DOTS);
            let mut each =
                |name: &str, attr: Attr, next| add(name, attr.ino, Some(attr), next + DOTS);
            let listed = self.nodes.list(directory, start, &mut each);
            listed.map_err(status)?;
        }
        match entries.is_empty() && !eof {
            true => Err(nfsstat3::NFS3ERR_TOOSMALL),
            false => Ok((entries, eof)),
        }
    }

    fn list(&self, mut args: Args<'_>) -> Option<Outcome> {
        let listed = self.listed(&mut args)?;
        let most = args.number()?.min(MAX_LIST) as usize;
        let list = listed.and_then(|listed| self.entries(listed, most, ENTRY));
        Some(packed(&match list {
            Ok((entries, eof)) => READDIR3res::Ok(READDIR3resok {
                dir_attributes: Nfs3Option::None,
                cookieverf: self.verifier(),
                reply: dirlist3 {
                    entries: List(entries.into_iter().map(|entry| self.plain(entry)).collect()),
                    eof,
                },
            }),
            Err(error) => READDIR3res::Err((error, READDIR3resfail::default())),
        }))
    }

    fn plain(&self, entry: Entry) -> entry3<'static> {
        if entry.attr.is_some() {
            self.nodes.forget(entry.ino);
        }
        entry3 {
            fileid: entry.ino.0,
            name: filename3(Opaque::owned(entry.name.into_bytes())),
            cookie: entry.cookie,
        }
    }

    fn list_with_attributes(&self, mut args: Args<'_>) -> Option<Outcome> {
        let listed = self.listed(&mut args)?;
        let _names_alone = args.number()?;
        let most = args.number()?.min(MAX_LIST) as usize;
        let list = listed.and_then(|listed| self.entries(listed, most, ENTRY_PLUS));
        Some(packed(&match list {
            Ok((entries, eof)) => READDIRPLUS3res::Ok(READDIRPLUS3resok {
                dir_attributes: Nfs3Option::None,
                cookieverf: self.verifier(),
                reply: dirlistplus3 {
                    entries: List(entries.into_iter().map(|entry| self.full(entry)).collect()),
                    eof,
                },
            }),
            Err(error) => READDIRPLUS3res::Err((error, READDIRPLUS3resfail::default())),
        }))
    }

    fn full(&self, entry: Entry) -> entryplus3<'static> {
        // Of a generated file the size is not known.
        let lasting = entry.attr.filter(|attr| attr.lasting);
        entryplus3 {
            fileid: entry.ino.0,
            name: filename3(Opaque::owned(entry.name.into_bytes())),
            cookie: entry.cookie,
            name_attributes: match lasting {
                Some(attr) => Nfs3Option::Some(self.fattr(&attr)),
                None => Nfs3Option::None,
            },
            name_handle: match entry.attr {
                Some(attr) => Nfs3Option::Some(self.handle(attr.ino)),
                None => Nfs3Option::None,
            },
        }
    }

    fn space(&self, mut args: Args<'_>) -> Option<Outcome> {
        let ino = self.ino(&mut args)?;
        let extent = self.nodes.extent();
        Some(packed(&match ino {
            Ok(_) => FSSTAT3res::Ok(FSSTAT3resok {
                obj_attributes: Nfs3Option::None,
                tbytes: extent.bytes,
                fbytes: 0,
                abytes: 0,
                tfiles: extent.inodes,
                ffiles: 0,
                afiles: 0,
                invarsec: 0,
            }),
            Err(error) => FSSTAT3res::Err((error, FSSTAT3resfail::default())),
        }))
    }

    fn facts(&self, mut args: Args<'_>) -> Option<Outcome> {
        Some(packed(&match self.ino(&mut args)? {
            Ok(_) => FSINFO3res::Ok(FSINFO3resok {
                obj_attributes: Nfs3Option::None,
                rtmax: MAX_READ,
                rtpref: MAX_READ,
                rtmult: 4096,
                // Nothing is written, but clients refuse servers with small writes.
                wtmax: MAX_READ,
                wtpref: MAX_READ,
                wtmult: 4096,
                dtpref: MAX_LIST,
                maxfilesize: i64::MAX as u64,
                time_delta: nfstime3 {
                    seconds: 1,
                    nseconds: 0,
                },
                properties: FSF3_SYMLINK | FSF3_HOMOGENEOUS,
            }),
            Err(error) => FSINFO3res::Err((error, FSINFO3resfail::default())),
        }))
    }

    fn limits(&self, mut args: Args<'_>) -> Option<Outcome> {
        Some(packed(&match self.ino(&mut args)? {
            Ok(_) => PATHCONF3res::Ok(PATHCONF3resok {
                obj_attributes: Nfs3Option::None,
                linkmax: u32::MAX,
                name_max: MAX_NAME as u32,
                no_trunc: true,
                chown_restricted: true,
                case_insensitive: !self.nodes.is_case_sensitive(),
                case_preserving: true,
            }),
            Err(error) => PATHCONF3res::Err((error, PATHCONF3resfail::default())),
        }))
    }
}
