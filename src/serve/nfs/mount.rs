//! The calls of MOUNT.

use nfs3_types::mount::{fhandle3, mountres3, mountres3_ok, mountstat3};
use nfs3_types::xdr_codec::Opaque;

use super::rpc::{Args, Outcome};
use crate::mount::{FileKind, Ino, Result};
use crate::serve::nodes::Nodes;
use crate::serve::site::{Place, Share};

/// Longest path.
const MAX_PATH: usize = 1024;

/// Ways to say who one is: not at all, and by the numbers of users, which are ignored.
const FLAVORS: [u32; 2] = [0, 1];

/// Answers a call.
pub(super) fn answer(share: &Share, procedure: u32, mut args: Args<'_>) -> Outcome {
    match procedure {
        // Nothing; and what is mounted no more, of which no list is kept.
        0 | 3 | 4 => Outcome::Results(Vec::new()),
        1 => {
            let Some(path) = args.bytes(MAX_PATH) else {
                return Outcome::Garbage;
            };
            let mounted = match mounted(share, path) {
                Ok(handle) => mountres3::Ok(mountres3_ok {
                    fhandle: fhandle3(Opaque::owned(handle)),
                    auth_flavors: FLAVORS.to_vec(),
                }),
                Err(error) => mountres3::Err(error),
            };
            super::calls::packed(&mounted)
        }
        // Lists of mounts and of exports: empty, since the name of an export has the token.
        2 | 5 => Outcome::Results(vec![0; 4]),
        _ => Outcome::OtherProcedure,
    }
}

/// Returns the handle of an exported directory.
fn mounted(share: &Share, path: &[u8]) -> std::result::Result<Vec<u8>, mountstat3> {
    let path = str::from_utf8(path).ok();
    let path = path.and_then(|path| share.handles().exported(path));
    let path = path.ok_or(mountstat3::MNT3ERR_ACCES)?;
    let place = Place::find(&share.now(), path).map_err(|_| mountstat3::MNT3ERR_NOENT)?;
    if place.found.attr.kind != FileKind::Directory {
        return Err(mountstat3::MNT3ERR_NOTDIR);
    }
    let nodes = share.nodes();
    let ino = looked_up(nodes, &place.found.path).map_err(|_| mountstat3::MNT3ERR_NOENT)?;
    Ok(share.handles().of_lookup(nodes, ino).to_vec())
}

/// Looks up the directory at a path without links, and counts one lookup of it.
fn looked_up(nodes: &dyn Nodes, path: &str) -> Result<Ino> {
    let mut last = nodes.lookup_again(Ino::ROOT)?.ino;
    for name in path.split('/').filter(|name| !name.is_empty()) {
        let found = nodes.lookup(last, name);
        nodes.forget(last);
        last = found?.ino;
    }
    Ok(last)
}
