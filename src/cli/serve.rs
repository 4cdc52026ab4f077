//! `hpi serve`.

use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::{Parser, ValueHint};
use log::LevelFilter;

use super::contents::Contents;
use crate::app::{self, MountOptions, TokenSource};
use crate::mount::Sources;
use crate::serve::{HostName, Network, Token};

/// Serve sources to the browser, to scripts and to file managers
///
/// The tree of a mount is served over HTTP, without FUSE: an explorer in the browser, which shows
/// pictures, models, sounds, tables and texts. The URL is printed. Its token keeps others out:
/// other users of the machine, and web pages in the browser. The command ends with Ctrl-C. Nothing
/// is written.
///
/// Served is this machine, at 127.0.0.1 and port 8417 or the next one that is free, or `ADDR:PORT`;
/// with `:0` any port. An address that others can reach needs `--token` or `--allow`. There is no
/// encryption; behind a reverse proxy, or through `ssh -L 8417:127.0.0.1:8417 MACHINE`, it is safe
/// over the internet.
#[derive(Debug, Parser)]
#[command(override_usage = "hpi serve [OPTIONS] [ADDR:PORT] SOURCE...\n       \
    hpi serve [OPTIONS] --game FOLDER [ADDR:PORT]")]
pub struct Serve {
    /// Where to serve, if it is an address and a port; then what to serve: files, folders and
    /// URLs, or none with --game
    #[arg(value_name = "SOURCE", value_hint = ValueHint::AnyPath)]
    words: Vec<OsString>,
    /// Show SOURCE with the changes in DIR, and follow them
    ///
    /// DIR is a folder of changes as for `--apply`; a mount with `--edit` may write it meanwhile.
    /// Files that are saved there are shown at once. This command only reads DIR. Linux only.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    #[arg(conflicts_with = "converted")]
    edit: Option<PathBuf>,
    /// Open the browser
    #[arg(long)]
    open: bool,
    /// Serve NFS version 3 too, at a port of this machine; 0 is any
    ///
    /// It is for systems that mount it without more software, such as macOS. It is served to this
    /// machine alone, also if the rest is served to others, unless ADDR says so. There are no
    /// passwords in NFS: the token is in the path of the export.
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = nfs_address)]
    nfs: Option<SocketAddr>,
    /// What clients must know: a word, `@FILE`, `random` or `none` [default: random]
    ///
    /// A word has at least 16 letters, digits, `-`, `.` and `_`; the first line of FILE is one. It
    /// is made at the start if FILE is missing, too. With `none`, which is for this machine alone,
    /// all its users and programs are answered.
    #[arg(long, value_name = "WORD", value_hint = ValueHint::FilePath)]
    token: Option<OsString>,
    /// Answer only this machine and clients in these networks, such as 192.168.1.0/24
    #[arg(long, value_name = "NETWORK", value_delimiter = ',', value_parser = Network::parse)]
    allow: Vec<Network>,
    /// Another name by which browsers reach the server, such as that of a reverse proxy
    ///
    /// Requests for other names are refused: a web page could have made its own name one of this
    /// machine.
    #[arg(long = "host", value_name = "NAME[:PORT]", value_parser = HostName::parse)]
    hosts: Vec<HostName>,
    /// Options for sources.
    #[command(flatten)]
    pub contents: Contents,
}

impl Serve {
    /// Returns what to serve, and where.
    ///
    /// # Errors
    /// Returns a message if something is missing, superfluous or not supported.
    pub fn plan(&self) -> Result<(Sources, app::Serve), String> {
        let address = self.words.first().and_then(|word| address(word));
        let (host, port, sources) = match address {
            Some((host, port)) => (host, Some(port), &self.words[1..]),
            None => (None, None, &self.words[..]),
        };
        let token = self.token()?;
        let nfs = self.nfs.map(|nfs| nfs.ip());
        let is_local = host.iter().chain(&nfs).all(IpAddr::is_loopback);
        match token {
            TokenSource::None if !is_local => {
                return Err("--token none is for this machine alone".to_owned());
            }
            TokenSource::Random if !is_local && self.token.is_none() && self.allow.is_empty() => {
                return Err(
                    "others can reach this address: --token random or --allow NETWORK says that \
                     they may; there is no encryption, which a reverse proxy or `ssh -L` adds"
                        .to_owned(),
                );
            }
            _ => {}
        }
        let serve = app::Serve {
            host,
            port,
            nfs: self.nfs,
            token,
            networks: self.allow.clone(),
            hosts: self.hosts.clone(),
            opens_browser: self.open,
        };
        Ok((self.contents.sources(sources)?, serve))
    }

    /// Returns the options of the tree.
    ///
    /// # Errors
    /// Returns a message if some contradict one another.
    pub fn options(&self) -> Result<MountOptions, String> {
        let options = self.contents.options()?;
        Ok(MountOptions {
            edit: self.edit.clone(),
            ..options
        })
    }

