//! Access checks of requests.

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, TcpStream, UdpSocket};
use std::time::Duration;

use testkit::mount::{BIG, Fixture, eventually, hpi, run};

use crate::kit::{Server, write_request};
use crate::nfs::{Export, NFS, record};

/// All routes.
const ROUTES: &[&str] = &[
    "/",
    "/?path=maps",
    "/assets/plain.css",
    "/files/hello.txt",
    "/converted/",
    "/api/list",
    "/api/state",
    "/thumb/hello.txt",
    "/zip/maps",
    "/api/search?q=a",
    "/api/where?path=hello.txt",
    "/api/diff?a=maps&b=maps",
    "/licences",
    "/nothing",
    "/t/wrong/files/hello.txt",
    "/t/",
];

#[test]
fn without_the_token_nothing_is_answered() {
    let fixture = Fixture::new();
    let server = Server::start([&fixture.archive]);
    let wrong = format!("Bearer {}x", server.token);
    for route in ROUTES {
        for headers in [
            &[][..],
            &[("Authorization", &*wrong)],
            &[("Cookie", "hpimount-1=a")],
        ] {
            let refused = server.send_without_token("GET", route, headers);
            assert_eq!(refused.status, 401, "{route}");
            assert!(!refused.text().contains("hello"), "{}", refused.text());
            assert_eq!(refused.header("www-authenticate"), "");
        }
    }
}

#[test]
fn the_printed_url_gives_a_cookie_and_takes_the_token_away() {
    let fixture = Fixture::new();
    let server = Server::start([&fixture.archive]);
    let target = server.url.split_once(&server.address).unwrap().1;
    let start = server.send_without_token("GET", target, &[]);
    assert_eq!((start.status, start.header("location")), (303, "/"));
    let cookie = start.header("set-cookie");
    let (pair, attributes) = cookie.split_once("; ").unwrap();
    assert_eq!(attributes, "HttpOnly; SameSite=Strict; Path=/");
    let page = server.send_without_token("GET", "/", &[("Cookie", pair)]);
    assert_eq!(page.status, 200);
    assert!(!page.text().contains(&server.token));
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"));
    assert!(!policy.contains("unsafe"));
    let without_scheme = page.text().replace("http://www.w3.org", "");
    assert!(!without_scheme.contains("://"), "{without_scheme}");
    let direct = format!("/files/hello.txt?token={}", server.token);
    assert_eq!(
        server.send_without_token("GET", &direct, &[]).body,
        b"hello\n"
    );
}

#[test]
fn other_hosts_and_sites_are_refused() {
    let fixture = Fixture::new();
    let server = Server::start([
        fixture.archive.as_os_str(),
        "--host=ta.example:443".as_ref(),
    ]);
    let status = |headers: &[(&str, &str)]| {
        let sent = server.send("GET", "/files/hello.txt", headers);
        assert_eq!(sent.header("access-control-allow-origin"), "");
        sent.status
    };
    assert_eq!(status(&[("Host", "evil.example")]), 421);
    assert_eq!(status(&[("Host", "ta.example:443")]), 200);
    assert_eq!(status(&[("Host", "localhost:1")]), 200);
    assert_eq!(status(&[("Origin", "http://evil.example")]), 403);
    assert_eq!(status(&[("Origin", "https://ta.example:443")]), 200);
    assert_eq!(status(&[("Sec-Fetch-Site", "cross-site")]), 403);
    assert_eq!(status(&[("Sec-Fetch-Site", "same-site")]), 403);
    assert_eq!(status(&[("Sec-Fetch-Site", "same-origin")]), 200);
}

#[test]
fn nothing_is_written() {
    let fixture = Fixture::new();
    let before = (fs::read(&fixture.archive).unwrap(), modified(&fixture));
    let server = Server::start([&fixture.archive]);
    for method in [
        "PUT",
        "POST",
        "DELETE",
        "MKCOL",
        "MOVE",
        "COPY",
        "LOCK",
        "PROPPATCH",
        "PATCH",
    ] {
        for target in [
            &format!("/files/{BIG}")[..],
            "/api/list",
            "/",
            "/dav/hello.txt",
        ] {
            let refused = server.send(method, target, &[("Content-Length", "0")]);
            assert_eq!(refused.status, 405, "{method} {target}");
            assert!(refused.header("allow").contains("GET"));
        }
    }
    assert!(before == (fs::read(&fixture.archive).unwrap(), modified(&fixture)));
}

