//! Facts about an asset from its archive.

use crate::{Facts, Game, Platform};
use hpimount_assets::view::AssetContext;
use hpimount_containers::volume::AssetType;

/// An asset, as its archive describes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    /// Four letters of the type; zeros if unknown.
    pub(crate) code: [u8; 4],
    /// Id of the asset, if known.
    pub(crate) id: Option<u32>,
    /// Name of the game in the archive's `info.json`.
    pub(crate) game: &'static str,
    /// Parameters of the parsers.
    pub(crate) facts: Facts,
}

impl Origin {
    pub(crate) fn of(context: &dyn AssetContext) -> Self {
        Self::of_type(context.asset())
    }

    pub(crate) fn of_type(asset: Option<AssetType>) -> Self {
        let Some(asset) = asset else {
            return Self {
                code: [0; 4],
                id: None,
                game: Game::Unknown.name(),
                facts: Facts::new(Platform::Unknown, Game::Unknown),
            };
        };
        Self {
            code: asset.code,
            id: Some(asset.id),
            game: asset.game.name(),
            facts: Facts {
                platform: asset.platform,
                endian: asset.endian,
                game: asset.game,
            },
        }
    }
}

/// Returns the four letters of a type without trailing spaces.
pub(crate) fn code_text(code: [u8; 4]) -> String {
    code.escape_ascii().to_string().trim_end().to_owned()
}
