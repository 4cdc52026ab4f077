//! Requests and records without a network, as fuzzers send them.

use super::answer::{Answer, Content};
use super::guard::Guard;
use super::head::{HEADERS, Head};
use super::route::Call;
use super::site::{PIECE, Share};
use super::{dispatch, nfs};

/// Most bytes of an answer that are read.
const MAX_READ: usize = 8 << 20;

/// A request as a client sends it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r> {
    /// Its method, in upper case.
    pub method: &'r str,
    /// Its path and query.
    pub target: &'r str,
    /// Names in lower case, and values. Those that mean nothing are dropped.
    pub headers: &'r [(&'r str, &'r str)],
    /// Its body.
    pub body: &'r [u8],
}

/// Answer that a client receives.
#[derive(Debug)]
pub struct Answered {
    /// The status code.
    pub status: u16,
    /// The headers of this answer.
    pub headers: Vec<(&'static str, String)>,
    /// The announced length of the body.
    pub length: Option<u64>,
    /// The body, up to 8 MiB.
    pub body: Vec<u8>,
    /// True if the body ends too early.
    pub is_broken: bool,
}

impl Answered {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str())
    }

    fn read(answer: Answer) -> Self {
        let mut answered = Self {
            status: answer.status,
            headers: answer.headers,
            length: answer.length,
            body: Vec::new(),
            is_broken: false,
        };
        let (first, mut pieces) = match answer.body {
            Content::Bytes(bytes) => {
                answered.body = bytes.into();
                return answered;
            }
            Content::Pieces(first, pieces) => (first, pieces),
        };
        answered.body = first.into();
        while answered.body.len() < MAX_READ {
            match pieces.read(PIECE) {
                Ok(piece) if piece.is_empty() => break,
                Ok(piece) => answered.body.extend_from_slice(&piece),
                Err(_) => {
                    answered.is_broken = true;
                    break;
                }
            }
        }
        answered
    }
}

/// Answers a request.
pub fn answer(share: &Share, guard: &Guard, request: Request<'_>) -> Answered {
    let (path, query) = request
        .target
        .split_once('?')
        .unwrap_or((request.target, ""));
    let headers = request.headers.iter().filter_map(|(name, value)| {
        let name = HEADERS.iter().find(|known| *known == name)?;
        Some((*name, (*value).to_owned()))
    });
    let head = Head {
        method: request.method.to_owned(),
        prefix: String::new(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: headers.collect(),
    };
    let (head, token) = head.without_token();
    let called = guard
        .check(&head, token.as_deref())
        .and_then(|()| Call::of(&head));
    Answered::read(match called {
        Ok(mut call) => {
            if let Call::Properties { body, .. } = &mut call {
                request.body.clone_into(body);
            }
            dispatch::answer(&share.now(), &head, &call)
        }
        Err(refusal) => refusal.answer(&head),
    })
}

/// Answers a record of NFS or MOUNT; `None` if it is no call.
pub fn reply(share: &Share, record: &[u8]) -> Option<Vec<u8>> {
    nfs::answer(share, record)
}
