//! Work that the thread with the connections has for the reading threads.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::answer::{Answer, Broken, Pieces};
use super::head::Head;
use super::pieces::Queue;
use super::route::Call;
use super::site::Share;
use super::{dispatch, nfs};
use crate::memory::budget::Budget;

/// Work for a reading thread, with where its result goes.
pub(super) enum Job {
    /// To answer a request.
    Answer(Box<(Head, Call)>, oneshot::Sender<Answer>),
    /// To read the next piece of a body.
    Piece(Box<dyn Pieces>, usize, oneshot::Sender<Piece>),
    /// To answer a call of NFS.
    Call(Vec<u8>, oneshot::Sender<Option<Vec<u8>>>),
}

/// Data shared by the thread with the connections and those that read.
pub(super) struct Work {
    /// Their work.
    pub(super) queue: Arc<Queue<Job>>,
    /// The memory of all of them.
    pub(super) budget: Arc<Budget>,
}

/// A piece of a body, and where the next ones come from.
pub(super) type Piece = (Box<dyn Pieces>, Result<Bytes, Broken>);

impl Job {
    /// Does the work, unless the client has gone. It may go meanwhile.
    pub(super) fn perform(self, share: &Share) {
        match self {
            Self::Answer(request, reply) if !reply.is_closed() => {
                let (head, call) = *request;
                let _ = reply.send(dispatch::answer(&share.now(), &head, &call));
            }
            Self::Piece(mut pieces, wanted, reply) if !reply.is_closed() => {
                let piece = pieces.read(wanted);
                let _ = reply.send((pieces, piece));
            }
            Self::Call(record, reply) if !reply.is_closed() => {
                let _ = reply.send(nfs::answer(share, &record));
                share.nodes().trim();
            }
            Self::Answer(..) | Self::Piece(..) | Self::Call(..) => {}
        }
    }
}
