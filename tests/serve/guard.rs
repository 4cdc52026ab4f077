//! Access checks of requests.

use std::fs;

use testkit::mount::{BIG, Fixture, hpi, run};

use crate::kit::Server;

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
