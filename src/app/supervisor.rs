//! Notification of a service manager that the mount is ready, see sd_notify(3).

use std::env;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The variable with the socket of the service manager.
const SOCKET: &str = "NOTIFY_SOCKET";

/// Notifies the service manager, if there is one.
pub(super) fn tell_ready() {
    if let Some(Err(error)) = env::var_os(SOCKET).map(|socket| send(socket.as_bytes())) {
        log::warn!("cannot notify the service manager: {error}");
    }
}

fn send(socket: &[u8]) -> io::Result<()> {
    let address = address(socket)?;
    UnixDatagram::unbound()?.send_to_addr(b"READY=1", &address)?;
    Ok(())
}

fn address(socket: &[u8]) -> io::Result<SocketAddr> {
    #[cfg(target_os = "linux")]
    if let Some(name) = socket.strip_prefix(b"@") {
        use std::os::linux::net::SocketAddrExt;
        return SocketAddr::from_abstract_name(name);
    }
    SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(socket))
}