    /// Returns the log level.
    pub fn log_level(&self) -> LevelFilter {
        self.contents.log_level_or(LevelFilter::Warn)
    }

    fn token(&self) -> Result<TokenSource, String> {
        let Some(token) = &self.token else {
            return Ok(TokenSource::Random);
        };
        let not_text = || "--token: is not UTF-8".to_owned();
        let token = token.to_str().ok_or_else(not_text)?;
        Ok(match (token, token.strip_prefix('@')) {
            ("random", _) => TokenSource::Random,
            ("none", _) => TokenSource::None,
            (_, Some(file)) => TokenSource::File(file.into()),
            (word, None) => {
                Token::new(word).map_err(|why| format!("--token: {why}"))?;
                TokenSource::Word(word.to_owned())
            }
        })
    }
}

/// Parses the address of NFS.
fn nfs_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port));
    }
    let address = address(OsStr::new(text));
    let (host, port) = address.ok_or_else(|| format!("{text}: is no [ADDR:]PORT"))?;
    Ok(SocketAddr::new(
        host.unwrap_or(Ipv4Addr::LOCALHOST.into()),
        port,
    ))
}

/// Parses `[ADDR]:PORT`; returns `None` for anything else, which is a source.
fn address(word: &OsStr) -> Option<(Option<IpAddr>, u16)> {
    let (host, port) = word.to_str()?.rsplit_once(':')?;
    let port = port.parse().ok()?;
    let bracketed = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    Some(match (host, bracketed) {
        ("" | "localhost", _) => (None, port),
        (_, Some(host)) => (Some(IpAddr::V6(host.parse().ok()?)), port),
        (host, None) => (Some(IpAddr::V4(host.parse().ok()?)), port),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Command, parse};

    fn plan(line: &[&str]) -> Result<(Sources, app::Serve), String> {
        let line = [&["hpi", "serve"], line].concat();
        match parse("hpi", line.into_iter().map(OsString::from)) {
            Ok(Command::Serve(serve)) => serve.plan(),
            Ok(command) => panic!("{command:?}"),
            Err(rejected) => Err(rejected.to_string()),
        }
    }

    #[test]
    fn the_first_word_may_be_an_address() {
        let host = |text: &str| Some(text.parse().unwrap());
        for (word, expected) in [
            (":0", (None, Some(0))),
            ("localhost:80", (None, Some(80))),
            ("127.0.0.1:8417", (host("127.0.0.1"), Some(8417))),
            ("[::1]:8417", (host("::1"), Some(8417))),
            // A source.
            ("a", (None, None)),
            ("./a:80", (None, None)),
            ("a:80", (None, None)),
        ] {
            let (_, serve) = plan(&[word, "source"]).unwrap();
            assert_eq!((serve.host, serve.port), expected, "{word}");
        }
        assert!(plan(&[":80"]).is_err(), "the source is missing");
        assert!(plan(&["--game", "ta", ":80"]).is_ok());
    }

    #[test]
    fn full_paths_alone_are_opened_in_the_browser() {
        let parsed = |line: &[&str]| {
            let line = [&["hpi"], line].concat();
            parse("hpi", line.into_iter().map(OsString::from))
        };
        let dropped = ["/games/a b.hpi", "/games/ta"];
        for line in [&dropped[..1], &dropped] {
            let Ok(Command::Serve(serve)) = parsed(line) else {
                panic!("{line:?}");
            };
            let (sources, plan) = serve.plan().unwrap();
            assert!(plan.opens_browser);
            let (expected, _) = self::plan(line).unwrap();
            assert_eq!(format!("{sources:?}"), format!("{expected:?}"));
        }
        for line in [&["a.hpi"][..], &["/a.hpi", "-v"], &["/a.hpi", "b"]] {
            assert!(parsed(line).is_err(), "{line:?}");
        }
    }

    #[test]
    fn an_address_that_others_reach_needs_a_decision() {
        let outside = "0.0.0.0:8417";
        assert!(plan(&[outside, "a"]).is_err());
        assert!(plan(&[outside, "a", "--token", "none"]).is_err());
        assert!(plan(&[outside, "a", "--token", "short"]).is_err());
        for decision in [
            ["--token", "random"],
            ["--token", "a-word-of-some-length"],
            ["--token", "@/run/token"],
            ["--allow", "10.0.0.0/8,192.168.0.0/16"],
        ] {
            assert!(
                plan(&[&[outside, "a"][..], &decision].concat()).is_ok(),
                "{decision:?}"
            );
        }
        assert!(plan(&["[::1]:1", "a", "--token", "none"]).is_ok());
        assert!(plan(&["a", "--nfs", "0", "--token", "none"]).is_ok());
        assert!(plan(&["a", "--nfs", "0.0.0.0:0"]).is_err());
        assert!(plan(&["a", "--nfs", "x:0"]).is_err());
    }
}
