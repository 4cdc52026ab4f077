//! Routing of requests: the head of one becomes a [`Call`].

use super::answer::Refusal;
use super::head::{Head, unescaped};

/// One of the two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tree {
    /// The files, to the byte.
    Files,
    /// The conversions of the assets.
    Converted,
}

impl Tree {
    /// Returns where a path of this tree is in the mount.
    pub(super) fn in_mount(self, path: &str) -> String {
        match self {
            Self::Files => path.to_owned(),
            Self::Converted => format!(".hpimount/converted/{path}"),
        }
    }
}

/// A search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    /// A part of a name.
    pub(super) text: String,
    /// The directory to search.
    pub(super) path: String,
    /// The extension of the entries, in lower case.
    pub(super) type_of: Option<String>,
    /// True if names are searched, and true if texts are.
    pub(super) names: bool,
    pub(super) texts: bool,
    /// Progress of the search by earlier answers.
    pub(super) after: Progress,
}

/// Progress of a search: names come before texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// Number of the next name.
    Names(u64),
    /// Number of the last file with the words.
    Texts(i64),
}

impl Progress {
    fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix('t') {
            Some(number) => number.parse().ok().map(Self::Texts),
            None => text.parse().ok().map(Self::Names),
        }
    }
}

impl std::fmt::Display for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Names(number) => write!(f, "{number}"),
            Self::Texts(number) => write!(f, "t{number}"),
        }
    }
}

/// Requested depth below an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    Zero,
    One,
    Infinity,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Call {
    /// The explorer.
    Page,
    /// The page without JavaScript, of a directory or a file, from an entry on.
    Plain {
        /// Its path.
        path: String,
        /// Number of the first entry.
        after: u64,
    },
    /// A file of the page.
    Asset(String),
    /// The bytes of a file.
    File {
        /// The tree.
        tree: Tree,
        /// Its path in the tree.
        path: String,
        /// True if it is to be saved and not shown.
        is_download: bool,
    },
    /// The operations on an entry.
    Options,
    /// The properties of an entry.
    Properties {
        /// Its path; `None` for the directory above the tree.
        path: Option<String>,
        /// Depth of the entries whose properties are returned too.
        depth: Depth,
        /// The body of the request.
        body: Vec<u8>,
    },
    /// Entries of a directory.
    List {
        /// Its path.
        path: String,
        /// Number of the first entry.
        after: u64,
        /// Maximum number of entries.
        limit: usize,
        /// True if hidden companions are added.
        all: bool,
    },
    /// A picture of a file.
    Thumbnail {
        /// Its path.
        path: String,
        /// The longest side of the picture, in pixels.
        size: u32,
    },
    /// A directory as an archive.
    Zip(String),
    /// Entries by their names.
    Search(Query),
    /// The origin of a file.
    Where(String),
    /// The differences of two entries.
    Diff([String; 2]),
    /// The sources, and the state of the server.
    State,
    /// The licences of what the program consists of.
    Licences,
}

/// Number of entries of a page of a listing: usually, and at most.
const USUAL_LIMIT: usize = 1000;
const MAX_LIMIT: usize = 5000;

/// The longest side of a thumbnail in pixels: usually, at least and at most.
const USUAL_EDGE: u64 = 128;
const MIN_EDGE: u64 = 32;
const MAX_EDGE: u64 = 512;

impl Call {
    /// Returns what a request asks for.
    ///
    /// # Errors
    /// Returns an error if there is no such route, or something in it is invalid.
    pub(super) fn of(head: &Head) -> Result<Self, Refusal> {
        match &*head.method {
            "GET" | "HEAD" => {}
            "OPTIONS" => return Ok(Self::Options),
            "PROPFIND" => return Self::properties(head),
            _ => return Err(Refusal::MethodNotAllowed),
        }
        let path = |raw| path(raw).ok_or(Refusal::BadRequest("the path is invalid"));
        let parameter = |name: &str| match head.parameter(name) {
            Some(text) => path_of_text(&text),
            None => Some(String::new()),
        };
        let parameter = |name: &'static str| {
            parameter(name).ok_or(Refusal::BadRequest("a path in the query is invalid"))
        };
        let (route, rest) = split(&head.path);
        let file = |tree, rest| {
            Ok(Self::File {
                tree,
                path: path(rest)?,
                is_download: head.has("download"),
            })
        };
        match (route, rest) {
            ("", None) if head.has("path") => Ok(Self::Plain {
                path: parameter("path")?,
                after: head.number("after", 0)?,
            }),
            ("", None) => Ok(Self::Page),
            ("assets", Some(name)) => Ok(Self::Asset(name.to_owned())),
            ("files" | "dav", rest) => file(Tree::Files, rest.unwrap_or_default()),
            ("converted", rest) => file(Tree::Converted, rest.unwrap_or_default()),
            ("api", Some("list")) => Ok(Self::List {
                path: parameter("path")?,
                after: head.number("after", 0)?,
                limit: head
                    .number("limit", USUAL_LIMIT as u64)?
                    .clamp(1, MAX_LIMIT as u64) as usize,
                all: head.has("all"),
            }),
            ("thumb", Some(rest)) => Ok(Self::Thumbnail {
                path: path(rest)?,
                size: head.number("size", USUAL_EDGE)?.clamp(MIN_EDGE, MAX_EDGE) as u32,
            }),
            ("zip", rest) => {
                let tree = match head.has("converted") {
                    true => Tree::Converted,
                    false => Tree::Files,
                };
                Ok(Self::Zip(tree.in_mount(&path(rest.unwrap_or_default())?)))
            }
            ("api", Some("search")) => {
                let scopes = head.parameter("in");
                let scopes = scopes.as_deref().unwrap_or("name,text");
                let is_in = |scope: &str| scopes.split(',').any(|one| one == scope);
                let after = head.parameter("after");
                let after = Progress::parse(after.as_deref().unwrap_or("0"));
                Ok(Self::Search(Query {
                    text: head.parameter("q").unwrap_or_default(),
                    path: parameter("path")?,
                    type_of: head.parameter("type").map(|kind| kind.to_lowercase()),
                    names: is_in("name"),
                    texts: is_in("text"),
                    after: after.ok_or(Refusal::BadRequest("`after` is invalid"))?,
                }))
            }
            ("api", Some("where")) => Ok(Self::Where(parameter("path")?)),
            ("api", Some("diff")) => Ok(Self::Diff([parameter("a")?, parameter("b")?])),
            ("api", Some("state")) => Ok(Self::State),
            ("licences", None) => Ok(Self::Licences),
            _ => Err(Refusal::NoRoute),
        }
    }
}

