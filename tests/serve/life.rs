//! Slow clients, and the end.

use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use fixtures::hpi::{File, V1, file};
use fixtures::noise;
use hpimount_containers::hpi::chunk::Method;
use testkit::mount::{Fixture, eventually, hpi};

use crate::kit::{Server, write_request};

/// Serves an archive with a file that does not fit into the buffers of a connection.
fn server(fixture: &Fixture) -> Server {
    let large = File::new(noise(3, 24 << 20), Method::Stored);
    let archive = V1::new(vec![
        file(b"large.bin", large),
        file(b"small", File::new("s", Method::Stored)),
    ]);
    std::fs::write(&fixture.archive, archive.build().bytes).unwrap();
    Server::start([&fixture.archive])
}

/// Requests a path, and reads nothing of the answer.
fn stalled_at(server: &Server, path: &str) -> std::net::TcpStream {
    let mut stream = server.connect();
    let token = format!("Bearer {}", server.token);
    let headers = [("Authorization", token.as_str())];
    write_request(&mut stream, "GET", path, &server.address, &headers);
    stream
}

/// Requests the large file, and reads nothing of it.
fn stalled(server: &Server) -> std::net::TcpStream {
    stalled_at(server, "/files/large.bin")
}

#[test]
fn a_signal_ends_it_soon_also_during_downloads() {
    let fixture = Fixture::new();
    let server = server(&fixture);
    let downloads: Vec<_> = (0..8).map(|_| stalled(&server)).collect();
    thread::sleep(Duration::from_millis(300));
    let start = Instant::now();
    assert_eq!(server.terminate(), Some(0));
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "{:?}",
        start.elapsed()
    );
    drop(downloads);
}

/// Serves it with a timeout of a second for clients.
fn impatient_server(fixture: &Fixture) -> Server {
    drop(server(fixture));
    let mut command = hpi("serve");
    command.env("HPIMOUNT_TEST_PATIENCE", "1");
    Server::start_by(command, [&fixture.archive])
}

#[test]
fn half_a_request_is_not_waited_for() {
    let fixture = Fixture::new();
    let server = impatient_server(&fixture);
    let mut stream = server.connect();
    stream
        .write_all(b"GET /files/small HTTP/1.1\r\nHost: loc")
        .unwrap();
    let start = Instant::now();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(rest.is_empty(), "{}", String::from_utf8_lossy(&rest));
    // It is looked at every few seconds.
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn a_client_that_takes_nothing_is_cut_off() {
    let fixture = Fixture::new();
    let server = impatient_server(&fixture);
    let mut stream = stalled(&server);
    thread::sleep(Duration::from_secs(4));
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received);
    assert!(received.starts_with(b"HTTP/1.1 200"));
    assert!(received.len() < 24 << 20, "{} bytes", received.len());
}

/// Returns how long a small file takes, in the median.
fn median_wait(server: &Server) -> Duration {
    let mut times = [(); 20].map(|()| {
        let start = Instant::now();
        assert_eq!(server.bytes("/files/small"), b"s");
        start.elapsed()
    });
    times.sort();
    times[10]
}

#[test]
fn clients_that_stop_reading_disturb_nobody_and_get_their_file() {
    let fixture = Fixture::new();
    let server = server(&fixture);
    let count = testkit::trial::part(60, 1000);
    let alone = median_wait(&server);
    let mut stopped: Vec<_> = (0..count).map(|_| stalled(&server)).collect();
    thread::sleep(Duration::from_secs(1));
    let wait = median_wait(&server);
    // The machine may have other work.
    let most = Duration::from_millis(100).max(alone * 10);
    assert!(wait < most, "{wait:?}, and {alone:?} without them");
    let memory = server.memory() >> 20;
    assert!(memory < 100, "{memory} MiB");
    let mut last = stopped.pop().unwrap();
    let mut all = Vec::new();
    last.read_to_end(&mut all).unwrap();
    assert!(all.ends_with(&noise(3, 24 << 20)));
}

#[test]
fn clients_without_compression_share_the_bytes_of_the_explorer() {
    let fixture = Fixture::new();
    let server = server(&fixture);
    let before = server.memory();
    let all: Vec<_> = (0..100).map(|_| stalled_at(&server, "/licences")).collect();
    thread::sleep(Duration::from_secs(1));
    let more = server.memory().saturating_sub(before) >> 20;
    assert!(more < 24, "{more} MiB for {} clients", all.len());
}

/// Serves it with little memory.
fn small_server(fixture: &Fixture) -> Server {
    drop(server(fixture));
    let options = ["-o", "cachesize=4M"].map(std::ffi::OsStr::new);
    Server::start(options.into_iter().chain([fixture.archive.as_os_str()]))
}

#[test]
fn clients_for_whom_there_is_no_memory_are_told_to_come_again() {
    let fixture = Fixture::new();
    let server = small_server(&fixture);
    let before = server.memory();
    let mut open = Vec::new();
    eventually("there is no memory for more", || {
        open.extend((0..50).map(|_| server.connect()));
        server.get("/files/small").status == 503
    });
    assert!(open.len() < 1000, "before there are too many connections");
    let more = server.memory().saturating_sub(before) >> 20;
    assert!(more < 16, "{more} MiB");
    drop(open);
    eventually("there is memory again", || {
        server.get("/files/small").status == 200
    });
}

#[test]
fn downloads_wait_for_memory_and_are_complete() {
    let fixture = Fixture::new();
    let server = small_server(&fixture);
    let range = [("Range", "bytes=1000000-2999999")];
    let expected = &noise(3, 24 << 20)[1_000_000..3_000_000];
    // A piece for each of them would take more than all memory.
    thread::scope(|scope| {
        for _ in 0..70 {
            scope.spawn(|| {
                let download = || server.send("GET", "/files/large.bin", &range);
                let mut sent = download();
                // There was no memory for the connection.
                while sent.status == 503 {
                    thread::sleep(Duration::from_millis(50));
                    sent = download();
                }
                assert!(sent.status == 206 && sent.body == expected);
            });
        }
    });
}
