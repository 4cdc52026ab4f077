//! A semaphore that counts the bytes of values on their way to a slower thread: rows for
//! the database, pieces of disc images for their checksums.

use std::sync::Arc;

use crate::sync::awaited::Awaited;

/// A number of bytes that all waiting values may have in total. One that is alone may
/// have more.
#[derive(Default)]
pub(super) struct Room {
    limit: usize,
    taken: Awaited<usize>,
}

impl Room {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            ..Self::default()
        })
    }

    /// Takes room for a value, and waits until there is some.
    pub(super) fn take(self: &Arc<Self>, bytes: usize) -> Taken {
        self.taken.wait_for(|taken| {
            let fits = *taken == 0 || *taken + bytes <= self.limit;
            fits.then(|| *taken += bytes)
        });
        Taken {
            room: self.clone(),
            bytes,
        }
    }
}

/// Room that is taken for as long as this lives.
pub(super) struct Taken {
    room: Arc<Room>,
    bytes: usize,
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.room.taken.change(|taken| {
            *taken -= self.bytes;
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_text_waits_until_others_are_written_unless_it_is_alone() {
        let room = Room::new(10);
        let alone = room.take(100);
        let (done, is_done) = channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let both = [room.take(5), room.take(5)];
                done.send(()).unwrap();
                drop(both);
            });
            let waits = is_done.recv_timeout(Duration::from_millis(20)).is_err();
            drop(alone);
            assert!(waits && is_done.recv().is_ok());
        });
        assert_eq!(room.taken.with(|taken| *taken), 0);
    }
}
