//! HTTP transport: clients, redirects, and checks of responses before the
//! object store sees them.

use std::error::Error as StdError;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use http::header::{CONTENT_LENGTH, CONTENT_RANGE, HeaderMap, HeaderName, RANGE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest,
    HttpResponse, HttpResponseBody, HttpService,
};
use reqwest::redirect;

use super::{BLOCK, RemoteOptions};
use crate::sync::lock;
use crate::sync::tally::Tally;

/// Timeouts for establishing a connection, and for a silent connection, after
/// which another one is tried.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const SILENCE: Duration = Duration::from_secs(5);

/// Maximum number of redirects of a request.
const MAX_REDIRECTS: usize = 5;

/// Maximum length of a response that is not a range of an object, in bytes: a
/// page of a listing, or a token.
const MAX_ANSWER: usize = 16 << 20;

/// Maximum time that a server may ask to wait.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(30);

/// Header that S3 returns the region of a bucket in.
const BUCKET_REGION: HeaderName = HeaderName::from_static("x-amz-bucket-region");

/// Unusable responses.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("the server answers {0}")]
    Status(StatusCode),
    #[error("the bucket is in another region; set AWS_REGION={0}")]
    Region(String),
    #[error("the server does not support range requests; hpimount cannot read from it")]
    NoRanges,
    #[error("the object has no bytes")]
    Empty,
    #[error("the object on the server has become shorter")]
    Shorter,
    #[error("the server answers with more than {MAX_ANSWER} bytes")]
    Endless,
    #[error("the server answers with {got} instead of {wanted}")]
    WrongRange { wanted: String, got: String },
}

