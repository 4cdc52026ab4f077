//! The pages: what `build.rs` has embedded, and one that needs no JavaScript.

use std::collections::HashMap;
use std::fmt::Write;
use std::io::Read;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use flate2::read::GzDecoder;

use super::answer::{Answer, Policy, Refusal};
use super::head::Head;
use super::kind::{self, View};
use super::list::{Entries, forget};
use super::range::{Part, Tag, part};
use super::site::{Place, Site};
use crate::content::Access;
use crate::inspect::Contents;
use crate::mount::FileKind;
use crate::namespace::joined;
use crate::percent::encoded;

/// A file of the explorer.
pub(super) struct Embedded {
    /// Its name below `web/dist`.
    pub(super) name: &'static str,
    /// Its type.
    pub(super) media_type: &'static str,
    /// Entity tag of its bytes.
    pub(super) tag: &'static str,
    /// Content encoding of its bytes, as HTTP names it; empty without compression. Each file is
    /// there in gzip or without compression, and also with Brotli.
    pub(super) encoding: &'static str,
    /// Its bytes.
    pub(super) bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/web.rs"));

/// The compression that is not undone here.
const BROTLI: &str = "br";

/// The start page of the explorer.
const INDEX: &str = "index.html";

/// The style of the page without JavaScript.
const STYLE: &str = include_str!("plain.css");
const STYLE_NAME: &str = "plain.css";

/// Number of entries on a page without JavaScript.
const ENTRIES: usize = 1000;

/// Number of bytes of a text on it.
const TEXT: u32 = 64 << 10;

/// The files without compression, by their names: clients that know none share these bytes.
static PLAIN: LazyLock<HashMap<&str, (&Embedded, Bytes)>> = LazyLock::new(|| {
    let files = FILES.iter().filter(|file| file.encoding != BROTLI);
    let plain = |file: &'static Embedded| {
        let mut bytes = Vec::new();
        match file.encoding {
            "" => return Some(Bytes::from_static(file.bytes)),
            _ => GzDecoder::new(file.bytes).read_to_end(&mut bytes).ok()?,
        };
        Some(bytes.into())
    };
    files
        .filter_map(|file| Some((file.name, (file, plain(file)?))))
        .collect()
});

/// Returns whether the explorer is built in.
pub fn has_explorer() -> bool {
    embedded(INDEX).next().is_some()
}

/// Returns a file of the explorer in each of its encodings.
fn embedded(name: &str) -> impl Iterator<Item = &'static Embedded> {
    FILES.iter().filter(move |file| file.name == name)
}

/// Returns the URL of the page of a path, relative to `/`.
pub(super) fn url_of(path: &str) -> String {
    match has_explorer() {
        true => format!("/#/{}", encoded(path)),
        false => format!("/?path={}", encoded(path)),
    }
}

/// Answers with the start page.
pub(super) fn page(site: &Arc<Site>, head: &Head) -> Answer {
    match sent(head, INDEX) {
        Some(answer) => answer.with_policy(Policy::Page),
        None => plain(site, "", 0).unwrap_or_else(|refusal| refusal.answer(head)),
    }
}

/// The licences of everything in the program, by `scripts/notices`; the licences of the
/// explorer's packages alone.
const NOTICES: &str = "notices.txt";
const PACKAGES: &str = "licences.txt";

/// The names and versions of the crates that the program is built of or tested with.
const CRATES: &str = include_str!(concat!(env!("OUT_DIR"), "/crates.txt"));

/// The licences of what the program consists of, which all clients share.
static LICENCES: LazyLock<Bytes> = LazyLock::new(|| {
    let own = [
        include_str!("../../LICENSE-MIT"),
        "\nor\n\n",
        include_str!("../../LICENSE-APACHE"),
    ]
    .concat();
    let text = |name| Some(String::from_utf8_lossy(&PLAIN.get(name)?.1));
    let others = match (text(NOTICES), text(PACKAGES)) {
        (Some(notices), _) => notices.into_owned(),
        (None, packages) => format!(
            "These crates are in the program, or were used to test it. Their licences allow that, \
             and are in their packages at https://crates.io.\n\n{CRATES}\n{}",
            packages.unwrap_or_default()
        ),
    };
    format!("{own}\n{others}").into()
});

/// Answers with the licences of what the program consists of.
pub(super) fn licences() -> Answer {
    let kind = "text/plain; charset=utf-8";
    Answer::text(Policy::Data, kind, LICENCES.clone())
}

