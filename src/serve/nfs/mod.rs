//! NFS version 3, read-only (RFC 1813), for machines that mount it without FUSE: the calls of
//! NFS and of MOUNT at one port, without a portmapper.
//!
//! `rpc` takes calls apart and puts answers together (RFC
//! 5531), `mount` answers those of MOUNT, and `calls` those of NFS. The formats of answers are
//! those of `nfs3_types`.

mod calls;
mod mount;
mod rpc;

use self::rpc::{Call, Outcome};
use super::site::Share;

/// Returns the answer to a record; `None` if it is no call, after which nothing of its
/// connection means anything.
pub(super) fn answer(share: &Share, record: &[u8]) -> Option<Vec<u8>> {
    let (call, args) = Call::parse(record)?;
    let outcome = match (call.program, call.version) {
        (nfs3_types::nfs3::PROGRAM, nfs3_types::nfs3::VERSION) => {
            calls::answer(share, call.procedure, args)
        }
        (nfs3_types::mount::PROGRAM, nfs3_types::mount::VERSION) => {
            mount::answer(share, call.procedure, args)
        }
        (nfs3_types::nfs3::PROGRAM | nfs3_types::mount::PROGRAM, _) => Outcome::OtherVersion,
        _ => Outcome::OtherProgram,
    };
    Some(call.reply(outcome))
}
