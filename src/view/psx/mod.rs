//! What a PSX file looks like: facts, half a page, and a table for everything
//! that there are many of.

mod facts;
mod page;
mod tables;

use super::listed::{Listed, ListedView, Render, whole_files};
use super::{Failure, Siblings, View, ViewFormat};
use crate::asset::Incomplete;
use crate::asset::psx::{self, Content, Psx, TextureData};
use crate::export::psx::{Exhibit, Gallery, model_name, neighbours};
use crate::export::{bvh, gltf, obj, png};

/// PSX models, levels and texture banks.
///
/// PlayStation programs and pictures share the extension; what is in the file
/// decides.
pub const FORMAT: ViewFormat = ViewFormat {
    name: "PSX",
    extensions: psx::EXTENSIONS,
    open,
    matches: |bytes| psx::parse(bytes).is_ok(),
};

/// Most bytes of neighbours that are looked at.
const MOST_NEIGHBOURS: usize = 16 << 20;

fn open(bytes: &[u8], siblings: &dyn Siblings) -> Result<Box<dyn View>, Box<Failure>> {
    match psx::parse(bytes) {
        Ok(mut psx) => {
            let exhibit = Exhibit::new(&psx, read_neighbours(&psx, siblings));
            for problem in &exhibit.problems {
                psx.warnings.push(problem.clone());
            }
            let model = Shown { psx, exhibit };
            Ok(Box::new(ListedView {
                files: files(&model),
                model,
                memory: |shown| memory(&shown.psx) + shown.exhibit.memory(),
            }))
        }
        Err(incomplete) => {
            let Incomplete { error, model } = *incomplete;
            let partial = model.map_or_else(|| serde_json::json!({}), |psx| facts::partial(&psx));
            Err(Box::new(Failure { error, partial }))
        }
    }
}

/// The files of the same level, where this one needs something of them.
fn read_neighbours(psx: &Psx, siblings: &dyn Siblings) -> Vec<Psx> {
    if siblings.name().is_empty() || !Gallery::lacks(psx) {
        return Vec::new();
    }
    let mut left = MOST_NEIGHBOURS;
    let mut read = |name: String| {
        let bytes = siblings.read(&name)?;
        left = left.checked_sub(bytes.len())?;
        psx::parse(&bytes).ok()
    };
    let names = neighbours(siblings.name()).into_iter();
    names.filter_map(&mut read).collect()
}

/// A file and what of it can be shown as pictures and models.
struct Shown {
    psx: Psx,
    exhibit: Exhibit,
}

/// Folder of the pictures.
const TEXTURES: &str = "textures";

/// Folder of the models.
const MODELS: &str = "models";

/// Folder of the animations.
const ANIMATIONS: &str = "animations";

/// File of the models' materials.
const MATERIALS: &str = "materials.mtl";

/// File of the scene's materials.
const SCENE_MATERIALS: &str = "scene.mtl";

/// The files, in their order.
fn files(shown: &Shown) -> Vec<Listed<Shown>> {
    let mut files: Vec<Listed<Shown>> = whole_files(&[
        ("info.json", |shown| facts::json(&shown.psx)),
        ("info.txt", |shown| page::text(&shown.psx)),
        ("objects.tsv", |shown| tables::objects(&shown.psx)),
        ("models.tsv", |shown| tables::models(&shown.psx)),
        ("textures.tsv", |shown| tables::textures(&shown.psx)),
        ("palettes.tsv", |shown| tables::palettes(&shown.psx)),
        ("chunks.tsv", |shown| tables::chunks(&shown.psx)),
    ]);
    let Shown { psx, exhibit } = shown;
    if tables::has_animations(psx) {
        files.push(Listed::whole("animations.tsv", |shown: &Shown| {
            tables::animations(&shown.psx)
        }));
    }
    if exhibit.has_scene {
        files.push(Listed::whole("scene.obj", scene));
        files.push(Listed::whole(SCENE_MATERIALS, scene_materials));
        files.push(Listed::whole("model.glb", glb));
    }
    for index in 0..exhibit.gallery.len() {
        let name = format!("{}.png", exhibit.gallery.name(index));
        files.push(Listed::new(
            Some(TEXTURES),
            name,
            Render::Part(texture, index),
        ));
    }
    for &index in &exhibit.models {
        let name = format!("{index:02} {}.obj", model_name(psx, index));
        files.push(Listed::new(Some(MODELS), name, Render::Part(model, index)));
    }
    if !exhibit.models.is_empty() {
        files.push(Listed::new(
            Some(MODELS),
            MATERIALS.into(),
            Render::Whole(materials),
        ));
    }
    for index in 0..exhibit.motions(psx) {
        let name = format!("{index:03}.bvh");
        files.push(Listed::new(
            Some(ANIMATIONS),
            name,
            Render::Part(motion, index),
        ));
    }
    files
}

