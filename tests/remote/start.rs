//! The start of a mount of a source on a server: connecting, certificates,
//! redirects and headers.

use std::fs;
use std::time::{Duration, Instant};
use testkit::fuse_test;

use crate::fixtures::origin::{Faults, Object, Origin};
use crate::fixtures::servers::{Certificates, Nginx};
use crate::fixtures::{mounted, mounted_with, refused, refused_with};
use testkit::mount::{Fixture, Mount, SMALL, hpimount, sample};

/// Longer than a test lets a program run, so a failure must come earlier.
const LONG: &str = "timeout=300";

/// Returns a directory with an archive.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.hpi"), sample().bytes).unwrap();
    dir
}

/// Returns a TLS server for that directory, with these lines in its configuration.
fn secure(dir: &tempfile::TempDir, lines: &str) -> Option<(Certificates, Nginx)> {
    let certificates = Certificates::new()?;
    let nginx = Nginx::start_tls(dir.path(), &certificates, lines)?;
    Some((certificates, nginx))
}

#[fuse_test]
fn a_server_with_a_certificate_that_the_environment_trusts_is_mounted() {
    let dir = folder();
    let Some((certificates, nginx)) = secure(&dir, "") else {
        return;
    };
    let authority = certificates.authority();
    let trusting = [("SSL_CERT_FILE", authority.as_str())];
    let mount = mounted_with(&nginx.url("a.hpi"), LONG, &trusting);
    mount.assert_answers();
    assert!(nginx.requests() > 0);
}

#[fuse_test]
fn a_server_with_a_certificate_of_an_unknown_authority_or_another_name_is_refused_at_once() {
    let dir = folder();
    let Some((certificates, nginx)) = secure(&dir, "") else {
        return;
    };
    let authority = certificates.authority();
    let by_number = format!("https://127.0.0.1:{}/a.hpi", nginx.port());
    for (url, variables, said) in [
        (
            nginx.url("a.hpi"),
            &[][..],
            "no trusted authority has signed it",
        ),
        (
            by_number,
            &[("SSL_CERT_FILE", authority.as_str())][..],
            "not valid for",
        ),
    ] {
        let ran = refused_with(&url, LONG, variables);
        assert_eq!(ran.code, Some(10), "{ran:?}");
        assert!(ran.stderr.contains("certificate"), "{ran:?}");
        assert!(ran.stderr.contains(said), "{said}: {ran:?}");
    }
    assert_eq!(nginx.requests(), 0, "nothing was sent");
}

#[fuse_test]
fn a_server_with_the_certificate_of_an_authority_is_refused_in_plain_words() {
    let dir = folder();
    let Some(certificates) = Certificates::new() else {
        return;
    };
    certificates.use_authority();
    let Some(nginx) = Nginx::start_tls(dir.path(), &certificates, "") else {
        return;
    };
    let authority = certificates.authority();
    let ran = refused_with(
        &nginx.url("a.hpi"),
        LONG,
        &[("SSL_CERT_FILE", authority.as_str())],
    );
    assert_eq!(ran.code, Some(10), "{ran:?}");
    assert!(ran.stderr.contains("is that of an authority"), "{ran:?}");
    assert!(!ran.stderr.contains("OtherError"), "{ran:?}");
}

#[fuse_test]
fn a_bucket_on_a_server_without_tls_needs_leave_and_that_is_said_at_once() {
    let origin = Origin::with("mods", Object::new("", "page"));
    let address = origin.url("");
    let variables = [
        ("AWS_ENDPOINT_URL_S3", address.trim_end_matches('/')),
        ("AWS_SKIP_SIGNATURE", "true"),
    ];
    let begun = Instant::now();
    for url in ["s3://mods/a.hpi", "s3://mods/"] {
        let ran = refused_with(url, LONG, &variables);
        assert_eq!(ran.code, Some(10), "{ran:?}");
        assert!(ran.stderr.contains("AWS_ALLOW_HTTP=true"), "{ran:?}");
    }
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(origin.take_requests().len(), 0);
}

#[fuse_test]
fn a_folder_of_a_bucket_that_does_not_exist_is_refused() {
    let page = |entries: &str| {
        let text = format!(
            "<ListBucketResult><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>"
        );
        Object::new(text, "page")
    };
    let origin = Origin::with("mods", page(""));
    let address = origin.url("");
    let variables = [
        ("AWS_ENDPOINT_URL_S3", address.trim_end_matches('/')),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_SKIP_SIGNATURE", "true"),
    ];
    let ran = refused_with("s3://mods/no-such/", LONG, &variables);
    assert_eq!(ran.code, Some(10), "{ran:?}");
    assert!(ran.stderr.contains("nothing is in this folder"), "{ran:?}");
    // An empty bucket, and a folder that contains only the object with its name.
    drop(mounted_with("s3://mods/", LONG, &variables));
    origin.put(
        "mods",
        page(
            "<Contents><Key>empty/</Key><Size>0</Size>\
             <LastModified>2020-02-01T03:04:05.000Z</LastModified></Contents>",
        ),
    );
    let mount = mounted_with("s3://mods/empty/", LONG, &variables);
    assert_eq!(fs::read_dir(mount.path()).unwrap().count(), 0);
}

