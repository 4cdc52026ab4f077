//! Objects on servers: the ranges of one version, and listings.

use std::error::Error as StdError;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http::StatusCode;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::http::{HttpBuilder, HttpStore};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{
    ClientConfigKey, ClientOptions, GetOptions, GetRange, ListResult, ObjectMeta, ObjectStore,
    RetryConfig,
};

use super::answer::{Refusal, printable};
use super::credentials::{self, Credentials};
use super::url::{RemoteUrl, Scheme};
use super::wire::{Connector, is_broken_connection, is_connect_failure, is_lasting};

/// Maximum number of characters of a message.
const MAX_TEXT: usize = 500;

/// Failure of a request.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) kind: FailureKind,
    /// The message for users; contains nothing secret.
    pub(super) text: String,
}

/// The kind of a failure, which determines how it is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureKind {
    /// Temporary: the request is retried.
    Passing,
    /// The server is unreachable: unknown host, or connection refused. Retried
    /// if it was reachable before.
    Unreachable,
    /// Permanent: another attempt would fail as well.
    Lasting,
    /// The same, because there is no such object.
    Missing,
    /// The same, because access is forbidden. Buckets that may not be listed
    /// also return this for missing objects.
    Forbidden,
    /// The same, because the object has changed.
    Changed,
    /// The object is empty.
    Empty,
}

impl Failure {
    pub(super) fn changed() -> Self {
        Self {
            kind: FailureKind::Changed,
            text: "has changed on the server; mount it again to see what it is now".to_owned(),
        }
    }

    /// Creates a failure because there is no such object or folder.
    pub(super) fn missing(text: impl Into<String>) -> Self {
        Self {
            kind: FailureKind::Missing,
            text: text.into(),
        }
    }

    /// Creates a failure that another attempt would not change. The text may come from a
    /// server.
    pub(super) fn lasting(text: impl Into<String>) -> Self {
        Self {
            kind: FailureKind::Lasting,
            text: printable(&text.into(), MAX_TEXT),
        }
    }
}

/// Errors of the engine contain the whole URL; their root causes do not.
impl From<object_store::Error> for Failure {
    fn from(error: object_store::Error) -> Self {
        let mut cause: &(dyn StdError + 'static) = &error;
        let mut lasts = is_lasting(cause);
        let mut is_connecting = is_connect_failure(cause);
        while let Some(below) = cause.source() {
            cause = below;
            lasts |= is_lasting(cause);
            is_connecting |= is_connect_failure(cause);
        }
        let is_unreachable = is_connecting && !is_broken_connection(cause);
        let kind = match cause.downcast_ref::<Refusal>() {
            Some(Refusal::Empty) => FailureKind::Empty,
            Some(Refusal::Status(StatusCode::NOT_FOUND | StatusCode::GONE)) => FailureKind::Missing,
            Some(Refusal::Status(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)) => {
                FailureKind::Forbidden
            }
            Some(Refusal::Shorter | Refusal::Status(StatusCode::PRECONDITION_FAILED)) => {
                return Self::changed();
            }
            Some(Refusal::Status(status)) if is_passing(*status) => FailureKind::Passing,
            Some(_) => FailureKind::Lasting,
            None if lasts => FailureKind::Lasting,
            None if is_unreachable => FailureKind::Unreachable,
            None => FailureKind::Passing,
        };
        let text = printable(&shown(cause), MAX_TEXT);
        let text = match kind {
            FailureKind::Unreachable => format!("the server cannot be reached: {text}"),
            _ => text,
        };
        Self { kind, text }
    }
}

/// Returns the text of a root cause, in plain words if it is about a certificate.
fn shown(cause: &(dyn StdError + 'static)) -> String {
    use rustls::{CertificateError, Error};

    // The cause of an I/O error is not among its sources, and may be another one.
    let mut inner = cause;
    while let Some(below) = inner.downcast_ref().and_then(io::Error::get_ref) {
        inner = below;
    }
    let Some(Error::InvalidCertificate(problem)) = inner.downcast_ref() else {
        return cause.to_string();
    };
    let words = match problem {
        CertificateError::UnknownIssuer => "no trusted authority has signed it (UnknownIssuer)",
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "it is not valid yet"
        }
        CertificateError::Revoked => "it was revoked",
        other if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "it is that of an authority, which is not valid for a server; if the server is yours, \
             let the authority sign another one (CaUsedAsEndEntity)"
        }
        _ => return cause.to_string(),
    };
    format!("the certificate of the server is not valid: {words}")
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        let kind = match failure.kind {
            FailureKind::Missing => io::ErrorKind::NotFound,
            FailureKind::Forbidden => io::ErrorKind::PermissionDenied,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, failure.text)
    }
}

