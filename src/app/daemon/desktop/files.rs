//! The files that tell desktops about the programs: what files of each type are
//! called, how they are detected, and which program opens or draws them.
//!
//! They follow from the lists of formats. `docs/desktop` has them for packages,
//! written by `cargo run --example desktop_files`.

use std::fmt::Write as _;

use crate::formats::VIEW_FORMATS;
use hpimount_containers::file_type::{FileType, Magic};
use hpimount_containers::formats;
use hpimount_containers::image::IMAGES;

/// A generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesktopFile {
    /// Its name.
    pub name: &'static str,
    /// Its text.
    pub text: String,
}

/// Returns all files.
pub fn files() -> [DesktopFile; 6] {
    let opened = names(|known| known.opened == Opened::ByDefault);
    let offered = names(|known| known.opened == Opened::OnRequest);
    let mounted = names(|known| known.is_mounted);
    let drawn = names(|known| known.is_drawn);
    let file = |name, text| DesktopFile { name, text };
    [
        file("hpimount.xml", mime_info()),
        file(
            "hpimount-open.desktop",
            format!("{OPEN_ENTRY}MimeType={opened}\n{OPEN_ACTIONS}"),
        ),
        file(
            "zz-hpimount-open.desktop",
            format!("{OPEN_ENTRY}MimeType={offered}\n"),
        ),
        file(
            "hpimount-unmount.desktop",
            format!("{UNMOUNT_ENTRY}MimeType={mounted}\n"),
        ),
        file(
            "zzz-hpimount-edit.desktop",
            format!("{EDIT_ENTRY}MimeType={mounted}\n"),
        ),
        file(
            "hpimount.thumbnailer",
            format!("{THUMBNAILER_ENTRY}MimeType={drawn}\n"),
        ),
    ]
}

/// The entry that opens files, without its types and without actions. Types
/// that other programs open by default are in a second such entry: the last one
/// by its name is the default only if there is no other program.
const OPEN_ENTRY: &str = "\
[Desktop Entry]
Type=Application
Name=Open with hpimount
Comment=Show the contents of a game archive, or a file of a game
Icon=hpimount
TryExec=hpimount-open
Exec=hpimount-open %F
Categories=Utility;Archiving;
Keywords=archive;game;mount;HPI;HIP;
NoDisplay=true
StartupNotify=false
";

/// The end of the entry that opens files by default.
const OPEN_ACTIONS: &str = "Actions=unmount;

[Desktop Action unmount]
Name=Unmount all
Exec=hpimount-open --unmount-all
";

/// The entry that mounts files so that they can be edited, without its types. It is the
/// last one by its name, so that it is no default.
const EDIT_ENTRY: &str = "\
[Desktop Entry]
Type=Application
Name=Edit with hpimount
Comment=Edit a game archive; saved files go to a folder beside it
Icon=hpimount
TryExec=hpimount-open
Exec=hpimount-open --edit %F
Categories=Utility;Archiving;
NoDisplay=true
StartupNotify=false
";

/// The entry that unmounts files, without its types.
const UNMOUNT_ENTRY: &str = "\
[Desktop Entry]
Type=Application
Name=Unmount archive
Comment=Unmount an opened game archive
Icon=hpimount
TryExec=hpimount-open
Exec=hpimount-open --unmount %F
Categories=Utility;Archiving;
NoDisplay=true
StartupNotify=false
";

/// The entry that draws thumbnails, without its types.
const THUMBNAILER_ENTRY: &str = "\
[Thumbnailer Entry]
TryExec=hpimount-thumbnailer
Exec=hpimount-thumbnailer -s %s %u %o
";

/// When `hpimount-open` opens files of a type.
#[derive(PartialEq, Eq)]
enum Opened {
    /// By double click: types that no other program knows.
    ByDefault,
    /// If the user chooses it.
    OnRequest,
    /// Never: other programs open all that there is to see.
    Never,
}

/// A type of a format.
struct Known {
    file_type: FileType,
    opened: Opened,
    /// True if a double click mounts it.
    is_mounted: bool,
    /// True if it has thumbnails.
    is_drawn: bool,
}

/// Returns the types of all formats. A type of several formats occurs several
/// times.
fn known() -> impl Iterator<Item = Known> {
    let containers = formats::all().flat_map(|format| format.types);
    let images = IMAGES.iter().flat_map(|format| format.types);
    let archives = containers.chain(images).map(|file_type| Known {
        file_type: *file_type,
        opened: match file_type.is_opened {
            true => Opened::ByDefault,
            false => Opened::OnRequest,
        },
        is_mounted: true,
        is_drawn: file_type.has_thumbnail,
    });
    let assets = VIEW_FORMATS.iter().flat_map(|format| {
        let types = format.types.iter();
        types.map(|file_type| Known {
            file_type: *file_type,
            opened: match file_type.comment.is_some() && !file_type.is_text {
                true => Opened::ByDefault,
                false => Opened::Never,
            },
            is_mounted: file_type.is_opened,
            is_drawn: format.preview.is_some(),
        })
    });
    archives.chain(assets)
}

