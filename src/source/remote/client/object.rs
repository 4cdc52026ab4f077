//! An object on a server as a source: its blocks in memory, on disk, and being
//! fetched.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use object_store::path::Path;

use super::BLOCK;
use super::ahead::Ahead;
use super::block::{Block, BlockKey, Fetched, Id, identity};
use super::kept::Remote;
use super::network::{FIRST, Network, endpoint};
use super::store::{Failure, FailureKind, Pin, Store};
use super::url::RemoteUrl;
use crate::requester::{self, Outcome};
use crate::sync::flights::{Claim, Flight, Waited};
use crate::sync::lock;
use hpimount_containers::io::{Error, ReadAt};

/// Duration of immediate failures after a failed read, because the kernel repeats the
/// requests of its read-ahead.
const REST: Duration = Duration::from_secs(1);

/// Maximum number of blocks that a reader waits for at a time.
const BATCH: u64 = 64;

/// One version of an object on a server.
pub struct RemoteFile(Arc<Object>);

struct Object {
    remote: Arc<Remote>,
    /// Its URL without secrets.
    shown: String,
    /// `None` for an object without bytes.
    content: Option<Content>,
    ahead: Mutex<Ahead>,
    /// The time of the last failed read, and the reason.
    failed: Mutex<Option<(Instant, Arc<str>)>>,
    /// True if a change has been logged.
    is_changed: AtomicBool,
}

/// Location of the bytes of an object.
struct Content {
    store: Store,
    key: Path,
    pin: Pin,
    id: Id,
}

impl RemoteFile {
    /// Opens the object at `url`, in the version that it has now.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, or if its server does not support
    /// ranges.
    pub fn open(remote: &Arc<Remote>, url: &RemoteUrl) -> io::Result<Self> {
        let (network, owned_url) = (remote.network.clone(), url.clone());
        let opened = remote.network.wait(async move {
            let (store, key) = network.store(&owned_url)?;
            let mut bytes = Vec::new();
            let take = |part: &[u8]| bytes.extend_from_slice(part);
            let fetched = network.fetch((&store, &key), None, FIRST, take).await;
            Ok((store, key, fetched?, bytes))
        });
        let content = match opened {
            Ok((store, key, pin, bytes)) => {
                let id = identity(&endpoint(url), &url.unsigned(), &pin);
                remote.blocks.put(&(id, 0), Block(Arc::new(bytes)));
                Some(Content {
                    store,
                    key,
                    pin,
                    id,
                })
            }
            Err(failure) if failure.kind == FailureKind::Empty => None,
            Err(failure) => return Err(failure.into()),
        };
        Ok(Self::new(remote, url.shown().to_owned(), content))
    }

    /// Creates an object of a listing, in the version that it had there.
    /// Nothing is requested.
    pub(super) fn listed(
        remote: &Arc<Remote>,
        store: &Store,
        endpoint: &str,
        url: &str,
        pin: &Pin,
    ) -> Self {
        let content = (pin.len() > 0).then(|| Content {
            store: store.clone(),
            key: pin.key().clone(),
            pin: pin.clone(),
            id: identity(endpoint, url, pin),
        });
        Self::new(remote, url.to_owned(), content)
    }

    fn new(remote: &Arc<Remote>, shown: String, content: Option<Content>) -> Self {
        Self(Arc::new(Object {
            remote: remote.clone(),
            shown,
            content,
            ahead: Mutex::new(Ahead::new(remote.read_ahead)),
            failed: Mutex::new(None),
            is_changed: AtomicBool::new(false),
        }))
    }

    /// Returns the modification time of the object, in seconds since 1970 UTC;
    /// `None` if the server does not return it.
    pub fn modified(&self) -> Option<i64> {
        let content = self.0.content.as_ref()?;
        Some(content.pin.modified()).filter(|&modified| modified != 0)
    }

    /// Fetches the blocks with numbers from `first` to `end` that no thread is
    /// fetching, and returns those before `wanted`.
    fn claim(&self, content: &Content, first: u64, wanted: u64, end: u64) -> Vec<BlockState> {
        let mut blocks = Vec::new();
        let mut run: Option<Run> = None;
        for number in first..end.max(wanted) {
            let remote = &self.0.remote;
            let key = (content.id, number);
            let find = || remote.blocks.peek(&key).map(Ok);
            let claim = lock(&remote.flights).claim(key, find);
            let block = match claim {
                Claim::Found(block) => {
                    remote.hits.add(u64::from(number < wanted));
                    BlockState::Block(block)
                }
                Claim::Flying(flight) => BlockState::Flight(flight),
                Claim::Mine(flight) => {
                    match &mut run {
                        Some(run) if run.end == number => run.end += 1,
                        run => {
                            let new = Run {
                                object: self.0.clone(),
                                next: number,
                                end: number + 1,
                                partial: Vec::new(),
                                failure: None,
                            };
                            if let Some(run) = run.replace(new) {
                                run.start();
                            }
                        }
                    }
                    BlockState::Flight(flight)
                }
            };
            if number < wanted {
                blocks.push(block);
            }
        }
        if let Some(run) = run {
            run.start();
        }
        blocks
    }
}

/// A block that a thread waits for.
enum BlockState {
    Block(Fetched),
    Flight(Arc<Flight<Fetched>>),
}

impl Object {
    /// Returns the reason why reads currently fail, if they do.
    fn failing(&self) -> Option<Arc<str>> {
        let failed = lock(&self.failed);
        let recent = failed.as_ref().filter(|(since, _)| since.elapsed() < REST);
        recent.map(|(_, why)| why.clone())
    }

