//! The textures of a file, and those borrowed from its neighbors.

use std::collections::{HashMap, HashSet};

use get_size2::GetSize;

use super::picture;
use crate::psx::{Palette, Psx, Texture};
use hpimount_assets::model::{Picture, not_shown, padded};
use hpimount_containers::io::Warnings;

/// Suffixes in the names of files that belong together, such as `skhan.psx` and
/// `skhan_l.psx`; files with textures first.
const SUFFIXES: [&str; 6] = ["_l", "", "_l2", "_2", "_o", "_g"];

/// Returns the names of files that may have the missing textures of `name`, most likely
/// first.
pub fn neighbors(name: &str) -> Vec<String> {
    let (stem, extension) = match name.rfind('.') {
        Some(dot) => name.split_at(dot),
        None => (name, ""),
    };
    let without = |suffix: &&&str| -> Option<&str> {
        let cut = stem.len().checked_sub(suffix.len())?;
        let end = stem.get(cut..)?;
        (!suffix.is_empty() && cut > 0 && end.eq_ignore_ascii_case(suffix)).then(|| &stem[..cut])
    };
    let base = SUFFIXES.iter().find_map(|suffix| without(&suffix));
    let base = base.unwrap_or(stem);
    let names = SUFFIXES
        .iter()
        .map(|suffix| format!("{base}{suffix}{extension}"));
    names
        .filter(|other| !other.eq_ignore_ascii_case(name))
        .collect()
}

/// A texture of a neighbor and its palette. Its pixels are a copy, so that the neighbor
/// is not kept in memory.
#[derive(Debug, GetSize)]
struct BorrowedTexture {
    #[get_size(size_fn = with_pixels)]
    texture: Texture,
    palette: Option<Palette>,
}

/// Returns the memory of a texture with its pixels, in bytes.
fn with_pixels(texture: &Texture) -> usize {
    texture.get_heap_size() + texture.data.bytes().len()
}

/// A texture of the file, or one from a neighbor.
#[derive(Debug, Clone, Copy, GetSize)]
enum Source {
    /// Index in [`Psx::textures`], and index of the palette in [`Psx::palettes`] or in
    /// [`TextureSet::palettes`].
    Own(usize, PaletteSource),
    /// Index in [`TextureSet::borrowed`].
    Borrowed(usize),
}

#[derive(Debug, Clone, Copy, GetSize)]
enum PaletteSource {
    Own(usize),
    Borrowed(usize),
    None,
}

/// A texture that can be shown.
#[derive(Debug, GetSize)]
struct TextureEntry {
    source: Source,
    id: Option<u32>,
    number: usize,
}

/// The textures that can be shown.
#[derive(Debug, Default, GetSize)]
pub struct TextureSet {
    shown: Vec<TextureEntry>,
    /// By index of the texture id.
    by_id_index: HashMap<u32, usize>,
    palettes: Vec<Palette>,
    borrowed: Vec<BorrowedTexture>,
    /// Numbers of the file's own textures and the borrowed ones.
    numbers: usize,
    /// The reasons why the others are not shown.
    problems: Warnings,
}

/// The texture properties for a material.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) width: u16,
    pub(super) height: u16,
    pub(super) has_transparent: bool,
}

impl TextureSet {
    /// Returns whether textures or palettes are missing.
    pub fn lacks(psx: &Psx) -> bool {
        let no_palette = |texture: &Texture| texture.palette_found() == Some(false);
        psx.textures.iter().any(no_palette) || !wanted(psx).is_empty()
    }

    /// Returns the textures of a file, including missing ones from its neighbors.
    pub fn new(psx: &Psx, neighbors: Vec<Psx>) -> Self {
        let mut textures = Self::default();
        textures.take_palettes(psx, &neighbors);
        for (number, texture) in psx.textures.iter().enumerate() {
            textures.add_own(psx, number, texture);
        }
        textures.borrow(psx, neighbors);
        textures.numbers = psx.textures.len() + textures.borrowed.len();
        textures
    }

    /// Copies palettes that the file's textures lack from the neighbors.
    fn take_palettes(&mut self, psx: &Psx, neighbors: &[Psx]) {
        let mut known = HashMap::new();
        for palette in neighbors.iter().flat_map(|psx| &psx.palettes) {
            known.entry(key(palette)).or_insert(palette);
        }
        let mut taken = HashSet::new();
        for texture in &psx.textures {
            let key = (texture.colors as usize, texture.palette);
            if texture.palette_found() == Some(false)
                && let Some(&palette) = known.get(&key)
                && taken.insert(key)
            {
                self.palettes.push(palette.clone());
            }
        }
    }

