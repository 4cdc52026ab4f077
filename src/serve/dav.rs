//! WebDAV, class 1 and read-only (RFC 4918): what file managers and `rclone` need to show the
//! tree as a drive.

use std::sync::Arc;

use bytes::Bytes;
use quick_xml::NsReader;
use quick_xml::escape::escape;
use quick_xml::events::Event;
use quick_xml::name::{Namespace, ResolveResult};

use super::answer::{ALLOWED, Answer, Broken, Pieces, Policy, Refusal};
use super::head::Head;
use super::kind::media_type;
use super::list::{DirectoryEntry, Entries, forget};
use super::range::{Tag, http_date};
use super::route::Depth;
use super::site::{Place, Site, streamed};
use crate::mount::{Attr, FileKind};
use crate::namespace::joined;
use crate::percent::encoded;

/// Most bytes of the body of a request.
pub(super) const MAX_BODY: usize = 64 << 10;

/// Most properties that a request may name.
const MAX_PROPERTIES: usize = 256;

/// Number of entries that are listed at a time.
const BATCH: usize = 256;

/// The namespace of WebDAV.
const DAV: &str = "DAV:";

const XML: &str = "application/xml; charset=utf-8";

const START: &str =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:multistatus xmlns:D=\"DAV:\">\n";
const END: &str = "</D:multistatus>\n";

/// The properties that entries have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Property {
    ResourceType,
    ContentLength,
    ETag,
    LastModified,
    CreationDate,
    DisplayName,
    ContentType,
}

impl Property {
    const ALL: [(Self, &str); 7] = [
        (Self::ResourceType, "resourcetype"),
        (Self::ContentLength, "getcontentlength"),
        (Self::ETag, "getetag"),
        (Self::LastModified, "getlastmodified"),
        (Self::CreationDate, "creationdate"),
        (Self::DisplayName, "displayname"),
        (Self::ContentType, "getcontenttype"),
    ];

    fn name(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(known, _)| *known == self)
            .map_or("", |(_, name)| name)
    }
}

/// Requested properties.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PropertyRequest {
    /// All of them with their values, or their names alone.
    All { has_values: bool },
    /// These, and others that nothing has: namespaces and names.
    These(Vec<Property>, Vec<(String, String)>),
}

