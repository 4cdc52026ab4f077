//! `hpi serve`: the threads of the server, their confinement, and its end.

use std::io::{self, IsTerminal, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use super::confine::{Confined, Confinement};
#[cfg(edit)]
use super::edit;
use super::{reading_threads, signals};
use crate::app::without_mount::vfs_options;
use crate::app::{Failure, MountOptions, shortened, tell};
use crate::mount::{Sources, Vfs};
use crate::platform::url_opener;
#[cfg(edit)]
use crate::serve::EditedTree;
use crate::serve::{
    self, Equipment, Guard, Handles, HostName, Network, Patience, Serving, Share, SourceIdentity,
    Texts, Token,
};

/// The usual port, and how many are tried if it is in use.
const PORT: u16 = 8417;
const PORTS: u16 = 10;

/// Number of reading threads at least: a file that hangs must not stop everything.
const MIN_THREADS: usize = 4;

/// The addresses of this machine for itself.
const LOOPBACK: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::LOCALHOST),
    IpAddr::V6(Ipv6Addr::LOCALHOST),
];

/// Options of a server: its addresses and its clients.
#[derive(Debug, Clone, Default)]
pub struct Serve {
    /// The address; without it, loopback.
    pub host: Option<IpAddr>,
    /// The port; without it the first one that is free, from the usual one on.
    pub port: Option<u16>,
    /// Address for NFS, if it is served.
    pub nfs: Option<SocketAddr>,
    /// The token that clients must know.
    pub token: TokenSource,
    /// The clients that are answered; all if it is empty.
    pub networks: Vec<Network>,
    /// Other names of this server.
    pub hosts: Vec<HostName>,
    /// True if the browser is opened.
    pub opens_browser: bool,
}

/// Source of the token.
#[derive(Debug, Clone, Default)]
pub enum TokenSource {
    /// It is made at the start.
    #[default]
    Random,
    /// It is this word.
    Word(String),
    /// It is the first line of this file; without the file it is made at the start.
    File(PathBuf),
    /// Clients need none.
    None,
}

/// Serves sources until a signal ends that.
///
/// # Errors
/// Returns an error if they cannot be opened, or the address cannot be used.
pub fn serve(
    sources: &Sources,
    serve: &Serve,
    options: &MountOptions,
) -> Result<ExitCode, Failure> {
    signals::reset_sigchld().map_err(Failure::no_signals)?;
    let token = token(&serve.token)?;
    let listeners = listeners(serve)?;
    let address = address_of(&listeners)?;
    let nfs = serve.nfs.map(listen).transpose()?;
    let nfs_address = nfs.as_ref().map(address_of_one).transpose()?;
    let confined = Confined::start(!options.no_sandbox).map_err(Failure::no_thread)?;
    let share = open(sources, options, token.clone(), &confined)?;
    // Until here a signal ends the process at once, even while it waits for a slow source.
    let signals = signals::catch().map_err(Failure::no_signals)?;
    let urls = Urls::new(address, nfs_address, token.as_ref());
    let start = serve.opens_browser.then(random).transpose();
    let start = start.map_err(|error| Failure::Other("cannot make random numbers", error))?;
    let start = start.filter(|_| token.is_some()).map(Token::random);
    let guard = guard(serve, token, start.clone(), address);
    let without_sandbox = options.no_sandbox;
    let enter = move || match without_sandbox {
        true => Ok(()),
        false => Confinement::to_clients().enter(),
    };
    let threads = threads(sources, options);
    let serving = Serving::start(listeners, nfs, guard, patience(), threads, &share, enter);
    let serving = serving.map_err(Failure::no_thread)?;
    let (serving, started) = {
        let started = confined.run(move || {
            let started = serving.read(&share);
            (serving, started)
        });
        started.map_err(Failure::no_thread)?
    };
    started.map_err(Failure::no_thread)?;
    if !serve::has_explorer() {
        tell("the explorer is not built in; scripts/web builds it (needs npm)");
    }
    urls.print().map_err(Failure::no_output)?;
    if serve.opens_browser {
        open_browser(&urls.start(start.as_ref()));
    }
    let restricted = match without_sandbox {
        true => Ok(()),
        false => Confinement::to_clients().enter(),
    };
    restricted.map_err(Failure::no_thread)?;
    signals::wait(signals);
    let ended = serving.end();
    ::log::logger().flush();
    ended.map_err(|error| Failure::Other("the server ended unexpectedly", error))?;
    Ok(ExitCode::SUCCESS)
}