/// Returns the extensions of archives that programs are offered for.
pub fn extensions() -> Vec<&'static str> {
    let archives = known().filter(|known| known.is_mounted);
    let patterns = archives.flat_map(|known| known.file_type.patterns);
    let mut extensions: Vec<&str> = patterns
        .filter_map(|name| name.strip_prefix("*."))
        .collect();
    extensions.sort_unstable();
    extensions.dedup();
    extensions
}

/// Returns the names of the types that match, as a list in a desktop entry.
fn names(matches: impl Fn(&Known) -> bool) -> String {
    let mut names: Vec<&str> = Vec::new();
    for known in known().filter(matches) {
        if !names.contains(&known.file_type.name) {
            names.push(known.file_type.name);
        }
    }
    names.iter().map(|name| format!("{name};")).collect()
}

/// Returns the types as a source of the shared MIME database.
fn mime_info() -> String {
    let mut joined: Vec<(&str, Vec<FileType>)> = Vec::new();
    for Known { file_type, .. } in known() {
        match joined.iter_mut().find(|(name, _)| *name == file_type.name) {
            Some((_, parts)) => parts.push(file_type),
            None => joined.push((file_type.name, vec![file_type])),
        }
    }
    let mut xml = String::from(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!--
  Types of the files that hpimount reads, for the shared MIME database
  (update-mime-database). Types that are already in the database, such as zip,
  disc images and PCX, are not changed.
-->
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
"#,
    );
    for (name, parts) in joined {
        add_type(&mut xml, name, &parts);
    }
    xml + "</mime-info>\n"
}

/// Adds a type with the patterns and magic bytes of all its parts; nothing if
/// it adds nothing to the database.
fn add_type(xml: &mut String, name: &str, parts: &[FileType]) {
    let is_empty = |part: &FileType| {
        part.comment.is_none() && part.magic.is_empty() && part.patterns.is_empty()
    };
    if parts.iter().all(is_empty) {
        return;
    }
    let mut line = |depth: usize, text: String| {
        writeln!(xml, "{:1$}{text}", "", 2 * depth).expect("writing to a String cannot fail");
    };
    line(1, format!("<mime-type type=\"{name}\">"));
    let first = &parts[0];
    if let Some(comment) = first.comment {
        line(2, format!("<comment>{comment}</comment>"));
    }
    if first.is_text {
        line(2, "<sub-class-of type=\"text/plain\"/>".into());
    }
    if first.has_icon {
        line(2, "<icon name=\"hpimount\"/>".into());
    }
    if parts.iter().any(|part| !part.magic.is_empty()) {
        line(2, format!("<magic priority=\"{}\">", first.priority));
        for part in parts {
            add_matches(&mut line, 3, part.magic);
        }
        line(2, "</magic>".into());
    }
    for part in parts {
        for pattern in part.patterns {
            line(2, format!("<glob pattern=\"{pattern}\"/>"));
        }
        for pattern in part.shared_patterns {
            line(2, format!("<glob pattern=\"{pattern}\" weight=\"40\"/>"));
        }
    }
    line(1, "</mime-type>".into());
}

/// Adds alternatives of magic bytes, each with its further conditions inside.
fn add_matches(line: &mut impl FnMut(usize, String), depth: usize, magic: &[Magic]) {
    for Magic { offset, bytes, and } in magic {
        let value: String = bytes.iter().map(|&byte| escaped(byte)).collect();
        let open = format!("<match type=\"string\" value=\"{value}\" offset=\"{offset}\"");
        if and.is_empty() {
            line(depth, open + "/>");
        } else {
            line(depth, open + ">");
            add_matches(line, depth + 1, and);
            line(depth, "</match>".into());
        }
    }
}

/// Returns a byte as the database spells it in strings, without characters that
/// have a meaning in XML.
fn escaped(byte: u8) -> String {
    match byte {
        b'&' | b'<' | b'>' | b'"' | b'\'' | b'\\' => format!("\\x{byte:02x}"),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_of_several_formats_has_the_names_of_all() {
        let xml = mime_info();
        let (_, rest) = xml
            .split_once("<mime-type type=\"application/x-gamecube-image\">")
            .unwrap();
        let (image, _) = rest.split_once("</mime-type>").unwrap();
        for pattern in ["*.rvz", "*.wia", "*.gcz", "*.ciso"] {
            assert!(image.contains(pattern), "{image}");
        }
        assert_eq!(image.matches("<comment>").count(), 1);
    }
}
