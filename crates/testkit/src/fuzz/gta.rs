//! Assets of Grand Theft Auto that use the files of their game.

use std::sync::Arc;

use super::asset::{check, look};
use fixtures::clump;
use hpimount_assets::view::{
    Alone, AssetContext, AssetKey, AssetRef, Bytes, MakeShared, Shared, View, ViewFormat,
};
use hpimount_gta::{data, dff, map, report};

/// The files of the folder `data`.
pub fn gta_data(data: &[u8]) {
    let formats = [
        data::COLORS_FORMAT,
        data::FILES_FORMAT,
        data::GROUPS_FORMAT,
        data::HANDLING_FORMAT,
        data::TEXTS_FORMAT,
        data::WATER_FORMAT,
        data::WATERPRO_FORMAT,
    ];
    for format in formats {
        look(&format, data, &Alone);
    }
}

/// A game where every asset is the input, except for a model with a skeleton: the model
/// moved by it, a map of it, and the tables.
pub fn gta_game(data: &[u8]) {
    let game = Game::new(data);
    look_in(&dff::FORMAT, &game.files[0].1, &game);
    look_in(&map::IPL_FORMAT, &game.files[1].1, &game);
    for report in report::REPORTS {
        let mut made = Vec::new();
        report.render(&game, &mut made).unwrap();
        check(&map::IPL_FORMAT, report.path, &made);
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    use super::seeds::{dff, gta_data, gxt, ifp, txd};
    [ifp(), dff(), txd(), gta_data(), gxt()].concat()
}

/// The files of a game, by path. The first one is the asset.
struct Game {
    files: Vec<(&'static str, Bytes)>,
}

impl Game {
    fn new(data: &[u8]) -> Self {
        let skeleton = clump::bones(&[("Root", -1), (" Spine", 0), ("hand", 1)]);
        let square = clump::square(&["skin"], &[]);
        let model = clump::clump(&skeleton, &[square], &[clump::atomic(1, 0)], &[]);
        let placements = b"inst\n1, man, 0, 1, 2, 3, 0, 0, 0, 1, -1\n\
              2, crate, 0, 1, 2, 3, 0, 0, 0, 1, 0\nend\n";
        let definitions = b"peds\n1, man, box, C, S, man, 0, 0, ped, 1, 4, A, B, C\nend\n\
              objs\n2, crate, box, 100, 0\nend\n";
        let data = Bytes::copy_from_slice(data);
        Self {
            files: vec![
                ("man.dff", model.into()),
                ("a.ipl", Bytes::from_static(placements)),
                ("a.ide", Bytes::from_static(definitions)),
                ("animgrp.dat", data.clone()),
                ("gta.dat", data.clone()),
                ("a.col", data.clone()),
                ("ped.ifp", data.clone()),
                ("box.txd", data.clone()),
                ("a.gxt", data.clone()),
                ("a.fxt", data.clone()),
                ("crate.dff", data),
            ],
        }
    }
}

impl AssetContext for Game {
    fn name(&self) -> &str {
        self.files[0].0
    }

    fn find(&self, _: AssetKey<'_>) -> Option<AssetRef> {
        None
    }

    fn find_extensions(&self, _folder: &str, extensions: &[&str]) -> Vec<AssetRef> {
        let files = (0..).zip(&self.files);
        let has = |path: &str| extensions.iter().any(|extension| path.ends_with(extension));
        files
            .filter(|(_, (path, _))| has(path))
            .map(|(number, _)| AssetRef(number))
            .collect()
    }

    fn path_of(&self, file: AssetRef) -> String {
        self.files[file.0 as usize].0.to_owned()
    }

    fn read(&self, file: AssetRef) -> Option<Bytes> {
        Some(self.files[file.0 as usize].1.clone())
    }

    fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        Some(make(self).into())
    }
}

/// Asserts that the files of an asset in a context can be read.
fn look_in(format: &ViewFormat, bytes: &Bytes, context: &dyn AssetContext) {
    let view: Box<dyn View> = hpimount_assets::view::open(format, bytes, context);
    for (index, file) in view.files().iter().enumerate() {
        let mut made = Vec::new();
        view.render(index, context, &mut made).unwrap();
        check(format, &file.name, &made);
    }
}