    fn add_own(&mut self, psx: &Psx, number: usize, texture: &Texture) {
        let id = psx.texture_ids.get(texture.index as usize).copied();
        let palette = match (texture.palette_found(), texture.palette_index) {
            (None, _) => PaletteSource::None,
            (Some(_), Some(index)) => PaletteSource::Own(index),
            (Some(_), None) => {
                let wanted = (texture.colors as usize, texture.palette);
                let found = self.palettes.iter().position(|p| key(p) == wanted);
                match found {
                    Some(index) => PaletteSource::Borrowed(index),
                    None => {
                        let what = format_args!("texture {number}");
                        let why = format_args!("its palette {:08x} was not found", wanted.1);
                        self.problems.push(not_shown(what, why));
                        return;
                    }
                }
            }
        };
        if let Some(problem) = picture::problem(texture) {
            let what = format_args!("texture {number}");
            self.problems.push(not_shown(what, problem));
            return;
        }
        self.by_id_index
            .entry(texture.index)
            .or_insert(self.shown.len());
        self.shown.push(TextureEntry {
            source: Source::Own(number, palette),
            id,
            number,
        });
    }

    /// Borrows textures that the file's faces use and the file lacks.
    fn borrow(&mut self, psx: &Psx, neighbors: Vec<Psx>) {
        let mut wanted = wanted(psx);
        for neighbor in neighbors {
            if wanted.is_empty() {
                return;
            }
            let Psx {
                texture_ids,
                palettes,
                textures,
                ..
            } = neighbor;
            for texture in textures {
                let Some(&id) = texture_ids.get(texture.index as usize) else {
                    continue;
                };
                let palette = texture.palette_index.and_then(|index| palettes.get(index));
                let is_drawable = texture.palette_found().is_none() || palette.is_some();
                if !is_drawable || picture::problem(&texture).is_some() {
                    continue;
                }
                let Some(index) = wanted.remove(&id) else {
                    continue;
                };
                self.by_id_index.insert(index, self.shown.len());
                self.shown.push(TextureEntry {
                    source: Source::Borrowed(self.borrowed.len()),
                    id: Some(id),
                    number: psx.textures.len() + self.borrowed.len(),
                });
                self.borrowed.push(BorrowedTexture {
                    palette: palette.cloned(),
                    texture: texture.detached(),
                });
            }
        }
    }

    /// Removes and returns the reasons why textures are not shown.
    pub fn take_problems(&mut self) -> Warnings {
        std::mem::take(&mut self.problems)
    }

    /// Returns the number of visible textures.
    pub fn len(&self) -> usize {
        self.shown.len()
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// Returns the file name of a texture, without extension: its number in the file
    /// (borrowed textures follow) and its id.
    pub fn name(&self, index: usize) -> String {
        let Some(shown) = self.shown.get(index) else {
            return String::new();
        };
        let number = padded(shown.number, self.numbers, 2);
        match shown.id {
            Some(id) => format!("{number} {id:08x}"),
            None => number,
        }
    }

    /// Returns a texture as a picture.
    pub fn picture(&self, psx: &Psx, index: usize) -> Option<Picture> {
        let (texture, palette) = self.texture(psx, index)?;
        picture::picture(texture, palette)
    }

    /// Returns the index of a texture in [`Psx::textures`], or `None` for a borrowed
    /// one.
    pub(in crate::psx) fn own(&self, index: usize) -> Option<usize> {
        match self.shown.get(index)?.source {
            Source::Own(texture, _) => Some(texture),
            Source::Borrowed(_) => None,
        }
    }

    /// Returns a texture with its palette, if any.
    pub(in crate::psx) fn texture<'a>(
        &'a self,
        psx: &'a Psx,
        index: usize,
    ) -> Option<(&'a Texture, Option<&'a Palette>)> {
        match self.shown.get(index)?.source {
            Source::Own(texture, palette) => {
                let palette = match palette {
                    PaletteSource::Own(index) => psx.palettes.get(index),
                    PaletteSource::Borrowed(index) => self.palettes.get(index),
                    PaletteSource::None => None,
                };
                Some((psx.textures.get(texture)?, palette))
            }
            Source::Borrowed(index) => {
                let borrowed = self.borrowed.get(index)?;
                Some((&borrowed.texture, borrowed.palette.as_ref()))
            }
        }
    }

    /// Returns the texture of a face by the index of its id.
    pub(super) fn of_face(&self, id_index: u32) -> Option<usize> {
        self.by_id_index.get(&id_index).copied()
    }

    /// Returns the texture properties for a material.
    pub(super) fn size(&self, psx: &Psx, index: usize) -> Option<Size> {
        let (texture, palette) = self.texture(psx, index)?;
        let transparent = |palette: &Palette| {
            let mut colors = palette.colors.iter();
            colors.any(|&color| Palette::is_transparent(color))
        };
        Some(Size {
            width: texture.width,
            height: texture.height,
            has_transparent: palette.map_or(texture.flags & 1 != 0, transparent),
        })
    }
}