/// Returns whether a status is temporary.
fn is_passing(status: StatusCode) -> bool {
    status.is_server_error()
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS
        )
}

/// The metadata that identify a version of an object.
#[derive(Debug, Clone)]
pub(super) struct Pin(ObjectMeta);

impl Pin {
    /// Returns the length of the object in bytes.
    pub(super) fn len(&self) -> u64 {
        self.0.size
    }

    /// Returns its key.
    pub(super) fn key(&self) -> &Path {
        &self.0.location
    }

    /// Returns the modification time, in seconds since 1970 UTC; 0 if the
    /// server does not return it.
    pub(super) fn modified(&self) -> i64 {
        self.0.last_modified.timestamp()
    }

    /// Returns its ETag (RFC 9110, section 8.8.3), if it is a strong one.
    pub(super) fn strong_etag(&self) -> Option<&str> {
        let etag = self.0.e_tag.as_deref()?;
        (!etag.starts_with("W/")).then_some(etag)
    }

    /// Returns its ETag, or the time of its last change, as text.
    pub(super) fn stamp(&self) -> String {
        match &self.0.e_tag {
            Some(etag) => unquoted(etag).to_owned(),
            None => format!("at {}", self.modified()),
        }
    }

    /// Returns the conditions of a request for another range of the same
    /// version.
    fn conditions(&self) -> GetOptions {
        let mut options = GetOptions::default();
        match (self.strong_etag(), &self.0.e_tag) {
            (Some(etag), _) => options.if_match = Some(format!("\"{}\"", unquoted(etag))),
            (None, None) if self.modified() != 0 => {
                options.if_unmodified_since = Some(self.0.last_modified);
            }
            _ => {}
        }
        options
    }

    /// Returns whether a response is of the same version. A server may have
    /// ignored the conditions.
    fn is_of(&self, answer: &ObjectMeta) -> bool {
        self.0.size == answer.size && self.stamp() == Self(answer.clone()).stamp()
    }
}

/// Returns an ETag without its quotes, which some servers omit in listings.
fn unquoted(etag: &str) -> &str {
    etag.trim_matches('"')
}

/// A part of an object that is being received.
pub(super) struct ReceivedPart {
    /// The version of the object.
    pub(super) pin: Pin,
    /// Its bytes.
    pub(super) body: BoxStream<'static, object_store::Result<Bytes>>,
}

/// An entry of a listing.
pub(super) enum ListingEntry {
    /// The name of a folder.
    Folder(String),
    /// The object that stands for the folder itself.
    Marker,
    /// An object, its name and key.
    Object { name: String, pin: Pin },
}

/// The entries of a page, and the token of the next one.
pub(super) type Page = (Vec<ListingEntry>, Option<String>);

/// A server with one object, or a bucket.
#[derive(Clone)]
pub(super) struct Store {
    engine: Engine,
    /// True if a request has succeeded.
    is_known: Arc<AtomicBool>,
}

/// The engine's store. Not a `dyn ObjectStore`, whose method table would link
/// all code for writing: more than 1 MiB.
#[derive(Clone)]
enum Engine {
    Http(Arc<HttpStore>),
    S3(Arc<AmazonS3>),
}

