//! Kinds of files for a browser: their types, and how the explorer shows them.

use hpimount_assets::view::ViewFormat;
use hpimount_containers::text::has_extension;
use hpimount_containers::volume::AssetType;

/// View of a file in the explorer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    Picture,
    Model,
    Sound,
    Table,
    Json,
    Text,
    Hex,
}

impl View {
    /// Returns its name in listings.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Picture => "picture",
            Self::Model => "model",
            Self::Sound => "sound",
            Self::Table => "table",
            Self::Json => "json",
            Self::Text => "text",
            Self::Hex => "hex",
        }
    }
}

const TEXT: &str = "text/plain; charset=utf-8";

/// The type of everything that has no other: it is saved and never shown.
pub(super) const BYTES: &str = "application/octet-stream";

/// Extensions with the type that they are sent as, none of which is active, and how the
/// explorer shows them.
const KNOWN: &[(&str, &str, View)] = &[
    ("png", "image/png", View::Picture),
    ("gif", "image/gif", View::Picture),
    ("jpg", "image/jpeg", View::Picture),
    ("jpeg", "image/jpeg", View::Picture),
    ("webp", "image/webp", View::Picture),
    ("bmp", "image/bmp", View::Picture),
    ("glb", "model/gltf-binary", View::Model),
    ("wav", "audio/wav", View::Sound),
    ("mp3", "audio/mpeg", View::Sound),
    ("ogg", "audio/ogg", View::Sound),
    ("flac", "audio/flac", View::Sound),
    ("tsv", TEXT, View::Table),
    ("json", "application/json", View::Json),
    ("txt", TEXT, View::Text),
    ("obj", TEXT, View::Text),
    ("mtl", TEXT, View::Text),
    ("bos", TEXT, View::Text),
    ("tdf", TEXT, View::Text),
];

/// Extensions of other texts, which may be in any character set.
const TEXTS: &[&str] = &[
    "bat", "bvh", "c", "cfg", "css", "cue", "fbi", "gui", "h", "htm", "html", "ide", "inf", "ini",
    "ipl", "js", "log", "lua", "m3u", "md", "nfo", "ota", "py", "sh", "svg", "toml", "xml", "yaml",
    "yml",
];

fn known(name: &str) -> Option<&'static (&'static str, &'static str, View)> {
    let mut known = KNOWN.iter();
    known.find(|(extension, ..)| has_extension(name.as_bytes(), extension))
}

/// Returns the type of a file with this name.
pub(super) fn media_type(name: &str) -> &'static str {
    known(name).map_or(BYTES, |(_, kind, _)| kind)
}

/// Returns how a file with this name is shown, or the files that an asset is converted to.
pub(super) fn view(name: &str, asset: Option<(&ViewFormat, Option<AssetType>)>) -> View {
    if let Some((_, _, view)) = known(name) {
        return *view;
    }
    let converted = asset.map_or(&[][..], |(format, kind)| format.converted.of(kind).files);
    let views = converted.iter();
    let views: Vec<View> = views
        .filter_map(|file| Some(known(&format!("x.{}", file.extension))?.2))
        .collect();
    // A model has a picture beside it.
    let best = [
        View::Model,
        View::Picture,
        View::Sound,
        View::Table,
        View::Text,
        View::Json,
    ];
    let is_text = |extension: &&str| has_extension(name.as_bytes(), extension);
    match best.into_iter().find(|view| views.contains(view)) {
        Some(view) => view,
        None if TEXTS.iter().any(is_text) => View::Text,
        None => View::Hex,
    }
}

/// Returns whether a thumbnail of a file with this name can be asked for.
pub(super) fn has_thumbnail(name: &str, asset: Option<(&ViewFormat, Option<AssetType>)>) -> bool {
    let is_png = |name: &str| has_extension(name.as_bytes(), "png");
    is_png(name)
        || asset.is_some_and(|(format, kind)| {
            let mut files = format.converted.of(kind).files.iter();
            format.preview.is_some() || files.any(|file| is_png(&format!("x.{}", file.extension)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::VIEW_FORMATS;

    #[test]
    fn nothing_active_is_sent() {
        for name in [
            "a.html", "a.HTM", "a.svg", "a.xml", "a.js", "a.pdf", "a.swf", "a", "html",
        ] {
            assert_eq!(media_type(name), BYTES, "{name}");
        }
        assert_eq!(media_type("A.PNG"), "image/png");
        assert_eq!(media_type("a.glb"), "model/gltf-binary");
        assert_eq!(media_type("a.tdf"), TEXT);
    }

    #[test]
    fn an_asset_is_shown_as_what_it_is_converted_to() {
        let mut shown_as = Vec::new();
        for format in VIEW_FORMATS.iter() {
            let mut files = format.converted.of(None).files.iter();
            if files.any(|file| known(&format!("x.{}", file.extension)).is_some()) {
                let view = view("an asset", Some((format, None)));
                assert_ne!(view, View::Hex, "{}", format.name);
                shown_as.push(view);
            }
        }
        for view in [
            View::Model,
            View::Picture,
            View::Sound,
            View::Text,
            View::Json,
        ] {
            assert!(shown_as.contains(&view), "{view:?}");
        }
    }

    #[test]
    fn active_files_are_shown_as_text() {
        assert_eq!(view("a.html", None), View::Text);
        assert_eq!(view("a.SVG", None), View::Text);
        assert_eq!(view("a.exe", None), View::Hex);
        assert_eq!(view("units.tsv", None), View::Table);
    }
}