fn modified(fixture: &Fixture) -> std::time::SystemTime {
    fs::metadata(&fixture.archive).unwrap().modified().unwrap()
}

#[test]
fn an_address_that_others_reach_needs_a_token_or_networks() {
    let fixture = Fixture::new();
    let ran = run(hpi("serve").arg("0.0.0.0:0").arg(&fixture.archive));
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("--token") && ran.stderr.contains("--allow"),
        "{ran:?}"
    );
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = run(hpi("serve").arg(&address).arg(&fixture.archive));
    assert_eq!(ran.code, Some(20), "{ran:?}");
    assert!(ran.stderr.contains(&address), "{ran:?}");
}

#[test]
fn a_token_can_be_a_word_or_in_a_file_or_none() {
    let fixture = Fixture::new();
    let file = fixture.archive.with_extension("token");
    let server = |token: &str| {
        let token = format!("--token={token}");
        Server::start([fixture.archive.as_os_str(), token.as_ref()])
    };
    fs::write(&file, "the-token-of-a-file\nmore\n").unwrap();
    assert_eq!(
        server("a-word-of-some-length").token,
        "a-word-of-some-length"
    );
    let of_file = format!("@{}", file.display());
    assert_eq!(server(&of_file).token, "the-token-of-a-file");
    fs::remove_file(&file).unwrap();
    assert_eq!(server(&of_file).token.len(), 26, "it is made");
    let open = server("none");
    assert_eq!(
        open.send_without_token("GET", "/files/hello.txt", &[])
            .status,
        200
    );
    let other = open.send_without_token("GET", "/files/hello.txt", &[("Host", "evil.example")]);
    assert_eq!(other.status, 421);
}

/// Returns an address of this machine besides loopback.
fn outer_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    // Nothing is sent.
    socket.connect("203.0.113.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback()).then_some(address)
}

#[test]
fn only_clients_in_the_networks_are_answered_over_http_and_nfs() {
    let Some(own) = outer_address() else {
        testkit::skip::skip("this machine has loopback alone");
        return;
    };
    let fixture = Fixture::new();
    for (network, is_answered) in [(own.to_string(), true), ("203.0.113.0/24".into(), false)] {
        let export = Export::start_at("0.0.0.0:0", &fixture.archive, &["--allow", &network]);
        let server = &export.server;
        assert_eq!(server.bytes("/files/hello.txt"), b"hello\n");
        let (_, port) = server.address.rsplit_once(':').unwrap();
        let mut http = TcpStream::connect((own, port.parse().unwrap())).unwrap();
        write_request(&mut http, "GET", "/", "localhost", &[]);
        assert_eq!(is_sent_anything(http), is_answered, "HTTP {network}");
        for (address, is_answered) in [(own, is_answered), ([127, 0, 0, 1].into(), true)] {
            let mut nfs = export.connect_to(address);
            // The server may have closed it by now.
            let _ = nfs.write_all(&record(NFS, 0, &[]));
            assert_eq!(
                is_sent_anything(nfs),
                is_answered,
                "NFS {network} {address}"
            );
        }
    }
}

/// Returns whether a server sends anything before it closes a connection.
fn is_sent_anything(mut stream: TcpStream) -> bool {
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    matches!(stream.read(&mut [0]), Ok(1))
}

#[test]
#[cfg(target_os = "linux")]
fn the_browser_is_started_with_a_token_that_is_valid_once() {
    use std::os::unix::fs::PermissionsExt;

    let fixture = Fixture::new();
    let (opener, opened) = (fixture.dir().join("xdg-open"), fixture.dir().join("opened"));
    let script = format!(
        "#!/bin/sh\nprintf %s \"$1\" > {0}.part && mv {0}.part {0}\n",
        opened.display()
    );
    fs::write(&opener, script).unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = hpi("serve");
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", fixture.dir().display()));
    let server = Server::start_by(command, [fixture.archive.as_os_str(), "--open".as_ref()]);
    eventually("the browser is started", || opened.exists());
    let url = fs::read_to_string(&opened).unwrap();
    assert!(!url.contains(&server.token), "{url}");
    let target = url.split_once(&server.address).unwrap().1;
    let start = server.send_without_token("GET", target, &[]);
    assert_eq!((start.status, start.header("location")), (303, "/"));
    assert!(start.header("set-cookie").contains(&server.token));
    assert_eq!(server.send_without_token("GET", target, &[]).status, 401);
}
