//! The palette of an asset, from the mount or from the game (FORMATS, TA 2).

use get_size2::GetSize;

use crate::pal::{self, Palette};
use crate::tdf;
use hpimount_assets::model::{Picture, Pixels};
use hpimount_assets::parse::pcx;
use hpimount_assets::view::{AssetContext, AssetKey, AssetRef};
use hpimount_containers::text::stem;

/// A palette and its origin.
#[derive(GetSize)]
pub(crate) struct Colors {
    /// The colors.
    pub(crate) palette: Palette,
    /// The origin in `info.json`: `embedded`, `file` (the asset itself), `option:FILE`
    /// (chosen by the user), `archive:ARCHIVE:PATH`, `file:PATH`, or `none`.
    pub(crate) source: String,
}

/// A parsed asset with its palette.
#[derive(GetSize)]
pub(crate) struct WithColors<M> {
    pub(crate) asset: M,
    pub(crate) colors: Colors,
}

/// The kingdoms, by the first three letters of a file's name.
const KINGDOMS: [(&str, &str); 6] = [
    ("ara", "aramon"),
    ("tar", "taros"),
    ("ver", "veruna"),
    ("zon", "zhon"),
    ("cre", "creon"),
    ("aid", "aid"),
];

impl Colors {
    /// Returns the palette of the game.
    pub(crate) fn embedded() -> Self {
        Self {
            palette: Palette::TA,
            source: "embedded".to_owned(),
        }
    }

    /// Returns the palette of the file itself.
    pub(crate) fn own(palette: Palette) -> Self {
        Self {
            palette,
            source: "file".to_owned(),
        }
    }

    /// Returns the palette chosen by the user.
    fn chosen(context: &dyn AssetContext) -> Option<Self> {
        let chosen = context.palette()?;
        Some(Self {
            palette: Palette(chosen.colors),
            source: format!("option:{}", chosen.file),
        })
    }

    /// Returns the palette of the whole mount.
    pub(crate) fn of_mount(context: &dyn AssetContext) -> Self {
        if let Some(chosen) = Self::chosen(context) {
            return chosen;
        }
        let whole = context.find(AssetKey::Path("palettes/palette.pal"));
        let bytes = whole.and_then(|file| context.read(file));
        // The game ignores a missing palette file, but not a short one.
        let is_missing = bytes.as_ref().is_none_or(|bytes| bytes.is_empty());
        let found = if is_missing {
            let found = context.find(AssetKey::Path("palettes/palette.pcx"));
            found.and_then(|file| {
                let palette = pcx::game_palette(&context.read(file)?)?;
                Some(Self::from(context, file, Palette(palette)))
            })
        } else {
            whole.zip(bytes).and_then(|(file, bytes)| {
                let palette = pal::parse(&bytes).ok()?.palette;
                Some(Self::from(context, file, palette))
            })
        };
        found.unwrap_or_else(Self::embedded)
    }

    /// Returns the palette of a sprite. In Kingdoms, it is in a picture with the same
    /// name beside the sprite, or in `palettes` for its name or its kingdom.
    pub(crate) fn of_sprite(context: &dyn AssetContext) -> Self {
        let stem = stem(context.name());
        let beside = || {
            let name = format!("{stem}.pcx");
            Self::carried(context, AssetKey::Sibling(&name))
        };
        (!stem.is_empty() && context.palette().is_none())
            .then(|| beside().or_else(|| Self::named(context, stem)))
            .flatten()
            .unwrap_or_else(|| Self::of_mount(context))
    }

    /// Returns the palette of the textures in a file with this name.
    pub(crate) fn of_textures(context: &dyn AssetContext, file: &str) -> Self {
        let named = || Self::named(context, stem(file));
        Self::chosen(context)
            .or_else(named)
            .unwrap_or_else(|| Self::of_mount(context))
    }

    /// Returns the palette of a Kingdoms map, which depends on the kingdom in its OTA
    /// file.
    pub(crate) fn of_kingdoms_map(context: &dyn AssetContext) -> Self {
        let kingdom = || {
            let ota = format!("{}.ota", stem(context.name()));
            let tdf = tdf::parse(&context.read_sibling(&ota)?).ok()?;
            let header = tdf.root().section("GlobalHeader")?;
            let kingdom = header.get("kingdom")?.into_owned();
            Self::carried(context, AssetKey::Path(&format!("palettes/{kingdom}.pcx")))
        };
        Self::chosen(context)
            .or_else(kingdom)
            .unwrap_or_else(|| Self::of_mount(context))
    }

    fn named(context: &dyn AssetContext, stem: &str) -> Option<Self> {
        let path = format!("palettes/{stem}.pal");
        let own = context.find(AssetKey::Path(&path)).and_then(|file| {
            let palette = pal::parse(&context.read(file)?).ok()?.palette;
            Some(Self::from(context, file, palette))
        });
        own.or_else(|| {
            let start = stem.get(..3)?;
            let mut kingdoms = KINGDOMS.iter();
            let (_, name) = kingdoms.find(|(prefix, _)| prefix.eq_ignore_ascii_case(start))?;
            Self::carried(context, AssetKey::Path(&format!("palettes/{name}.pcx")))
        })
    }

    /// Returns the palette of a picture.
    fn carried(context: &dyn AssetContext, key: AssetKey<'_>) -> Option<Self> {
        let file = context.find(key)?;
        let picture = pcx::parse(&context.read(file)?).ok()?;
        Some(Self::from(context, file, Palette(picture.palette?)))
    }

    fn from(context: &dyn AssetContext, file: AssetRef, palette: Palette) -> Self {
        let archive = context.archive_of(file);
        let path = context.path_of(file);
        Self {
            palette,
            source: match archive.as_str() {
                "" => format!("file:{path}"),
                _ => format!("archive:{archive}:{path}"),
            },
        }
    }
}

impl Palette {
    /// Returns a picture of palette indices, all of them opaque.
    pub fn picture(&self, width: u32, height: u32, rows: Vec<u8>) -> Picture {
        Picture {
            width,
            height,
            pixels: Pixels::Indexed {
                bits: 8,
                rows,
                palette: self.opaque(),
            },
        }
    }

    /// Returns red, green, blue and alpha of all colors, which are opaque.
    pub(crate) fn opaque(&self) -> Vec<[u8; 4]> {
        let colors = self.0.iter();
        colors.map(|&[r, g, b]| [r, g, b, 255]).collect()
    }
}