/// Opens the sources, in threads that are confined to them.
fn open(
    sources: &Sources,
    options: &MountOptions,
    token: Option<Token>,
    confined: &Confined,
) -> Result<Arc<Share>, Failure> {
    let vfs_options = vfs_options(sources, options)?;
    serve::read_page_in_development();
    let unmade = |error| Failure::Other("cannot make random numbers", error);
    let (salt, key) = (random().map_err(unmade)?, random().map_err(unmade)?);
    let equip = |identity| Equipment {
        identity,
        salt,
        texts: texts(options),
        handles: Handles::new(token, key),
    };
    if let Some(folder) = &options.edit {
        return follow(sources, folder, options, vfs_options, confined, equip);
    }
    let prepared = sources.prepare()?;
    let prepared = prepared.with_changes(&options.apply, options.apply_strict)?;
    let equipment = equip(SourceIdentity::of(&prepared));
    let confinement = options.confinement(&prepared.paths());
    let share = confined.run(move || {
        confinement.restrict_files()?;
        Ok(Vfs::open_prepared(prepared, vfs_options)
            .map(|vfs| Arc::new(Share::fixed(vfs, equipment))))
    });
    let share: io::Result<_> = share.flatten();
    Ok(share.map_err(Failure::no_thread)??)
}

/// Opens sources with a folder of edits, whose changes are followed.
#[cfg(edit)]
fn follow(
    sources: &Sources,
    folder: &Path,
    options: &MountOptions,
    vfs_options: crate::mount::Options,
    confined: &Confined,
    equip: impl FnOnce(SourceIdentity) -> Equipment,
) -> Result<Arc<Share>, Failure> {
    let sourced = edit::Sourced::prepare(sources, folder, options, None)?;
    let equipment = equip(SourceIdentity::of(&sourced.prepared));
    let opened = sourced.follow_folder()?;
    let mount = sourced.open(opened, vfs_options, confined, |_, _| {})?;
    let share = confined.run(move || Arc::new(Share::live(EditedTree::new(mount), equipment)));
    share.map_err(Failure::no_thread)
}

#[cfg(not(edit))]
fn follow(
    _sources: &Sources,
    _folder: &Path,
    _options: &MountOptions,
    _vfs_options: crate::mount::Options,
    _confined: &Confined,
    _equip: impl FnOnce(SourceIdentity) -> Equipment,
) -> Result<Arc<Share>, Failure> {
    Err(Failure::Usage("--edit needs Linux".to_owned()))
}

/// Starts the thread with the index of texts, which writes to a file without a name and can
/// open no other. Without it, names can be searched.
fn texts(options: &MountOptions) -> Texts {
    let confinement = options.confinement(&[]);
    let started = Texts::start(options.vfs.spool_size, move || confinement.enter());
    started.unwrap_or_else(|error| {
        ::log::warn!("texts cannot be searched: {error}");
        Texts::none()
    })
}

/// Returns how long clients may take.
fn patience() -> Patience {
    let at_most = |usual| shortened("HPIMOUNT_TEST_PATIENCE", Duration::from_secs(usual));
    Patience {
        to_ask: at_most(10),
        idle: at_most(60),
        to_take: at_most(30),
    }
}

/// Returns the number of reading threads.
fn threads(sources: &Sources, options: &MountOptions) -> usize {
    reading_threads(sources, options).max(MIN_THREADS)
}

/// Returns random bits.
fn random() -> io::Result<u128> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)?;
    Ok(u128::from_le_bytes(bits))
}

fn token(source: &TokenSource) -> Result<Option<Token>, Failure> {
    let word =
        |word: &str| Token::new(word).map_err(|why| Failure::Usage(format!("--token: {why}")));
    let made = || {
        let bits = random();
        bits.map_err(|error| Failure::Other("cannot make a token", error))
    };
    Ok(match source {
        TokenSource::None => None,
        TokenSource::Word(text) => Some(word(text)?),
        TokenSource::Random => Some(Token::random(made()?)),
        TokenSource::File(path) => match std::fs::read_to_string(path) {
            Ok(text) => Some(word(text.lines().next().unwrap_or_default().trim())?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Token::random(made()?)),
            Err(error) => {
                let why = format!("--token @{}: {error}", path.display());
                return Err(Failure::Usage(why));
            }
        },
    })
}

/// Returns who is answered; the first request of the browser has the token `start`.
fn guard(serve: &Serve, token: Option<Token>, start: Option<Token>, address: SocketAddr) -> Guard {
    let own = HostName::parse(&host_text(address.ip()));
    let hosts = serve.hosts.iter().cloned().chain(own);
    Guard::new(
        token,
        hosts.collect(),
        serve.networks.clone(),
        address.port(),
    )
    .starting_with(start)
}

