//! The bodies of responses, which are read while they are sent.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::oneshot;
use tokio::time::{Sleep, sleep};

use crate::memory::budget::Charge;
use crate::serve::answer::{Broken, Content, Pieces};
use crate::serve::connection::{Connection, Phase};
use crate::serve::job::{Job, Piece};
use crate::serve::pieces::{Permit, Permits, Queue, Urgency};
use crate::serve::site::PIECE;

/// Number of bytes of a piece for a client that takes them quickly.
const LARGE_PIECE: usize = 256 << 10;

/// Pause before a piece that waits for memory is tried again.
const SHORT_PAUSE: Duration = Duration::from_millis(20);

/// The body of a response.
pub(super) struct Sent {
    connection: Rc<Connection>,
    queue: Arc<Queue<Job>>,
    permits: Rc<Permits>,
    /// Permits large pieces, and one that is read ahead.
    permit: Option<Permit>,
    state: State,
    /// The memory of the pieces that are not sent.
    charge: Charge,
    /// Number of bytes that follow, if the length was announced.
    left: Option<u64>,
}

enum State {
    /// Nothing follows.
    Ended,
    /// These bytes follow, and nothing else.
    Last(Bytes),
    /// These bytes follow, and then others.
    Ready(Bytes, Box<dyn Pieces>),
    /// Nothing is in memory.
    Between(Box<dyn Pieces>),
    /// Nothing is in memory, and the budget has no room at the moment.
    Short(Pin<Box<Sleep>>, Box<dyn Pieces>),
    /// A thread reads the next bytes.
    Reading(oneshot::Receiver<Piece>),
}

impl Sent {
    /// Creates the body with some contents. It has `length` bytes, if one is announced.
    /// Its pieces count towards `charge`.
    pub(super) fn new(
        connection: Rc<Connection>,
        queue: Arc<Queue<Job>>,
        permits: Rc<Permits>,
        mut charge: Charge,
        content: Content,
        length: Option<u64>,
    ) -> Self {
        let state = match content {
            Content::Bytes(bytes) if bytes.is_empty() => State::Ended,
            Content::Bytes(bytes) => State::Last(bytes),
            Content::Pieces(first, pieces) => {
                // It is in memory already.
                let _ = charge.grow_to(first.len());
                State::Ready(first, pieces)
            }
        };
        Self {
            connection,
            queue,
            permits,
            permit: None,
            state,
            charge,
            left: length,
        }
    }

    /// Has the next piece read, if there is memory for it.
    fn ask(&mut self, pieces: Box<dyn Pieces>) -> State {
        let (reply, piece) = oneshot::channel();
        let (wanted, memory) = match &self.permit {
            // Another one is being sent.
            Some(_) => (LARGE_PIECE, 2 * LARGE_PIECE),
            None => (PIECE, PIECE),
        };
        if self.charge.bytes() < memory && self.charge.grow_to(memory).is_err() {
            self.permit = None;
            return State::Short(Box::pin(sleep(SHORT_PAUSE)), pieces);
        }
        let job = Job::Piece(pieces, wanted, reply);
        self.queue.push(Urgency::Further, job);
        State::Reading(piece)
    }

    /// Returns what follows a piece: for a client that is fast, and if there is a permit, the
    /// next one is read at once.
    fn after(&mut self, pieces: Box<dyn Pieces>) -> State {
        if !self.connection.is_fast() {
            self.permit = None;
            return State::Between(pieces);
        }
        if self.permit.is_none() {
            self.permit = Permits::take(&self.permits);
        }
        match &self.permit {
            Some(_) => self.ask(pieces),
            None => State::Between(pieces),
        }
    }

    /// Ends the connection without the rest.
    fn broken(&self) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        self.connection.reset();
        Poll::Ready(Some(Err(Broken)))
    }

    fn frame(&mut self, bytes: Bytes) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(bytes.len() as u64);
            if *left == 0 {
                self.state = State::Ended;
            }
        }
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let this = &mut *self;
        loop {
            let has_room = match &this.state {
                State::Between(_) => true,
                State::Reading(_) => this.permit.is_some(),
                _ => false,
            };
            if has_room {
                if matches!(this.state, State::Between(_)) {
                    this.charge.shrink(this.charge.bytes());
                }
                if ready!(this.connection.poll_room(context)).is_err() {
                    return this.broken();
                }
            }
            if let State::Short(pause, _) = &mut this.state {
                ready!(pause.as_mut().poll(context));
            }
            if let State::Reading(piece) = &mut this.state {
                this.state = match ready!(Pin::new(piece).poll(context)) {
                    Ok((_, Ok(bytes))) if bytes.is_empty() && this.left.is_none() => State::Ended,
                    Ok((pieces, Ok(bytes))) if !bytes.is_empty() => State::Ready(bytes, pieces),
                    _ => return this.broken(),
                };
            }
            match std::mem::replace(&mut this.state, State::Ended) {
                State::Ended => return Poll::Ready(None),
                State::Last(bytes) => return this.frame(bytes),
                State::Ready(bytes, pieces) => {
                    this.state = match this.left == Some(bytes.len() as u64) {
                        true => State::Ended,
                        false => this.after(pieces),
                    };
                    return this.frame(bytes);
                }
                State::Between(pieces) | State::Short(_, pieces) => this.state = this.ask(pieces),
                reading @ State::Reading(_) => this.state = reading,
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.state, State::Ended)
    }

    fn size_hint(&self) -> SizeHint {
        self.left
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.connection.enter(Phase::Idle);
    }
}
