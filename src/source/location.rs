//! What a SOURCE of the command line names.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Where a source is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A file or directory of the local file system.
    Path(PathBuf),
}

impl Location {
    /// Reads a SOURCE as it is written on the command line: a URL where it
    /// begins with a scheme and `://`, a path otherwise. A file whose path
    /// begins like a URL is written `./http://...`.
    ///
    /// # Errors
    /// A sentence about a URL, because no scheme is supported yet.
    pub fn parse(text: &OsStr) -> Result<Self, String> {
        match scheme(text) {
            Some(scheme) => Err(format!(
                "{}: remote sources ({scheme}://) are not supported by this build yet",
                text.display()
            )),
            None => Ok(Self::Path(PathBuf::from(text))),
        }
    }

    /// What messages call the source.
    pub fn display_name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
        }
    }

    /// The path of a source in the local file system.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
        }
    }
}

/// The scheme of a URL (RFC 3986, section 3.1), where `text` begins with one.
fn scheme(text: &OsStr) -> Option<&str> {
    let bytes = text.as_encoded_bytes();
    let end = bytes.windows(3).position(|window| window == b"://")?;
    let scheme = std::str::from_utf8(&bytes[..end]).ok()?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let sound = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(allowed);
    sound.then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_path_whatever_is_in_it() {
        for text in [
            "a.hpi",
            "/games/a.hpi",
            "./http://host/a.hpi",
            "://a",
            "1://a",
            "a b://c",
            "http:/a",
            "",
        ] {
            let location = Location::parse(OsStr::new(text)).unwrap();
            assert_eq!(location.path(), Some(Path::new(text)));
            assert_eq!(location.display_name(), text);
        }
    }

    #[test]
    fn a_url_is_refused_by_its_scheme() {
        for (text, scheme) in [
            ("http://host/a.hpi", "http"),
            ("https://host/a.hpi", "https"),
            ("s3://bucket/mods/", "s3"),
            ("S3://bucket/mods/", "S3"),
        ] {
            assert_eq!(
                Location::parse(OsStr::new(text)).unwrap_err(),
                format!("{text}: remote sources ({scheme}://) are not supported by this build yet")
            );
        }
    }
}