#[fuse_test]
fn a_mount_that_takes_long_says_how_much_came() {
    let origin = Origin::with("a.hpi", Object::new(sample().bytes, "a"));
    origin.set(Faults {
        status: Some((503, String::new())),
        ..Faults::default()
    });
    let ran = refused(&origin.url("a.hpi"), "timeout=4");
    assert!(ran.stderr.contains("0 KiB received after 2 s"), "{ran:?}");
}

#[fuse_test]
fn redirects_lead_from_http_to_https_and_not_back() {
    let dir = folder();
    let plain = Origin::with("a.hpi", Object::new(sample().bytes, "a"));
    let back = format!(
        "location /old {{ return 302 {}; }}",
        plain.url("a.hpi?signed")
    );
    let Some((certificates, nginx)) = secure(&dir, &back) else {
        return;
    };
    let authority = certificates.authority();
    let trusting = [("SSL_CERT_FILE", authority.as_str())];
    let ran = refused_with(&nginx.url("old"), LONG, &trusting);
    assert_eq!(ran.code, Some(10), "{ran:?}");
    assert!(
        ran.stderr
            .contains("redirects from https to http, which is refused"),
        "{ran:?}"
    );
    assert!(!ran.stderr.contains("signed"), "{ran:?}");
    assert_eq!(plain.take_requests().len(), 0);

    plain.set(Faults {
        status: Some((302, format!("Location: {}\r\n", nginx.url("a.hpi")))),
        ..Faults::default()
    });
    // A redirect may lead to this port because another source has it.
    let fixture = Fixture::new();
    let mut command = hpimount();
    command.args([plain.url("a.hpi"), nginx.url("a.hpi")]);
    command.arg(&fixture.point).arg("--separate").envs(trusting);
    let mount = fixture.mount_by(command);
    let roots: Vec<_> = fs::read_dir(mount.path()).unwrap().collect();
    assert_eq!(roots.len(), 2);
    for root in roots {
        let small = root.unwrap().path().join(SMALL);
        assert_eq!(fs::read(small).unwrap(), b"hello\n");
    }
}

#[fuse_test]
fn a_header_is_sent_to_the_servers_of_sources_and_not_to_targets_of_redirects() {
    let [first, second] = [(); 2].map(|()| Origin::with("a.hpi", Object::new(sample().bytes, "a")));
    second.put("there.hpi", Object::new(sample().bytes, "b"));
    first.set(Faults {
        status: Some((302, format!("Location: {}\r\n", second.url("there.hpi")))),
        ..Faults::default()
    });
    let fixture = Fixture::new();
    let header = fixture.dir().join("header");
    fs::write(&header, "Bearer t0ken\n").unwrap();
    let mut command = hpimount();
    command.args([first.url("a.hpi"), second.url("a.hpi")]);
    command.arg(&fixture.point).arg("--separate");
    command.args(["-o", &format!("header=@{}", header.display())]);
    let mount = fixture.mount_by(command);
    drop(mount);
    let has_header =
        |request: &crate::fixtures::origin::Request| request.headers.contains_key("authorization");
    assert!(first.take_requests().iter().all(has_header));
    let requests = second.take_requests();
    assert!(
        requests
            .iter()
            .any(|request| request.target == "/there.hpi")
    );
    for request in &requests {
        assert_eq!(
            has_header(request),
            request.target == "/a.hpi",
            "{request:?}"
        );
    }
}

#[fuse_test]
fn a_server_that_cannot_be_reached_is_refused_at_once_with_the_reason() {
    for (url, said) in [
        ("http://127.0.0.1:1/a.hpi", "refused"),
        ("http://hpimount.invalid/a.hpi", "lookup"),
        ("https://hpimount.invalid/a.hpi", "lookup"),
    ] {
        // Without a resolver, the lookup may take the full timeout.
        let ran = refused_with(url, LONG, &[("RES_OPTIONS", "timeout:1 attempts:1")]);
        assert_eq!(ran.code, Some(10), "{ran:?}");
        assert!(
            ran.stderr.contains("the server cannot be reached: "),
            "{ran:?}"
        );
        assert!(ran.stderr.contains(said), "{ran:?}");
    }
    let nowhere = [
        ("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1"),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_SKIP_SIGNATURE", "true"),
    ];
    for url in ["s3://mods/a.hpi", "s3://mods/"] {
        let ran = refused_with(url, LONG, &nowhere);
        assert_eq!(ran.code, Some(10), "{ran:?}");
        assert!(
            ran.stderr.contains("the server cannot be reached: "),
            "{ran:?}"
        );
    }
}

/// Returns the names of the threads of a mount.
fn threads(mount: &Mount) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", mount.pid())).unwrap();
    let names = tasks.map(|task| fs::read_to_string(task.unwrap().path().join("comm")).unwrap());
    names.map(|name| name.trim().to_owned()).collect()
}

#[fuse_test]
fn only_sources_on_servers_start_threads_for_the_network() {
    let has_network = |mount: &Mount| {
        let threads = threads(mount);
        let found = threads
            .iter()
            .any(|name| name == "network" || name.starts_with("tokio"));
        (found, threads)
    };
    let here = Mount::new(&[]);
    here.assert_answers();
    let (found, names) = has_network(&here);
    assert!(!found, "{names:?}");
    let origin = Origin::with("a.hpi", Object::new(sample().bytes, "a"));
    let there = mounted(&origin.url("a.hpi"), LONG);
    let (found, names) = has_network(&there);
    assert!(found, "{names:?}");
}