impl PropertyRequest {
    /// Parses the body of a request, which may be empty.
    fn parse(body: &[u8]) -> Result<Self, Refusal> {
        const WRONG: Refusal = Refusal::BadRequest("the body is no <propfind>");
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self::All { has_values: true });
        }
        let mut reader = NsReader::from_reader(body);
        let mut buffer = Vec::new();
        // The names of the open elements, if they are of WebDAV.
        let mut open: Vec<String> = Vec::new();
        let mut wanted = None;
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        loop {
            buffer.clear();
            let event = reader.read_resolved_event_into(&mut buffer);
            let (namespace, event) = event.map_err(|_| WRONG)?;
            let namespace = match namespace {
                ResolveResult::Bound(Namespace(name)) => String::from_utf8_lossy(name).into_owned(),
                ResolveResult::Unbound => String::new(),
                ResolveResult::Unknown(_) => return Err(WRONG),
            };
            let (tag, is_empty) = match &event {
                Event::Start(tag) => (tag, false),
                Event::Empty(tag) => (tag, true),
                Event::End(_) => {
                    open.pop();
                    continue;
                }
                // Entities could make much of a little.
                Event::DocType(_) => return Err(WRONG),
                Event::Eof if open.is_empty() => break,
                Event::Eof => return Err(WRONG),
                _ => continue,
            };
            let name = String::from_utf8_lossy(tag.local_name().as_ref()).into_owned();
            let is_dav = namespace == DAV;
            let around: Vec<&str> = open.iter().map(String::as_str).collect();
            match &around[..] {
                [] if !is_dav || name != "propfind" => return Err(WRONG),
                ["propfind"] if is_dav => match &*name {
                    "allprop" => wanted = Some(Self::All { has_values: true }),
                    "propname" => wanted = Some(Self::All { has_values: false }),
                    "prop" => wanted = Some(Self::These(Vec::new(), Vec::new())),
                    _ => {}
                },
                ["propfind", "prop"] => {
                    if known.len() + unknown.len() == MAX_PROPERTIES {
                        return Err(WRONG);
                    }
                    if !is_name(&name) {
                        return Err(WRONG);
                    }
                    let mut all = Property::ALL.iter();
                    match all.find(|(_, of_it)| is_dav && *of_it == name) {
                        Some((property, _)) => known.push(*property),
                        None => unknown.push((namespace, name.clone())),
                    }
                }
                _ => {}
            }
            if !is_empty {
                open.push(if is_dav { name } else { String::new() });
            }
        }
        match wanted {
            Some(Self::These(..)) => Ok(Self::These(known, unknown)),
            Some(all) => Ok(all),
            None => Err(WRONG),
        }
    }

    /// Writes what an entry has of them, and what it does not have.
    fn write(&self, out: &mut String, entry: &Entry<'_>) {
        let (known, unknown) = match self {
            Self::All { .. } => (&Property::ALL.map(|(property, _)| property)[..], &[][..]),
            Self::These(known, unknown) => (&known[..], &unknown[..]),
        };
        let has_values = *self != Self::All { has_values: false };
        let (mut found, mut missing) = (String::new(), String::new());
        for property in known {
            let name = property.name();
            match entry.value(*property) {
                Some(value) if has_values && !value.is_empty() => {
                    found += &format!("<D:{name}>{value}</D:{name}>");
                }
                Some(_) => found += &format!("<D:{name}/>"),
                // Not asked for.
                None if matches!(self, Self::All { .. }) => {}
                None => missing += &format!("<D:{name}/>"),
            }
        }
        for (namespace, name) in unknown {
            missing += &match &*text(namespace) {
                // A prefix cannot stand for no namespace.
                "" => format!("<{name} xmlns=\"\"/>"),
                namespace => format!("<X:{name} xmlns:X=\"{namespace}\"/>"),
            };
        }
        for (properties, status) in [(found, "200 OK"), (missing, "404 Not Found")] {
            if !properties.is_empty() {
                *out += &format!(
                    "<D:propstat><D:prop>{properties}</D:prop>\
                     <D:status>HTTP/1.1 {status}</D:status></D:propstat>"
                );
            }
        }
    }
}

/// Returns whether a name of an element can be repeated in an answer as it is.
fn is_name(name: &str) -> bool {
    let is_allowed = |character: char| character.is_alphanumeric() || "-._".contains(character);
    name.starts_with(char::is_alphabetic) && name.chars().all(is_allowed)
}

/// An entry whose properties are asked for.
struct Entry<'e> {
    /// Its name; empty for the root.
    name: &'e str,
    attr: Attr,
    tag: Option<String>,
}

impl Entry<'_> {
    /// Returns the value of a property as XML; `None` if it has none.
    fn value(&self, property: Property) -> Option<String> {
        let is_file = self.attr.kind != FileKind::Directory;
        match property {
            Property::ResourceType if is_file => Some(String::new()),
            Property::ResourceType => Some("<D:collection/>".to_owned()),
            // Nothing is rendered to list it.
            Property::ContentLength => {
                (is_file && self.attr.lasting).then(|| self.attr.size.to_string())
            }
            Property::ETag => self.tag.as_deref().map(text),
            Property::LastModified => Some(http_date(self.attr.modified)),
            Property::CreationDate => {
                let time = jiff::Timestamp::from_second(self.attr.modified);
                Some(time.unwrap_or_default().to_string())
            }
            Property::DisplayName => Some(text(self.name)),
            Property::ContentType => is_file.then(|| media_type(self.name).to_owned()),
        }
    }
}

