//! Restrictions of the thread with the connections, seen from inside.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Command;

use hpimount::app::Confinement;

#[test]
fn a_thread_with_connections_opens_and_connects_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "secret").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"ping").unwrap();
    let attempts = || {
        let (mut accepted, _) = listener.accept().unwrap();
        let mut bytes = [0; 4];
        accepted.read_exact(&mut bytes).unwrap();
        accepted.write_all(b"pong").unwrap();
        let refused: [(&str, io::Result<()>); 8] = [
            ("reading", File::open(&file).map(drop)),
            ("writing", fs::write(&file, "x")),
            ("listing", fs::read_dir(folder.path()).map(drop)),
            ("its own state", File::open("/proc/self/status").map(drop)),
            ("connecting", TcpStream::connect(address).map(drop)),
            ("listening", TcpListener::bind("127.0.0.1:0").map(drop)),
            ("UDP", UdpSocket::bind("127.0.0.1:0").map(drop)),
            ("a program", Command::new("/bin/true").status().map(drop)),
        ];
        for (what, attempt) in refused {
            let error = attempt.expect_err(what);
            assert_eq!(
                error.kind(),
                io::ErrorKind::PermissionDenied,
                "{what}: {error}"
            );
        }
        bytes
    };
    assert_eq!(&Confinement::to_clients().run(attempts).unwrap(), b"ping");
    let mut answer = [0; 4];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"pong");
}
