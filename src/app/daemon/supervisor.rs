//! Notification of a service manager that the mount is ready, see sd_notify(3).

use std::env;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The variable with the socket of the service manager.
const SOCKET: &str = "NOTIFY_SOCKET";

/// A connection to a service manager.
#[derive(Debug)]
pub(super) struct Supervisor {
    socket: UnixDatagram,
}

impl Supervisor {
    /// Connects to the service manager that the environment names, if it does.
    pub(super) fn connect() -> Option<Self> {
        let name = env::var_os(SOCKET)?;
        let connected = connect(name.as_bytes());
        let socket = connected.inspect_err(warn).ok()?;
        Some(Self { socket })
    }

    /// Notifies the service manager that the mount is ready.
    pub(super) fn tell_ready(&self) {
        if let Err(error) = self.socket.send(b"READY=1") {
            warn(&error);
        }
    }
}

fn warn(error: &io::Error) {
    log::warn!("cannot notify the service manager: {error}");
}

fn connect(name: &[u8]) -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address(name)?)?;
    Ok(socket)
}

fn address(socket: &[u8]) -> io::Result<SocketAddr> {
    #[cfg(target_os = "linux")]
    if let Some(name) = socket.strip_prefix(b"@") {
        use std::os::linux::net::SocketAddrExt;
        return SocketAddr::from_abstract_name(name);
    }
    SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(socket))
}
