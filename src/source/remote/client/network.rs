//! The threads for requests to servers, and retries.
//!
//! They are separate from the threads that parse, which may not connect to
//! anything, and pass only bytes and numbers to them.

use std::env;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use futures_util::StreamExt;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use object_store::path::Path;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout_at};

use super::BLOCK;
use super::access::{ENDPOINTS, access};
use super::disk::DiskCache;
use super::store::{Failure, FailureKind, Page, Pin, Store};
use super::url::{RemoteUrl, Scheme};
use super::wire::{Connector, Wire};
use super::{Access, RemoteOptions, Task};
use crate::requester;
use crate::source::secret::secret_line;
use crate::sync::tally::Tally;

/// Bytes that a server must send per second, on average over the timeout, so
/// that one that trickles is given up.
const MIN_RATE: u64 = 512;

/// Time before a request is retried: the first time, and the maximum.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// Interval at which a waiting thread looks whether its reader was killed.
const MOMENT: Duration = Duration::from_millis(100);

/// A thread with its runtime. It ends when this is dropped.
#[derive(Debug)]
struct Running {
    runtime: Handle,
    _stop: oneshot::Sender<()>,
}

impl Running {
    /// Starts a thread called `name`. It first calls `enter`, and does nothing else if
    /// that fails.
    fn start(
        name: &str,
        enter: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let run = move || {
            let build = |()| Builder::new_current_thread().enable_all().build();
            match enter().and_then(build) {
                Ok(runtime) => {
                    let _ = sender.send(Ok(runtime.handle().clone()));
                    // The sender is only dropped, together with the network.
                    let _ = runtime.block_on(stopped);
                    runtime.shutdown_background();
                }
                Err(error) => drop(sender.send(Err(error))),
            }
        };
        thread::Builder::new().name(name.to_owned()).spawn(run)?;
        let started = receiver.recv();
        Ok(Self {
            runtime: started.unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?,
            _stop: stop,
        })
    }
}

/// The threads for requests to servers. They end when it is dropped.
#[derive(Debug)]
pub struct Network {
    servers: Running,
    _names: Running,
    connector: Connector,
    headers: Option<HeaderMap>,
    /// The options for remote sources.
    pub(super) options: RemoteOptions,
    pub(super) wire: Arc<Wire>,
    /// Requests that were retried.
    pub(super) retries: Tally,
    /// Bytes of objects that were received.
    pub(super) bytes: Tally,
    pub(super) disk: Option<Arc<DiskCache>>,
}

impl Network {
    /// Starts a thread for requests to the servers of `urls`, and one that looks up their
    /// names. Each first calls `enter` with its task and the access that it and the
    /// threads started by it need, and does nothing else if that fails.
    ///
    /// # Errors
    /// Returns a message if an option cannot be applied, or if the thread
    /// cannot be started.
    pub fn start<'a>(
        options: &RemoteOptions,
        urls: impl Iterator<Item = &'a RemoteUrl>,
        enter: impl Fn(Task, &Access) -> io::Result<()> + Send + Sync + 'static,
    ) -> Result<Arc<Self>, String> {
        let headers = options.header.as_deref().map(|file| {
            let line = secret_line(file)?;
            let value = match line.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("authorization") => value.trim(),
                _ => &line,
            };
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| format!("{}: is not a valid header value", file.display()))?;
            value.set_sensitive(true);
            Ok::<_, String>(HeaderMap::from_iter([(AUTHORIZATION, value)]))
        });
        let headers = headers.transpose()?;
        let disk = options.block_cache.as_deref().map(|directory| {
            DiskCache::open(directory, options.block_cache_size)
                .map_err(|error| format!("-o blockcache={}: {error}", directory.display()))
        });
        let disk = disk.transpose()?.map(Arc::new);
        // Fails if another mount of this process has set it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let entered = Arc::new((enter, access(options, urls)));
        let start = |name, task| {
            let entered = entered.clone();
            let started = Running::start(name, move || (entered.0)(task, &entered.1));
            started.map_err(|error| format!("cannot start a thread for the network: {error}"))
        };
        let names = start("resolver", Task::Names)?;
        let servers = start("network", Task::Servers)?;
        let wire = Arc::<Wire>::default();
        let connector = Connector::new(&wire, options, &entered.1, names.runtime.clone());
        Ok(Arc::new(Self {
            servers,
            _names: names,
            connector,
            headers,
            options: options.clone(),
            wire,
            retries: Tally::default(),
            bytes: Tally::default(),
            disk,
        }))
    }

    /// Runs `work` in the network threads.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        drop(self.servers.runtime.spawn(work));
    }

    /// Runs `work` in the network threads and waits for its result.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) -> Result<T, Failure> {
        let (sender, receiver) = mpsc::channel();
        self.spawn(async move {
            let _ = sender.send(work.await);
        });
        loop {
            match receiver.recv_timeout(MOMENT) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Timeout) if requester::is_killed() => {
                    return Err(Failure {
                        kind: FailureKind::Passing,
                        text: "the process that waited for it was killed".to_owned(),
                    });
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::lasting("internal error in a request"));
                }
            }
        }
    }

    /// Returns the store of a URL. Must be called in the network threads,
    /// because only they may read the trusted certificates.
    pub(super) fn store(&self, url: &RemoteUrl) -> Result<(Store, Path), Failure> {
        Store::open(url, &self.connector, self.headers.as_ref())
    }

    /// Returns a page of a listing. Requests are retried until no byte has
    /// arrived for as long as a read may wait.
    pub(super) async fn list(
        &self,
        store: &Store,
        prefix: &str,
        token: Option<String>,
    ) -> Result<Page, Failure> {
        let mut patience = Patience::new(self.options.timeout);
        loop {
            let request = store.list(prefix, token.clone());
            let failure = match timeout_at(patience.end(), request).await {
                Ok(Ok(page)) => return Ok(page),
                Ok(Err(failure)) => failure,
                Err(_) => patience.silence(),
            };
            patience.pause(self, store, failure).await?;
        }
    }

    /// Returns the number of bytes of objects that were received so far.
    pub fn received(&self) -> u64 {
        self.bytes.get()
    }

    /// Passes to `take` the bytes of an object from `start` to `end`, or to its
    /// end. If no version is pinned yet, the first response pins its own.
    ///
    /// A reset connection may lose all data that was not read yet, and long responses
    /// may be lost on connections where shorter ones arrive. So after a request without
    /// data, the next one is halved, down to a block; after a success, it is doubled.
    pub(super) async fn fetch(
        &self,
        (store, key): (&Store, &Path),
        pinned: Option<&Pin>,
        (start, end): (u64, u64),
        mut take: impl FnMut(&[u8]),
    ) -> Result<Pin, Failure> {
        let mut pin = pinned.cloned();
        let mut position = start;
        let mut end = end;
        let mut longest = end - start;
        let mut patience = Patience::new(self.options.timeout);
        'parts: loop {
            let part_start = position;
            let mut part_end = end.min(position.saturating_add(longest));
            let request = store.get(key, position..part_end, pin.as_ref());
            let failure = match timeout_at(patience.end(), request).await {
                Err(_) => patience.silence(),
                Ok(Err(failure)) => failure,
                Ok(Ok(mut part)) => {
                    end = end.min(part.pin.len());
                    part_end = part_end.min(end);
                    let pin = &*pin.insert(part.pin);
                    loop {
                        match timeout_at(patience.end(), part.body.next()).await {
                            Err(_) => break patience.silence(),
                            Ok(None) => break cut(),
                            Ok(Some(Err(error))) => break error.into(),
                            Ok(Some(Ok(bytes))) => {
                                let left = (part_end - position).min(bytes.len() as u64);
                                take(&bytes[..left as usize]);
                                self.bytes.add(bytes.len() as u64);
                                position += left;
                                patience.reward(left);
                                if position == end {
                                    return Ok(pin.clone());
                                }
                                if position == part_end {
                                    longest = longest.saturating_mul(2);
                                    continue 'parts;
                                }
                            }
                        }
                    }
                }
            };
            if position == part_start {
                longest = ((part_end - part_start) / 2).max(BLOCK);
            }
            patience.pause(self, store, failure).await?;
        }
    }
}

