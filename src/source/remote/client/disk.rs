//! Blocks on disk, for concurrent and later mounts.
//!
//! `DIR/1/HH/HASH/NUMBER` is a block, where HASH is the hash of its object's
//! version in hexadecimal digits, and HH are the first two of them. A file
//! begins with a header with a checksum; it is written under another name and
//! renamed. A damaged file is a miss. Only the removal of the oldest files
//! takes a lock.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::BLOCK;
use super::block::{Block, BlockKey, Id};
use crate::platform::{
    canonical, create_private, is_private, make_private_directory, open_or_create_private,
    open_private,
};

/// First bytes of a file: the kind and the version of the format.
const MAGIC: [u8; 8] = *b"HPIMBLK1";

/// Bytes before the block: magic, hash, number of the block, length and CRC-32
/// of its bytes, the numbers in little-endian byte order.
const HEADER: usize = 8 + 32 + 8 + 4 + 4;

/// Maximum number of blocks waiting to be written; further ones are not kept.
const MAX_WAITING: usize = 32;

/// Minimum time between two updates of when a block was used.
const USE_INTERVAL: Duration = Duration::from_secs(60);

/// The directory is scanned whenever this fraction of the limit has been
/// written, since other processes write to it as well.
const SCAN_SHARE: u64 = 16;

/// Depth of a block below the directory of the format.
const DEPTH: u32 = 3;

/// Age after which a temporary file is no longer being written.
const ABANDONED: Duration = Duration::from_secs(3600);

/// A directory with blocks.
#[derive(Debug)]
pub(super) struct DiskCache {
    root: PathBuf,
    limit: u64,
    waiting: Arc<Semaphore>,
    /// Bytes written since the last scan.
    written: AtomicU64,
    /// Held during a scan.
    sweeping: Mutex<()>,
    /// True if a write failure has been logged.
    has_warned: AtomicBool,
}