fn key(palette: &Palette) -> (usize, u32) {
    (palette.colors.len(), palette.id)
}

/// Returns the ids of used textures that the file lacks, each with its index.
fn wanted(psx: &Psx) -> HashMap<u32, u32> {
    let mut used = vec![false; psx.texture_ids.len()];
    let faces = psx.models.iter().flat_map(|model| &model.faces);
    for index in faces.filter_map(|face| face.texture) {
        if let Some(flag) = used.get_mut(index as usize) {
            *flag = true;
        }
    }
    for texture in &psx.textures {
        if let Some(flag) = used.get_mut(texture.index as usize) {
            *flag = false;
        }
    }
    let ids = psx.texture_ids.iter().zip(0..).zip(used);
    ids.filter_map(|((&id, index), used)| used.then_some((id, index)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::psx::parse;
    use fixtures::psx::{File, face, model, object, texture, words};

    #[test]
    fn neighbors_are_named_after_the_level() {
        let expected = [
            "skhan_l.psx",
            "skhan_l2.psx",
            "skhan_2.psx",
            "skhan_o.psx",
            "skhan_g.psx",
        ];
        assert_eq!(neighbors("skhan.psx"), expected);
        assert_eq!(neighbors("SKHAN_L.PSX")[0], "SKHAN.PSX");
        assert_eq!(neighbors("a_l2.psx")[..2], ["a_l.psx", "a.psx"]);
        assert_eq!(neighbors("_l.psx")[0], "_l_l.psx");
        assert_eq!(neighbors("level")[0], "level_l");
    }

    /// Returns a level of one face with the texture of id 0x1F.
    fn level(textures: &[Vec<u8>], palettes: &[u32]) -> Psx {
        let corners = [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]];
        let head = face(
            0x13,
            [0, 1, 2, 0],
            [0; 4],
            &[words(&[1]), vec![0; 8]].concat(),
        );
        let file = File {
            objects: vec![object(0, [0; 3])],
            models: vec![model((0x7FFF, -1), &corners, &[head])],
            texture_ids: vec![0x1E, 0x1F],
            textures: textures.to_vec(),
            palettes: palettes.to_vec(),
            ..File::new(4)
        };
        parse(&file.bytes().into()).unwrap()
    }

    fn square(palette: u32, index: u32) -> Vec<u8> {
        texture([0, 16, palette, index], [2, 2], &[0x10; 4])
    }

    #[test]
    fn a_palette_is_found_in_a_neighbor() {
        let psx = level(&[square(0xAA, 1)], &[]);
        assert!(TextureSet::lacks(&psx));
        assert!(TextureSet::new(&psx, Vec::new()).is_empty());
        let textures = TextureSet::new(&psx, vec![level(&[], &[0xBB]), level(&[], &[0xAA])]);
        assert_eq!(textures.name(0), "00 0000001f");
        let picture = textures.picture(&psx, 0).unwrap();
        assert_eq!(picture.rgba(), [[0, 0, 0, 255]; 4]);
        assert_eq!(textures.of_face(1), Some(0));
    }

    #[test]
    fn a_texture_that_a_face_uses_is_found_in_a_neighbor() {
        let psx = level(&[], &[]);
        assert!(TextureSet::lacks(&psx));
        let library = level(&[square(0xAA, 0), square(0xAA, 1)], &[0xAA]);
        let textures = TextureSet::new(&psx, vec![library]);
        assert_eq!(
            (textures.len(), textures.name(0)),
            (1, "00 0000001f".into())
        );
        assert!(textures.picture(&psx, 0).is_some());
        assert_eq!(textures.of_face(1), Some(0));
        let [borrowed] = &textures.borrowed[..] else {
            panic!("not one borrowed texture");
        };
        // Its own copy of the pixels, and the 16 colors of the palette.
        assert_eq!(borrowed.get_heap_size(), 4 + 2 * 16);
    }

    #[test]
    fn a_broken_texture_is_reported_and_the_others_are_shown() {
        let broken = texture([0, 16, 0xAA, 0], [4, 40], &[]);
        let psx = level(&[square(0xAA, 1), broken], &[0xAA]);
        assert!(!TextureSet::lacks(&psx));
        let mut textures = TextureSet::new(&psx, Vec::new());
        assert_eq!(textures.len(), 1);
        assert_eq!(
            textures.take_problems().texts(),
            ["texture 1 is not shown: its pixels end with the file"]
        );
    }

    #[test]
    fn a_texture_in_a_separate_file_is_reported() {
        let external = texture([0x8000_0000, 65536, 0, 0], [64, 64], &[]);
        let mut textures = TextureSet::new(&level(&[external], &[]), Vec::new());
        assert!(textures.is_empty());
        assert_eq!(
            textures.take_problems().texts(),
            ["texture 0 is not shown: its pixels are in a file of their own"]
        );
    }
}
