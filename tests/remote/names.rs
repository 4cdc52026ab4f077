//! Names of servers: the resolver of the system, names of this computer, and proxies,
//! all inside the sandbox.

use std::fs;
use std::io;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::thread;

use crate::fixtures::origin::{Faults, Object, Origin};
use crate::fixtures::servers::{Certificates, Nginx, Tinyproxy};
use testkit::mount::{Run, has_programs, hpi, run, sample};

/// Binds files over the settings of the resolver, and executes a program.
const WITH_SETTINGS: &str = r#"
    set -e
    mount --bind "$1" /etc/hosts
    mount --bind "$2" /etc/resolv.conf
    shift 2
    exec "$@"
"#;

/// Returns the output of `hpi list` for a URL with these resolver settings; `None` if
/// this user cannot set them.
fn list(url: &str, options: &[&str], hosts: &str, resolver: &str) -> Option<Run> {
    if !rustix::process::geteuid().is_root() || !has_programs(&["unshare"]) {
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    let [hosts, resolver] = [("hosts", hosts), ("resolv.conf", resolver)].map(|(name, text)| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    });
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", WITH_SETTINGS, "sh"])
        .args([&hosts, &resolver])
        .arg(hpi("list").get_program())
        .args(["list", url])
        .args(options);
    Some(run(&mut command))
}

fn port(origin: &Origin) -> String {
    let url = origin.url("");
    url.rsplit(':').next().unwrap().trim_matches('/').to_owned()
}

#[test]
fn a_server_does_not_redirect_to_this_computer_or_its_link() {
    let origin = Origin::with("a.hpi", Object::new(sample().bytes, "a"));
    let port = port(&origin);
    let url = format!("http://outside.example:{port}/a.hpi");
    let hosts = "127.0.0.1 outside.example inside.example\n";
    for host in [
        "inside.example",
        "localhost",
        "127.0.0.1",
        "169.254.169.254",
        "[::1]",
    ] {
        origin.set(Faults {
            status: Some((302, format!("Location: http://{host}:{port}/a.hpi\r\n"))),
            ..Faults::default()
        });
        let Some(ran) = list(&url, &[], hosts, "") else {
            return;
        };
        assert_eq!(ran.code, Some(10), "{ran:?}");
        assert!(ran.stderr.contains("-o allowlocal permits"), "{ran:?}");
        assert_eq!(origin.take_requests().len(), 1);
        if host == "inside.example" {
            let ran = list(&url, &["-o", "allowlocal"], hosts, "").unwrap();
            assert!(ran.stderr.contains("redirects without end"), "{ran:?}");
            origin.take_requests();
        }
    }
}

/// Answers address queries with the address of this computer, until there are no more.
fn serve_names(socket: &UdpSocket) {
    let mut query = [0; 512];
    while let Ok((length, from)) = socket.recv_from(&mut query) {
        let end = query[12..length]
            .iter()
            .position(|&byte| byte == 0)
            .unwrap();
        let question = &query[12..12 + end + 5];
        let is_v4 = question[end + 1..end + 3] == [0, 1];
        let mut answer = query[..2].to_vec();
        answer.extend([0x81, 0x80, 0, 1, 0, u8::from(is_v4), 0, 0, 0, 0]);
        answer.extend(question);
        if is_v4 {
            answer.extend([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]);
        }
        socket.send_to(&answer, from).unwrap();
    }
}

#[test]
fn names_are_resolved_inside_the_sandbox_also_by_one_query_at_a_time() {
    const SERVER: &str = "127.0.53.77";
    let Ok(socket) = UdpSocket::bind((SERVER, 53)) else {
        return;
    };
    thread::spawn(move || serve_names(&socket));
    let origin = Origin::with("a.hpi", Object::new(sample().bytes, "a"));
    let url = format!("http://files.example:{}/a.hpi", port(&origin));
    for options in ["", "options single-request\n"] {
        let settings = format!("nameserver {SERVER}\n{options}");
        let Some(ran) = list(&url, &[], "", &settings) else {
            return;
        };
        assert_eq!(ran.code, Some(0), "{options:?}: {ran:?}");
        assert!(ran.stdout.contains("hello.txt"), "{ran:?}");
    }
}

/// Forwards the requests of a client to a server, whatever their host, and the answers
/// back.
fn forward(client: TcpStream, server: &str) {
    let mut requests = BufReader::new(client.try_clone().unwrap());
    while let Some((method, rest)) = head(&mut requests).split_once(" http://files.example/") {
        let mut origin = BufReader::new(TcpStream::connect(server).unwrap());
        let request = format!("{method} /{rest}");
        origin.get_mut().write_all(request.as_bytes()).unwrap();
        let answer = head(&mut origin);
        let fields = answer.to_ascii_lowercase();
        let length = fields.split_once("content-length: ").unwrap().1;
        let length = length.lines().next().unwrap().parse().unwrap();
        { &client }.write_all(answer.as_bytes()).unwrap();
        if method != "HEAD" {
            io::copy(&mut origin.take(length), &mut { &client }).unwrap();
        }
    }
}

/// Returns the lines of a request or an answer up to its body; nothing at the end of the
/// connection.
fn head(connection: &mut impl BufRead) -> String {
    let mut head = String::new();
    while connection.read_line(&mut head).unwrap() > 0 && !head.ends_with("\r\n\r\n") {}
    head
}

#[test]
fn a_source_is_read_through_a_proxy() {
    let origin = Origin::with("a.hpi", Object::new(sample().bytes, "a"));
    let server = format!("127.0.0.1:{}", port(&origin));
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    thread::spawn(move || {
        for client in proxy.incoming() {
            let server = server.clone();
            thread::spawn(move || forward(client.unwrap(), &server));
        }
    });
    let mut command = hpi("list");
    command.args(["http://files.example/a.hpi"]);
    let ran = run(command.env("http_proxy", address).env_remove("no_proxy"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("hello.txt"), "{ran:?}");
    assert!(!origin.take_requests().is_empty());
}

#[test]
fn a_source_with_tls_is_read_through_a_proxy_of_another_program() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.hpi"), sample().bytes).unwrap();
    let Some(certificates) = Certificates::new() else {
        return;
    };
    let Some(nginx) = Nginx::start_tls(folder.path(), &certificates, "") else {
        return;
    };
    let Some(proxy) = Tinyproxy::start(nginx.port()) else {
        return;
    };
    let mut command = hpi("list");
    command
        .arg(nginx.url("a.hpi"))
        .env("SSL_CERT_FILE", certificates.authority())
        .env("https_proxy", proxy.url())
        .env_remove("no_proxy");
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("hello.txt"), "{ran:?}");
    assert!(proxy.log().contains("CONNECT localhost"), "{}", proxy.log());
}