/// Answers with a file of a page.
///
/// # Errors
/// Returns an error if the explorer has no such file.
pub(super) fn asset(head: &Head, name: &str) -> Result<Answer, Refusal> {
    if name == STYLE_NAME {
        let kind = "text/css; charset=utf-8";
        return Ok(Answer::text(Policy::Page, kind, STYLE));
    }
    let answer = sent(head, &format!("assets/{name}")).ok_or(Refusal::NoRoute)?;
    let answer = answer.with_policy(Policy::Page);
    // Its name has a hash of its bytes.
    Ok(answer.with("cache-control", "private, max-age=31536000, immutable"))
}

/// Returns an embedded file, compressed if the client knows that.
fn sent(head: &Head, name: &str) -> Option<Answer> {
    #[cfg(debug_assertions)]
    if let Some(answer) = development::sent(name) {
        return Some(answer);
    }
    let accepted = head.header("accept-encoding").unwrap_or_default();
    let is_accepted = |file: &&Embedded| {
        let mut all = accepted.split(',');
        all.any(|known| known.trim() == file.encoding)
    };
    let (file, bytes, encoding) = match embedded(name).find(is_accepted) {
        Some(file) => (file, Bytes::from_static(file.bytes), file.encoding),
        None => PLAIN
            .get(name)
            .map(|(file, bytes)| (*file, bytes.clone(), ""))?,
    };
    let tag = Tag::Strong(format!("{}{encoding}", file.tag));
    let size = bytes.len() as u64;
    if part(head, Some(&tag), None, size) == Part::NotModified {
        let answer = Answer::empty(304).with("etag", tag.quoted());
        return Some(Answer {
            length: None,
            ..answer
        });
    }
    let mut answer = Answer::empty(200)
        .with("content-type", file.media_type)
        .with("etag", tag.quoted())
        .with("vary", "accept-encoding");
    if !encoding.is_empty() {
        answer = answer.with("content-encoding", encoding);
    }
    answer.length = Some(size);
    answer.body = super::answer::Content::Bytes(bytes);
    Some(answer)
}

/// The page while it is developed: from the folder that `HPIMOUNT_WEB_DIR` names.
#[cfg(debug_assertions)]
pub(super) mod development {
    use std::collections::HashMap;
    use std::path::Path;
    use std::sync::OnceLock;

    use super::{Answer, Policy};

    static FILES: OnceLock<HashMap<String, (&'static str, Vec<u8>)>> = OnceLock::new();

    /// Reads the folder, before any thread is confined.
    pub(crate) fn read() {
        let folder = std::env::var_os("HPIMOUNT_WEB_DIR");
        let mut files = HashMap::new();
        if let Some(folder) = folder {
            add(Path::new(&folder), "", &mut files);
        }
        FILES.get_or_init(|| files);
    }

    fn add(folder: &Path, path: &str, files: &mut HashMap<String, (&'static str, Vec<u8>)>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let inner = format!("{path}{name}");
            match std::fs::read(entry.path()) {
                Ok(bytes) => drop(files.insert(inner, (super::media_type_of_page(&name), bytes))),
                Err(_) => add(&entry.path(), &format!("{inner}/"), files),
            }
        }
    }

    pub(super) fn sent(name: &str) -> Option<Answer> {
        let (kind, bytes) = FILES.get()?.get(name)?;
        Some(Answer::text(Policy::Page, kind, bytes.clone()))
    }
}

/// Returns the type of a file of the explorer.
#[cfg(debug_assertions)]
fn media_type_of_page(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => kind::media_type(name),
    }
}

/// Answers with the page without JavaScript: of a directory its entries from number `after`
/// on, of a file what can be seen of it.
///
/// # Errors
/// Returns an error if there is nothing at the path.
pub(super) fn plain(site: &Arc<Site>, path: &str, after: u64) -> Result<Answer, Refusal> {
    let place = Place::find(site, path)?;
    let path = place.found.path.clone();
    let title = match &*path {
        "" => "hpimount",
        path => path,
    };
    let mut html = String::new();
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <link rel=\"stylesheet\" href=\"assets/{STYLE_NAME}\">\n<nav>",
        Escaped(title)
    );
    crumbs(&mut html, &path);
    html.push_str("</nav>\n");
    match place.found.attr.kind {
        FileKind::Directory => directory(&mut html, place, after)?,
        _ => file(&mut html, &place),
    }
    Ok(Answer::text(Policy::Page, "text/html; charset=utf-8", html))
}

/// Writes links to the directories above.
fn crumbs(html: &mut String, path: &str) {
    let _ = write!(html, "<a href=\"?path=\">/</a>");
    let ends = path.match_indices('/').map(|(end, _)| end);
    let mut start = 0;
    for end in ends.chain([path.len()]).filter(|_| !path.is_empty()) {
        let _ = write!(
            html,
            " <a href=\"?path={}\">{}</a>",
            encoded(&path[..end]),
            Escaped(&path[start..end])
        );
        start = end + 1;
    }
}