fn cut() -> Failure {
    Failure {
        kind: FailureKind::Passing,
        text: "the server ends its answer too early".to_owned(),
    }
}

/// The limit for retries of a failing operation.
struct Patience {
    timeout: Duration,
    /// The time of the last progress.
    since: Instant,
    /// Number of bytes since then.
    received: u64,
    pause: Duration,
}

impl Patience {
    fn new(timeout: Duration) -> Self {
        Self {
            timeout,
            since: Instant::now(),
            received: 0,
            pause: FIRST_PAUSE,
        }
    }

    fn end(&self) -> Instant {
        self.since + self.timeout
    }

    /// Records that bytes came. They are progress once they are as many as the
    /// slowest server sends within the timeout.
    fn reward(&mut self, bytes: u64) {
        self.received += bytes;
        self.pause = FIRST_PAUSE;
        if self.received >= MIN_RATE * self.timeout.as_secs() {
            *self = Self::new(self.timeout);
        }
    }

    /// Returns the failure when the time is over.
    fn silence(&self) -> Failure {
        let text = match self.received {
            0 => "the server does not answer".to_owned(),
            bytes => format!("the server sends too slowly, {bytes} bytes"),
        };
        Failure {
            kind: FailureKind::Passing,
            text,
        }
    }

    /// Waits before the next attempt; returns `failure` if there should be no other.
    async fn pause(
        &mut self,
        network: &Network,
        store: &Store,
        failure: Failure,
    ) -> Result<(), Failure> {
        let may_pass = match failure.kind {
            FailureKind::Passing => true,
            FailureKind::Unreachable => store.is_known(),
            _ => false,
        };
        if !may_pass {
            return Err(failure);
        }
        let rest = network.wire.rest();
        let pause = self.pause.max(rest);
        if Instant::now() + pause >= self.end() {
            let seconds = self.timeout.as_secs();
            let text = match self.received {
                _ if rest > self.pause => format!(
                    "{}, and asks for a pause of {} s, which is longer than timeout={seconds} allows",
                    failure.text,
                    rest.as_secs_f64().ceil()
                ),
                0 => format!("{}, and no byte came for {seconds} s", failure.text),
                _ => format!("{} in {seconds} s", failure.text),
            };
            return Err(Failure { text, ..failure });
        }
        log::debug!("trying again in {} ms: {}", pause.as_millis(), failure.text);
        network.retries.add(1);
        sleep(pause).await;
        self.pause = (self.pause * 2).min(MAX_PAUSE);
        Ok(())
    }
}

/// Returns the identity of a URL's server: with other settings, a mount may use
/// another server for the same URL.
pub(super) fn endpoint(url: &RemoteUrl) -> String {
    let given = ENDPOINTS.iter().find_map(|name| env::var(name).ok());
    match url.scheme() {
        Scheme::S3 => given.unwrap_or_default(),
        Scheme::Http | Scheme::Https => String::new(),
    }
}

/// The range that is requested to open a source.
pub(super) const FIRST: (u64, u64) = (0, BLOCK);
