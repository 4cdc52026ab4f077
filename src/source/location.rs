//! Sources on the command line.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap_lex::OsStrExt;

use super::remote::RemoteUrl;
use super::secret::secret_line;

/// The location of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A file or directory of the local file system.
    Path(PathBuf),
    /// An object, or a folder of objects, on a server.
    Remote(RemoteUrl),
}

impl Location {
    /// Parses a SOURCE of the command line: a URL if it begins with a scheme
    /// and `://`, `@FILE` for a file that contains a URL, a path otherwise. A
    /// path that begins in one of these ways is written `./http://...` or
    /// `./@...`.
    ///
    /// # Errors
    /// Returns a message if a URL is not supported, or a file contains none.
    pub fn parse(text: &OsStr) -> Result<Self, String> {
        if let Some(file) = text.strip_prefix("@") {
            let file = Path::new(file);
            let url = secret_line(file)?;
            return match scheme(OsStr::new(&url)) {
                Some(_) => Self::remote(&url),
                None => Err(format!("{}: its first line is not a URL", file.display())),
            };
        }
        match scheme(text) {
            Some(scheme) => match text.to_str() {
                Some(url) => Self::remote(url),
                None => Err(format!("{scheme}://: the URL is not UTF-8")),
            },
            None => Ok(Self::Path(PathBuf::from(text))),
        }
    }

    fn remote(url: &str) -> Result<Self, String> {
        let url = RemoteUrl::parse(url)?;
        if cfg!(feature = "remote") {
            Ok(Self::Remote(url))
        } else {
            Err(format!(
                "{}: this program was built without remote sources (cargo feature `remote`)",
                url.shown()
            ))
        }
    }

    /// Returns the name of the source in messages.
    pub fn display_name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Remote(url) => url.shown().to_owned(),
        }
    }

    /// Returns the path of a source in the local file system.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Remote(_) => None,
        }
    }

    /// Returns the URL of a source on a server.
    pub fn url(&self) -> Option<&RemoteUrl> {
        match self {
            Self::Path(_) => None,
            Self::Remote(url) => Some(url),
        }
    }
}

/// The path, or the displayed form of a URL, whose last component is the name
/// of the file.
impl AsRef<Path> for Location {
    fn as_ref(&self) -> &Path {
        match self {
            Self::Path(path) => path,
            Self::Remote(url) => url.label(),
        }
    }
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        path.to_owned().into()
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Self {
        Self::Path(path)
    }
}

/// Returns the scheme of a URL (RFC 3986, section 3.1), if `text` begins with
/// one.
fn scheme(text: &OsStr) -> Option<&str> {
    let bytes = text.as_encoded_bytes();
    let end = bytes.windows(3).position(|window| window == b"://")?;
    let scheme = std::str::from_utf8(&bytes[..end]).ok()?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_valid = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(allowed);
    is_valid.then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_contain_anything() {
        for text in [
            "a.hpi",
            "/games/a.hpi",
            "./http://host/a.hpi",
            "./@a",
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

    #[cfg(feature = "remote")]
    #[test]
    fn a_url_can_be_read_from_a_file() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let source = || {
            let mut text = std::ffi::OsString::from("@");
            text.push(file.path());
            text
        };
        assert!(
            Location::parse(&source())
                .unwrap_err()
                .ends_with("is not a URL")
        );
        std::io::Write::write_all(&mut file, b"  https://host/a.hpi?secret \nmore\n").unwrap();
        let mut text = std::ffi::OsString::from("@");
        text.push(file.path());
        let location = Location::parse(&text).unwrap();
        let url = location.url().unwrap();
        assert_eq!(url.request(), "https://host/a.hpi?secret");
        assert_eq!(location.display_name(), "https://host/a.hpi");
        assert!(Location::parse(OsStr::new("@/nowhere")).is_err());
    }

    #[test]
    fn unsupported_schemes_are_refused() {
        let refused = |text: &str| Location::parse(OsStr::new(text)).unwrap_err();
        assert!(refused("gopher://host/a").starts_with("gopher://: sources are files"));
        #[cfg(not(feature = "remote"))]
        assert!(refused("https://host/a?b").starts_with("https://host/a: this program was built"));
    }
}
