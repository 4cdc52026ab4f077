//! Sources with scripted failures.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hpimount_containers::io::ReadAt;

/// The effect of a fault on a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// It fails with EIO.
    Fails,
    /// It takes that long.
    Takes(Duration),
}

/// Returns the fault of the read with this number, counted from 0.
pub(crate) type Script = Box<dyn Fn(u64) -> Fault + Send + Sync>;

/// Bytes that are read with faults.
pub(crate) struct Faulty {
    bytes: Vec<u8>,
    script: Script,
    reads: AtomicU64,
}

impl Faulty {
    pub(crate) fn new(bytes: Vec<u8>, script: Script) -> Self {
        Self {
            bytes,
            script,
            reads: AtomicU64::new(0),
        }
    }

    /// Returns the number of reads so far.
    pub(crate) fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }
}

impl ReadAt for Faulty {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let number = self.reads.fetch_add(1, Ordering::Relaxed);
        match (self.script)(number) {
            Fault::None => {}
            Fault::Fails => return Err(io::Error::from_raw_os_error(libc::EIO)),
            Fault::Takes(time) => std::thread::sleep(time),
        }
        self.bytes.read_exact_at(buf, offset)
    }
}
