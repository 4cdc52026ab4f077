//! The head of a request, and escapes in it.

use crate::percent;

/// The headers that mean something to this server; others are not kept.
pub(super) const HEADERS: [&str; 17] = [
    "accept",
    "accept-encoding",
    "authorization",
    "content-length",
    "cookie",
    "depth",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "origin",
    "range",
    "sec-fetch-mode",
    "sec-fetch-site",
    "transfer-encoding",
];

/// The head of a request.
#[derive(Debug, Default, Clone)]
pub(super) struct Head {
    /// Its method, in upper case.
    pub(super) method: String,
    /// Prefix of the path: `/t/TOKEN`, or nothing.
    pub(super) prefix: String,
    /// The path as it was sent.
    pub(super) path: String,
    /// Query after the `?`.
    pub(super) query: String,
    /// Those of [`HEADERS`] that it has; one that is repeated is joined by commas.
    pub(super) headers: Vec<(&'static str, String)>,
}

impl Head {
    /// Returns the value of one of [`HEADERS`].
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns whether a person reads the answer in a browser.
    pub(super) fn is_from_browser(&self) -> bool {
        let accept = self.header("accept");
        accept.is_some_and(|accept| accept.contains("text/html"))
    }

    /// Returns the value of a parameter of the query.
    pub(super) fn parameter(&self, name: &str) -> Option<String> {
        parameters(&self.query)
            .find_map(|(known, value)| (known == name).then(|| decoded(value))?)
    }

    /// Returns the head without a token in front of its path, and that token.
    pub(super) fn without_token(mut self) -> (Self, Option<String>) {
        let rest = self.path.strip_prefix("/t/").map(str::to_owned);
        let Some(rest) = rest else {
            return (self, None);
        };
        let (token, path) = match rest.find('/') {
            Some(end) => (&rest[..end], &rest[end..]),
            None => (&rest[..], "/"),
        };
        self.prefix = format!("/t/{token}");
        self.path = path.to_owned();
        (self, Some(token.to_owned()))
    }

    /// Returns whether the query has a parameter, with any value but 0.
    pub(super) fn has(&self, name: &str) -> bool {
        parameters(&self.query).any(|(known, value)| known == name && value != "0")
    }
}

/// Returns the parameters of a query, undecoded.
fn parameters(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = query.split('&');
    parts.map(|part| part.split_once('=').unwrap_or((part, "")))
}

/// Returns the text of a value of a query.
fn decoded(value: &str) -> Option<String> {
    unescaped(value, true)
}

/// Decodes `%41`, and `+` as a blank if `plus` is set. `None` if the result is not UTF-8, or
/// an escape is broken.
pub(super) fn unescaped(text: &str, plus: bool) -> Option<String> {
    let text = match plus {
        true => text.replace('+', " "),
        false => text.to_owned(),
    };
    String::from_utf8(percent::decoded(text.as_bytes())?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_in_front_of_a_path_is_taken_off() {
        let head = |path: &str| Head {
            path: path.to_owned(),
            ..Head::default()
        };
        let (rest, token) = head("/t/abc/dav/x").without_token();
        assert_eq!(
            (rest.path.as_str(), token.as_deref()),
            ("/dav/x", Some("abc"))
        );
        let (rest, token) = head("/t/abc").without_token();
        assert_eq!((rest.path.as_str(), token.as_deref()), ("/", Some("abc")));
        let (rest, token) = head("/files/t/abc").without_token();
        assert_eq!((rest.path.as_str(), token), ("/files/t/abc", None));
    }
}
