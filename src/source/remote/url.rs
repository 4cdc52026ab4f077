//! URLs on the command line, and which parts of them may be displayed.

use std::fmt;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Known schemes, with their meaning.
const SCHEMES: [(&str, Scheme); 3] = [
    ("https", Scheme::Https),
    ("http", Scheme::Http),
    ("s3", Scheme::S3),
];

/// Parameters of presigned URLs with the permission and its expiry: by prefix
/// for version 4 signatures of Amazon S3 and Google Cloud Storage, and by name
/// for older ones and for CloudFront.
#[cfg(feature = "remote")]
const SIGNATURE_PREFIXES: [&str; 2] = ["X-Amz-", "X-Goog-"];
#[cfg(feature = "remote")]
const SIGNATURES: [&str; 6] = [
    "AWSAccessKeyId",
    "Expires",
    "GoogleAccessId",
    "Key-Pair-Id",
    "Policy",
    "Signature",
];

/// The protocol of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// HTTP without encryption.
    Http,
    /// HTTP over TLS.
    Https,
    /// The protocol of Amazon S3.
    S3,
}

/// The URL of a remote source. Its query may be a secret, such as the signature
/// of a presigned URL: only [`RemoteUrl::request`] returns it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RemoteUrl {
    scheme: Scheme,
    /// The URL without its fragment.
    request: String,
    /// Without query and fragment.
    shown: String,
    /// `shown`, with the last component decoded.
    label: PathBuf,
}

impl fmt::Debug for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl RemoteUrl {
    /// Parses a URL. For HTTP its path is percent-encoded (RFC 3986); for S3
    /// the part after the bucket is the key without encoding.
    ///
    /// # Errors
    /// Returns a message, without secrets, if the URL is invalid or not
    /// supported.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (scheme_name, rest) = text.split_once("://").unwrap_or((text, ""));
        let known = SCHEMES
            .iter()
            .find(|(name, _)| scheme_name.eq_ignore_ascii_case(name));
        let Some(&(name, scheme)) = known else {
            return Err(format!(
                "{scheme_name}://: sources are files, https://, http:// and s3://"
            ));
        };
        let (rest, visible) = match scheme {
            Scheme::S3 => (rest, rest),
            Scheme::Http | Scheme::Https => {
                let rest = rest.split('#').next().unwrap_or_default();
                (rest, rest.split('?').next().unwrap_or_default())
            }
        };
        let (authority, path) = visible.split_once('/').unwrap_or((visible, ""));
        let refused = |why: &str| {
            let host = authority.rsplit('@').next().unwrap_or_default();
            Err(format!("{name}://{host}/{path}: {why}"))
        };
        if scheme != Scheme::S3 && authority.contains('@') {
            return refused(
                "a user and password in the URL are not supported; put an Authorization \
                 header into a file and name it by -o header=@FILE",
            );
        }
        if authority.is_empty() {
            return refused("names no host");
        }
        if visible.contains(|c: char| c.is_control()) || rest.contains(|c: char| c.is_control()) {
            return Err(format!("{name}://: a URL has no control characters"));
        }
        if scheme == Scheme::S3 && authority.contains(['@', ':', '?', '#']) {
            return refused("is written s3://BUCKET/KEY");
        }
        if scheme != Scheme::S3 && path.is_empty() {
            return refused("names no file");
        }
        let shown = format!("{name}://{visible}");
        Ok(Self {
            scheme,
            request: format!("{name}://{rest}"),
            label: label(&shown, scheme),
            shown,
        })
    }

    /// Returns the scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the URL for a request, including its secrets.
    pub fn request(&self) -> &str {
        &self.request
    }

    /// Returns the URL as messages, the mount table and `info.json` show it.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns its displayed form as a path, whose last component is the file's
    /// name.
    pub fn label(&self) -> &Path {
        &self.label
    }

    /// Returns the bucket of a source on S3, and the key in it.
    pub fn bucket_and_key(&self) -> (&str, &str) {
        let rest = self.request.split_once("://").map_or("", |(_, rest)| rest);
        rest.split_once('/').unwrap_or((rest, ""))
    }

    /// Returns the URL of the file called `name` in the same directory.
    ///
    /// # Errors
    /// Returns a message if the name leads elsewhere, or if the URL has a
    /// query, which may be valid for this file only, as in a presigned URL.
    pub fn sibling(&self, name: &str) -> Result<Self, String> {
        if self.request != self.shown {
            return Err(format!(
                "needs {name} beside it, and a URL with a query leads to one file only; mount \
                 the files from a bucket or from disk"
            ));
        }
        let leads_elsewhere =
            matches!(name, "" | "." | "..") || name.contains(|c: char| c == '/' || c.is_control());
        if leads_elsewhere {
            return Err("needs a file beside it with an invalid name".to_owned());
        }
        let (directory, _) = self.request.rsplit_once('/').unwrap_or((&self.request, ""));
        let request = match self.scheme {
            Scheme::S3 => format!("{directory}/{name}"),
            Scheme::Http | Scheme::Https => format!("{directory}/{}", escaped(name)),
        };
        Self::parse(&request)
    }

    /// Returns the URL without its signature, which differs each time that
    /// access to the same file is granted.
    #[cfg(feature = "remote")]
    pub(super) fn unsigned(&self) -> String {
        let Some((path, query)) = self
            .request
            .split_once('?')
            .filter(|_| self.scheme != Scheme::S3)
        else {
            return self.request.clone();
        };
        let signs = |parameter: &&str| {
            let name = parameter.split('=').next().unwrap_or_default();
            let begins = |prefix: &str| {
                let start = name.get(..prefix.len());
                start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
            };
            SIGNATURES.contains(&name) || SIGNATURE_PREFIXES.into_iter().any(begins)
        };
        let rest: Vec<&str> = query.split('&').filter(|part| !signs(part)).collect();
        match rest.is_empty() {
            true => path.to_owned(),
            false => format!("{path}?{}", rest.join("&")),
        }
    }

    /// Returns whether it denotes all objects whose keys begin with it.
    pub fn is_folder(&self) -> bool {
        let (_, key) = self.bucket_and_key();
        self.scheme == Scheme::S3 && (key.is_empty() || key.ends_with('/'))
    }
}

