//! Servers by the program, and a small client.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::mount::hpi;

/// A server, which ends when this is dropped.
pub(crate) struct Server {
    process: Child,
    /// Output after the first line.
    pub(crate) output: BufReader<ChildStdout>,
    /// Address and port.
    pub(crate) address: String,
    pub(crate) token: String,
    /// The first line of its output.
    pub(crate) url: String,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// By their names in lower case.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Server {
    /// Serves sources with these options at a free port.
    pub(crate) fn start<S: AsRef<OsStr>>(words: impl IntoIterator<Item = S>) -> Self {
        Self::start_by(hpi("serve"), words)
    }

    /// Does the same by this command, which may have variables.
    pub(crate) fn start_by<S: AsRef<OsStr>>(
        command: Command,
        words: impl IntoIterator<Item = S>,
    ) -> Self {
        Self::start_at("127.0.0.1:0", command, words)
    }

    /// Does the same at another address.
    pub(crate) fn start_at<S: AsRef<OsStr>>(
        address: &str,
        mut command: Command,
        words: impl IntoIterator<Item = S>,
    ) -> Self {
        command.arg(address).args(words);
        command.stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let url = line.trim().to_owned();
        let (server, token) = url.split_once("/?token=").unwrap_or((url.as_str(), ""));
        Self {
            process,
            output,
            address: server
                .trim_start_matches("http://")
                .trim_end_matches('/')
                .to_owned(),
            token: token.to_owned(),
            url,
        }
    }

    /// Opens a connection.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
    }

    /// Sends a request with the token.
    pub(crate) fn send(&self, method: &str, target: &str, headers: &[(&str, &str)]) -> Response {
        let token = format!("Bearer {}", self.token);
        let headers = [headers, &[("Authorization", &token)]].concat();
        self.send_without_token(method, target, &headers)
    }

    /// Sends a request.
    pub(crate) fn send_without_token(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
    ) -> Response {
        let mut stream = self.connect();
        write_request(&mut stream, method, target, &self.address, headers);
        Response::read(stream, method)
    }

    /// Gets a URL with the token.
    pub(crate) fn get(&self, target: &str) -> Response {
        self.send("GET", target, &[])
    }

    /// Gets a URL whose answer must be a success, and returns its body.
    pub(crate) fn bytes(&self, target: &str) -> Vec<u8> {
        let response = self.get(target);
        assert_eq!(response.status, 200, "{target}: {}", response.text());
        response.body
    }

    /// Returns the JSON at a URL.
    pub(crate) fn json(&self, target: &str) -> Value {
        serde_json::from_slice(&self.bytes(target)).unwrap()
    }

    /// Returns its process.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// Returns its resident memory in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let status = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(status).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.unwrap().trim().trim_end_matches(" kB");
        kibibytes.parse::<u64>().unwrap() << 10
    }

    /// Sends SIGTERM, and returns the exit code.
    pub(crate) fn terminate(mut self) -> Option<i32> {
        kill_process(self.pid(), Signal::TERM).unwrap();
        self.process.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns a folder with this many files of one byte, `0000.bin` and so on.
pub(crate) fn folder_of(count: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..count {
        std::fs::write(folder.path().join(format!("{number:04}.bin")), "x").unwrap();
    }
    folder
}

/// Writes a request that ends its connection.
pub(crate) fn write_request(
    stream: &mut TcpStream,
    method: &str,
    target: &str,
    host: &str,
    headers: &[(&str, &str)],
) {
    let mut request = format!("{method} {target} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        request += &format!("Host: {host}\r\n");
    }
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    request += "\r\n";
    // The server may have refused it by now.
    let _ = stream.write_all(request.as_bytes());
}

impl Response {
    /// Reads a response to the end of its connection.
    pub(crate) fn read(mut stream: TcpStream, method: &str) -> Self {
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        Self::parse(&all, method)
    }

    /// Parses a whole response, and checks that it is complete.
    pub(crate) fn parse(all: &[u8], method: &str) -> Self {
        let end = all.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no head: {}", String::from_utf8_lossy(all)));
        let head = String::from_utf8(all[..end].to_vec()).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let headers = lines.map(|line| line.split_once(": ").unwrap());
        let headers: HashMap<String, String> = headers
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let rest = &all[end + 4..];
        let is_chunked = headers
            .get("transfer-encoding")
            .is_some_and(|value| value == "chunked");
        let body = match headers.get("content-length") {
            _ if method == "HEAD" => rest.to_vec(),
            _ if is_chunked => unchunked(rest),
            Some(length) => {
                assert_eq!(rest.len().to_string(), *length, "the body is cut off");
                rest.to_vec()
            }
            None => rest.to_vec(),
        };
        Self {
            status: status.parse().unwrap(),
            headers,
            body,
        }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Returns the bytes of a chunked body, which must be complete.
fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = rest
            .windows(2)
            .position(|bytes| bytes == b"\r\n")
            .expect("a chunk");
        let length = std::str::from_utf8(&rest[..end]).unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        let chunk = &rest[end + 2..];
        if length == 0 {
            assert_eq!(chunk, b"\r\n", "the body is cut off");
            return body;
        }
        body.extend_from_slice(&chunk[..length]);
        rest = &chunk[length + 2..];
    }
}

/// Saves the chunked body of a successful response as a file, without keeping it in memory.
pub(crate) fn save(stream: TcpStream, path: &std::path::Path) {
    let mut received = BufReader::new(stream);
    let mut line = String::new();
    received.read_line(&mut line).unwrap();
    assert!(line.contains(" 200 "), "{line}");
    while line != "\r\n" {
        line.clear();
        received.read_line(&mut line).unwrap();
    }
    let mut file = std::fs::File::create(path).unwrap();
    loop {
        line.clear();
        received.read_line(&mut line).unwrap();
        let length = u64::from_str_radix(line.trim(), 16).unwrap();
        let copied = std::io::copy(&mut received.by_ref().take(length), &mut file).unwrap();
        assert_eq!(copied, length, "the body is cut off");
        line.clear();
        received.read_line(&mut line).unwrap();
        if length == 0 {
            return;
        }
    }
}
