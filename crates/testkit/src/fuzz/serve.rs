//! Input of clients to `hpi serve`, without a network: requests, and records of NFS.
//!
//! All targets ask the same server, whose folder has some files and links that lead out of it.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::OnceLock;

use fixtures::{hpi, noise, png_of, text};
use hpimount::mount::{Options, Sources, Vfs};
use hpimount::serve::offline::{Answered, Request, answer, reply};
use hpimount::serve::{Equipment, Guard, Handles, Share, SourceIdentity, Texts, Token};
use hpimount_containers::hpi::chunk::Method;
use quick_xml::events::Event;
use tempfile::TempDir;

const TOKEN: &str = "token-of-the-fuzzers";

/// In an input, it stands for what only this run knows: the token, or the tag of the file.
const KNOWN: char = '\u{1}';

/// In an input, it stands for the token as a password.
const PASSWORD: char = '\u{2}';

/// The token as a password in a header.
const BASIC: &str = "OnRva2VuLW9mLXRoZS1mdXp6ZXJz";

/// The bytes of a file outside of the folder.
const SECRET: &str = "nobody may see this";

/// Plain files.
const FILES: [&str; 4] = ["a.txt", "Sub & <dir>/50% #1 ü?.bin", "empty", "large.bin"];

/// Longest answer that any request of these files may have.
const MAX_ANSWER: usize = 4 << 20;

struct Server {
    share: Share,
    guard: Guard,
    /// The bytes of [`FILES`].
    contents: [Vec<u8>; FILES.len()],
    /// Handles for NFS: of the root, and of the first and the last file.
    handles: [Vec<u8>; 3],
    _folder: TempDir,
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(Server::new)
}

impl Server {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("Sub & <dir>")).unwrap();
        fs::write(folder.path().join("outside"), SECRET).unwrap();
        symlink("../outside", root.join("leads out")).unwrap();
        symlink(folder.path(), root.join("up")).unwrap();
        symlink("a.txt", root.join("link")).unwrap();
        let contents = [text(2000), noise(1, 5000), Vec::new(), noise(2, 200_000)];
        for (name, bytes) in FILES.iter().zip(&contents) {
            fs::write(root.join(name), bytes).unwrap();
        }
        let picture = png_of(8, 8, vec![[1, 2, 3, 255]; 64]);
        fs::write(root.join("picture.png"), picture).unwrap();
        let file = hpi::File::new(text(300), Method::Zlib);
        let archive = hpi::V1::new(vec![hpi::file(b"inner.txt", file)]);
        fs::write(root.join("mod.ufo"), archive.build().bytes).unwrap();

        let sources = Sources::one(root);
        let prepared = sources.prepare().unwrap();
        let identity = SourceIdentity::of(&prepared);
        let vfs = Vfs::open_prepared(prepared, Options::default()).unwrap();
        let token = Some(Token::new(TOKEN).unwrap());
        // Handles are the same in each run, so that those in a corpus stay valid.
        let handles = Handles::new(token.clone(), 1);
        let equipment = Equipment {
            identity,
            salt: 1,
            texts: Texts::none(),
            handles,
        };
        let mut server = Self {
            share: Share::fixed(vfs, equipment),
            guard: Guard::new(token, Vec::new(), Vec::new(), 8417),
            contents,
            handles: Default::default(),
            _folder: folder,
        };
        let mounted = mount_call(&format!("/t/{TOKEN}"));
        let root = server.handle(&mounted);
        let [first, last] = [FILES[0], FILES[3]].map(|name| {
            let arguments = [opaque(&root), opaque(name.as_bytes())].concat();
            server.handle(&call(NFS, LOOKUP, &arguments))
        });
        server.handles = [root, first, last];
        server
    }

    /// Returns the handle in the results of a call.
    fn handle(&self, record: &[u8]) -> Vec<u8> {
        let reply = reply(&self.share, record).unwrap();
        let results = &reply[REPLY_HEAD..];
        assert_eq!(results[..8], [0, 0, 0, 0, 0, 0, 0, 16], "{results:?}");
        results[8..24].to_vec()
    }

    fn answer(&self, request: Request<'_>) -> Answered {
        let answered = answer(&self.share, &self.guard, request);
        assert_ne!(answered.status, 500, "{request:?}");
        assert!(!answered.is_broken, "{request:?}");
        assert!(answered.body.len() < MAX_ANSWER);
        for (name, value) in &answered.headers {
            let is_safe = !value.chars().any(char::is_control);
            assert!(is_safe, "{name}: {value:?}");
        }
        if let Some(length) = answered.length
            && request.method != "HEAD"
            && answered.status != 304
        {
            assert_eq!(length, answered.body.len() as u64, "{request:?}");
        }
        let leaks = answered
            .body
            .windows(SECRET.len())
            .any(|part| part == SECRET.as_bytes());
        assert!(!leaks, "{request:?}");
        answered
    }

    fn tag_of(&self, path: &str) -> String {
        let target = format!("/t/{TOKEN}/files/{}", escaped(path));
        let answered = self.answer(Request {
            method: "HEAD",
            target: &target,
            headers: &[("host", "localhost")],
            body: &[],
        });
        answered.header("etag").unwrap_or_default().to_owned()
    }
}

