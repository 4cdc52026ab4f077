//! WebDAV by its rules.

use crate::clients::folder;
use crate::kit::{Response, Server, folder_of, write_request};

const INFINITE: &str = "<D:propfind-finite-depth/>";

/// Asks for the properties of a URL.
fn properties(server: &Server, target: &str, depth: &str, body: &str) -> Response {
    let mut stream = server.connect();
    let token = format!("Bearer {}", server.token);
    let length = body.len().to_string();
    let headers = [
        ("Authorization", token.as_str()),
        ("Depth", depth),
        ("Content-Length", &length),
    ];
    write_request(&mut stream, "PROPFIND", target, &server.address, &headers);
    std::io::Write::write_all(&mut stream, body.as_bytes()).unwrap();
    Response::read(stream, "PROPFIND")
}

/// Returns the URLs in an answer.
fn urls(response: &Response) -> Vec<String> {
    assert_eq!(response.status, 207, "{}", response.text());
    let text = response.text();
    let parts = text.split("<D:href>").skip(1);
    parts
        .map(|part| part.split('<').next().unwrap().to_owned())
        .collect()
}

#[test]
fn a_directory_lists_its_entries_in_the_spelling_of_the_request() {
    let folder = folder();
    let server = Server::start([folder.path()]);
    let of = |target: &str, depth: &str| urls(&properties(&server, target, depth, ""));
    assert_eq!(of("/dav/", "0"), ["/dav/"]);
    assert_eq!(of("/", "1"), ["/", "/dav/"]);
    let mut root = of("/dav", "1");
    root.sort_unstable();
    assert_eq!(
        root,
        ["/dav/", "/dav/Sub%20%26%20%3Cdir%3E/", "/dav/large.bin"]
    );
    let mut sub = of("/dav/sub%20&%20%3cDIR%3e", "1");
    sub.sort_unstable();
    let base = "/dav/sub%20%26%20%3CDIR%3E/";
    let names = [
        "",
        "%C3%BC%20%C3%A9.txt",
        "50%25.txt",
        "a%23b.txt",
        "a%2Bb%27%22%3F.txt",
        "plain.x.bin",
    ];
    assert_eq!(sub, names.map(|name| format!("{base}{name}")));
    for url in &sub[1..] {
        assert_eq!(server.get(url).status, 200, "{url}");
    }
    let with_token = format!("/t/{}/dav/", server.token);
    assert_eq!(of(&with_token, "1")[0], with_token);
    assert_eq!(
        of(&format!("/t/{}/", server.token), "0"),
        [format!("/t/{}/", server.token)]
    );
}

#[test]
fn properties_are_those_of_the_file() {
    let folder = folder();
    let server = Server::start([folder.path()]);
    let sent = properties(&server, "/dav/large.bin", "0", "");
    assert_eq!(
        sent.header("content-type"),
        "application/xml; charset=utf-8"
    );
    let text = sent.text();
    let file = server.send("HEAD", "/files/large.bin", &[]);
    for expected in [
        "<D:getcontentlength>300000</D:getcontentlength>",
        "<D:resourcetype/>",
        "<D:displayname>large.bin</D:displayname>",
        &format!(
            "<D:getlastmodified>{}</D:getlastmodified>",
            file.header("last-modified")
        ),
        &format!(
            "<D:getetag>{}</D:getetag>",
            file.header("etag").replace('"', "&quot;")
        ),
        "HTTP/1.1 200 OK",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let body = "<propfind xmlns='DAV:'><prop><getcontentlength/><quota-used-bytes/>\
        <a xmlns='urn:x'/></prop></propfind>";
    let text = properties(&server, "/dav/", "0", body).text();
    for expected in [
        "quota-used-bytes",
        "<X:a xmlns:X=\"urn:x\"/>",
        "HTTP/1.1 404 Not Found",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(
        !text.contains("200 OK"),
        "a directory has no length: {text}"
    );
}

#[test]
fn what_is_not_supported_is_refused_by_the_rules() {
    let folder = folder();
    let server = Server::start([folder.path()]);
    let options = server.send("OPTIONS", "/dav/", &[]);
    assert_eq!((options.status, options.header("dav")), (200, "1"));
    assert_eq!(options.header("allow"), "OPTIONS, GET, HEAD, PROPFIND");
    assert_eq!(options.header("ms-author-via"), "DAV");
    for depth in ["infinity", ""] {
        let refused = match depth {
            "" => server.send("PROPFIND", "/dav/", &[]),
            depth => properties(&server, "/dav/", depth, ""),
        };
        assert_eq!(refused.status, 403);
        assert!(refused.text().contains(INFINITE), "{}", refused.text());
    }
    assert_eq!(properties(&server, "/dav/missing", "0", "").status, 404);
    assert_eq!(properties(&server, "/dav/desktop.ini", "0", "").status, 404);
    assert_eq!(properties(&server, "/dav/../x", "0", "").status, 400);
    assert_eq!(properties(&server, "/dav/", "7", "").status, 400);
    assert_eq!(properties(&server, "/api/list", "0", "").status, 405);
    let bomb = "<!DOCTYPE a [<!ENTITY b 'c'>]><propfind xmlns='DAV:'><allprop/></propfind>";
    assert_eq!(properties(&server, "/dav/", "0", bomb).status, 400);
    assert_eq!(
        properties(&server, "/dav/", "0", &"x".repeat(70_000)).status,
        400
    );
    let without = server.send_without_token("PROPFIND", "/dav/", &[("Depth", "0")]);
    assert_eq!(without.status, 401);
    assert!(without.header("www-authenticate").starts_with("Basic"));
}

#[test]
fn directories_above_the_tree_are_there_and_say_nothing_without_the_token() {
    let folder = folder();
    let server = Server::start([folder.path()]);
    for (target, url) in [("/", "/"), ("/t", "/t/"), ("/t/", "/t/")] {
        let options = server.send_without_token("OPTIONS", target, &[]);
        assert_eq!(
            (options.status, options.header("dav")),
            (200, "1"),
            "{target}"
        );
        for depth in ["0", "1"] {
            let asked = [("Depth", depth)];
            let found = server.send_without_token("PROPFIND", target, &asked);
            assert_eq!(urls(&found), [url]);
            assert!(found.text().contains("<D:collection/>"));
        }
        let infinite = server.send_without_token("PROPFIND", target, &[]);
        assert_eq!(infinite.status, 401, "{target}");
    }
    let with = format!("/t/{}/", server.token);
    let found = server.send_without_token("PROPFIND", &with, &[("Depth", "1")]);
    assert_eq!(urls(&found), [with.clone(), format!("{with}dav/")]);
    for target in ["/t/wrong/", "/dav/", "/files/", "/api/list"] {
        let refused = server.send_without_token("PROPFIND", target, &[("Depth", "0")]);
        assert_eq!(refused.status, 401, "{target}");
    }
}

#[test]
fn a_long_directory_has_each_entry_once() {
    let folder = folder_of(3000);
    let server = Server::start([folder.path()]);
    let mut listed = urls(&properties(&server, "/dav/", "1", ""));
    assert_eq!(listed.len(), 3001);
    listed.sort_unstable();
    listed.dedup();
    assert_eq!(listed.len(), 3001);
}
