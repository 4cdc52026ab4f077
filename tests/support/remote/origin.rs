//! A web server with objects, which records requests and has faults on demand.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The current version of an object.
#[derive(Debug, Clone)]
pub struct Object {
    pub bytes: Arc<Vec<u8>>,
    pub etag: Option<String>,
    pub modified: Option<&'static str>,
}

impl Object {
    /// Creates an object with a strong ETag.
    pub fn new(bytes: impl Into<Vec<u8>>, etag: &str) -> Self {
        Self {
            bytes: Arc::new(bytes.into()),
            etag: Some(format!("\"{etag}\"")),
            modified: Some("Sat, 01 Feb 2020 03:04:05 GMT"),
        }
    }
}

/// A request that was answered, or refused.
#[derive(Debug, Clone)]
pub struct Request {
    /// Path with the query.
    pub target: String,
    pub headers: HashMap<String, String>,
    /// The bytes that were requested.
    pub range: Option<Range<u64>>,
}

/// Returns whether a fault applies to a request.
pub type Which = fn(&Request) -> bool;

/// Faults of the answers.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    /// This status for everything, with these headers.
    pub status: Option<(u16, String)>,
    /// The same for requests that match.
    pub status_where: Option<(Which, u16)>,
    /// No answer.
    pub silent: bool,
    /// Each connection ends after that many bytes of bodies.
    pub cut_after: Option<usize>,
    /// The same, with a reset.
    pub reset_after: Option<usize>,
    /// No byte of a longer body arrives: the connection is reset.
    pub longest: Option<usize>,
    /// Each connection becomes silent after that many bytes of bodies.
    pub stall_after: Option<usize>,
    /// Ranges are ignored.
    pub no_ranges: bool,
    /// Conditions are ignored.
    pub no_conditions: bool,
    /// Ranges are answered with those that many bytes further on.
    pub shift: u64,
    /// That many bytes are missing at the end, also according to the headers.
    pub short: u64,
    /// Time before an answer.
    pub delay: Duration,
    /// Time before each header line of an answer.
    pub slow_head: Duration,
}

#[derive(Default)]
struct State {
    objects: Mutex<HashMap<String, Object>>,
    requests: Mutex<Vec<Request>>,
    faults: Mutex<Faults>,
    /// Connections; the thread that serves one closes it.
    open: Mutex<Vec<Weak<TcpStream>>>,
    is_ending: AtomicBool,
}

/// The server. It ends when it is dropped.
pub struct Origin {
    state: Arc<State>,
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Origin {
    /// Creates a server with one object.
    pub fn with(name: &str, object: Object) -> Self {
        let origin = Self::at("127.0.0.1:0");
        origin.put(name, object);
        origin
    }

    fn at(address: &str) -> Self {
        // A port that a server has just closed is free after a moment.
        let start = Instant::now();
        let listener = loop {
            match TcpListener::bind(address) {
                Ok(listener) => break listener,
                Err(error) => assert!(start.elapsed().as_secs() < 20, "{address}: {error}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let address = listener.local_addr().unwrap();
        let state = Arc::<State>::default();
        let accepting = state.clone();
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.is_ending.load(Ordering::SeqCst) {
                    return;
                }
                let (state, Ok(stream)) = (accepting.clone(), stream) else {
                    continue;
                };
                let stream = Arc::new(stream);
                state.open.lock().unwrap().push(Arc::downgrade(&stream));
                std::thread::spawn(move || drop(serve(&state, &stream)));
            }
        });
        Self {
            state,
            address,
            thread: Some(thread),
        }
    }

    /// Returns the URL of an object.
    pub fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    /// Adds or replaces an object. If its name has no query, it is returned for
    /// all queries without an object.
    pub fn put(&self, name: &str, object: Object) {
        let mut objects = self.state.objects.lock().unwrap();
        objects.insert(format!("/{name}"), object);
    }

    /// Removes an object.
    pub fn remove(&self, name: &str) {
        let mut objects = self.state.objects.lock().unwrap();
        objects.remove(&format!("/{name}")).unwrap();
    }

    /// Sets the faults of further answers, and closes all connections.
    pub fn set(&self, faults: Faults) {
        *self.state.faults.lock().unwrap() = faults;
        self.hang_up();
    }

    fn hang_up(&self) {
        let open = std::mem::take(&mut *self.state.open.lock().unwrap());
        for stream in open.iter().filter_map(Weak::upgrade) {
            // It may have ended by itself.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Returns the requests so far, and clears them.
    pub fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut *self.state.requests.lock().unwrap())
    }

    /// Stops the server while `work` runs.
    pub fn without<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let address = self.address.to_string();
        self.end();
        let done = work();
        let new = Self::at(&address);
        let objects = std::mem::take(&mut *self.state.objects.lock().unwrap());
        *new.state.objects.lock().unwrap() = objects;
        *self = new;
        done
    }