impl Call {
    /// Returns a request for properties.
    fn properties(head: &Head) -> Result<Self, Refusal> {
        let path = match split(&head.path) {
            ("", None) => None,
            ("dav", rest) => {
                let path = path(rest.unwrap_or_default());
                Some(path.ok_or(Refusal::BadRequest("the path is invalid"))?)
            }
            _ => return Err(Refusal::MethodNotAllowed),
        };
        Ok(Self::Properties {
            path,
            depth: match head.header("depth") {
                Some("0") => Depth::Zero,
                Some("1") => Depth::One,
                None | Some("infinity") => Depth::Infinity,
                Some(_) => return Err(Refusal::BadRequest("the depth is invalid")),
            },
            body: Vec::new(),
        })
    }
}

impl Head {
    /// Returns the number in a parameter, or `usual` without it.
    fn number(&self, name: &str, usual: u64) -> Result<u64, Refusal> {
        match self.parameter(name) {
            None => Ok(usual),
            Some(text) => text
                .parse()
                .map_err(|_| Refusal::BadRequest("a number in the query is invalid")),
        }
    }
}

/// Returns the first component of a path, and the rest after the slash behind it.
fn split(path: &str) -> (&str, Option<&str>) {
    let path = path.strip_prefix('/').unwrap_or(path);
    match path.split_once('/') {
        Some((route, rest)) => (route, Some(rest)),
        None => (path, None),
    }
}

/// Returns the path in the mount that a percent-encoded one means; a slash at its end is
/// dropped. `None` if it is not UTF-8, or has a component that no listing shows: an empty
/// one, `.`, `..`, or one with a slash or NUL in it.
pub(super) fn path(raw: &str) -> Option<String> {
    let raw = raw.strip_suffix('/').unwrap_or(raw);
    if raw.is_empty() {
        return Some(String::new());
    }
    let names = raw.split('/').map(|name| {
        let name = unescaped(name, false)?;
        is_name(&name).then_some(name)
    });
    Some(names.collect::<Option<Vec<_>>>()?.join("/"))
}

/// Like [`path`], for a text that was decoded.
fn path_of_text(text: &str) -> Option<String> {
    let text = text.strip_suffix('/').unwrap_or(text);
    let is_valid = text.is_empty() || text.split('/').all(is_name);
    is_valid.then(|| text.to_owned())
}

fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::percent::encoded;
    use proptest::prelude::*;

    fn call(target: &str) -> Result<Call, Refusal> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Call::of(&Head {
            method: "GET".to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            ..Head::default()
        })
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_refused() {
        for bad in [
            "..", "a/../b", "%2e%2e", "a%2Fb", "a//b", "/a", "%00", "%ff", "%4", "%zz", ".",
            "a/./b",
        ] {
            assert_eq!(path(bad), None, "{bad}");
        }
        for target in [
            "/files/../x",
            "/api/list?path=a/../..",
            "/api/list?path=%2Fetc",
        ] {
            assert!(
                matches!(call(target), Err(Refusal::BadRequest(_))),
                "{target}"
            );
        }
    }

    #[test]
    fn a_path_is_decoded_once() {
        assert_eq!(path("a%2520b/c").unwrap(), "a%20b/c");
        assert_eq!(path("a+b").unwrap(), "a+b");
        assert_eq!(path("").unwrap(), "");
        assert_eq!(path("a/").unwrap(), "a");
    }

    #[test]
    fn only_reading_methods_are_allowed() {
        for method in ["PUT", "POST", "DELETE", "MKCOL", "MOVE", "LOCK", "PATCH"] {
            let head = Head {
                method: method.to_owned(),
                path: "/files/a".to_owned(),
                ..Head::default()
            };
            assert!(matches!(Call::of(&head), Err(Refusal::MethodNotAllowed)));
        }
    }

    proptest! {
        #[test]
        fn an_escaped_path_means_itself(names in prop::collection::vec("[^/\0]{1,12}", 1..4)) {
            prop_assume!(names.iter().all(|name| is_name(name)));
            let whole = names.join("/");
            prop_assert_eq!(path(&encoded(&whole)), Some(whole));
        }

        #[test]
        fn no_target_panics(target in "\\PC*") {
            let _ = call(&target);
        }
    }
}