impl From<AmazonS3> for Store {
    fn from(bucket: AmazonS3) -> Self {
        Self {
            engine: Engine::S3(Arc::new(bucket)),
            is_known: Arc::default(),
        }
    }
}

impl Store {
    /// Returns the store of a URL, and the path in it. Sends no request.
    ///
    /// # Errors
    /// Returns an error if the environment is contradictory, or if there are no
    /// trusted certificates for TLS.
    pub(super) fn open(
        url: &RemoteUrl,
        connector: &Connector,
        headers: Option<&http::HeaderMap>,
    ) -> Result<(Self, Path), Failure> {
        let retry = RetryConfig {
            max_retries: 0,
            ..RetryConfig::default()
        };
        let built = match url.scheme() {
            Scheme::Http | Scheme::Https => {
                let mut options =
                    ClientOptions::new().with_allow_http(url.scheme() == Scheme::Http);
                if let Some(headers) = headers {
                    options = options.with_default_headers(headers.clone());
                }
                let built = HttpBuilder::new()
                    .with_url(url.request())
                    .with_client_options(options)
                    .with_http_connector(connector.clone())
                    .with_retry(retry)
                    .build();
                built.map(|store| (Engine::Http(Arc::new(store)), Path::default()))
            }
            Scheme::S3 => {
                let (bucket, key) = url.bucket_and_key();
                let from_env = AmazonS3Builder::from_env();
                check_endpoint(&from_env)?;
                let builder = with_credentials(from_env)?
                    .with_bucket_name(bucket)
                    .with_http_connector(connector.clone())
                    .with_retry(retry);
                let path = Path::parse(key)
                    .map_err(|error| Failure::lasting(format!("cannot be a key: {error}")))?;
                let built = builder.build();
                built.map(|store| (Engine::S3(Arc::new(store)), path))
            }
        };
        let (engine, path) = built.map_err(|error| Failure {
            kind: FailureKind::Lasting,
            ..error.into()
        })?;
        let store = Self {
            engine,
            is_known: Arc::default(),
        };
        Ok((store, path))
    }

    /// Returns whether a request has succeeded, so that retries are worthwhile
    /// when it cannot be reached.
    pub(super) fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }

    /// Requests the bytes `range` of an object: of the version `pin`, or of the
    /// current one.
    pub(super) async fn get(
        &self,
        key: &Path,
        range: Range<u64>,
        pin: Option<&Pin>,
    ) -> Result<ReceivedPart, Failure> {
        let options = GetOptions {
            range: Some(GetRange::Bounded(range)),
            ..pin.map(Pin::conditions).unwrap_or_default()
        };
        let answer = match &self.engine {
            Engine::Http(store) => store.get_opts(key, options).await?,
            Engine::S3(store) => store.get_opts(key, options).await?,
        };
        self.is_known.store(true, Ordering::Relaxed);
        if pin.is_some_and(|pin| !pin.is_of(&answer.meta)) {
            return Err(Failure::changed());
        }
        Ok(ReceivedPart {
            pin: Pin(answer.meta.clone()),
            body: answer.into_stream().boxed(),
        })
    }

    /// Lists the direct entries of a folder: a page, and the token of the next
    /// one. `prefix` is empty or ends in a slash.
    pub(super) async fn list(
        &self,
        prefix: &str,
        page_token: Option<String>,
    ) -> Result<Page, Failure> {
        let Engine::S3(bucket) = &self.engine else {
            return Err(Failure::lasting("is not a folder"));
        };
        let options = PaginatedListOptions {
            delimiter: Some("/".into()),
            page_token,
            ..PaginatedListOptions::default()
        };
        let prefix_asked = (!prefix.is_empty()).then_some(prefix);
        let page = bucket.list_paginated(prefix_asked, options).await;
        let page = page.map_err(|error| match error {
            object_store::Error::InvalidPath { source } => {
                Failure::lasting(format!("has a key that cannot be a path: {source}"))
            }
            error => error.into(),
        })?;
        self.is_known.store(true, Ordering::Relaxed);
        Ok((entries(prefix, page.result)?, page.page_token))
    }
}