    fn end(&mut self) {
        self.state.is_ending.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
        self.hang_up();
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.end();
    }
}

/// Answers the requests of a connection.
fn serve(state: &State, stream: &TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut sent = 0;
    while let Some(request) = request(&mut reader)? {
        state.requests.lock().unwrap().push(request.clone());
        let faults = state.faults.lock().unwrap().clone();
        std::thread::sleep(faults.delay);
        if faults.silent {
            // Until the connection is shut down.
            reader.read_exact(&mut [0])?;
            return Ok(());
        }
        let object = {
            let path = request.target.split('?').next().unwrap_or_default();
            let objects = state.objects.lock().unwrap();
            objects.get(&request.target).or(objects.get(path)).cloned()
        };
        let (head, body) = answer(&request, object, &faults);
        for line in head.split_inclusive('\n') {
            std::thread::sleep(faults.slow_head);
            (&*stream).write_all(line.as_bytes())?;
        }
        if faults.longest.is_some_and(|longest| body.len() > longest) {
            return reset(stream);
        }
        for part in body.chunks(16 << 10) {
            let left = |limit: Option<usize>| limit.map_or(part.len(), |limit| limit - sent);
            let limits = [faults.cut_after, faults.reset_after, faults.stall_after];
            let left = limits.into_iter().map(left).min().unwrap_or_default();
            let sending = left.min(part.len());
            (&*stream).write_all(&part[..sending])?;
            sent += sending;
            if sending == part.len() {
                continue;
            }
            if faults.stall_after.is_some() {
                reader.read_exact(&mut [0])?;
            }
            if faults.reset_after.is_some() {
                return reset(stream);
            }
            return stream.shutdown(Shutdown::Both);
        }
    }
    Ok(())
}

/// Makes the connection end with a reset when it is closed.
fn reset(stream: &TcpStream) -> std::io::Result<()> {
    Ok(rustix::net::sockopt::set_socket_linger(
        stream,
        Some(Duration::ZERO),
    )?)
}

fn request(reader: &mut BufReader<&TcpStream>) -> std::io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let range = headers.get("range").and_then(|range| {
        let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        Some(first..last + 1)
    });
    Ok(Some(Request {
        target,
        headers,
        range,
    }))
}

/// Returns the head and body of the answer.
fn answer(request: &Request, object: Option<Object>, faults: &Faults) -> (String, Vec<u8>) {
    let plain = |status: u16, more: &str| {
        let head = format!("HTTP/1.1 {status} Status\r\nContent-Length: 4\r\n{more}\r\n");
        (head, b"text".to_vec())
    };
    if let Some((status, more)) = &faults.status {
        return plain(*status, more);
    }
    if let Some((applies, status)) = faults.status_where
        && applies(request)
    {
        return plain(status, "");
    }
    let Some(object) = object else {
        return plain(404, "");
    };
    if !faults.no_conditions && !holds(request, &object) {
        return plain(412, "");
    }
    let length = object.bytes.len() as u64;
    let mut head = String::new();
    for (name, value) in [
        ("ETag", object.etag.as_deref()),
        ("Last-Modified", object.modified),
    ] {
        if let Some(value) = value {
            head += &format!("{name}: {value}\r\n");
        }
    }
    match &request.range {
        Some(range) if !faults.no_ranges => {
            let start = range.start + faults.shift;
            let end = (range.end + faults.shift).min(length);
            if start >= end {
                return plain(416, &format!("Content-Range: bytes */{length}\r\n"));
            }
            let end = end - faults.short;
            let body = object.bytes[start as usize..end as usize].to_vec();
            head += &format!("Content-Range: bytes {start}-{}/{length}\r\n", end - 1);
            head += &format!("Content-Length: {}\r\n\r\n", body.len());
            (format!("HTTP/1.1 206 Partial Content\r\n{head}"), body)
        }
        _ => {
            head += &format!("Content-Length: {length}\r\n\r\n");
            (format!("HTTP/1.1 200 OK\r\n{head}"), object.bytes.to_vec())
        }
    }
}

/// Returns whether the conditions of a request hold.
fn holds(request: &Request, object: &Object) -> bool {
    let if_match = request.headers.get("if-match");
    let matches = if_match.is_none_or(|wanted| object.etag.as_ref() == Some(wanted));
    let unmodified = request.headers.get("if-unmodified-since");
    matches && unmodified.is_none_or(|since| object.modified.is_none_or(|is| is == since))
}