impl DiskCache {
    /// Opens a directory, which is created if needed, for at most `limit`
    /// bytes.
    ///
    /// # Errors
    /// Returns an error if it cannot be used, or others can write to it.
    pub(super) fn open(root: &Path, limit: u64) -> io::Result<Self> {
        make_private_directory(root)?;
        let root = canonical(root)?;
        let found = fs::metadata(&root)?;
        if !is_private(&found) {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "another user owns it or can write to it",
            ));
        }
        Ok(Self {
            root,
            limit,
            waiting: Arc::new(Semaphore::new(MAX_WAITING)),
            // The directory is scanned after the first block.
            written: AtomicU64::new(limit),
            sweeping: Mutex::new(()),
            has_warned: AtomicBool::new(false),
        })
    }

    /// Returns the block with this number, or the number of the next block
    /// before `end` that may exist.
    pub(super) async fn find(
        self: &Arc<Self>,
        id: Id,
        number: u64,
        end: u64,
    ) -> Result<Vec<u8>, u64> {
        let this = self.clone();
        let found = spawn_blocking(move || {
            this.read(&(id, number)).ok_or_else(|| {
                let mut later = number + 1..end;
                let next = later.find(|&later| this.path(&(id, later)).exists());
                next.unwrap_or(end)
            })
        });
        found.await.unwrap_or(Err(end))
    }

    /// Queues a block to be written, unless too many are waiting. Called in a
    /// thread of the runtime.
    pub(super) fn keep(self: &Arc<Self>, key: BlockKey, block: Block) {
        let Ok(permit) = self.waiting.clone().try_acquire_owned() else {
            return;
        };
        let this = self.clone();
        drop(spawn_blocking(move || {
            if let Err(error) = this.write(&key, &block.0)
                && !this.has_warned.swap(true, Ordering::Relaxed)
            {
                log::warn!("{}: cannot keep blocks: {error}", this.root.display());
            }
            drop(permit);
        }));
    }

    fn path(&self, (id, number): &BlockKey) -> PathBuf {
        let hash = hex::encode(id);
        let content = self.root.join("1").join(&hash[..2]).join(&hash);
        content.join(number.to_string())
    }

    fn read(&self, key: &BlockKey) -> Option<Vec<u8>> {
        let (file, found) = open_private(&self.path(key))?;
        let mut bytes = Vec::new();
        let most = HEADER as u64 + BLOCK;
        (&file).take(most + 1).read_to_end(&mut bytes).ok()?;
        if bytes.len() < HEADER {
            return None;
        }
        let block = bytes.split_off(HEADER);
        if bytes != header(key, &block) {
            return None;
        }
        let now = SystemTime::now();
        let is_recent = |used| now.duration_since(used).is_ok_and(|age| age < USE_INTERVAL);
        if !found.modified().is_ok_and(is_recent) {
            // A failure only affects the order of removal.
            let _ = file.set_modified(now);
        }
        Some(block)
    }

    fn write(&self, key: &BlockKey, block: &[u8]) -> io::Result<()> {
        let path = self.path(key);
        let directory = path.parent().unwrap_or(&self.root);
        for made in [2, 1, 0].map(|up| directory.ancestors().nth(up)) {
            made.map_or(Ok(()), make_private_directory)?;
        }
        // Differs for all files that this process is writing.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let new = directory.join(format!(".{}-{number}", std::process::id()));
        let written = create_private(&new)
            .and_then(|mut file| {
                file.write_all(&header(key, block))?;
                file.write_all(block)
            })
            .and_then(|()| fs::rename(&new, &path));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written?;
        let bytes = (HEADER + block.len()) as u64;
        let before = self.written.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes > self.limit / SCAN_SHARE {
            self.sweep()?;
        }
        Ok(())
    }

    /// Removes the least recently used blocks if the limit is exceeded. Only
    /// one process does so at a time.
    fn sweep(&self) -> io::Result<()> {
        let Ok(_one_at_a_time) = self.sweeping.try_lock() else {
            return Ok(());
        };
        let guard = open_or_create_private(&self.root.join("sweep"))?;
        self.written.store(0, Ordering::Relaxed);
        if guard.try_lock().is_err() {
            return Ok(());
        }
        let now = SystemTime::now();
        let mut by_age = [0; AGES];
        visit(&self.root.join("1"), DEPTH, &mut |path, found| {
            let is_old = age(found, now) > ABANDONED;
            let is_new = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
            if is_old && path.file_name().is_some_and(is_new) {
                let _ = fs::remove_file(path);
            } else {
                by_age[age_class(age(found, now))] += found.len();
            }
        });
        let total: u64 = by_age.iter().sum();
        if total <= self.limit {
            return Ok(());
        }
        // Remove the classes of the oldest, and some files of the next class.
        let mut left = total - self.limit / 10 * 9;
        let mut youngest = AGES;
        while youngest > 0 && by_age[youngest - 1] <= left {
            youngest -= 1;
            left -= by_age[youngest];
        }
        visit(&self.root.join("1"), DEPTH, &mut |path, found| {
            let class = age_class(age(found, now));
            if class < youngest {
                if class + 1 < youngest || left == 0 {
                    return;
                }
                left = left.saturating_sub(found.len());
            }
            // Readers that have it open continue reading.
            let _ = fs::remove_file(path);
            if let Some(directory) = path.parent() {
                // Fails unless it is empty.
                let _ = fs::remove_dir(directory);
            }
        });
        Ok(())
    }
}

/// Returns how long ago a file was used.
fn age(found: &Metadata, now: SystemTime) -> Duration {
    let used = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    now.duration_since(used).unwrap_or_default()
}

/// Returns the age class of a file, eight for each factor of two, so that a
/// directory of any size is scanned in little memory.
fn age_class(age: Duration) -> usize {
    let age = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
    let Some(shift) = age.checked_ilog2().and_then(|bits| bits.checked_sub(3)) else {
        return age as usize;
    };
    (shift as usize + 1) * 8 + (age >> shift & 7) as usize
}

/// Number of age classes.
const AGES: usize = 62 * 8;

/// Calls `each` with the files that are `levels` levels below `directory`.
fn visit(directory: &Path, levels: u32, each: &mut dyn FnMut(&Path, &Metadata)) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let Ok(found) = entry.metadata() else {
            continue;
        };
        match levels {
            1 if found.is_file() => each(&entry.path(), &found),
            1 => {}
            _ if found.is_dir() => visit(&entry.path(), levels - 1, each),
            _ => {}
        }
    }
}