/// Escapes everything but slashes.
fn escaped(path: &str) -> String {
    let escape = |byte| match byte {
        b'/' => "/".to_owned(),
        byte => format!("%{byte:02x}"),
    };
    path.bytes().map(escape).collect()
}

/// Returns the headers in lines `name: value`. A connection takes no control characters.
fn headers(lines: &str) -> Vec<(&str, &str)> {
    let pairs = lines.lines().filter_map(|line| line.split_once(": "));
    let is_sent = |value: &str| !value.chars().any(char::is_control);
    pairs.filter(|(_, value)| is_sent(value)).collect()
}

/// A request: method and target, headers in lines, and after an empty line the body. Without
/// the token it is refused, and with it nothing that is not share is shown.
pub fn serve_route(data: &[u8]) {
    let Ok(input) = str::from_utf8(data) else {
        return;
    };
    let input = input.replace(KNOWN, TOKEN).replace(PASSWORD, BASIC);
    let has_token = input.contains(TOKEN) || input.contains(BASIC);
    let (head, body) = input.split_once("\n\n").unwrap_or((&input, ""));
    let (line, lines) = head.split_once('\n').unwrap_or((head, ""));
    let Some((method, target)) = line.split_once(' ') else {
        return;
    };
    let answered = server().answer(Request {
        method,
        target,
        headers: &headers(lines),
        body: body.as_bytes(),
    });
    let status = answered.status;
    if !has_token {
        assert!(matches!(status, 401 | 403 | 421), "{status}: {input:?}");
    }
    if !matches!(method, "GET" | "HEAD" | "OPTIONS" | "PROPFIND") {
        assert!(status >= 400, "{status}: {input:?}");
    }
    let route = target.trim_start_matches(&format!("/t/{TOKEN}"));
    let is_content = ["/files", "/converted", "/zip", "/dav"]
        .iter()
        .any(|start| route.starts_with(start));
    if status < 300 && is_content && matches!(method, "GET" | "HEAD") {
        let policy = answered.header("content-security-policy");
        assert!(policy.is_some_and(|policy| policy.contains("sandbox")));
        let kind = answered.header("content-type").unwrap_or_default();
        let active = ["html", "xml", "script", "svg", "pdf"];
        assert!(!active.iter().any(|active| kind.contains(active)), "{kind}");
    }
}

