//! NFS, by its messages and with libnfs.

use std::fs;
use std::io::{BufRead, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::process::{Command, Output};
use std::time::Duration;

use fixtures::noise;
use testkit::mount::{Fixture, has_programs};

use crate::kit::Server;

const MOUNT: u32 = 100_005;
pub(crate) const NFS: u32 = 100_003;

/// Procedures.
pub(crate) const LOOKUP: u32 = 3;
pub(crate) const READ: u32 = 6;
const READDIR: u32 = 16;

/// Results of calls.
const ACCESS: u32 = 13;
const READ_ONLY: u32 = 30;
pub(crate) const STALE: u32 = 70;

/// A server with its port for NFS.
pub(crate) struct Export {
    pub(crate) server: Server,
    port: u16,
}

impl Export {
    pub(crate) fn start(source: &std::path::Path, more: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", source, more)
    }

    /// Serves a source at this address, and any port for NFS.
    pub(crate) fn start_at(address: &str, source: &std::path::Path, more: &[&str]) -> Self {
        let words = [&["--nfs", address], more].concat();
        let words = words.iter().map(std::ffi::OsStr::new);
        let words = words.chain([source.as_os_str()]);
        let mut server = Server::start_at(address, testkit::mount::hpi("serve"), words);
        let mut lines = String::new();
        for _ in 0..2 {
            server.output.read_line(&mut lines).unwrap();
        }
        let port = lines.trim().rsplit(' ').next().unwrap().parse().unwrap();
        Self { server, port }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        self.connect_to(Ipv4Addr::LOCALHOST.into())
    }

    /// Connects to an address of this machine.
    pub(crate) fn connect_to(&self, address: IpAddr) -> TcpStream {
        let stream = TcpStream::connect((address, self.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        stream
    }

    /// Runs a program of libnfs with a path of the export.
    fn run(&self, program: &str, path: &str) -> Output {
        Command::new(program).arg(self.url(path)).output().unwrap()
    }

    fn url(&self, path: &str) -> String {
        let Self { server, port } = self;
        let options = format!("version=3&nfsport={port}&mountport={port}");
        format!("nfs://127.0.0.1/t/{}{path}?{options}", server.token)
    }

    /// Mounts a path, and returns its handle.
    fn mount(&self, path: &str) -> Result<Vec<u8>, u32> {
        let answer = call(&mut self.connect(), MOUNT, 1, &opaque(path.as_bytes()));
        match number(&answer, 0) {
            0 => Ok(answer[8..8 + number(&answer, 4) as usize].to_vec()),
            status => Err(status),
        }
    }

    /// Returns the handle of the root.
    pub(crate) fn mount_root(&self) -> Vec<u8> {
        self.mount(&format!("/t/{}", self.server.token)).unwrap()
    }

    /// Returns the handle of a directory.
    pub(crate) fn mount_path(&self, path: &str) -> Vec<u8> {
        self.mount(&format!("/t/{}/{path}", self.server.token))
            .unwrap()
    }

    /// Returns the names that a directory lists, sorted.
    pub(crate) fn listed(&self, directory: &[u8]) -> Vec<String> {
        let (mut names, mut cookie, mut verifier) = (Vec::new(), [0; 8], [0; 8]);
        loop {
            let size = 8_u32 << 10;
            let args = [
                &opaque(directory)[..],
                &cookie,
                &verifier,
                &size.to_be_bytes(),
            ];
            let listed = call(&mut self.connect(), NFS, READDIR, &args.concat());
            assert_eq!(number(&listed, 0), 0);
            verifier.copy_from_slice(&listed[8..16]);
            let mut at = 16;
            while number(&listed, at) == 1 {
                let length = number(&listed, at + 12) as usize;
                let name = &listed[at + 16..at + 16 + length];
                names.push(String::from_utf8(name.to_vec()).unwrap());
                at += 16 + length.next_multiple_of(4) + 8;
                cookie.copy_from_slice(&listed[at - 8..at]);
            }
            if number(&listed, at + 4) == 1 {
                names.sort();
                return names;
            }
        }
    }

    /// Returns the result of asking for the attributes of a handle.
    pub(crate) fn attributes(&self, handle: &[u8]) -> u32 {
        number(&call(&mut self.connect(), NFS, 1, &opaque(handle)), 0)
    }
}

pub(crate) fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(*bytes[at..].first_chunk().unwrap())
}

pub(crate) fn opaque(bytes: &[u8]) -> Vec<u8> {
    let mut all = (bytes.len() as u32).to_be_bytes().to_vec();
    all.extend_from_slice(bytes);
    all.resize(all.len().next_multiple_of(4), 0);
    all
}

/// Returns the record of a call.
pub(crate) fn record(program: u32, procedure: u32, args: &[u8]) -> Vec<u8> {
    let numbers = [7, 0, 2, program, 3, procedure, 0, 0, 0, 0];
    let body: Vec<u8> = numbers
        .iter()
        .flat_map(|number: &u32| number.to_be_bytes())
        .collect();
    let length = (body.len() + args.len()) as u32 | 1 << 31;
    [&length.to_be_bytes()[..], &body, args].concat()
}

/// Calls a procedure, and returns its results.
pub(crate) fn call(stream: &mut TcpStream, program: u32, procedure: u32, args: &[u8]) -> Vec<u8> {
    stream.write_all(&record(program, procedure, args)).unwrap();
    let mut head = [0; 4];
    stream.read_exact(&mut head).unwrap();
    let mut answer = vec![0; (u32::from_be_bytes(head) & !(1 << 31)) as usize];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(number(&answer, 20), 0, "the call is accepted");
    answer.split_off(24)
}

#[test]
fn only_who_knows_the_token_mounts() {
    let fixture = Fixture::new();
    let export = Export::start(&fixture.archive, &[]);
    let token = format!("/t/{}", export.server.token);
    assert_eq!(export.mount(&token).unwrap().len(), 16);
    assert!(export.mount(&format!("{token}/MAPS")).is_ok());
    assert_eq!(export.mount(&format!("{token}/hello.txt")), Err(20));
    assert_eq!(export.mount(&format!("{token}/missing")), Err(2));
    for path in ["/", "", "/t/", "/t/wrong", &token[1..]] {
        assert_eq!(export.mount(path), Err(ACCESS), "{path}");
    }
    // The exports are not listed.
    assert_eq!(call(&mut export.connect(), MOUNT, 5, &[]), [0; 4]);
}

#[test]
fn handles_of_an_earlier_run_and_forged_ones_are_stale() {
    let fixture = Fixture::new();
    let word = ["--token", "a-word-of-some-length"];
    let path = "/t/a-word-of-some-length/maps";
    let export = Export::start(&fixture.archive, &word);
    let handle = export.mount(path).unwrap();
    assert_eq!(export.attributes(&handle), 0);
    let mut forged = handle.clone();
    forged[7] ^= 1;
    assert_eq!(export.attributes(&forged), STALE);
    assert_eq!(export.attributes(b"short"), STALE);
    drop(export);
    let again = Export::start(&fixture.archive, &word);
    assert_eq!(again.attributes(&handle), STALE);
    assert_eq!(again.attributes(&again.mount(path).unwrap()), 0);
}

#[test]
fn nothing_is_written() {
    let fixture = Fixture::new();
    let export = Export::start(&fixture.archive, &[]);
    for procedure in [2, 7, 8, 9, 10, 11, 12, 13, 14, 15, 21] {
        let answer = call(&mut export.connect(), NFS, procedure, &[]);
        assert_eq!(number(&answer, 0), READ_ONLY, "{procedure}");
    }
}

#[test]
fn what_is_no_call_ends_its_connection() {
    let fixture = Fixture::new();
    let export = Export::start(&fixture.archive, &[]);
    let before = export.server.memory();
    let huge = [&0xffff_ffff_u32.to_be_bytes()[..], &[0; 64]].concat();
    for bytes in [
        &huge[..],
        b"POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\n",
    ] {
        let mut stream = export.connect();
        stream.write_all(bytes).unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty(), "{rest:?}");
    }
    // The answers to many reads are not read.
    let mut stream = export.connect();
    let root = export
        .mount(&format!("/t/{}", export.server.token))
        .unwrap();
    let found = call(
        &mut stream,
        NFS,
        3,
        &[opaque(&root), opaque(b"hello.txt")].concat(),
    );
    let handle = &found[8..24];
    let read = [&opaque(handle)[..], &[0; 8], &(1_u32 << 20).to_be_bytes()].concat();
    let read = record(NFS, 6, &read);
    stream.set_nonblocking(true).unwrap();
    for _ in 0..60_000 {
        if stream.write(&read).is_err() {
            break;
        }
    }
    std::thread::sleep(Duration::from_secs(1));
    let more = export.server.memory().saturating_sub(before) >> 20;
    assert!(more < 32, "{more} MiB");
    assert!(export.mount(&format!("/t/{}", export.server.token)).is_ok());
}

#[test]
fn libnfs_lists_and_reads() {
    if !has_programs(&["nfs-ls", "nfs-cat", "nfs-cp"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let count = testkit::trial::part(3000, 100_000);
    fs::create_dir(folder.path().join("Many")).unwrap();
    for number in 0..count {
        fs::write(folder.path().join(format!("Many/{number}.bin")), "").unwrap();
    }
    let large = noise(4, 3 << 20);
    fs::write(folder.path().join("large.bin"), &large).unwrap();
    let export = Export::start(folder.path(), &[]);
    let read = export.run("nfs-cat", "/LARGE.bin");
    assert!(
        read.status.success() && read.stdout == large,
        "{:?}",
        read.stderr
    );
    let listed = export.run("nfs-ls", "/many");
    assert!(listed.status.success(), "{listed:?}");
    let text = String::from_utf8_lossy(&listed.stdout);
    let names = text.lines().filter(|line| line.ends_with(".bin"));
    let mut names: Vec<&str> = names.map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert_eq!(names.len(), count);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    let file = folder.path().join("large.bin");
    let copied = Command::new("nfs-cp")
        .arg(file)
        .arg(export.url("/new.bin"))
        .output();
    assert!(!copied.unwrap().status.success());
    assert!(!folder.path().join("new.bin").exists());
}