/// Returns whether an error of a client is permanent: a redirect that is not
/// followed, or a certificate that is not trusted.
pub(super) fn is_lasting(error: &(dyn StdError + 'static)) -> bool {
    // The cause of an I/O error is not among its sources.
    let inner = error.downcast_ref().and_then(io::Error::get_ref);
    if let Some(inner) = inner {
        return is_lasting(inner);
    }
    let client = error.downcast_ref::<reqwest::Error>();
    client.is_some_and(reqwest::Error::is_redirect)
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
    /// Whether public servers may redirect to local addresses.
    allows_local: bool,
}

impl Connector {
    pub(super) fn new(wire: &Arc<Wire>, options: &RemoteOptions, ports: &[u16]) -> Self {
        Self {
            wire: wire.clone(),
            clients: Arc::default(),
            timeout: options.timeout,
            ports: ports.into(),
            allows_local: options.allow_local,
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
        let follow = move |attempt: redirect::Attempt<'_>| {
            let url = attempt.url();
            let port = url.port_or_known_default().unwrap_or_default();
            let from_https = attempt.previous().iter().any(|url| url.scheme() == "https");
            if from_https && url.scheme() != "https" {
                attempt.error("the server redirects from https to http, which is refused")
            } else if !ports.contains(&port) {
                let text = format!("the server redirects to port {port}, which is refused");
                attempt.error(text)
            } else if is_local(url) && !allows_local && !attempt.previous().iter().all(is_local) {
                attempt.error(
                    "the server redirects to an address of this computer or its link, which \
                     only -o allowlocal permits",
                )
            } else if attempt.previous().len() > MAX_REDIRECTS {
                attempt.error("the server redirects without end")
            } else {
                attempt.follow()
            }
        };
        reqwest::Client::builder()
            .user_agent(concat!("hpimount/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers.cloned().unwrap_or_default())
            .redirect(redirect::Policy::custom(follow))
            .referer(false)
            .https_only(!allows_http)
            .http1_only()
            .connect_timeout(CONNECT_TIMEOUT.min(self.timeout))
            .read_timeout(SILENCE.min(self.timeout / 2))
            .build()
    }
}

/// Returns whether a URL leads to this computer or its link, where services may
/// trust everyone: a loopback or link-local address, or a name for one.
fn is_local(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    match address.map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(v4)) => v4.is_loopback() || v4.is_link_local() || v4.is_unspecified(),
        Ok(IpAddr::V6(v6)) => v6.is_loopback() || v6.is_unicast_link_local() || v6.is_unspecified(),
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
        let mut answer = self.send(request).await?;
        if let Some(seconds) = number(answer.headers(), RETRY_AFTER)
            && answer.status().as_u16() >= 400
        {
            let rest = Duration::from_secs(seconds).min(MAX_RETRY_AFTER);
            *lock(&self.wire.not_before) = Some(Instant::now() + rest);
        }
        // The body of a refusal is not read: it may be endless.
        judge(&mut answer, range.as_ref())
            .map_err(|refusal| HttpError::new(HttpErrorKind::Unknown, refusal))?;
        if range.is_some() {
            return Ok(answer);
        }
        // The store would read it completely.
        let (head, body) = answer.into_parts();
        Ok(HttpResponse::from_parts(head, whole(body).await?.into()))
    }
}

/// Returns the bytes of a response.
///
/// # Errors
/// Returns an error if there are too many.
async fn whole(body: HttpResponseBody) -> Result<Bytes, HttpError> {
    let mut parts = body.bytes_stream();
    let mut bytes = Vec::new();
    while let Some(part) = parts.next().await {
        let part = part?;
        if part.len() > MAX_ANSWER - bytes.len() {
            return Err(HttpError::new(HttpErrorKind::Unknown, Refusal::Endless));
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes.into())
}

/// Checks the head of the response to a request for `range`, or for everything.
fn judge(answer: &mut HttpResponse, range: Option<&HeaderValue>) -> Result<(), Refusal> {
    let status = answer.status();
    let Some(wanted) = range.and_then(requested_range) else {
        return match status.is_success() {
            true => Ok(()),
            false => Err(unsuccessful(answer)),
        };
    };
    let length = number(answer.headers(), CONTENT_LENGTH);
    match status {
        StatusCode::PARTIAL_CONTENT => check_range(answer.headers(), wanted, length),
        // RFC 9110, section 14.2: a server may ignore the header. A response
        // that is no longer than a block is equivalent to the range.
        StatusCode::OK => match length {
            Some(0) => Err(Refusal::Empty),
            Some(length) if wanted.0 == 0 && length <= BLOCK => {
                let text = format!("bytes 0-{}/{length}", length - 1);
                if let Ok(value) = HeaderValue::from_str(&text) {
                    answer.headers_mut().insert(CONTENT_RANGE, value);
                }
                *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
                Ok(())
            }
            _ => Err(Refusal::NoRanges),
        },
        StatusCode::RANGE_NOT_SATISFIABLE => match content_range(answer.headers()) {
            Some((_, _, 0)) => Err(Refusal::Empty),
            _ => Err(Refusal::Shorter),
        },
        _ => Err(unsuccessful(answer)),
    }
}

fn unsuccessful(answer: &HttpResponse) -> Refusal {
    let region = answer.headers().get(BUCKET_REGION);
    let is_elsewhere = matches!(
        answer.status(),
        StatusCode::MOVED_PERMANENTLY | StatusCode::TEMPORARY_REDIRECT | StatusCode::BAD_REQUEST
    );
    match region.and_then(|region| region.to_str().ok()) {
        Some(region) if is_elsewhere => Refusal::Region(printable(region)),
        _ => Refusal::Status(answer.status()),
    }
}

fn check_range(
    headers: &HeaderMap,
    (start, end): (u64, u64),
    length: Option<u64>,
) -> Result<(), Refusal> {
    let wrong = |got: String| Refusal::WrongRange {
        wanted: format!("bytes {start}-{end}"),
        got,
    };
    let Some((first, last, total)) = content_range(headers) else {
        let text = headers
            .get(CONTENT_RANGE)
            .map(|value| printable(&String::from_utf8_lossy(value.as_bytes())));
        return Err(wrong(text.unwrap_or("no Content-Range".to_owned())));
    };
    if first != start || last != end.min(total.saturating_sub(1)) {
        return Err(wrong(format!("bytes {first}-{last}/{total}")));
    }
    match length {
        Some(length) if length == last - first + 1 => Ok(()),
        Some(length) => Err(wrong(format!("{length} bytes"))),
        None => Err(wrong("no Content-Length".to_owned())),
    }
}

/// Returns the first byte, the last byte and the total length; all 0 for an
/// empty object.
fn content_range(headers: &HeaderMap) -> Option<(u64, u64, u64)> {
    let value = headers.get(CONTENT_RANGE)?.to_str().ok()?;
    let (range, total) = value.trim().strip_prefix("bytes ")?.split_once('/')?;
    let total = total.parse().ok()?;
    if range == "*" {
        return (total == 0).then_some((0, 0, 0));
    }
    let (first, last) = range.split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last && last < total).then_some((first, last, total))
}

/// Returns the first and the last byte of a request for a range.
fn requested_range(range: &HeaderValue) -> Option<(u64, u64)> {
    let range = range.to_str().ok()?.strip_prefix("bytes=")?;
    let (first, last) = range.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

fn number(headers: &HeaderMap, name: HeaderName) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

/// Returns text of a response, truncated and without control characters.
fn printable(text: &str) -> String {
    let text = text.chars().take(80);
    text.map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(status: u16, headers: &[(HeaderName, &str)], range: &str) -> String {
        let mut answer = HttpResponse::new(HttpResponseBody::from(Vec::new()));
        *answer.status_mut() = StatusCode::from_u16(status).unwrap();
        for (name, value) in headers {
            let value = HeaderValue::from_str(value).unwrap();
            answer.headers_mut().insert(name, value);
        }
        let range = HeaderValue::from_str(range).unwrap();
        match judge(&mut answer, Some(&range)) {
            Ok(()) => format!("{}", answer.status().as_u16()),
            Err(refusal) => refusal.to_string(),
        }
    }

    #[test]
    fn addresses_of_this_computer_and_its_link_are_local() {
        let is_local = |host: &str| is_local(&format!("http://{host}/").parse().unwrap());
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

    #[test]
    fn a_response_must_match_the_request() {
        let part = |range: &'static str, length| [(CONTENT_RANGE, range), (CONTENT_LENGTH, length)];
        let judge = |range, length| judged(206, &part(range, length), "bytes=100-199");
        assert_eq!(judge("bytes 100-199/1000", "100"), "206");
        assert_eq!(judge("bytes 100-149/150", "50"), "206", "at the end");
        for (range, length) in [
            ("bytes 0-99/1000", "100"),
            ("bytes 100-149/1000", "50"),
            ("bytes 100-199/1000", "99"),
            ("bytes 100-299/1000", "200"),
            ("bytes 199-100/1000", "100"),
            ("bytes 100-199/150", "100"),
            ("bytes 100-199/*", "100"),
            ("bytes 100-18446744073709551615/18446744073709551615", "1"),
            ("apples", "100"),
        ] {
            let refusal = judge(range, length);
            assert!(
                refusal.starts_with("the server answers with "),
                "{range}: {refusal}"
            );
        }
        let without = judged(206, &[(CONTENT_LENGTH, "100")], "bytes=100-199");
        assert!(without.contains("no Content-Range"), "{without}");
    }

    #[test]
    fn a_whole_object_is_accepted_if_it_is_no_longer_than_a_block() {
        let whole = |length, range| judged(200, &[(CONTENT_LENGTH, length)], range);
        assert_eq!(whole("8", "bytes=0-131071"), "206");
        assert_eq!(whole("131072", "bytes=0-131071"), "206");
        let refused = "the server does not support range requests; hpimount cannot read from it";
        assert_eq!(whole("131073", "bytes=0-131071"), refused);
        assert_eq!(whole("8", "bytes=131072-131080"), refused);
        assert_eq!(judged(200, &[], "bytes=0-131071"), refused);
        assert_eq!(whole("0", "bytes=0-131071"), "the object has no bytes");
    }

    #[test]
    fn other_responses_are_reported_with_their_cause() {
        let end = [(CONTENT_RANGE, "bytes */0")];
        assert_eq!(judged(416, &end, "bytes=0-1"), "the object has no bytes");
        let shorter = judged(416, &[(CONTENT_RANGE, "bytes */9")], "bytes=10-11");
        assert!(shorter.contains("shorter"), "{shorter}");
        let region = [(BUCKET_REGION, "eu-west-1")];
        assert!(judged(301, &region, "bytes=0-1").contains("AWS_REGION=eu-west-1"));
        let missing = judged(404, &[], "bytes=0-1");
        assert_eq!(missing, "the server answers 404 Not Found");
    }
}