fn picture(shown: &Shown, index: usize) -> Option<Vec<u8>> {
    png::write(&shown.exhibit.gallery.picture(&shown.psx, index)?).ok()
}

fn texture(shown: &Shown, index: usize) -> Vec<u8> {
    picture(shown, index).unwrap_or_default()
}

fn model(shown: &Shown, index: usize) -> Vec<u8> {
    obj::write(&shown.exhibit.model(&shown.psx, index), MATERIALS)
}

fn materials(shown: &Shown) -> Vec<u8> {
    let (materials, notes) = shown.exhibit.materials(&shown.psx);
    obj::write_materials(&materials, &notes, "../textures/")
}

fn scene(shown: &Shown) -> Vec<u8> {
    obj::write(&shown.exhibit.scene(&shown.psx), SCENE_MATERIALS)
}

fn scene_materials(shown: &Shown) -> Vec<u8> {
    let (materials, notes) = shown.exhibit.materials(&shown.psx);
    obj::write_materials(&materials, &notes, "textures/")
}

fn glb(shown: &Shown) -> Vec<u8> {
    gltf::write(&shown.exhibit.scene(&shown.psx), &|index| {
        picture(shown, index)
    })
}

fn motion(shown: &Shown, index: usize) -> Vec<u8> {
    let scene = shown.exhibit.motion(&shown.psx, index);
    let motion = scene.animations.first();
    motion.map_or_else(Vec::new, |motion| bvh::write(&scene, motion))
}

fn memory(psx: &Psx) -> usize {
    let models = psx.models.iter().map(|model| {
        size_of_val(&model.vertices[..])
            + size_of_val(&model.normals[..])
            + size_of_val(&model.faces[..])
    });
    let pixels = psx.textures.iter().map(|texture| match &texture.data {
        TextureData::Indexed { rows, .. } => rows.len(),
        TextureData::Pvr { data, .. } => data.len(),
        TextureData::External | TextureData::Unknown => 0,
    });
    let palettes = psx.palettes.iter();
    let contents = psx.chunks.iter();
    size_of_val(&psx.objects[..])
        + size_of_val(&psx.models[..])
        + size_of_val(&psx.textures[..])
        + size_of_val(&psx.palettes[..])
        + size_of_val(&psx.chunks[..])
        + models.sum::<usize>()
        + pixels.sum::<usize>()
        + palettes.map(|p| size_of_val(&p.colours[..])).sum::<usize>()
        + contents.map(|c| content_memory(&c.content)).sum::<usize>()
}