pub(super) fn route_seeds() -> Vec<Vec<u8>> {
    let targets = [
        "/",
        "/?path=Sub+%26+%3Cdir%3E&after=0",
        "/?token=\u{1}&path=a.txt",
        "/files/a.txt",
        "/files/Sub%20&%20%3cDIR%3e/50%25%20%231%20%c3%bc%3f.bin?download",
        "/files/../outside",
        "/files/leads%20out",
        "/files/up/outside",
        "/files/mod.ufo.d/inner.txt",
        "/converted/",
        "/thumb/picture.png?size=64",
        "/zip/Sub%20&%20%3Cdir%3E?converted=0",
        "/api/list?path=&after=1&limit=2&all=1",
        "/api/search?q=a&in=name,text&path=mod.ufo.d&type=txt&after=t0",
        "/api/where?path=mod.ufo.d/inner.txt",
        "/api/diff?a=a.txt&b=link",
        "/api/state",
        "/licences",
        "/dav/link",
        "/assets/x",
    ];
    let headers = "host: localhost:8417\naccept: text/html\nauthorization: Bearer \u{1}\n\
        sec-fetch-site: same-origin\norigin: http://127.0.0.1";
    let basic = "host: [::1]\nauthorization: Basic \u{2}";
    let cookie = "host: 127.0.0.1\ncookie: a=b; hpimount-8417=\u{1}\nif-none-match: *";
    let mut seeds: Vec<_> = targets
        .iter()
        .map(|target| format!("GET {target}\n{headers}"))
        .collect();
    seeds.extend([
        format!("GET /t/\u{1}/files/a.txt\n{cookie}"),
        format!("HEAD /files/large.bin\n{cookie}"),
        format!("OPTIONS /dav/\n{basic}"),
        format!("PROPFIND /dav/\n{headers}\ndepth: 1\n\n"),
        format!("PUT /dav/a.txt\n{headers}\n\nbytes"),
        "GET /api/state\nhost: evil.example".to_owned(),
    ]);
    seeds.into_iter().map(String::into_bytes).collect()
}

/// The number of a file, and headers in lines: the answer is the part of the file that it says.
pub fn serve_range(data: &[u8]) {
    let Some((&number, lines)) = data.split_first() else {
        return;
    };
    let Ok(lines) = str::from_utf8(lines) else {
        return;
    };
    let server = server();
    let number = usize::from(number) % FILES.len();
    let contents = &server.contents[number];
    let size = contents.len();
    let lines = lines.replace(KNOWN, &server.tag_of(FILES[number]));
    let target = format!("/t/{TOKEN}/files/{}", escaped(FILES[number]));
    let mut headers = headers(&lines);
    headers.retain(|(name, _)| *name == "range" || name.starts_with("if-"));
    headers.push(("host", "localhost"));
    let answered = server.answer(Request {
        method: "GET",
        target: &target,
        headers: &headers,
        body: &[],
    });
    let has_range = headers.iter().any(|(name, _)| *name == "range");
    let range = answered.header("content-range");
    match answered.status {
        200 => assert!(answered.body == *contents && range.is_none(), "{lines:?}"),
        206 => {
            assert!(has_range, "{lines:?}");
            let range = range.unwrap().strip_prefix("bytes ").unwrap();
            let (range, total) = range.split_once('/').unwrap();
            let (first, last) = range.split_once('-').unwrap();
            assert_eq!(total, size.to_string());
            let [first, last]: [usize; 2] = [first, last].map(|number| number.parse().unwrap());
            assert!(answered.body == contents[first..=last], "{lines:?}");
        }
        304 | 412 => assert!(answered.body.is_empty(), "{lines:?}"),
        416 => assert_eq!(range, Some(&*format!("bytes */{size}"))),
        status => panic!("{status}: {lines:?}"),
    }
}

pub(super) fn range_seeds() -> Vec<Vec<u8>> {
    let headers = [
        "range: bytes=0-9",
        "range: bytes=199990-",
        "range: bytes=-5",
        "range: bytes=65530-65540\nif-range: \u{1}",
        "range: bytes=0-1,5-6",
        "range: bytes=200000-\nif-range: \"x\"",
        "if-none-match: W/\u{1}, \"x\"",
        "if-match: \"x\"",
        "if-match: *\nif-modified-since: Sun, 09 Sep 2001 01:46:40 GMT",
        "if-unmodified-since: Sun, 09 Sep 2001 01:46:40 GMT",
    ];
    let numbered = headers.iter().zip((0..FILES.len() as u8).rev().cycle());
    numbered
        .map(|(lines, number)| [&[number], lines.as_bytes()].concat())
        .collect()
}

