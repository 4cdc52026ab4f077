//! A network line to a server, with latency and limited bandwidth.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

/// Bytes that are sent at a time.
const PIECE: usize = 16 << 10;

/// Maximum number of pieces of a connection that are in transit; further ones
/// wait at the server.
const IN_TRANSIT: usize = 256;

/// State that the connections of a line share.
struct Shared {
    server: SocketAddr,
    round_trip: Duration,
    bytes_per_second: u32,
    /// When all bytes so far have left the server.
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
                // Either end may be closed already.
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

/// Returns the host and path of a URL.
fn parts(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").unwrap();
    rest.split_once('/').unwrap()
}

/// When bytes arrive, and the bytes.
type Piece = (Instant, Vec<u8>);

fn connect(shared: &Arc<Shared>, client: TcpStream) -> std::io::Result<()> {
    let server = TcpStream::connect(shared.server)?;
    // Connecting takes a round trip before anything can be requested.
    let open = Instant::now() + shared.round_trip;
    let half = shared.round_trip / 2;
    let (asked, asking) = sync_channel(IN_TRANSIT);
    let (from, to) = (client.try_clone()?, server.try_clone()?);
    spawn(move || send(from, &asked, |_| open.max(Instant::now()) + half));
    spawn(move || deliver(&asking, to));
    let (answered, answering) = sync_channel(IN_TRANSIT);
    let shared = shared.clone();
    spawn(move || send(server, &answered, |length| shared.sent(length) + half));
    spawn(move || deliver(&answering, client));
    Ok(())
}

impl Shared {
    /// Returns when that many more bytes have left the server.
    fn sent(&self, length: usize) -> Instant {
        let mut busy_until = self.busy_until.lock().unwrap();
        let begun = busy_until.max(Instant::now());
        *busy_until = begun + Duration::from_secs(length as u64) / self.bytes_per_second;
        *busy_until
    }
}

/// Queues the bytes from one end, with the times of their arrival.
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

/// Writes queued bytes to the other end when they arrive, and then closes it.
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