/// Writes the entries of a directory.
fn directory(html: &mut String, place: Place, after: u64) -> Result<(), Refusal> {
    let vfs = place.vfs().clone();
    let path = place.found.path.clone();
    let mut entries = Entries::new(place, after);
    let batch = entries.batch(ENTRIES);
    let batch = batch.map_err(|error| Refusal::at(&path, error))?;
    html.push_str("<table>\n<tr><th>Name<th>Size<th>\n");
    for entry in &batch {
        let whole = encoded(&joined(&path, &entry.name));
        let (name, slash) = (
            Escaped(&entry.name),
            match entry.attr.kind {
                FileKind::Directory => "/",
                _ => "",
            },
        );
        let _ = write!(html, "<tr><td><a href=\"?path={whole}\">{name}{slash}</a>");
        if entry.attr.kind == FileKind::File {
            let size = entry.attr.lasting.then(|| entry.attr.size.to_string());
            let size = size.unwrap_or_default();
            let _ = write!(
                html,
                "<td>{size}<td><a href=\"files/{whole}?download\" download>save</a>"
            );
        } else {
            html.push_str("<td><td>");
        }
        html.push('\n');
    }
    html.push_str("</table>\n");
    forget(&vfs, &batch);
    if batch.len() == ENTRIES {
        let _ = writeln!(
            html,
            "<p><a rel=\"next\" href=\"?path={}&amp;after={}\">more</a>",
            encoded(&path),
            entries.next
        );
    }
    Ok(())
}

/// Writes what can be seen of a file.
fn file(html: &mut String, place: &Place) {
    let (path, attr) = (&place.found.path, place.found.attr);
    let name = path.rsplit('/').next().unwrap_or_default();
    let contents = Contents(place.vfs());
    let asset = contents.view_format(attr.ino);
    let asset = asset.map(|format| (format, contents.asset_of(attr.ino)));
    let url = format!("files/{}", encoded(path));
    let _ = writeln!(
        html,
        "<p>{} bytes, <a href=\"{url}?download\" download>save</a>, <a href=\"{url}\">open</a>",
        attr.size
    );
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let ino = crate::inspect::path::find(place.vfs(), parent);
    if let Ok(directory) = ino {
        let files = place
            .vfs()
            .assets()
            .converted_files(directory.attr.ino, &[attr.ino])
            .unwrap_or_default();
        for ino in &directory.lookups {
            place.vfs().forget(*ino, 1);
        }
        for (_, converted) in files {
            let _ = writeln!(
                html,
                "<p>converted: <a href=\"?path={}\">{}</a>",
                encoded(&converted),
                Escaped(&converted)
            );
        }
    }
    let inside = contents.inside(attr.ino).map(|_| format!("{path}.d"));
    for inner in inside
        .into_iter()
        .chain(asset.map(|_| format!("{path}.meta")))
    {
        let _ = writeln!(
            html,
            "<p>inside: <a href=\"?path={}\">{}</a>",
            encoded(&inner),
            Escaped(&inner)
        );
    }
    let view = kind::view(name, asset);
    let is_sent = kind::media_type(name) != kind::BYTES;
    match view {
        View::Picture if is_sent => {
            let _ = writeln!(html, "<p><img src=\"{url}\" alt=\"{}\">", Escaped(name));
        }
        View::Sound if is_sent => {
            let _ = writeln!(html, "<p><audio controls src=\"{url}\"></audio>");
        }
        View::Text | View::Table | View::Json => text(html, place),
        _ => {}
    }
}

/// Writes the beginning of a text.
fn text(html: &mut String, place: &Place) {
    let bytes = match place.read(0, TEXT, Access::Head) {
        Ok(bytes) => bytes,
        Err((_, message)) => {
            let _ = writeln!(html, "<p>{}", Escaped(&message));
            return;
        }
    };
    let text = String::from_utf8_lossy(&bytes);
    let _ = writeln!(html, "<pre>{}</pre>", Escaped(&text));
    if place.found.attr.size > TEXT.into() {
        html.push_str("<p>This is its beginning.\n");
    }
}

/// A text in HTML, also in the value of an attribute.
struct Escaped<'t>(&'t str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\0' => f.write_str("\u{fffd}")?,
                character => f.write_char(character)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_become_html() {
        let name = "<script>\"'&\0";
        let escaped = Escaped(name).to_string();
        assert_eq!(escaped, "&lt;script&gt;&quot;&#39;&amp;\u{fffd}");
    }
}