fn header((id, number): &BlockKey, block: &[u8]) -> Vec<u8> {
    let mut header = Vec::with_capacity(HEADER);
    header.extend(MAGIC);
    header.extend(id);
    header.extend(number.to_le_bytes());
    header.extend((block.len() as u32).to_le_bytes());
    header.extend(crc32fast::hash(block).to_le_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::PermissionsExt;

    /// Returns the lengths of the existing blocks.
    fn files(cache: &DiskCache) -> Vec<u64> {
        let mut files = Vec::new();
        visit(&cache.root.join("1"), DEPTH, &mut |_, found| {
            files.push(found.len());
        });
        files
    }

    #[test]
    fn older_blocks_have_later_classes() {
        let classes = (0..100_000).map(|millis| age_class(Duration::from_millis(millis)));
        let classes: Vec<_> = classes.collect();
        assert!(classes.windows(2).all(|pair| pair[1] - pair[0] <= 1));
        assert_eq!(classes[..17], std::array::from_fn::<_, 17, _>(|at| at));
        assert!(age_class(Duration::MAX) == AGES - 1);
    }

    #[test]
    fn a_written_block_is_found_and_a_damaged_file_is_a_miss() {
        let dir = tempfile::tempdir().unwrap();
        let cache = DiskCache::open(&dir.path().join("new"), 1 << 30).unwrap();
        let key = (Id::default(), 7);
        let block: Vec<u8> = (0..1000_u32).map(|byte| byte as u8).collect();
        assert_eq!(cache.read(&key), None);
        cache.write(&key, &block).unwrap();
        assert_eq!(cache.read(&key), Some(block.clone()));
        let path = cache.path(&key);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));

        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, damaged).unwrap();
            assert_eq!(cache.read(&key), None, "byte {at}");
        }
        for length in [0, 1, HEADER, whole.len() - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(cache.read(&key), None, "{length} bytes");
        }
        // The file of another block.
        cache.write(&(Id::default(), 8), &block).unwrap();
        fs::copy(cache.path(&(Id::default(), 8)), &path).unwrap();
        assert_eq!(cache.read(&key), None);
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(cache.path(&(Id::default(), 8)), &path).unwrap();
        assert_eq!(cache.read(&key), None);
        cache.write(&key, &block).unwrap();
        assert_eq!(cache.read(&key), Some(block));
    }

    #[test]
    fn the_least_recently_used_blocks_are_removed_over_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let block = vec![0; 10_000];
        let cache = DiskCache::open(dir.path(), 205_000).unwrap();
        let now = SystemTime::now();
        let write = |number| {
            let key = (Id::default(), number);
            cache.write(&key, &block).unwrap();
            // Each an hour, or half a minute, after the one before.
            let age = match number {
                0..20 => Duration::from_secs(3600 * (100 - number)),
                _ => Duration::from_secs(30 * (60 - number)),
            };
            let file = File::open(cache.path(&key)).unwrap();
            file.set_modified(now - age).unwrap();
        };
        (0..20).for_each(write);
        assert_eq!(files(&cache).len(), 20);
        // The first is used again.
        assert!(cache.read(&(Id::default(), 0)).is_some());
        let abandoned = cache.path(&(Id::default(), 0)).with_file_name(".1-1");
        fs::write(&abandoned, "x").unwrap();
        let file = File::open(&abandoned).unwrap();
        file.set_modified(now - 2 * ABANDONED).unwrap();
        for number in 20..24 {
            write(number);
        }
        assert!(!abandoned.exists());
        assert!(cache.read(&(Id::default(), 0)).is_some());
        for number in 24..60 {
            write(number);
            let total: u64 = files(&cache).iter().sum();
            let between = 205_000 / SCAN_SHARE + 2 * 10_056;
            assert!(total <= 205_000 + between, "{total}");
            assert!(total >= 205_000 / 2, "{total}");
        }
        for number in 1..20 {
            assert!(cache.read(&(Id::default(), number)).is_none());
        }
        assert!(cache.read(&(Id::default(), 59)).is_some());
    }

    #[test]
    fn a_directory_that_others_can_write_to_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let set = |mode| fs::set_permissions(dir.path(), fs::Permissions::from_mode(mode)).unwrap();
        set(0o777);
        let refused = DiskCache::open(dir.path(), 1).unwrap_err();
        assert!(refused.to_string().contains("can write to it"), "{refused}");
        set(0o755);
        DiskCache::open(dir.path(), 1).unwrap();
    }

    #[test]
    fn two_caches_in_one_directory_see_each_others_blocks() {
        let dir = tempfile::tempdir().unwrap();
        let open = || DiskCache::open(dir.path(), 1 << 30).unwrap();
        let (one, other) = (open(), open());
        std::thread::scope(|scope| {
            for cache in [&one, &other] {
                scope.spawn(move || {
                    for number in 0..50 {
                        cache
                            .write(&(Id::default(), number), &[number as u8; 99])
                            .unwrap();
                    }
                });
            }
        });
        for number in 0..50 {
            let block = Some(vec![number as u8; 99]);
            assert_eq!(one.read(&(Id::default(), number)), block);
        }
        assert_eq!(files(&other).len(), 50);
    }
}