/// Memory that the data of a chunk take.
fn content_memory(content: &Content) -> usize {
    match content {
        Content::Colours(list) => size_of_val(&list[..]),
        Content::Hierarchy(list) => size_of_val(&list[..]),
        Content::AnimationsV1(list) => {
            let poses = list
                .iter()
                .map(|animation| size_of_val(&animation.poses[..]));
            size_of_val(&list[..]) + poses.sum::<usize>()
        }
        Content::AnimationsV2(list) => size_of_val(&list[..]),
        Content::Sprites(list) => {
            let frames = list.iter().map(|sprite| size_of_val(&sprite.frames[..]));
            size_of_val(&list[..]) + frames.sum::<usize>()
        }
        Content::Wibbles(list) => size_of_val(&list[..]),
        Content::Pulses(list) => {
            let keys = list.iter().map(|pulse| size_of_val(&pulse.keys[..]));
            size_of_val(&list[..]) + keys.sum::<usize>()
        }
        Content::Chnk(list) => size_of_val(&list[..]),
        Content::BlockMap(_) | Content::Unknown => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::psx::build::{File, object, rich, texture};
    use crate::view::Alone;
    use proptest::prelude::*;

    fn rendered(bytes: &[u8], name: &str) -> String {
        crate::view::rendered(open, bytes, name)
    }

    #[test]
    fn objects_stand_in_whole_units_and_turn_by_degrees() {
        let mut file = rich();
        file.objects[1][4..8].copy_from_slice(&(-2048_i32).to_le_bytes());
        file.objects[1][18..20].copy_from_slice(&1024_i16.to_le_bytes());
        file.objects[1][0] = 0x22;
        assert_eq!(
            rendered(&file.bytes(), "objects.tsv"),
            "index\tmodel\tx\ty\tz\tangles\tflags\tparent\n\
             0\t0\t0\t0\t0\t0 0 0\t0x0000\t\n\
             1\t1\t-0.5\t-20\t30\t0 90 0\t0x0022\t0\n"
        );
    }

    #[test]
    fn models_show_their_faces_by_sort() {
        let text = rendered(&rich().bytes(), "models.tsv");
        let (header, rows) = text.split_once('\n').unwrap();
        assert_eq!(
            header,
            "index\tname_hash\tvertices\tnormals\tfaces\ttriangles\tquads\ttextured\tgouraud\t\
             invisible\tradius\tbounds\tlod_distance\tnext_lod"
        );
        assert_eq!(
            rows,
            "0\t6f0f6b9f\t3\t1\t2\t1\t1\t1\t1\t1\t100\t-50 -60 -70 50 60 70\t32767\t\n\
             1\t6f0f6b9f\t3\t1\t0\t0\t0\t0\t0\t0\t100\t-50 -60 -70 50 60 70\t32767\t\n"
        );
    }

    #[test]
    fn textures_and_palettes_name_each_other() {
        let bytes = rich().bytes();
        assert_eq!(
            rendered(&bytes, "textures.tsv"),
            "index\tid\twidth\theight\tbits\tpalette_id\tpalette_found\n\
             0\t0000001e\t5\t3\t4\t000000aa\ttrue\n\
             1\t0000001f\t4\t2\t4\t000000bb\tfalse\n\
             2\t0000001f\t64\t64\t\t\t\n"
        );
        assert_eq!(
            rendered(&bytes, "palettes.tsv"),
            "index\tid\tcolours\ttransparent\ttextures\n0\t000000aa\t16\t0\t1\n"
        );
    }

    #[test]
    fn chunks_say_what_they_are() {
        let mut file = rich();
        file.chunks.truncate(1);
        file.chunks.push((0x0A, Vec::new()));
        file.chunks.push((0x1234, vec![1]));
        let text = rendered(&file.bytes(), "chunks.tsv");
        let rows: Vec<_> = text
            .lines()
            .map(|row| row.split('\t').collect::<Vec<_>>())
            .collect();
        let offset = rows[1][1].parse::<usize>().unwrap();
        assert_eq!(rows[0], ["tag", "offset", "length", "meaning"]);
        assert_eq!((rows[1][0], rows[1][3]), ("RGBs", "gouraud colours: 2"));
        assert_eq!(&file.bytes()[offset..offset + 4], [255, 0, 0, 0]);
        let damaged = "collision grid: 0 x 0 cells, 0 entries, damaged";
        assert_eq!((rows[2][0], rows[2][2], rows[2][3]), ("0x0a", "0", damaged));
        assert_eq!((rows[3][0], rows[3][3]), ("0x1234", "unknown"));
    }

    #[test]
    fn animations_are_listed_where_there_are_any() {
        let mut file = rich();
        let bytes = file.bytes();
        let place = |tag: u32| {
            let psx = psx::parse(&bytes).unwrap();
            let chunk = psx.chunks.iter().find(|chunk| chunk.tag == tag);
            chunk.unwrap().offset + 12
        };
        assert_eq!(
            rendered(&bytes, "animations.tsv"),
            format!(
                "index\tkind\tname\tframes\tstored_frames\ttween\toffset\n\
                 0\tkeyframes\t\t2\t2\t0\t{}\n\
                 0\tcompressed\t\t7\t\t\t{}\n\
                 0\tsprite\tsmoke\t1\t\t\t\n",
                place(0x2A),
                place(0x2C)
            )
        );
        file.chunks.clear();
        let files = open(&file.bytes(), &Alone).unwrap().files();
        assert!(files.iter().all(|file| file.name != "animations.tsv"));
    }

    #[test]
    fn the_half_page_says_what_the_file_is() {
        let bytes = rich().bytes();
        let psx = psx::parse(&bytes).unwrap();
        assert_eq!(
            rendered(&bytes, "info.txt"),
            format!(
                "PSX character (version 4: THPS 2 to 4, Spider-Man, Mat Hoffman's Pro BMX)\n\
                 \n\
                 file size      {} bytes\n\
                 objects        2\n\
                 models         2\n\
                 vertices       6\n\
                 faces          2 (triangles 1, quads 1, invisible 1)\n\
                 bounds         x -3.125 to 13.125, y -23.75 to 3.75 (down), z -4.375 to 34.375\n\
                 textures       3 (ids 2)\n\
                 palettes       1 of 16 colours, 0 of 256, 1 missing\n\
                 animations     3 (keyframes 2, sprites 1)\n\
                 chunks         10: RGBs, HIER, 0x0a, 0x2a, 0x2c, 0x45, 0x06, 0x07 and 2 more\n\
                 warnings       1\n  \
                 palette 000000bb of texture {:#x} not in this file\n",
                bytes.len(),
                psx.textures[1].offset
            )
        );
    }

    #[test]
    fn a_damaged_file_shows_what_was_read_and_no_more() {
        let mut file = rich();
        file.textures.push(texture([0, 16, 0xAA, 0], [2, 2], &[]));
        let mut bytes = file.bytes();
        let Failure { error, partial } = *{
            bytes.truncate(bytes.len() - 1);
            open(&bytes, &Alone).err().unwrap()
        };
        assert!(
            error.to_string().starts_with("texture 3: record"),
            "{error}"
        );
        assert_eq!(partial["textures"].as_array().unwrap().len(), 3);
        assert_eq!(partial["models"][0]["faces"], 2);
        let only_head = open(&[4, 0, 2, 0, 1, 0, 0, 0], &Alone)
            .err()
            .unwrap()
            .partial;
        let expected =
            serde_json::json!({"format": "PSX", "version": 4, "file_size": 8, "meta_offset": 1});
        assert_eq!(only_head, expected);
    }

    #[test]
    fn a_large_damaged_file_keeps_its_facts_and_drops_its_lists() {
        let mut file = rich();
        file.objects = vec![object(0, [0; 3]); 20_000];
        let mut bytes = file.bytes();
        bytes.truncate(bytes.len() - 21);
        let partial = open(&bytes, &Alone).err().unwrap().partial;
        assert_eq!(partial["version"], 4);
        assert!(partial.get("objects").is_none());
    }

    #[test]
    fn memory_grows_with_the_file() {
        let mut file = rich();
        let small = open(&file.bytes(), &Alone).unwrap().memory();
        file.textures
            .push(texture([0, 256, 0, 0], [100, 100], &[0; 10_000]));
        let large = open(&file.bytes(), &Alone).unwrap().memory();
        assert!(large >= small + 10_000);
    }

    #[test]
    fn a_number_without_a_file_renders_to_nothing() {
        let view = open(&rich().bytes(), &Alone).unwrap();
        assert!(view.render(view.files().len()).is_empty());
        assert!(view.render(usize::MAX).is_empty());
    }

    /// Opens bytes of any kind and looks at everything that there is.
    fn look(bytes: &[u8]) {
        if let Ok(view) = open(bytes, &Alone) {
            for index in 0..view.files().len() {
                assert!(!view.render(index).is_empty());
            }
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(version in 0..8_u8, rest in proptest::collection::vec(any::<u8>(), 0..400)) {
            look(&[vec![version, 0, 2, 0], rest].concat());
        }

        #[test]
        fn no_damage_makes_it_panic(
            version in prop_oneof![Just(3), Just(4), Just(6)],
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
            lost in 0..40_usize,
        ) {
            let mut bytes = File { version, ..rich() }.bytes();
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes.truncate(bytes.len() - lost);
            look(&bytes);
        }
    }
}
