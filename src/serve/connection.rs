//! A connection: its socket, and how long a client may take.

use std::cell::Cell;
use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice};
use std::net::Shutdown;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::platform::is_writable;

/// Time limits of a client.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For a request.
    pub to_ask: Duration,
    /// Until the next request.
    pub idle: Duration,
    /// To take some of an answer.
    pub to_take: Duration,
}

/// Longest pause between two looks at a connection.
const LOOK: Duration = Duration::from_secs(5);

/// Number of bytes that a client has to take in [`FAST_TIME`] to count as fast.
const FAST: usize = 1 << 20;
const FAST_TIME: Duration = Duration::from_secs(1);

/// State of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing: the client may send a request.
    Idle,
    /// The client sends a request.
    Asking,
    /// It is answered.
    Answering,
}

/// A connection.
pub(super) struct Connection {
    stream: TcpStream,
    patience: Patience,
    phase: Cell<Phase>,
    since: Cell<Instant>,
    /// Since when the client takes nothing.
    blocked: Cell<Option<Instant>>,
    /// Bytes that were sent since the time beside it.
    sent: Cell<(Instant, usize)>,
    is_fast: Cell<bool>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, patience: Patience) -> Self {
        let now = Instant::now();
        Self {
            stream,
            patience,
            phase: Cell::new(Phase::Idle),
            since: Cell::new(now),
            blocked: Cell::new(None),
            sent: Cell::new((now, 0)),
            is_fast: Cell::new(false),
        }
    }

    /// Notes what happens from now on.
    pub(super) fn enter(&self, phase: Phase) {
        self.phase.set(phase);
        self.since.set(Instant::now());
    }

    /// Returns whether the client has taken a lot in the last second.
    pub(super) fn is_fast(&self) -> bool {
        self.is_fast.get() && self.sent.get().0.elapsed() <= FAST_TIME
    }

    /// Waits until the client has taken too long for something.
    pub(super) async fn overdue(&self) {
        loop {
            let left = self.left(Instant::now());
            if left.is_zero() {
                return;
            }
            sleep(left.min(LOOK)).await;
        }
    }

    /// Returns how long the client may still take.
    fn left(&self, now: Instant) -> Duration {
        let until = |start: Instant, most: Duration| {
            most.saturating_sub(now.saturating_duration_since(start))
        };
        let of_phase = match self.phase.get() {
            Phase::Idle => until(self.since.get(), self.patience.idle),
            Phase::Asking => until(self.since.get(), self.patience.to_ask),
            Phase::Answering => Duration::MAX,
        };
        let blocked = self.blocked.get();
        blocked.map_or(of_phase, |since| {
            of_phase.min(until(since, self.patience.to_take))
        })
    }

    /// Waits until the client can take about a piece. The kernel is asked, since the runtime
    /// only learns of a full buffer when something does not fit into it: then the piece
    /// would be in memory until the client reads on.
    pub(super) fn poll_room(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_writable(context))?;
            if is_writable(&self.stream) {
                self.blocked.set(None);
                return Poll::Ready(Ok(()));
            }
            let full = || Err::<(), _>(ErrorKind::WouldBlock.into());
            // Fails, and makes the runtime wait for the kernel.
            let _ = self.stream.try_io(Interest::WRITABLE, full);
        }
    }

    fn poll_writable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let writable = self.stream.poll_write_ready(context);
        if writable.is_pending() && self.blocked.get().is_none() {
            self.blocked.set(Some(Instant::now()));
        }
        writable
    }

    /// Sends some of these bytes.
    pub(super) fn poll_send(
        &self,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.poll_writable(context))?;
            match self.stream.try_write_vectored(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Ok(sent) => {
                    self.note_sent(sent);
                    return Poll::Ready(Ok(sent));
                }
                error => return Poll::Ready(error),
            }
        }
    }

    fn note_sent(&self, bytes: usize) {
        self.blocked.set(None);
        let (since, sent) = self.sent.get();
        let sent = sent + bytes;
        if sent < FAST {
            self.sent.set((since, sent));
            return;
        }
        let now = Instant::now();
        self.is_fast.set(now.duration_since(since) <= FAST_TIME);
        self.sent.set((now, 0));
    }

    /// Receives at most as many bytes as `buffer` has; none at the end.
    pub(super) fn poll_receive(
        &self,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream.poll_read_ready(context))?;
            match self.stream.try_read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Ok(received) => {
                    if received > 0 && self.phase.get() == Phase::Idle {
                        self.enter(Phase::Asking);
                    }
                    return Poll::Ready(Ok(received));
                }
                error => return Poll::Ready(error),
            }
        }
    }

    /// Ends sending.
    pub(super) fn end(&self) -> io::Result<()> {
        match SockRef::from(&self.stream).shutdown(Shutdown::Write) {
            // The client has closed it.
            Err(error) if error.kind() == ErrorKind::NotConnected => Ok(()),
            ended => ended,
        }
    }

    /// Makes the kernel reset the connection when it is closed, so that the client learns
    /// that the answer is not complete.
    pub(super) fn reset(&self) {
        // Without it, the client misses bytes.
        let _ = self.stream.set_zero_linger();
    }
}

/// Waits for a connection.
pub(super) async fn accepted(
    listener: &tokio::net::TcpListener,
) -> io::Result<(TcpStream, std::net::SocketAddr)> {
    poll_fn(|context| listener.poll_accept(context)).await
}
