//! CSN: cutscenes, with their data as files and the moved models.

use std::collections::HashMap;

use bytes::Bytes;

use crate::fields::{cells_of, columns};
use crate::model::cutscene::{self as model, Moved};
use crate::model::set::file_of;
use crate::names::Names;
use crate::object;
use crate::object::cutscene::{ANIMATION, CAMERA, Data, MODEL, data};
use crate::origin::Origin;
use crate::record::Rows as Records;
use crate::tables::parse_flythrough;
use hpimount_assets::view::page::Rows;
use hpimount_assets::view::{AssetContext, Opened, ViewFile, ViewFormat};

/// Cutscenes.
pub const FORMAT: ViewFormat = ViewFormat {
    name: "HIP cutscene",
    asset_types: &[*b"CSN "],
    open,
    ..object::FORMAT
};

/// Maximum number of moved models that are shown. Cutscenes of the games have a few
/// dozen.
const MAX_MOVED: usize = 256;

/// Maximum number of camera frames that are shown, since data may overlap. They last
/// more than half an hour.
const MAX_FRAMES: usize = 1 << 16;

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let (mut page, typed, error) = object::view::page(FORMAT.name, bytes, context);
    let facts = Origin::of(context).facts;
    let all = data(&typed.object, bytes, typed.endian);
    let moved = moved(&all).into_iter().enumerate();
    let shown = moved
        .filter(|(_, moved)| moved.model.is_some() || file_of(moved.id, context).is_some())
        .take(MAX_MOVED);
    for (number, moved) in shown {
        let name = format!("{number:02}_{:08X}.glb", moved.id);
        page.file(ViewFile::inside("models", name), move |_, context, out| {
            model::write(&moved, &facts, context, out)
        });
    }
    if !facts.game.is_scooby() && all.iter().any(is_camera) {
        let paths = all
            .iter()
            .filter(|data| is_camera(data))
            .map(CameraPath::new);
        let paths: Vec<_> = paths.collect();
        page.table_in("cameras.tsv", move |_, context| {
            cameras(paths.clone(), Names(context))
        });
    }
    for data in all {
        page.file(data.file(), move |_, _, out| out.write_all(&data.bytes));
    }
    Ok(page.show(typed, error))
}

fn is_camera(data: &Data) -> bool {
    data.kind == CAMERA && data.span.is_some()
}

/// The path of a camera in a time span.
#[derive(Clone)]
struct CameraPath {
    /// The number of the time span, and its start in seconds.
    span: (usize, f32),
    /// The number of the data in it.
    index: usize,
    /// The camera at each frame, as in a FLY.
    frames: Records,
}

impl CameraPath {
    fn new(data: &Data) -> Self {
        let frames = parse_flythrough(&data.bytes).unwrap_or_else(|incomplete| incomplete.model);
        Self {
            span: data.span.unwrap_or_default(),
            index: data.index,
            frames: frames.frames,
        }
    }
}

