//! The permissions of the network threads: the ports to connect to, the hosts that may be
//! local, and the files to read.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use reqwest::Url;

use super::credentials;
use super::url::{RemoteUrl, Scheme};
use super::{Access, RemoteOptions};
use crate::platform::is_root;

/// The port of HTTPS, which is permitted for all URLs: for redirects and for services that
/// issue tokens.
const HTTPS: u16 = 443;

/// Files with trusted certificates for TLS, and those that the system's
/// resolver reads, outside of `/etc`.
const READABLE: [&str; 11] = [
    "/lib",
    "/lib64",
    "/run/nscd",
    "/run/systemd/resolve",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/share/ca-certificates",
    "/usr/share/ca-certificates",
    "/usr/share/pki",
    "/var/lib/ca-certificates",
    "/var/run/nscd",
];

/// The settings of the resolver.
const RESOLVER: &str = "/etc/resolv.conf";

/// The files of `/etc` that resolving names, TLS and the log need. Others are secret
/// for all but root, such as passwords and the private keys of servers.
const SETTINGS: [&str; 20] = [
    RESOLVER,
    "/etc/ca-certificates",
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mdns.allow",
    "/etc/networks",
    "/etc/nsswitch.conf",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/openssl.cnf",
];

/// Environment variables with proxies, endpoints and services of S3, and files
/// to read.
const PROXIES: [&str; 6] = [
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
];
pub(super) const ENDPOINTS: [&str; 3] = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
const SERVICES: [&str; 3] = [
    "AWS_ENDPOINT_URL_STS",
    "AWS_METADATA_ENDPOINT",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];
const FILES: [&str; 4] = [
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
];

/// Returns the access that the network threads need.
pub(super) fn access<'a>(
    options: &RemoteOptions,
    urls: impl Iterator<Item = &'a RemoteUrl>,
) -> Access {
    let variable = |name: &&str| env::var(name).ok().filter(|value| !value.is_empty());
    let mut servers = Vec::new();
    let mut ports = vec![HTTPS];
    let mut is_s3 = false;
    for url in urls {
        match url.scheme() {
            // Its endpoint is in the environment.
            Scheme::S3 => is_s3 = true,
            Scheme::Http | Scheme::Https => servers.push(url.request().to_owned()),
        }
    }
    let proxies = PROXIES.iter().filter_map(variable);
    servers.extend(proxies.map(|proxy| match proxy.contains("://") {
        true => proxy,
        false => format!("http://{proxy}"),
    }));
    let mut readable: Vec<PathBuf> = READABLE.iter().map(PathBuf::from).collect();
    readable.extend(settings());
    readable.extend(FILES.iter().filter_map(env::var_os).map(PathBuf::from));
    let mut endpoints = Vec::new();
    if is_s3 {
        endpoints.extend(ENDPOINTS.iter().filter_map(variable));
        servers.extend(SERVICES.iter().filter_map(variable));
        let is_given = |name| env::var_os(name).is_some();
        if is_given("AWS_METADATA_ENDPOINT") || is_given("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            ports.push(80);
        }
        readable.extend(credentials::files().into_iter().flatten());
    }
    let mut hosts = Vec::new();
    for (urls, has_buckets) in [(servers, false), (endpoints, true)] {
        for url in urls.iter().filter_map(|url| Url::parse(url).ok()) {
            ports.extend(url.port_or_known_default());
            let host = url.host_str().map(str::to_ascii_lowercase);
            if has_buckets {
                hosts.extend(host.iter().map(|host| format!(".{host}")));
            }
            hosts.extend(host);
        }
    }
    ports.sort_unstable();
    ports.dedup();
    Access {
        ports,
        hosts,
        readable,
        writable: options.block_cache.iter().cloned().collect(),
    }
}

/// Returns the settings of the system that the threads read. Those of a user other than
/// root can read nothing secret in `/etc`, and notice that a file is replaced. Root's
/// see the contents of a replaced file only in another directory, where a link leads.
fn settings() -> Vec<PathBuf> {
    if !is_root() {
        return vec![PathBuf::from("/etc")];
    }
    let target = fs::canonicalize(RESOLVER).ok();
    let directory = target.as_deref().and_then(Path::parent);
    let directory = directory.filter(|directory| *directory != Path::new("/etc"));
    let settings = SETTINGS.iter().map(PathBuf::from);
    settings.chain(directory.map(Path::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_may_have_the_hosts_and_ports_of_urls_and_no_names_of_buckets() {
        let urls = [
            "http://Host.example:8080/a.hpi",
            "http://[::1]:81/a",
            "http://b\u{fc}cher.example/a",
            "s3://internal/a.hpi",
        ];
        let urls = urls.map(|url| RemoteUrl::parse(url).unwrap());
        let access = access(&RemoteOptions::default(), urls.iter());
        for port in [80, 81, 443, 8080] {
            assert!(access.ports.contains(&port), "{port}");
        }
        let hosts = ["host.example", "[::1]", "xn--bcher-kva.example"];
        assert_eq!(access.hosts[..3], hosts);
        assert!(!access.hosts.iter().any(|host| host.ends_with("internal")));
    }

    #[test]
    fn root_reads_the_settings_of_the_network_and_no_secrets() {
        let url = RemoteUrl::parse("http://Host.example:8080/a.hpi").unwrap();
        let access = access(&RemoteOptions::default(), [&url].into_iter());
        let is_readable = |path: &str| {
            let path = fs::canonicalize(path).unwrap_or_else(|_| path.into());
            let allowed = access.readable.iter();
            let mut allowed = allowed.map(fs::canonicalize);
            allowed.any(|allowed| allowed.is_ok_and(|allowed| path.starts_with(allowed)))
        };
        for file in ["/etc/hosts", RESOLVER] {
            assert!(is_readable(file) || !Path::new(file).exists(), "{file}");
        }
        let secrets = ["/etc/shadow", "/etc/gshadow", "/etc/ssl/private/a.key"];
        for file in secrets {
            assert_eq!(is_readable(file), !is_root(), "{file}");
        }
    }
}