/// Returns the entries of a page of the folder `prefix`, which is empty or ends in a slash.
fn entries(prefix: &str, page: ListResult) -> Result<Vec<ListingEntry>, Failure> {
    let folders = page.common_prefixes.into_iter().map(|path| {
        let name = name(prefix, &path)?;
        Ok(name.map_or(ListingEntry::Marker, ListingEntry::Folder))
    });
    let objects = page.objects.into_iter().map(|meta: ObjectMeta| {
        let name = name(prefix, &meta.location)?;
        let object = |name| ListingEntry::Object {
            name,
            pin: Pin(meta),
        };
        Ok(name.map_or(ListingEntry::Marker, object))
    });
    folders.chain(objects).collect()
}

/// Returns the name of an entry of a folder, or nothing for the folder itself: some programs
/// create it as an object with its name. Paths have no slash at their ends.
fn name(prefix: &str, path: &Path) -> Result<Option<String>, Failure> {
    let key = path.as_ref();
    if key == prefix.trim_end_matches('/') {
        return Ok(None);
    }
    let name = key.strip_prefix(prefix).filter(|name| !name.contains('/'));
    let outside = || Failure::lasting(format!("is listed with a key of another folder: {key}"));
    Ok(Some(name.ok_or_else(outside)?.to_owned()))
}

/// Checks that the environment allows a server without TLS, if it names one.
fn check_endpoint(builder: &AmazonS3Builder) -> Result<(), Failure> {
    use AmazonS3ConfigKey as Key;

    let given = |key: Key| builder.get_config_value(&key);
    let endpoint = given(Key::S3Endpoint).or_else(|| given(Key::Endpoint));
    let is_plain = endpoint.is_some_and(|url| url.starts_with("http://"));
    let is_allowed = given(Key::Client(ClientConfigKey::AllowHttp));
    if is_plain && is_allowed.as_deref() != Some("true") {
        return Err(Failure::lasting(
            "the address of the server (AWS_ENDPOINT_URL_S3) begins with http://, which needs \
             AWS_ALLOW_HTTP=true",
        ));
    }
    Ok(())
}

/// Adds settings that the environment lacks. The metadata service of cloud
/// instances is queried only if its address is given: elsewhere, waiting for it
/// takes long and ends with an obscure message.
fn with_credentials(builder: AmazonS3Builder) -> Result<AmazonS3Builder, Failure> {
    use AmazonS3ConfigKey as Key;

    let has = |key: Key| builder.get_config_value(&key).is_some();
    let signs = builder.get_config_value(&Key::SkipSignature).as_deref() != Some("true");
    let needs_region = !has(Key::Region) && !has(Key::DefaultRegion);
    let has_credentials = has(Key::AccessKeyId)
        || has(Key::SecretAccessKey)
        || has(Key::WebIdentityTokenFile)
        || has(Key::ContainerCredentialsRelativeUri)
        || has(Key::ContainerCredentialsFullUri)
        || has(Key::MetadataEndpoint);
    let profile = credentials::of_profile().map_err(Failure::lasting)?;
    let builder = match profile.region {
        Some(region) if needs_region => builder.with_region(region),
        _ => builder,
    };
    if !signs || has_credentials {
        return Ok(builder);
    }
    Ok(match profile.credentials {
        Some(Credentials {
            key_id,
            secret,
            token,
        }) => {
            let builder = builder
                .with_access_key_id(key_id)
                .with_secret_access_key(secret);
            match token {
                Some(token) => builder.with_token(token),
                None => builder,
            }
        }
        None => builder.with_skip_signature(true),
    })
}