/// A depth, an entry, and the body of a `PROPFIND`: the answer is XML that is well-formed, and
/// not longer than its few entries and the body allow.
pub fn serve_propfind(data: &[u8]) {
    const PATHS: [&str; 6] = ["", "dav/", "dav/up", "dav/a.txt", "dav/large.bin", "dav/x"];
    let Some((&how, body)) = data.split_first() else {
        return;
    };
    let (depth, path) = (how % 3, usize::from(how / 3) % PATHS.len());
    let answered = server().answer(Request {
        method: "PROPFIND",
        target: &format!("/t/{TOKEN}/{}", PATHS[path]),
        headers: &[
            ("host", "localhost"),
            ("depth", ["0", "1", "infinity"][usize::from(depth)]),
        ],
        body,
    });
    match answered.status {
        207 | 403 => assert_well_formed(&answered.body),
        status => assert!(matches!(status, 400 | 404), "{status}"),
    }
    // Ten entries, each with the names that were asked for, which may be escaped.
    assert!(answered.body.len() < 20_000 + 100 * body.len());
}

fn assert_well_formed(xml: &[u8]) {
    let mut reader = quick_xml::NsReader::from_reader(xml);
    let mut depth = 0;
    loop {
        let event = reader.read_resolved_event();
        let what = || String::from_utf8_lossy(xml);
        let (namespace, event) = event.unwrap_or_else(|error| panic!("{error}: {}", what()));
        let is_unknown = matches!(namespace, quick_xml::name::ResolveResult::Unknown(_));
        assert!(!is_unknown, "{}", what());
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            Event::Text(text) => {
                text.decode().unwrap();
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
}

pub(super) fn propfind_seeds() -> Vec<Vec<u8>> {
    let bodies = [
        "",
        "<propfind xmlns='DAV:'><allprop/></propfind>",
        "<D:propfind xmlns:D='DAV:'><D:propname/></D:propfind>",
        "<?xml version='1.0'?><propfind xmlns='DAV:'><prop><getcontentlength/><quota/>\
         <a xmlns='urn:x&quot;&lt;'/><b:c xmlns:b='y'>&amp;</b:c></prop></propfind>",
        "<!DOCTYPE a [<!ENTITY b 'c'>]><propfind xmlns='DAV:'><allprop/></propfind>",
        "<propfind xmlns='DAV:'><prop><prop><getetag/></prop></prop><!-- --><![CDATA[x]]>",
    ];
    let seeds = bodies.iter().zip([4, 1, 0, 4, 3, 10]);
    seeds
        .map(|(body, how)| [&[how], body.as_bytes()].concat())
        .collect()
}

/// Programs and procedures of NFS.
const NFS: u32 = 100_003;
const MOUNT: u32 = 100_005;
const LOOKUP: u32 = 3;
const READ: u32 = 6;

/// Bytes of a reply in front of the results of a procedure.
const REPLY_HEAD: usize = 24;

/// The longest answer: bytes of a file, and their headers.
const MAX_REPLY: usize = (256 << 10) + 1024;

/// The identifier of all calls.
const ID: u32 = 0x1234_5678;

/// Returns a call.
fn call(program: u32, procedure: u32, arguments: &[u8]) -> Vec<u8> {
    let head = [ID, 0, 2, program, 3, procedure, 0, 0, 0, 0];
    [&head.map(u32::to_be_bytes).concat(), arguments].concat()
}

/// Returns a call of MOUNT for a path.
fn mount_call(path: &str) -> Vec<u8> {
    call(MOUNT, 1, &opaque(path.as_bytes()))
}

/// Returns bytes with their length in front.
fn opaque(bytes: &[u8]) -> Vec<u8> {
    let mut packed = (bytes.len() as u32).to_be_bytes().to_vec();
    packed.extend_from_slice(bytes);
    packed.resize(packed.len().next_multiple_of(4), 0);
    packed
}

/// A record; or, if the first byte is not zero, the arguments of a call: of the procedure and
/// of the handle that the first two bytes choose. A read returns the bytes of the file.
pub fn serve_rpc(data: &[u8]) {
    let Some((&[procedure, handle], rest)) = data.split_first_chunk() else {
        return;
    };
    let server = server();
    let procedure = u32::from(procedure);
    let handle = usize::from(handle);
    if procedure == 0 {
        if let Some(reply) = reply(&server.share, rest) {
            assert_eq!(reply[..4], rest[..4], "the reply is to another call");
            assert!(reply.len() < MAX_REPLY && reply.len().is_multiple_of(4));
        }
        return;
    }
    let procedure = procedure - 1;
    let arguments = match server.handles.get(handle) {
        Some(handle) => [&opaque(handle), rest].concat(),
        None => rest.to_vec(),
    };
    let record = match procedure {
        0..=31 => call(NFS, procedure, &arguments),
        _ => call(MOUNT, procedure % 8, &arguments),
    };
    let reply = reply(&server.share, &record).unwrap();
    assert_eq!(reply[..4], ID.to_be_bytes());
    assert!(reply.len() < MAX_REPLY && reply.len().is_multiple_of(4));
    let contents = match handle {
        1 => &server.contents[0],
        2 => &server.contents[3],
        _ => return,
    };
    if procedure == READ && number(&reply, REPLY_HEAD - 4) == 0 {
        let mut numbers = rest.chunks_exact(4);
        let mut next = || numbers.next().map_or(0, |bytes| number(bytes, 0));
        let offset = u64::from(next()) << 32 | u64::from(next());
        let start = usize::try_from(offset).map_or(contents.len(), |at| at.min(contents.len()));
        let wanted = &contents[start..];
        let wanted = &wanted[..wanted.len().min(next() as usize).min(256 << 10)];
        let results = &reply[REPLY_HEAD..];
        assert_eq!(number(results, 0), 0, "a read of a whole file fails");
        assert_eq!(number(results, 4), 0, "there are attributes");
        // Then the number of bytes, whether the file ends, and the bytes with their number.
        let (count, data) = (number(results, 8) as usize, &results[20..]);
        assert!(count == wanted.len() && data[..count] == *wanted);
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    let number = bytes[at..].first_chunk().unwrap();
    u32::from_be_bytes(*number)
}

pub(super) fn rpc_seeds() -> Vec<Vec<u8>> {
    let numbers = |numbers: &[u32]| -> Vec<u8> {
        let bytes = numbers.iter().map(|number| number.to_be_bytes());
        bytes.collect::<Vec<_>>().concat()
    };
    let mut seeds = vec![
        [&[0, 0], &*mount_call(&format!("/t/{TOKEN}/Sub & <dir>"))].concat(),
        [&[0, 0], &*mount_call("/")].concat(),
        b"\0\0POST / HTTP/1.1\r\n".to_vec(),
    ];
    let handles = &server().handles;
    let own = call(NFS, 1, &opaque(&handles[1]));
    seeds.push([&[0, 0], &*own].concat());
    let calls = [
        (1, 0, Vec::new()),
        (LOOKUP, 0, opaque("mod.ufo.d".as_bytes())),
        (4, 1, numbers(&[0x3f])),
        (5, 0, Vec::new()),
        (READ, 1, numbers(&[0, 10, 100])),
        (READ, 2, numbers(&[0, 65_000, 100_000])),
        (READ, 2, numbers(&[u32::MAX, u32::MAX, u32::MAX])),
        (7, 1, numbers(&[0, 0, 4, 2, 4, 0])),
        (16, 0, numbers(&[0, 0, 0, 0, 4096])),
        (17, 0, numbers(&[0, 0, 0, 0, 4096, 8192])),
        (18, 0, Vec::new()),
        (19, 0, Vec::new()),
        (20, 0, Vec::new()),
        (15, 1, Vec::new()),
    ];
    for (procedure, handle, arguments) in calls {
        seeds.push([&[procedure as u8 + 1, handle], &*arguments].concat());
    }
    seeds
}
