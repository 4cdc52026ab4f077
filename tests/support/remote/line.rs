//! A slow line with latency to a server.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

/// Bytes that go over the line together.
const PIECE: usize = 16 << 10;

/// Pieces of a connection that are under way at most; what comes after them
/// waits at the server.
const UNDER_WAY: usize = 256;

/// What the connections of a line share.
struct Shared {
    server: SocketAddr,
    round_trip: Duration,
    bytes_per_second: u32,
    /// When what was sent so far has left the server.
    busy_until: Mutex<Instant>,
    is_ending: AtomicBool,
}

/// A line to a server. It ends when it is dropped.
pub struct Line {
    shared: Arc<Shared>,
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Line {
    /// Creates a line to the server of an HTTP URL.
    pub fn to(url: &str, round_trip: Duration, bytes_per_second: u32) -> Self {
        let (server, _) = parts(url);
        let shared = Arc::new(Shared {
            server: server.parse().unwrap(),
            round_trip,
            bytes_per_second,
            busy_until: Mutex::new(Instant::now()),
            is_ending: AtomicBool::new(false),
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let accepting = shared.clone();
        let thread = spawn(move || {
            for stream in listener.incoming() {
                if accepting.is_ending.load(Ordering::SeqCst) {
                    return;
                }
                // Either end may have gone already.
                if let Ok(stream) = stream {
                    let _ = connect(&accepting, stream);
                }
            }
        });
        Self {
            shared,
            address,
            thread: Some(thread),
        }
    }

    /// Returns the same URL at this end of the line.
    pub fn url(&self, url: &str) -> String {
        let (_, path) = parts(url);
        format!("http://{}/{path}", self.address)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.shared.is_ending.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Host and path of a URL.
fn parts(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").unwrap();
    rest.split_once('/').unwrap()
}

/// Bytes and when they arrive.
type Piece = (Instant, Vec<u8>);

fn connect(shared: &Arc<Shared>, client: TcpStream) -> std::io::Result<()> {
    let server = TcpStream::connect(shared.server)?;
    // Connecting has taken a round trip before anything can be asked.
    let open = Instant::now() + shared.round_trip;
    let half = shared.round_trip / 2;
    let (asked, asking) = sync_channel(UNDER_WAY);
    let (from, to) = (client.try_clone()?, server.try_clone()?);
    spawn(move || send(from, &asked, |_| open.max(Instant::now()) + half));
    spawn(move || deliver(&asking, to));
    let (answered, answering) = sync_channel(UNDER_WAY);
    let shared = shared.clone();
    spawn(move || send(server, &answered, |length| shared.sent(length) + half));
    spawn(move || deliver(&answering, client));
    Ok(())
}

impl Shared {
    /// When that many bytes have left the server, after all others.
    fn sent(&self, length: usize) -> Instant {
        let mut busy_until = self.busy_until.lock().unwrap();
        let begun = busy_until.max(Instant::now());
        *busy_until = begun + Duration::from_secs(length as u64) / self.bytes_per_second;
        *busy_until
    }
}

/// Sends what comes from one end on its way.
fn send(mut from: TcpStream, way: &SyncSender<Piece>, arrival: impl Fn(usize) -> Instant) {
    let mut piece = vec![0; PIECE];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        if way
            .send((arrival(length), piece[..length].to_vec()))
            .is_err()
        {
            return;
        }
    }
}

/// Gives what is on its way to the other end, and its end.
fn deliver(way: &Receiver<Piece>, mut to: TcpStream) {
    for (arrival, piece) in way {
        sleep(arrival.saturating_duration_since(Instant::now()));
        if to.write_all(&piece).is_err() {
            break;
        }
    }
    // The connection may be gone.
    let _ = to.shutdown(Shutdown::Both);
}
