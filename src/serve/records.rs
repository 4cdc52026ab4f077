//! The connections of NFS. A client has one call under way, and sends the next one when it has
//! taken the answer; so a connection costs one record and one answer, whatever is sent.

use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind, IoSlice};
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::spawn_local;

use super::connection::{Connection, Patience, Phase, accepted};
use super::job::{Job, Work};
use super::pieces::{Queue, Urgency};

/// Longest record: no call that is answered has a longer one.
const MAX_RECORD: u32 = 4 << 10;

/// Connections; a client has one or a few.
const MAX_CONNECTIONS: usize = 16;

/// Memory of one, in bytes: a record, and the longest answer.
const CONNECTION: usize = 260 << 10;

/// Timeout of an idle connection. Clients connect again.
const IDLE: Duration = Duration::from_secs(600);

/// The bit of the length of a record which says that nothing follows.
const LAST: u32 = 1 << 31;

/// Accepts the clients that `admits` permits, until the end.
pub(super) async fn accept(
    listener: TcpListener,
    work: Work,
    patience: Patience,
    admits: impl Fn(SocketAddr) -> bool,
    stop: watch::Receiver<bool>,
) {
    let patience = Patience {
        idle: IDLE,
        ..patience
    };
    let open = Rc::new(());
    loop {
        let Ok((stream, client)) = accepted(&listener).await else {
            // There are no descriptors left, or the client has gone already.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        if !admits(client) || Rc::strong_count(&open) > MAX_CONNECTIONS {
            continue;
        }
        let Ok(charge) = work.budget.charge("a connection of NFS", CONNECTION) else {
            continue;
        };
        let _ = stream.set_nodelay(true);
        let connection = Connection::new(stream, patience);
        let (queue, stop, open) = (work.queue.clone(), stop.clone(), open.clone());
        spawn_local(async move {
            serve(&connection, &queue, stop).await;
            drop((open, charge));
        });
    }
}

/// Serves a connection to its end.
async fn serve(connection: &Connection, queue: &Queue<Job>, mut stop: watch::Receiver<bool>) {
    let mut answered = pin!(answer_all(connection, queue));
    let mut overdue = pin!(connection.overdue());
    let mut stopped = pin!(stop.wait_for(|is_ending| *is_ending));
    poll_fn(|context| {
        let is_over = stopped.as_mut().poll(context).is_ready()
            || overdue.as_mut().poll(context).is_ready()
            // Clients that go away are no concern of others.
            || answered.as_mut().poll(context).is_ready();
        match is_over {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
}

/// Answers all calls in their order.
async fn answer_all(connection: &Connection, queue: &Queue<Job>) -> io::Result<()> {
    loop {
        connection.enter(Phase::Idle);
        let mut head = [0; 4];
        receive(connection, &mut head).await?;
        let length = u32::from_be_bytes(head);
        if length & LAST == 0 || length & !LAST > MAX_RECORD {
            return Err(ErrorKind::InvalidData.into());
        }
        let mut record = vec![0; (length & !LAST) as usize];
        receive(connection, &mut record).await?;
        connection.enter(Phase::Answering);
        let (reply, answered) = oneshot::channel();
        queue.push(Urgency::First, Job::Call(record, reply));
        let Ok(Some(answer)) = answered.await else {
            return Err(ErrorKind::InvalidData.into());
        };
        let head = (answer.len() as u32 | LAST).to_be_bytes();
        send(connection, &head).await?;
        send(connection, &answer).await?;
    }
}

async fn receive(connection: &Connection, mut buffer: &mut [u8]) -> io::Result<()> {
    while !buffer.is_empty() {
        let received = poll_fn(|context| connection.poll_receive(context, buffer)).await?;
        if received == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        buffer = &mut buffer[received..];
    }
    Ok(())
}

async fn send(connection: &Connection, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let parts = [IoSlice::new(bytes)];
        let sent = poll_fn(|context| connection.poll_send(context, &parts)).await?;
        bytes = &bytes[sent..];
    }
    Ok(())
}