    fn fail(&self, failure: &Failure) {
        *lock(&self.failed) = Some((Instant::now(), failure.text.as_str().into()));
        let is_changed = failure.kind == FailureKind::Changed;
        if is_changed && !self.is_changed.swap(true, Ordering::Relaxed) {
            self.remote.changed.add(1);
            log::error!("{}: {}", self.shown, failure.text);
        }
    }
}

/// Consecutive blocks that were claimed and are being fetched. All of them are
/// landed, with a failure if they were not received.
struct Run {
    object: Arc<Object>,
    /// Numbers of the next block to be landed, and of the one after the last.
    next: u64,
    end: u64,
    /// The received part of the next one.
    partial: Vec<u8>,
    failure: Option<Arc<str>>,
}

impl Drop for Run {
    fn drop(&mut self) {
        let Some(content) = &self.object.content else {
            return;
        };
        for number in self.next..self.end {
            let why = self.failure.clone();
            let why = why.unwrap_or_else(|| "the request was aborted".into());
            let key = (content.id, number);
            self.object.remote.land(&key, Err(why));
        }
    }
}

impl Run {
    /// Fetches the blocks in the network threads.
    fn start(mut self) {
        let remote = self.object.remote.clone();
        if let Some(why) = self.object.failing() {
            self.failure = Some(why);
            return;
        }
        let network = remote.network.clone();
        remote.network.spawn(async move {
            let fetched = self.fetch_blocks(&network).await;
            self.end(fetched);
        });
    }

    fn end(&mut self, fetched: Result<(), Failure>) {
        if let Err(failure) = fetched {
            self.object.fail(&failure);
            self.failure = Some(failure.text.into());
        }
    }

    async fn fetch_blocks(&mut self, network: &Network) -> Result<(), Failure> {
        let object = self.object.clone();
        let Some(content) = &object.content else {
            return Ok(());
        };
        let disk = network.disk.clone();
        let disk = disk.filter(|_| content.pin.strong_etag().is_some());
        while self.next < self.end {
            let mut end = self.end;
            if let Some(disk) = &disk {
                match disk.find(content.id, self.next, end).await {
                    Ok(bytes) => {
                        self.object.remote.disk_hits.add(1);
                        self.take(content, &bytes);
                        continue;
                    }
                    Err(next_on_disk) => end = next_on_disk,
                }
            }
            let range = (self.next * BLOCK, (end * BLOCK).min(content.pin.len()));
            let from = (&content.store, &content.key);
            let take = |bytes: &[u8]| {
                for block in self.take(content, bytes) {
                    if let Some(disk) = &disk {
                        disk.keep(block.0, block.1);
                    }
                }
            };
            network.fetch(from, Some(&content.pin), range, take).await?;
        }
        self.object.is_changed.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Adds received bytes and returns the blocks that they complete.
    fn take(&mut self, content: &Content, mut bytes: &[u8]) -> Vec<(BlockKey, Block)> {
        let mut complete = Vec::new();
        while self.next < self.end && !bytes.is_empty() {
            let length = BLOCK.min(content.pin.len().saturating_sub(self.next * BLOCK)) as usize;
            let missing = length.saturating_sub(self.partial.len()).min(bytes.len());
            self.partial.reserve_exact(length - self.partial.len());
            self.partial.extend_from_slice(&bytes[..missing]);
            bytes = &bytes[missing..];
            if self.partial.len() < length {
                break;
            }
            let key = (content.id, self.next);
            let block = Block(Arc::new(std::mem::take(&mut self.partial)));
            let remote = &self.object.remote;
            remote.blocks.put(&key, block.clone());
            remote.land(&key, Ok(block.clone()));
            self.next += 1;
            complete.push((key, block));
        }
        complete
    }
}

impl ReadAt for RemoteFile {
    fn len(&self) -> u64 {
        self.0
            .content
            .as_ref()
            .map_or(0, |content| content.pin.len())
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        let (Some(content), false) = (&self.0.content, buf.is_empty()) else {
            return Ok(());
        };
        let end = offset + buf.len() as u64;
        let ahead = lock(&self.0.ahead).note(offset..end).min(self.len());
        let last = end.div_ceil(BLOCK);
        let mut first = offset / BLOCK;
        while first < last {
            let wanted = last.min(first + BATCH);
            let claimed = ahead
                .div_ceil(BLOCK)
                .min(wanted + self.0.remote.ahead_blocks());
            let blocks = self.claim(content, first, wanted, claimed);
            for (number, block) in (first..wanted).zip(blocks) {
                let block = match block {
                    BlockState::Block(block) => block,
                    BlockState::Flight(flight) => match flight.wait(&|| !requester::is_killed()) {
                        Waited::Landed(block) => block,
                        Waited::Abandoned => Err("the request was aborted".into()),
                        Waited::Unwanted => return Err(io::Error::other(Error::killed())),
                    },
                };
                let block = block.map_err(|why| io::Error::other(why.to_string()))?;
                copy_part(&block.0, number * BLOCK, buf, offset);
            }
            first = wanted;
        }
        Ok(())
    }

    fn will_need(&self, offset: u64, length: u64) {
        let Some(content) = &self.0.content else {
            return;
        };
        let length = length.min(self.0.remote.read_ahead);
        let end = offset.saturating_add(length).min(self.len());
        if offset < end && self.0.failing().is_none() {
            let first = offset / BLOCK;
            self.claim(content, first, first, end.div_ceil(BLOCK));
        }
    }
}

/// Copies the part of the block at `start` that belongs in `buf`, which is for
/// the bytes from `offset` on.
fn copy_part(block: &[u8], start: u64, buf: &mut [u8], offset: u64) {
    let from = offset.max(start);
    let end = (offset + buf.len() as u64).min(start + block.len() as u64);
    if from < end {
        let part = &block[(from - start) as usize..(end - start) as usize];
        buf[(from - offset) as usize..(end - offset) as usize].copy_from_slice(part);
    }
}
