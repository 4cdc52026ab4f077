//! Synthetic assets of Heavy Iron's games, like the assets of a level on
//! GameCube.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use fixtures::{heavy_iron as build, hip, noise};
use hpimount::formats::REPORTS;
use hpimount::formats::VIEW_FORMATS;
use hpimount_assets::view::NamedAsset;
use hpimount_assets::view::{
    self, AssetContext, AssetKey, AssetRef, MakeShared, Shared, View, ViewFormat,
};
use hpimount_containers::hip::{self as format, Game, Platform, asset_id};
use hpimount_containers::io::Endian;
use hpimount_containers::volume::AssetType;

use super::Total;

/// Samples of a sound.
const SAMPLES: u32 = 22_050;

/// Edge of a texture in pixels.
const EDGE: u16 = 128;

/// Triangles along an edge of a model.
const MESH: u16 = 16;

/// An asset: type, name and bytes.
type Asset = ([u8; 4], String, Bytes);

fn assets(divisor: usize) -> Vec<Asset> {
    let mut assets = Vec::new();
    for number in 0..200 / divisor {
        // The models use the first one.
        let name = match number {
            0 => "wood.RW3".to_owned(),
            _ => format!("texture{number}.RW3"),
        };
        assets.push((*b"RWTX", name, texture(number)));
    }
    let mut table = build::big(&[(300 / divisor) as u32, 0xCDCD_CDCD, 0, 0]);
    let head = table.len();
    for number in 0..300 / divisor {
        let name = format!("sound{number}");
        let entry = build::dsp_table(asset_id(name.as_bytes()), SAMPLES, 22_050);
        table.extend(&entry[head..]);
        let mut data = noise(number as u64, SAMPLES.div_ceil(14) as usize * 8);
        // There are 8 predictors.
        data.iter_mut().step_by(8).for_each(|head| *head &= 0x7F);
        assets.push((*b"SND ", name, data.into()));
    }
    assets.push((*b"SNDI", "sound_info".to_owned(), table.into()));
    for number in 0..100 / divisor {
        assets.push((*b"MODL", format!("model{number}.dff"), model(number)));
    }
    assets
}

/// Returns a texture: half of them are in blocks, a quarter have palettes, and
/// a quarter have 16-bit colors.
fn texture(number: usize) -> Bytes {
    let pixels = usize::from(EDGE).pow(2);
    let (format, bits, colors) = match number % 4 {
        0 | 1 => (14, 4, 0),
        2 => (9, 8, 512),
        _ => (5, 16, 0),
    };
    let (palette, levels) = (noise(7, colors), noise(number as u64, pixels * bits / 8));
    build::gamecube(format, 2, [EDGE; 2], &palette, &levels, 1).into()
}

/// Returns a bent sheet.
fn model(number: usize) -> Bytes {
    let edge = MESH + 1;
    let indices = || (0..edge).flat_map(|y| (0..edge).map(move |x| [x, y].map(f32::from)));
    let bend = 1.0 + number as f32 / 10.0;
    let positions: Vec<_> = indices().map(|[x, y]| [x, y, (x / bend).sin()]).collect();
    let uvs: Vec<_> = indices()
        .map(|index| index.map(|part| part / f32::from(MESH)))
        .collect();
    let cells = (0..MESH).flat_map(|y| (0..MESH).map(move |x| y * edge + x));
    let triangles =
        cells.flat_map(|at| [[at, at + 1, at + edge], [at + 1, at + edge + 1, at + edge]]);
    build::plain_model(&positions, &uvs, &triangles.collect::<Vec<_>>()).into()
}

/// Returns an archive with all assets.
pub(super) fn archive(divisor: usize) -> Vec<u8> {
    let mut archive = hip::Hip::target(Game::Bfbb, format::Platform::GameCube);
    archive.layer(0);
    for (code, name, bytes) in assets(divisor) {
        archive.add(hip::Asset::new(&code, &name, &bytes));
    }
    archive.build()
}

/// Converts the assets, and renders the reports.
pub(super) fn render(divisor: usize) -> io::Result<()> {
    let level = Level::new(assets(divisor));
    let mut total = Total::default();
    for file in level.assets() {
        let of_asset = level.around(Some(file));
        let (Some(format), Some(view)) = (of_asset.format(file), of_asset.model(file)) else {
            continue;
        };
        total.render(format, level.asset_of(file), &*view, &of_asset)?;
    }
    let around = level.around(None);
    for report in REPORTS.iter().copied().flatten() {
        if (report.applies)(&around) {
            let mut out = Vec::new();
            report.render(&around, &mut out)?;
            total.add(out.len());
        }
    }
    total.print();
    Ok(())
}