fn label(shown: &str, scheme: Scheme) -> PathBuf {
    let (parent, name) = shown.rsplit_once('/').unwrap_or(("", shown));
    if scheme == Scheme::S3 {
        return PathBuf::from(shown);
    }
    match unescaped(name) {
        Some(name) if !name.contains(['/', '\0']) && !name.is_empty() => {
            PathBuf::from(format!("{parent}/{name}"))
        }
        _ => PathBuf::from(shown),
    }
}

/// Bytes that have a meaning in a URL (RFC 3986, section 2.3, has the others).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Percent-encodes a name for the path of a URL.
fn escaped(name: &str) -> String {
    utf8_percent_encode(name, RESERVED).to_string()
}

/// Decodes percent-encoding; `None` if the result is not UTF-8.
fn unescaped(text: &str) -> Option<String> {
    let text = percent_decode_str(text).decode_utf8().ok()?;
    Some(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_a_url_are_not_shown() {
        let url = "https://host:8443/mods/a%20b.hpi?X-Signature=secret#part";
        let parsed = RemoteUrl::parse(url).unwrap();
        assert_eq!(parsed.shown(), "https://host:8443/mods/a%20b.hpi");
        assert_eq!(parsed.label(), Path::new("https://host:8443/mods/a b.hpi"));
        assert_eq!(format!("{parsed:?}"), parsed.shown());
        assert_eq!(
            parsed.request(),
            "https://host:8443/mods/a%20b.hpi?X-Signature=secret"
        );

        let refused = RemoteUrl::parse("https://me:secret@host/a.hpi?secret").unwrap_err();
        assert!(refused.starts_with("https://host/a.hpi: "), "{refused}");
        assert!(!refused.contains("secret"), "{refused}");
    }

    #[test]
    fn a_url_names_a_file_or_a_folder_of_a_bucket() {
        for (url, problem) in [
            ("https://", "names no host"),
            ("https:///a", "names no host"),
            ("http://host", "names no file"),
            ("http://host/?a", "names no file"),
            ("s3://", "names no host"),
            ("s3://a@b/c", "is written s3://BUCKET/KEY"),
            ("ftp://host/a", "sources are files"),
            ("https://host/a\nb", "no control characters"),
        ] {
            let refused = RemoteUrl::parse(url).unwrap_err();
            assert!(refused.contains(problem), "{url}: {refused}");
        }
        for (url, bucket_and_key, is_folder) in [
            ("s3://b/a%20#?.hpi", ("b", "a%20#?.hpi"), false),
            ("S3://b/mods/", ("b", "mods/"), true),
            ("s3://b/", ("b", ""), true),
            ("s3://b", ("b", ""), true),
        ] {
            let url = RemoteUrl::parse(url).unwrap();
            assert_eq!(url.bucket_and_key(), bucket_and_key);
            assert_eq!(url.is_folder(), is_folder);
        }
    }

    #[test]
    fn a_file_beside_another_has_the_same_url_except_for_the_name() {
        for (url, name, expected) in [
            ("https://h/a/gta3.img", "gta3.dir", "https://h/a/gta3.dir"),
            (
                "http://h:1/a%20b.cue",
                "a (1)#?%\u{e9}.bin",
                "http://h:1/a%20%281%29%23%3F%25%C3%A9.bin",
            ),
            ("s3://b/gta3.img", "gta3.dir", "s3://b/gta3.dir"),
            ("s3://b/x/y #.cue", "y #?.bin", "s3://b/x/y #?.bin"),
        ] {
            let sibling = RemoteUrl::parse(url).unwrap().sibling(name).unwrap();
            assert_eq!(sibling.request(), expected);
            assert_eq!(sibling.label().file_name().unwrap(), name);
        }
        let url = RemoteUrl::parse("https://h/a/b.img").unwrap();
        for name in ["", ".", "..", "../b", "/etc/passwd", "a/b", "a\nb"] {
            assert!(url.sibling(name).is_err(), "{name:?}");
        }
        let signed = RemoteUrl::parse("https://h/b.img?X-Amz-Signature=secret").unwrap();
        let refused = signed.sibling("b.dir").unwrap_err();
        assert!(refused.starts_with("needs b.dir beside it"), "{refused}");
        assert!(!refused.contains("secret"), "{refused}");
    }

    #[cfg(feature = "remote")]
    #[test]
    fn queries_distinguish_files_and_signatures_do_not() {
        let unsigned = |url: &str| RemoteUrl::parse(url).unwrap().unsigned();
        assert_eq!(unsigned("https://h/get?f=a.hpi"), "https://h/get?f=a.hpi");
        assert_eq!(
            unsigned("https://h/a?versionId=1&X-Amz-Date=2&x-amz-signature=3"),
            "https://h/a?versionId=1"
        );
        assert_eq!(unsigned("https://h/a?Expires=1&Signature=2"), "https://h/a");
        assert_eq!(unsigned("https://h/a"), "https://h/a");
        assert_eq!(unsigned("s3://b/a?Expires=1"), "s3://b/a?Expires=1");
    }
}