/// Returns a text in XML. Characters that XML cannot have are replaced.
fn text(text: &str) -> String {
    let is_allowed = |character: char| {
        matches!(character, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
            || character >= '\u{10000}'
    };
    let replaced = text.chars().map(|character| match is_allowed(character) {
        true => character,
        false => '\u{fffd}',
    });
    escape(replaced.collect::<String>()).into_owned()
}

/// Answers what can be done.
pub(super) fn options() -> Answer {
    Answer::empty(200)
        .with("allow", ALLOWED)
        .with("dav", "1")
        .with("ms-author-via", "DAV")
}

/// Answers which properties an entry has, and with a depth of 1 those in it. Without a path
/// it is the directory above the tree.
///
/// # Errors
/// Returns an error if there is no such entry, or the body of the request is wrong.
pub(super) fn properties(
    site: &Arc<Site>,
    head: &Head,
    path: Option<&str>,
    depth: Depth,
    body: &[u8],
) -> Result<Answer, Refusal> {
    let wanted = PropertyRequest::parse(body)?;
    if depth == Depth::Infinity {
        let error = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
            <D:error xmlns:D=\"DAV:\"><D:propfind-finite-depth/></D:error>\n";
        return Ok(with_status(403, error));
    }
    let place = Place::find(site, path.unwrap_or_default())?;
    let root = format!("{}/", head.prefix);
    let mut listing = Listing {
        site: site.clone(),
        wanted,
        href: format!("{root}dav/"),
        entries: None,
        text: START.to_owned(),
        is_ended: false,
    };
    match path {
        None => {
            listing.write(&root, "", place.found.attr, None);
            if depth == Depth::One {
                let href = listing.href.clone();
                listing.write(&href, "dav", place.found.attr, None);
            }
        }
        Some(path) => {
            listing.href += &encoded(path);
            let is_directory = place.found.attr.kind == FileKind::Directory;
            if is_directory && !listing.href.ends_with('/') {
                listing.href.push('/');
            }
            let name = place.found.path.rsplit('/').next().unwrap_or_default();
            listing.write(&listing.href.clone(), name, place.found.attr, place.tag());
            if is_directory && depth == Depth::One {
                listing.entries = Some(Entries::new(place, 0));
            }
        }
    }
    streamed(with_status(207, Bytes::new()), None, Box::new(listing))
        .map_err(|Broken| Refusal::Internal)
}

/// Answers a request without a token about one of the directories above the tree, which clients
/// look at first: it exists, and its entries are not named. `None` for other requests.
pub(super) fn above(head: &Head) -> Option<Answer> {
    let href = match &*head.path {
        "/" => "/",
        "/t" | "/t/" => "/t/",
        _ => return None,
    };
    match (&*head.method, head.header("depth")) {
        ("OPTIONS", _) => Some(options()),
        ("PROPFIND", Some("0" | "1")) => Some(with_status(
            207,
            format!(
                "{START}<D:response><D:href>{href}</D:href><D:propstat><D:prop><D:resourcetype>\
                 <D:collection/></D:resourcetype></D:prop><D:status>HTTP/1.1 200 OK</D:status>\
                 </D:propstat></D:response>\n{END}"
            ),
        )),
        _ => None,
    }
}

/// Answers with XML.
fn with_status(status: u16, text: impl Into<Bytes>) -> Answer {
    Answer {
        status,
        ..Answer::text(Policy::Contents, XML, text)
    }
}

/// An answer that is being written.
struct Listing {
    site: Arc<Site>,
    wanted: PropertyRequest,
    /// The URL of the directory, in the spelling of the request.
    href: String,
    /// Further entries of the directory.
    entries: Option<Entries>,
    /// Bytes that were written and not sent.
    text: String,
    is_ended: bool,
}

impl Listing {
    /// Writes the properties of an entry.
    fn write(&mut self, href: &str, name: &str, attr: Attr, tag: Option<Tag>) {
        let entry = Entry {
            name,
            attr,
            tag: tag.map(|tag| tag.quoted()),
        };
        self.text += &format!("<D:response><D:href>{href}</D:href>");
        self.wanted.write(&mut self.text, &entry);
        self.text += "</D:response>\n";
    }

    /// Writes an entry of the directory. A link is shown as what it leads to, if it leads
    /// anywhere.
    fn write_listed(&mut self, directory: &str, listed: &DirectoryEntry) {
        let path = joined(directory, &listed.name);
        let (attr, tag) = match listed.attr.kind {
            FileKind::Symlink => match Place::find(&self.site, &path) {
                Ok(target) => (target.found.attr, target.tag()),
                Err(_) => return,
            },
            _ => (listed.attr, listed.tag(&self.site, &path)),
        };
        let slash = match attr.kind {
            FileKind::Directory => "/",
            _ => "",
        };
        let href = format!("{}{}{slash}", self.href, encoded(&listed.name));
        self.write(&href, &listed.name, attr, tag);
    }
}

impl Pieces for Listing {
    fn read(&mut self, wanted: usize) -> Result<Bytes, Broken> {
        let mut entries = self.entries.take();
        while self.text.len() < wanted && !self.is_ended {
            let batch = match &mut entries {
                Some(entries) => {
                    let batch = entries.batch(BATCH);
                    let path = &entries.place.found.path;
                    batch.map_err(|error| Broken::because(path, error))?
                }
                None => Vec::new(),
            };
            if batch.is_empty() {
                self.text += END;
                self.is_ended = true;
            }
            if let Some(entries) = &entries {
                let directory = entries.place.found.path.clone();
                for listed in &batch {
                    self.write_listed(&directory, listed);
                }
                forget(entries.place.vfs(), &batch);
            }
        }
        self.entries = entries;
        Ok(std::mem::take(&mut self.text).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: PropertyRequest = PropertyRequest::All { has_values: true };

    fn prop(names: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?><p:propfind xmlns:p=\"DAV:\"><p:prop>{names}</p:prop></p:propfind>"
        )
    }

    #[test]
    fn a_request_names_properties_by_their_namespaces() {
        assert_eq!(PropertyRequest::parse(b" \n").unwrap(), ALL);
        let all = b"<propfind xmlns='DAV:'><allprop/></propfind>";
        assert_eq!(PropertyRequest::parse(all).unwrap(), ALL);
        let names = b"<propfind xmlns='DAV:'><propname/></propfind>";
        assert_eq!(
            PropertyRequest::parse(names).unwrap(),
            PropertyRequest::All { has_values: false }
        );
        let some = prop("<p:getetag/><q:getetag xmlns:q='urn:x'/><p:quota-used-bytes/>");
        let expected = PropertyRequest::These(
            vec![Property::ETag],
            vec![
                ("urn:x".to_owned(), "getetag".to_owned()),
                (DAV.to_owned(), "quota-used-bytes".to_owned()),
            ],
        );
        assert_eq!(PropertyRequest::parse(some.as_bytes()).unwrap(), expected);
    }

    #[test]
    fn a_property_without_a_namespace_is_named_without_a_prefix() {
        let wanted = PropertyRequest::parse(prop("<a xmlns=''/>").as_bytes()).unwrap();
        let attr = Attr {
            ino: crate::mount::Ino::ROOT,
            kind: FileKind::Directory,
            size: 0,
            mode: 0o555,
            modified: 0,
            nlink: 1,
            lasting: true,
        };
        let entry = Entry {
            name: "",
            attr,
            tag: None,
        };
        let mut out = String::new();
        wanted.write(&mut out, &entry);
        assert!(
            out.contains("<a xmlns=\"\"/>") && !out.contains("X:"),
            "{out}"
        );
    }

    #[test]
    fn other_bodies_are_refused() {
        let many = prop(&"<p:a/>".repeat(MAX_PROPERTIES + 1));
        let bodies = [
            "x",
            "<a/>",
            "<propfind/>",
            "<propfind xmlns='DAV:'/>",
            "<propfind xmlns='DAV:'><prop>",
            "<!DOCTYPE a [<!ENTITY b 'c'>]><propfind xmlns='DAV:'><allprop/></propfind>",
            "<propfind xmlns='DAV:'><prop><z:a/></prop></propfind>",
            "<propfind xmlns='DAV:'><prop><a\"&lt;/></prop></propfind>",
            &many,
        ];
        for body in bodies {
            assert!(PropertyRequest::parse(body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn a_name_cannot_become_xml() {
        assert_eq!(
            text("<a>&\"\u{1}\u{fffe}"),
            "&lt;a&gt;&amp;&quot;\u{fffd}\u{fffd}"
        );
    }

    proptest! {
        #[test]
        fn no_body_panics(body in "\\PC{0,200}", inner in "[<>/a-z:='\" ]{0,60}") {
            let _ = PropertyRequest::parse(body.as_bytes());
            let _ = PropertyRequest::parse(prop(&inner).as_bytes());
        }
    }
}