/// The values that views share.
#[derive(Default)]
struct Made {
    models: RefCell<HashMap<AssetRef, Arc<dyn View>>>,
    shared: RefCell<HashMap<&'static str, Arc<dyn Shared>>>,
}

/// An archive in memory, as the context of one of its assets.
#[derive(Clone)]
struct Level {
    assets: Arc<Vec<Asset>>,
    asset: Option<AssetRef>,
    made: std::rc::Rc<Made>,
}

impl Level {
    fn new(assets: Vec<Asset>) -> Self {
        Self {
            assets: assets.into(),
            asset: None,
            made: Default::default(),
        }
    }

    fn around(&self, asset: Option<AssetRef>) -> Self {
        Self {
            asset,
            ..self.clone()
        }
    }

    fn get(&self, file: AssetRef) -> Option<&Asset> {
        self.assets.get(file.0 as usize)
    }

    fn chosen(&self, wants: impl Fn(&Asset) -> bool) -> Vec<AssetRef> {
        let assets = (0..).zip(self.assets.iter());
        let chosen = assets.filter(|(_, asset)| wants(asset));
        chosen.map(|(number, _)| AssetRef(number)).collect()
    }

    fn format(&self, file: AssetRef) -> Option<&'static ViewFormat> {
        let (code, ..) = self.get(file)?;
        let mut formats = VIEW_FORMATS.iter();
        formats.find(|format| format.asset_types.contains(code))
    }
}

impl AssetContext for Level {
    fn name(&self) -> &str {
        let asset = self.asset.and_then(|file| self.get(file));
        asset.map_or("", |(_, name, _)| name)
    }

    fn find(&self, key: AssetKey<'_>) -> Option<AssetRef> {
        let AssetKey::Id(id) = key else {
            return None;
        };
        let found = self.chosen(|(_, name, _)| asset_id(name.as_bytes()) == id);
        found.first().copied()
    }

    fn read(&self, file: AssetRef) -> Option<Bytes> {
        Some(self.get(file)?.2.clone())
    }

    fn model(&self, file: AssetRef) -> Option<Arc<dyn View>> {
        if let Some(known) = self.made.models.borrow().get(&file) {
            return Some(known.clone());
        }
        let around = self.around(Some(file));
        let view = view::open(self.format(file)?, &self.read(file)?, &around);
        let view: Arc<dyn View> = view.into();
        self.made.models.borrow_mut().insert(file, view.clone());
        Some(view)
    }

    fn shared(&self, name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        if let Some(known) = self.made.shared.borrow().get(name) {
            return Some(known.clone());
        }
        let made: Arc<dyn Shared> = make(self).into();
        self.made.shared.borrow_mut().insert(name, made.clone());
        Some(made)
    }

    fn asset(&self) -> Option<AssetType> {
        self.asset_of(self.asset?)
    }

    fn asset_name(&self, id: u32) -> Option<NamedAsset> {
        let file = self.find(AssetKey::Id(id))?;
        Some(NamedAsset {
            name: self.name_of(file)?,
            code: Some(self.asset_of(file)?.code),
            archive: None,
        })
    }

    fn assets(&self) -> Vec<AssetRef> {
        self.chosen(|_| true)
    }

    fn asset_of(&self, file: AssetRef) -> Option<AssetType> {
        let (code, name, _) = self.get(file)?;
        Some(AssetType {
            code: *code,
            platform: Platform::GameCube,
            endian: Endian::Big,
            game: Game::Bfbb,
            subtype: 0,
            id: asset_id(name.as_bytes()),
        })
    }

    fn name_of(&self, file: AssetRef) -> Option<String> {
        Some(self.get(file)?.1.clone())
    }

    fn find_type(&self, wanted: [u8; 4]) -> Vec<AssetRef> {
        self.chosen(|(code, ..)| *code == wanted)
    }

    fn size_of(&self, file: AssetRef) -> Option<u64> {
        Some(self.get(file)?.2.len() as u64)
    }
}