/// Returns a row for each camera frame.
fn cameras(paths: Vec<CameraPath>, names: Names<'_>) -> Rows<'_> {
    let layout = paths.first().map_or(&[][..], |path| path.frames.layout());
    let head = ["span", "start", "index"].map(str::to_owned).into_iter();
    let rows = paths.into_iter().flat_map(move |path| {
        let (span, start) = path.span;
        let head = [span.into(), start.into(), path.index.into()];
        let frames = (0..path.frames.len()).filter_map(move |frame| path.frames.get(frame));
        frames.map(move |frame| {
            let cells = cells_of(&frame, names).into_iter();
            head.clone().into_iter().chain(cells).collect()
        })
    });
    Rows {
        columns: head.chain(columns(layout)).map(Into::into).collect(),
        rows: Box::new(rows.take(MAX_FRAMES)),
    }
}

/// Returns the models that a cutscene animates. If a time span contains a model several
/// times, the model has several animations in it.
fn moved(all: &[Data]) -> Vec<Moved> {
    let mut moved: Vec<Moved> = Vec::new();
    let mut numbers = HashMap::new();
    let mut counts = HashMap::new();
    for data in all.iter().filter(|data| data.kind == ANIMATION) {
        let Some((span, start)) = data.span else {
            continue;
        };
        let count = counts.entry((span, data.id)).or_insert(0);
        let number = *numbers.entry((data.id, *count)).or_insert_with(|| {
            let own = |one: &&Data| one.span.is_none() && one.kind == MODEL && one.id == data.id;
            moved.push(Moved {
                id: data.id,
                model: all.iter().find(own).map(|one| one.bytes.clone()),
                spans: Vec::new(),
            });
            moved.len() - 1
        });
        *count += 1;
        moved[number].spans.push((start, data.bytes.clone()));
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{Archives, floats, id, words};
    use fixtures::heavy_iron as hi;
    use hpimount_assets::view::AssetRef;

    /// Returns data in a span of time.
    fn in_span(kind: u32, id: u32, bytes: &[u8]) -> Vec<u8> {
        let mut data = words(&[kind, id, bytes.len() as u32, 0]);
        data.extend(bytes);
        data.resize(data.len().next_multiple_of(16), 0);
        data
    }

    /// Returns a cutscene with the model of a rock, and two time spans with this data,
    /// given as kinds and ids. Cameras have two frames, 7 and 8.
    fn cutscene(data: &[(u32, u32)]) -> Vec<u8> {
        let model = hi::pyramid();
        let length = model.len().next_multiple_of(16) as u32;
        let count = data.len() as u32;
        // FLY is little-endian on every console.
        let frames = [7_u32, 8].map(|frame| [frame.to_le_bytes().to_vec(), vec![0; 60]].concat());
        let camera = frames.concat();
        let data = data.iter().flat_map(|&(kind, id)| match kind {
            CAMERA => in_span(kind, id, &camera),
            _ => in_span(kind, id, &[0; 20]),
        });
        let data: Vec<u8> = data.collect();
        let span = |start: f32| {
            [
                floats(&[start, start + 1.0]),
                words(&[count, 0]),
                data.clone(),
            ]
            .concat()
        };
        let start = 48 + 32 + 16 + 8 + 4;
        let spans = [start + length, start + length + 16 + data.len() as u32];
        let head = words(&[0x4E53_5443, id("scene"), 1, 2, 0, 0, 0, start, 0, 0, 0, 0]);
        // The flags of a model do not belong to its kind.
        let entry = words(&[0x2000_0001, id("rock.dff"), model.len() as u32, start]);
        let mut bytes = [head, vec![0; 32], entry, words(&spans), words(&[0]), model].concat();
        bytes.resize(spans[0] as usize, 0);
        bytes.extend([span(0.0), span(1.0)].concat());
        bytes
    }

    #[test]
    fn cutscenes_have_their_data_and_the_models_that_they_move() {
        let [figure, rock] = ["figure.dff", "rock.dff"].map(id);
        let bytes = cutscene(&[
            (2, figure),
            (2, rock),
            (2, figure),
            (2, id("missing")),
            (5, 9),
            (3, 0),
        ]);
        let archives = Archives::new(&[
            ("a.HIP", b"CSN ", "scene", bytes),
            ("a.HOP", b"MODL", "figure.dff", hi::figure()),
        ]);
        let view = archives.model(AssetRef(0)).unwrap();
        let files: Vec<_> = view
            .files()
            .iter()
            .map(|file| file.path().into_owned())
            .collect();
        let of = |folder: &str| -> Vec<_> {
            let files = files.iter().enumerate();
            files.filter(|(_, path)| path.starts_with(folder)).collect()
        };
        let models = of("models/");
        let paths: Vec<_> = models.iter().map(|(_, path)| path.as_str()).collect();
        let expected = [(0, figure), (1, rock), (2, figure)];
        let expected = expected.map(|(number, id)| format!("models/{number:02}_{id:08X}.glb"));
        assert_eq!(paths, expected);
        for (index, path) in models {
            let mut scene = Vec::new();
            view.render(index, &archives, &mut scene).unwrap();
            assert!(scene.starts_with(b"glTF"), "{path}");
        }
        assert_eq!(of("data/")[0].1, &format!("data/00_{rock:08X}_model.dff"));
        assert_eq!(of("chunk_000/").len(), 6);
        let mut table = Vec::new();
        view.render(of("cameras.tsv")[0].0, &archives, &mut table)
            .unwrap();
        let table = String::from_utf8(table).unwrap();
        let rows = table
            .lines()
            .map(|line| line.split('\t').take(5).collect::<Vec<_>>());
        let rows: Vec<_> = rows.collect();
        assert_eq!(rows[0], ["span", "start", "index", "frame", "right_x"]);
        assert_eq!(
            rows[1..3],
            [["0", "0", "5", "7", "0"], ["0", "0", "5", "8", "0"]]
        );
        assert_eq!(rows[4], ["1", "1", "5", "8", "0"]);
        let last = &of("chunk_001/")[4].1;
        assert_eq!(*last, "chunk_001/04_00000009_sound.bin");
    }

    #[test]
    fn a_cutscene_shows_a_limited_number_of_moved_models() {
        let data = [(2, id("rock.dff")); MAX_MOVED + 1];
        let archives = Archives::new(&[("a.HIP", b"CSN ", "scene", cutscene(&data))]);
        let view = archives.model(AssetRef(0)).unwrap();
        let files = view.files().into_iter();
        let models = files.filter(|file| file.path().starts_with("models/"));
        assert_eq!(models.count(), MAX_MOVED);
    }

    #[test]
    fn cameras_whose_data_overlap_have_limited_frames_together() {
        let path = CameraPath {
            span: (0, 0.0),
            index: 0,
            frames: parse_flythrough(&vec![0; 64 * 1000].into()).unwrap().frames,
        };
        let rows = cameras(vec![path; 4096], Names(&hpimount_assets::view::Alone)).rows;
        assert_eq!(rows.count(), MAX_FRAMES);
    }
}
