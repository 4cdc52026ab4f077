//! Answers, and the reasons for refusals.

use std::fmt;

use bytes::Bytes;

use super::head::Head;
use crate::inspect::{self, Trouble};
use crate::mount::Error;
use crate::printable::printable;

/// An answer to a request.
pub(super) struct Answer {
    /// The status code.
    pub(super) status: u16,
    /// Headers beside those that all answers have.
    pub(super) headers: Vec<(&'static str, String)>,
    /// Number of bytes of the body, if that is known.
    pub(super) length: Option<u64>,
    /// The body.
    pub(super) body: Content,
}

/// The body of an answer.
pub(super) enum Content {
    /// It has these bytes.
    Bytes(Bytes),
    /// It begins with these bytes, and continues with what can be read.
    Pieces(Bytes, Box<dyn Pieces>),
}

/// A body that is read while it is sent.
pub(super) trait Pieces: Send {
    /// Returns the next bytes, about as many as wanted and not many more; none at the end.
    ///
    /// # Errors
    /// Returns an error if they cannot be read. Nothing must be read afterwards.
    fn read(&mut self, wanted: usize) -> Result<Bytes, Broken>;
}

/// A body cannot be continued; the log has the reason.
#[derive(Debug, thiserror::Error)]
#[error("the rest cannot be read")]
pub(super) struct Broken;

impl Broken {
    /// Logs why the body of the entry at a path cannot be continued.
    pub(super) fn because(path: &str, why: impl fmt::Display) -> Self {
        log::error!("{}: {}", printable(path), printable(&why.to_string()));
        Self
    }
}

/// Security policy of an answer, by the kind of its body (docs/SERVING.md, Security).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Policy {
    /// It comes from a source: nothing in it is active.
    Contents,
    /// It is a page of this program.
    Page,
    /// It is data for a program.
    Data,
}

impl Policy {
    fn text(self) -> &'static str {
        match self {
            Self::Contents => "sandbox; default-src 'none'",
            Self::Page => {
                "default-src 'none'; script-src 'self'; style-src 'self'; \
                 img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self' blob:; \
                 base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            }
            Self::Data => "default-src 'none'",
        }
    }
}

impl Answer {
    /// Creates an answer without a body.
    pub(super) fn empty(status: u16) -> Self {
        Self::of_bytes(status, Bytes::new())
    }

    fn of_bytes(status: u16, bytes: Bytes) -> Self {
        Self {
            status,
            headers: Vec::new(),
            length: Some(bytes.len() as u64),
            body: Content::Bytes(bytes),
        }
    }

    /// Creates an answer with a text of this type.
    pub(super) fn text(policy: Policy, kind: &str, text: impl Into<Bytes>) -> Self {
        Self::of_bytes(200, text.into())
            .with("content-type", kind)
            .with_policy(policy)
    }

    /// Creates an answer that a client reads at another place.
    pub(super) fn redirect(to: String) -> Self {
        Self::empty(303).with("location", to)
    }

    /// Adds a header.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Adds the headers of a policy.
    pub(super) fn with_policy(self, policy: Policy) -> Self {
        self.with("content-security-policy", policy.text())
    }
}

/// The reason why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The request is wrong.
    BadRequest(&'static str),
    /// It does not have the token.
    NoToken,
    /// It comes from a page of another site.
    OtherSite,
    /// It is for another host.
    OtherHost,
    /// There is no such route.
    NoRoute,
    /// Nothing is written.
    MethodNotAllowed,
    /// There are too many clients, or too much to do.
    Busy,
    /// The file cannot be read, for this reason.
    Failed(Error, String),
    /// This program has failed.
    Internal,
}

/// The methods of all routes.
pub(super) const ALLOWED: &str = "OPTIONS, GET, HEAD, PROPFIND";

impl Refusal {
    fn status(&self) -> u16 {
        match self {
            Self::BadRequest(_) => 400,
            Self::NoToken => 401,
            Self::OtherSite => 403,
            Self::OtherHost => 421,
            Self::NoRoute => 404,
            Self::MethodNotAllowed => 405,
            Self::Busy => 503,
            Self::Internal => 500,
            Self::Failed(error, _) => match error {
                Error::NotFound
                | Error::NotADirectory
                | Error::NotALink
                | Error::NoAttribute
                | Error::AttributeKind
                | Error::IsADirectory => 404,
                Error::Encrypted => 403,
                Error::Unsupported => 501,
                Error::Io | Error::Interrupted => 500,
                Error::NoMemory => 503,
                Error::Stale => 410,
            },
        }
    }

    /// Returns what is wrong.
    pub(super) fn message(&self) -> &str {
        match self {
            Self::BadRequest(message) => message,
            Self::NoToken => "the token is missing or wrong; the server printed a URL with it",
            Self::OtherSite => "the request comes from a page of another site",
            Self::OtherHost => "the server has another name; --host NAME adds one",
            Self::NoRoute => "there is nothing at this URL",
            Self::MethodNotAllowed => "what is served is read-only",
            Self::Busy => "there is too much to do at the moment",
            Self::Internal => "internal error",
            Self::Failed(_, message) => message,
        }
    }

    /// Returns the answer that says so.
    pub(super) fn answer(&self, head: &Head) -> Answer {
        let (status, message) = (self.status(), self.message());
        let answer = match head.is_from_browser() {
            true => Answer::text(
                Policy::Data,
                "text/plain; charset=utf-8",
                format!("{message}\n"),
            ),
            false => {
                let body = serde_json::json!({ "error": message, "status": status });
                Answer::text(Policy::Data, "application/json", body.to_string())
            }
        };
        let answer = Answer { status, ..answer };
        match self {
            // Elsewhere browsers would ask for a password.
            Self::NoToken if head.path.starts_with("/dav") => {
                answer.with("www-authenticate", "Basic realm=\"hpimount\"")
            }
            Self::MethodNotAllowed => answer.with("allow", ALLOWED),
            Self::Busy => answer.with("retry-after", "1"),
            _ => answer,
        }
    }
}

impl From<inspect::Error> for Refusal {
    fn from(error: inspect::Error) -> Self {
        let message = error.to_string();
        match error {
            inspect::Error::Path { trouble, .. } => Self::Failed(kind(&trouble), message),
            // Whoever asks cannot tell whether it leads out or nowhere.
            _ => Self::Failed(Error::NotFound, message),
        }
    }
}

impl Refusal {
    /// Returns the refusal of something at a path.
    pub(super) fn at(path: &str, trouble: impl Into<Trouble>) -> Self {
        let trouble = trouble.into();
        Self::Failed(kind(&trouble), format!("{path}: {trouble}"))
    }
}

fn kind(trouble: &Trouble) -> Error {
    match trouble {
        Trouble::Entry(error) => *error,
        Trouble::Bytes(error) => Error::from(error),
    }
}
