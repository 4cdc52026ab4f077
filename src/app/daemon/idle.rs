//! Unmounting when the mount is idle.
//!
//! The kernel answers many requests from its caches, and does not report opens
//! and closes. Therefore its entries expire after a short time, so that every
//! use of a path is noticed; and an unmount that is refused because something
//! is open shows that the mount is still in use. So does a program that waits
//! for changes, such as a file manager with an open window.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::mount::Mount;

/// Maximum and minimum time that a use may go unnoticed.
const MAX_LIFETIME: Duration = Duration::from_secs(60);
const MIN_LIFETIME: Duration = Duration::from_millis(100);

/// Returns how long the kernel may cache names of a mount that is unmounted
/// after `limit`.
pub(super) fn lifetime(limit: Duration) -> Duration {
    (limit / 10).clamp(MIN_LIFETIME, MAX_LIFETIME)
}

/// Unmounts when the mount has not been used for `limit`; `count` returns a number that
/// grows with every use.
///
/// # Errors
/// Returns an error if a thread cannot be started.
pub(super) fn watch(
    count: impl Fn() -> u64 + Send + 'static,
    mount: Arc<Mount>,
    limit: Duration,
) -> io::Result<()> {
    let lifetime = lifetime(limit);
    let watching = move || {
        let mut uses = count();
        let mut last_use = Instant::now();
        while mount.is_connected() {
            thread::sleep(lifetime / 2);
            let now = count();
            if now != uses {
                uses = now;
                last_use = Instant::now();
            // The kernel may have answered from its cache for a lifetime after
            // the last request.
            } else if last_use.elapsed() >= limit + lifetime {
                if mount.unmount_unused() {
                    log::info!("unmounted after {} s without use", limit.as_secs());
                    return;
                }
                // Open files and windows count as use.
                last_use = Instant::now();
            }
        }
    };
    let thread = thread::Builder::new().name("idle".to_owned());
    thread.spawn(watching).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_caches_names_for_a_tenth_of_the_time() {
        let seconds = Duration::from_secs;
        assert_eq!(lifetime(seconds(600)), seconds(60));
        assert_eq!(lifetime(seconds(100)), seconds(10));
        assert_eq!(lifetime(seconds(86_400)), seconds(60));
        assert_eq!(lifetime(seconds(1)), MIN_LIFETIME);
    }
}
