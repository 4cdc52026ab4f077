//! HTTP transport: clients and redirects.

use std::error::Error as StdError;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use http::header::{HeaderMap, RANGE, RETRY_AFTER};
use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest,
    HttpResponse, HttpResponseBody, HttpService,
};
use reqwest::redirect;
use tokio::runtime::Handle;

use super::answer::{checked, number};
use super::resolver::{LocalAddress, Resolver, is_local};
use super::{Access, RemoteOptions};
use crate::sync::lock;
use crate::sync::tally::Tally;

/// Timeouts for establishing a connection, and for a silent connection, after
/// which another one is tried.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const SILENCE: Duration = Duration::from_secs(5);

/// Maximum number of redirects of a request.
const MAX_REDIRECTS: usize = 5;

/// Maximum time that a server may ask to wait.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(30);

/// Returns whether an error of a client is permanent: a redirect that is not
/// followed, also because of its address, or a certificate that is not trusted.
pub(super) fn is_lasting(error: &(dyn StdError + 'static)) -> bool {
    // The cause of an I/O error is not among its sources.
    let inner = error.downcast_ref().and_then(io::Error::get_ref);
    if let Some(inner) = inner {
        return is_lasting(inner);
    }
    let client = error.downcast_ref::<reqwest::Error>();
    client.is_some_and(reqwest::Error::is_redirect)
        || error.is::<LocalAddress>()
        || matches!(
            error.downcast_ref(),
            Some(rustls::Error::InvalidCertificate(_))
        )
}

/// Returns whether a client failed to connect.
pub(super) fn is_connect_failure(error: &(dyn StdError + 'static)) -> bool {
    let client = error.downcast_ref::<reqwest::Error>();
    client.is_some_and(|client| client.is_connect() && !client.is_timeout())
}

/// Returns whether the root cause of an error is a broken connection, not one
/// that could not be established.
pub(super) fn is_broken_connection(error: &(dyn StdError + 'static)) -> bool {
    let inner = error.downcast_ref::<io::Error>();
    inner.is_some_and(|inner| {
        matches!(
            inner.kind(),
            io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof
                | io::ErrorKind::TimedOut
        )
    })
}

/// The HTTP transport of all sources.
#[derive(Debug, Default)]
pub(super) struct Wire {
    /// Requests sent.
    pub(super) requests: Tally,
    /// When servers that have asked to wait may be contacted again.
    not_before: Mutex<Option<Instant>>,
}

impl Wire {
    /// Returns the remaining time that servers have asked to wait.
    pub(super) fn rest(&self) -> Duration {
        let until = *lock(&self.not_before);
        until.map_or(Duration::ZERO, |until| {
            until.saturating_duration_since(Instant::now())
        })
    }
}

/// A factory of HTTP clients for object stores.
#[derive(Debug, Clone)]
pub(super) struct Connector {
    wire: Arc<Wire>,
    /// Clients for https only, and for http as well.
    clients: Arc<[Mutex<Option<reqwest::Client>>; 2]>,
    /// Maximum time that a read waits.
    timeout: Duration,
    /// TCP ports that may be connected to.
    ports: Arc<[u16]>,
    /// True if public servers may redirect to local addresses.
    allows_local: bool,
    resolver: Arc<Resolver>,
}

impl Connector {
    /// Creates a factory whose clients look up names in the runtime `names`.
    pub(super) fn new(
        wire: &Arc<Wire>,
        options: &RemoteOptions,
        access: &Access,
        names: Handle,
    ) -> Self {
        Self {
            wire: wire.clone(),
            clients: Arc::default(),
            timeout: options.timeout,
            ports: access.ports.as_slice().into(),
            allows_local: options.allow_local,
            resolver: Arc::new(Resolver::new(&access.hosts, options.allow_local, names)),
        }
    }

    fn client(
        &self,
        allows_http: bool,
        headers: Option<&HeaderMap>,
    ) -> reqwest::Result<reqwest::Client> {
        let mut kept = lock(&self.clients[usize::from(allows_http)]);
        if let (Some(client), None) = (&*kept, headers) {
            return Ok(client.clone());
        }
        let client = self.build(allows_http, headers)?;
        if headers.is_none() {
            *kept = Some(client.clone());
        }
        Ok(client)
    }

    fn build(
        &self,
        allows_http: bool,
        headers: Option<&HeaderMap>,
    ) -> reqwest::Result<reqwest::Client> {
        let ports = self.ports.clone();
        let allows_local = self.allows_local;
        let resolver = self.resolver.clone();
        let follow = move |attempt: redirect::Attempt<'_>| {
            let url = attempt.url();
            let port = url.port_or_known_default().unwrap_or_default();
            let is_from_local = attempt.previous().iter().all(is_for_local);
            let from_https = attempt.previous().iter().any(|url| url.scheme() == "https");
            if from_https && url.scheme() != "https" {
                attempt.error("the server redirects from https to http, which is refused")
            } else if !ports.contains(&port) {
                let text = format!("the server redirects to port {port}, which is refused");
                attempt.error(text)
            } else if is_for_local(url) && !allows_local && !is_from_local {
                attempt.error(LocalAddress)
            } else if attempt.previous().len() > MAX_REDIRECTS {
                attempt.error("the server redirects without end")
            } else {
                if let (true, Some(host)) = (is_from_local, url.host_str()) {
                    resolver.permit(host);
                }
                attempt.follow()
            }
        };
        reqwest::Client::builder()
            .user_agent(concat!("hpimount/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers.cloned().unwrap_or_default())
            .redirect(redirect::Policy::custom(follow))
            .referer(false)
            .https_only(!allows_http)
            .dns_resolver(self.resolver.clone())
            .http1_only()
            .connect_timeout(CONNECT_TIMEOUT.min(self.timeout))
            .read_timeout(SILENCE.min(self.timeout / 2))
            .build()
    }
}

/// Returns whether a URL leads to this computer or its link: whether its host is a local
/// address, or a name that always means one.
fn is_for_local(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => is_local(address),
        Err(_) => host.trim_end_matches('.').rsplit('.').next() == Some("localhost"),
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let allows_http = options.get_config_value(&ClientConfigKey::AllowHttp);
        let client = self
            .client(
                allows_http.as_deref() == Some("true"),
                options.get_default_headers(),
            )
            .map_err(|error| object_store::Error::Generic {
                store: "HTTP",
                source: Box::new(error),
            })?;
        Ok(HttpClient::new(Service {
            client,
            wire: self.wire.clone(),
        }))
    }
}

/// A client that checks responses.
#[derive(Debug)]
struct Service {
    client: reqwest::Client,
    wire: Arc<Wire>,
}

impl Service {
    /// Sends a request and returns any response. The crate `object_store` has
    /// the same in a feature that links HTTP/2.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        // Without the URL, which may contain a secret.
        let failed =
            |error: reqwest::Error| HttpError::new(HttpErrorKind::Unknown, error.without_url());
        let (head, body) = request.into_parts();
        let url = head.uri.to_string();
        let mut sent = self.client.request(head.method, url).headers(head.headers);
        // Only uploads have several parts.
        if let Some(body) = body.as_bytes() {
            sent = sent.body(body.clone());
        }
        let answer = sent.send().await.map_err(failed)?;
        let (head, body) = http::Response::<reqwest::Body>::from(answer).into_parts();
        let body = HttpResponseBody::new(body.map_err(failed));
        Ok(HttpResponse::from_parts(head, body))
    }
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let range = request.headers().get(RANGE).cloned();
        self.wire.requests.add(1);
        let answer = self.send(request).await?;
        if let Some(seconds) = number(answer.headers(), RETRY_AFTER)
            && answer.status().as_u16() >= 400
        {
            let rest = Duration::from_secs(seconds).min(MAX_RETRY_AFTER);
            *lock(&self.wire.not_before) = Some(Instant::now() + rest);
        }
        checked(answer, range.as_ref()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_computer_and_its_link_are_local() {
        let is_local = |host: &str| is_for_local(&format!("http://{host}/").parse().unwrap());
        for host in [
            "127.0.0.1",
            "0x7f.1:8080",
            "0.0.0.0",
            "169.254.169.254",
            "[::1]",
            "[fe80::1]",
            "[::ffff:127.0.0.1]",
            "LOCALHOST",
            "a.localhost.",
        ] {
            assert!(is_local(host), "{host}");
        }
        for host in [
            "192.0.2.1",
            "[2001:db8::1]",
            "localhost.example",
            "mylocalhost",
        ] {
            assert!(!is_local(host), "{host}");
        }
    }
}
