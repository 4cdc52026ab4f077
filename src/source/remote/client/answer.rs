//! The checks of HTTP responses before the object store sees them.

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt};
use http::header::{CONTENT_LENGTH, CONTENT_RANGE, HeaderMap, HeaderName};
use http::{HeaderValue, StatusCode};
use object_store::client::{HttpError, HttpErrorKind, HttpResponse, HttpResponseBody};

use super::BLOCK;

/// Maximum length of a response that is not a range of an object, in bytes: a
/// page of a listing, or a token.
const MAX_ANSWER: usize = 16 << 20;

/// Maximum number of characters of a header that messages show.
const MAX_SHOWN: usize = 80;

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

/// Returns the first byte, the last byte and the total length of the response to a request
/// for the bytes from `wanted.0` to `wanted.1`, for fuzzers; the body is read as well.
///
/// # Errors
/// Returns the message about a response that is refused.
pub fn judged<'a>(
    status: u16,
    headers: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    wanted: (u64, u64),
    body: &[u8],
) -> Result<(u64, u64, u64), String> {
    let mut answer = HttpResponse::new(HttpResponseBody::from(body.to_vec()));
    *answer.status_mut() = StatusCode::from_u16(status).map_err(|error| error.to_string())?;
    let known = headers.filter_map(|(name, value)| {
        let name = HeaderName::from_bytes(name).ok()?;
        Some((name, HeaderValue::from_bytes(value).ok()?))
    });
    answer.headers_mut().extend(known);
    let range = HeaderValue::from_str(&format!("bytes={}-{}", wanted.0, wanted.1));
    let range = range.map_err(|error| error.to_string())?;
    judge(&mut answer, Some(&range)).map_err(|refusal| refusal.to_string())?;
    let range = content_range(answer.headers());
    let body = whole(answer.into_body()).now_or_never();
    body.transpose().map_err(|error| error.to_string())?;
    range.ok_or_else(|| "the range is missing".to_owned())
}

/// Returns the bytes of a response.
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

/// Checks the response to a request for `range`, or for everything, which is then read.
///
/// # Errors
/// Returns an error if the response is refused. Its body, which may be endless, is not read.
pub(super) async fn checked(
    mut answer: HttpResponse,
    range: Option<&HeaderValue>,
) -> Result<HttpResponse, HttpError> {
    judge(&mut answer, range).map_err(|refusal| HttpError::new(HttpErrorKind::Unknown, refusal))?;
    if range.is_some() {
        return Ok(answer);
    }
    // The store would read it completely.
    let (head, body) = answer.into_parts();
    Ok(HttpResponse::from_parts(head, whole(body).await?.into()))
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
        Some(region) if is_elsewhere => Refusal::Region(printable(region, MAX_SHOWN)),
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
            .map(|value| printable(&String::from_utf8_lossy(value.as_bytes()), MAX_SHOWN));
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

pub(super) fn number(headers: &HeaderMap, name: HeaderName) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

/// Returns text of a server, at most its first `most` characters, without control characters.
pub(super) fn printable(text: &str, most: usize) -> String {
    let text = text.chars().take(most);
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
