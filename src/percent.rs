//! Percent-encoding (RFC 3986, section 2.1).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, utf8_percent_encode};

/// Bytes that are escaped in a path: all but unreserved characters and slashes.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// Escapes a path for a URL.
pub fn encoded(path: &str) -> String {
    utf8_percent_encode(path, RESERVED).to_string()
}

/// Returns the bytes that a text means; `None` if an escape in it is broken, which the library
/// would take for plain text.
pub fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let mut escapes = text.split(|byte| *byte == b'%').skip(1);
    let is_whole = |escape: &[u8]| {
        let digits = escape.first_chunk::<2>();
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    escapes
        .all(is_whole)
        .then(|| percent_decode(text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn broken_escapes_mean_nothing() {
        assert_eq!(decoded(b"a%20%C3%bc/b").unwrap(), "a \u{fc}/b".as_bytes());
        for broken in ["%", "a%4", "%zz", "%+1", "%%41", "%4%41"] {
            assert_eq!(decoded(broken.as_bytes()), None, "{broken}");
        }
    }

    proptest! {
        #[test]
        fn an_escaped_path_means_itself(path in "\\PC*") {
            let escaped = encoded(&path);
            prop_assert!(escaped.is_ascii());
            prop_assert_eq!(decoded(escaped.as_bytes()).unwrap(), path.as_bytes());
        }
    }
}