/// Listens where the options say. Loopback has two addresses, with the same port.
fn listeners(serve: &Serve) -> Result<Vec<TcpListener>, Failure> {
    let host = serve.host.unwrap_or(LOOPBACK[0]);
    let ports = match serve.port {
        Some(port) => port..=port,
        None => PORT..=PORT + PORTS - 1,
    };
    let mut refused = None;
    for port in ports {
        match serve::listen(SocketAddr::new(host, port)) {
            Ok(listener) => {
                let mut listeners = vec![listener];
                if serve.host.is_none() {
                    let port = address_of(&listeners)?.port();
                    // There may be no IP of version 6, or another server.
                    listeners.extend(serve::listen(SocketAddr::new(LOOPBACK[1], port)));
                }
                return Ok(listeners);
            }
            Err(error) => refused = Some((port, error)),
        }
    }
    let (port, error) = refused.expect("there is a port");
    let message = format!("{}: {error}", SocketAddr::new(host, port));
    Err(Failure::NotWritten(io::Error::new(error.kind(), message)))
}

/// Listens at an address.
fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    serve::listen(address).map_err(|error| {
        let message = format!("{address}: {error}");
        Failure::NotWritten(io::Error::new(error.kind(), message))
    })
}

/// Returns the address of the first listener.
fn address_of(listeners: &[TcpListener]) -> Result<SocketAddr, Failure> {
    address_of_one(&listeners[0])
}

fn address_of_one(listener: &TcpListener) -> Result<SocketAddr, Failure> {
    let address = listener.local_addr();
    address.map_err(|error| Failure::Other("cannot listen", error))
}

/// Returns an address as in a URL.
fn host_text(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// The URLs that are printed.
struct Urls {
    /// Of the server, without a path.
    server: String,
    browser: String,
    dav: String,
    /// Host, path and port.
    nfs: Option<(String, String, u16)>,
}

impl Urls {
    fn new(address: SocketAddr, nfs: Option<SocketAddr>, token: Option<&Token>) -> Self {
        // A server on all addresses is reached here by the address of this machine.
        let host = match address.ip() {
            ip if ip.is_unspecified() => LOOPBACK[usize::from(ip.is_ipv6())],
            ip => ip,
        };
        let server = format!("http://{}:{}", host_text(host), address.port());
        let before = token.map(|token| format!("/t/{}", token.text()));
        let query = token.map(|token| format!("?token={}", token.text()));
        Self {
            browser: format!("{server}/{}", query.unwrap_or_default()),
            dav: format!("{server}{}/dav/", before.clone().unwrap_or_default()),
            nfs: nfs.map(|nfs| {
                let path = before.unwrap_or_else(|| "/".to_owned());
                (host_text(nfs.ip()), path, nfs.port())
            }),
            server,
        }
    }

    /// Returns the URL that the browser is started with. Other users see it in the list of
    /// processes, and it is in the history, so its token is valid once.
    fn start(&self, token: Option<&Token>) -> String {
        let query = token.map(|token| format!("?token={}", token.text()));
        format!("{}/{}", self.server, query.unwrap_or_default())
    }

    /// Prints the URLs; on a terminal, each with its purpose.
    fn print(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let is_terminal = out.is_terminal();
        let width = self.browser.len().max(self.dav.len());
        for (url, what) in [(&self.browser, "browser"), (&self.dav, "WebDAV")] {
            match is_terminal {
                true => writeln!(out, "{url:width$}  {what}")?,
                false => writeln!(out, "{url}")?,
            }
        }
        if let Some((host, path, port)) = &self.nfs {
            writeln!(out, "{host}:{path} port {port}")?;
        }
        if is_terminal {
            let Self { dav, .. } = self;
            let drive = dav.replace("http://", "dav://");
            writeln!(out, "\nWindows: net use Z: {dav} /persistent:no")?;
            writeln!(out, "macOS:   Finder, Cmd-K, {dav}")?;
            writeln!(out, "Linux:   gio mount {drive}")?;
            if let Some((host, path, port)) = &self.nfs {
                let options = format!("vers=3,tcp,port={port},mountport={port},soft");
                writeln!(
                    out,
                    "macOS:   mount_nfs -o {options},nolocks,noresvport,rdonly,intr {host}:{path} DIR"
                )?;
                writeln!(
                    out,
                    "Linux:   mount -t nfs -o {options},nolock,ro {host}:{path} DIR"
                )?;
            }
            writeln!(out, "\nCtrl-C ends it.")?;
        }
        out.flush()
    }
}

/// Opens the browser.
fn open_browser(url: &str) {
    let mut command = url_opener();
    command.arg(url).stdin(Stdio::null());
    let started = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Err(error) = started {
        let opener = command.get_program().display();
        tell(format!("{opener}, which opens the browser: {error}"));
    }
}
