//! Memory of views: models share the bytes that they are parsed from and report
//! the rest, and renderings are written in pieces.

use std::io::{self, Write, sink};

use allocation_counter::measure;
use fixtures::assets::one_of_each;
use fixtures::full::{full_hgo_files, full_ifp_files};
use hpimount::formats::VIEW_FORMATS;
use hpimount_assets::view::{Alone, Bytes, View, ViewFile, ViewFormat};
use hpimount_crash::hgo;
use hpimount_gta::ifp;
use hpimount_neversoft::psx;
use testkit::sources;

/// Runs `work` and returns its result, the bytes that remain allocated, and the
/// peak of allocated bytes while it ran.
fn measured<T>(work: impl FnOnce() -> T) -> (T, usize, usize) {
    let mut result = None;
    let info = measure(|| result = Some(work()));
    let kept = usize::try_from(info.bytes_current).unwrap_or(0);
    (result.unwrap(), kept, info.bytes_max as usize)
}

/// Returns the format of a file of this name.
fn format_of(name: &str) -> &'static ViewFormat {
    let mut formats = VIEW_FORMATS.iter();
    formats
        .find(|format| format.shows(name.as_bytes()))
        .unwrap()
}

fn open(format: &ViewFormat, bytes: &Bytes) -> Option<Box<dyn View>> {
    (format.open)(bytes, &Alone).ok()
}

/// Returns a package of 3 MB: 2 animations with 100,000 keys each.
fn large_ifp() -> Bytes {
    sources::ifp(2, 100_000).into()
}

/// Returns a PSX character of 6 MB: 4 objects without models, and an animation
/// of the maximum number of frames.
fn large_psx() -> Bytes {
    let words = |values: &[u32]| values.iter().flat_map(|word| word.to_le_bytes()).collect();
    const OBJECTS: u32 = 4;
    const FRAMES: u32 = 0xFFFF;
    let objects = OBJECTS as usize * 36;
    let frames = (FRAMES * OBJECTS) as usize * 24;
    let meta = 16 + objects as u32;
    let parts: [Vec<u8>; 6] = [
        words(&[0x0002_0004, meta, OBJECTS]),
        vec![0; objects],
        // No models; then the chunk with one animation.
        words(&[0, 0x2A, 12 + frames as u32, 1, 12, FRAMES]),
        vec![1; frames],
        // No further chunk, no texture ids, palettes and textures.
        words(&[u32::MAX, 0, 0, 0]),
        words(&[0]),
    ];
    parts.concat().into()
}

/// Number of bytes that a rendering may allocate, regardless of its length.
const CONSTANT: usize = 256 << 10;

#[test]
fn a_rendering_is_never_held_in_memory_as_a_whole() {
    let small = full_ifp_files().into_iter();
    let small = small.map(|(name, bytes)| (name, ifp::FORMAT, bytes.into()));
    let large = [
        ("large IFP", ifp::FORMAT, large_ifp()),
        ("large PSX", psx::FORMAT, large_psx()),
    ];
    for (name, format, bytes) in small.chain(large) {
        let view = open(&format, &bytes).unwrap();
        let files = view.files();
        // Views of a megabyte have many thousand files, all rendered alike.
        let few = (0..files.len()).filter(|&index| index < 8 || index + 8 > files.len());
        for index in few {
            let (rendered, _, peak) = measured(|| view.render(index, &Alone, &mut sink()));
            rendered.unwrap();
            let file = &files[index];
            // The keys of a scene are held while it is written, and its picture.
            let is_whole = ["skeleton.glb", "preview.png"].contains(&file.name.as_str());
            assert!(
                is_whole || peak < CONSTANT,
                "{name}: {file:?} allocates {peak} bytes"
            );
        }
    }
}

#[test]
fn a_model_shares_the_bytes_it_is_parsed_from() {
    for (format, bytes) in [(ifp::FORMAT, large_ifp()), (psx::FORMAT, large_psx())] {
        let (view, _, peak) = measured(|| open(&format, &bytes).unwrap());
        assert!(peak < CONSTANT, "{} bytes allocate {peak}", bytes.len());
        let animations = |file: &ViewFile| file.folder.as_deref() == Some("animations");
        assert!(view.files().iter().any(animations));
    }
}

#[test]
fn a_model_reports_its_memory() {
    let full = [
        (ifp::FORMAT, full_ifp_files()),
        (hgo::FORMAT, full_hgo_files()),
    ];
    for (format, files) in full {
        for (name, bytes) in files {
            check_memory(&format, name, &bytes.into());
        }
    }
    for (name, _, bytes) in one_of_each() {
        check_memory(format_of(name), name, &bytes.into());
    }
}

fn check_memory(format: &ViewFormat, name: &str, bytes: &Bytes) {
    let (view, kept, _) = measured(|| open(format, bytes));
    let Some(view) = view else { return };
    let counted = view.memory();
    // Hash tables are estimated.
    let near = |a: usize, b: usize| a <= b + b / 10 + 512;
    assert!(
        near(kept, counted) && near(counted, kept),
        "{name}: reports {counted} bytes, uses {kept}"
    );
}

/// A writer that accepts that many bytes and then fails.
struct Full {
    left: usize,
    failures: usize,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failures > 0 || self.left < bytes.len() {
            self.failures += 1;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.left -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_rendering_stops_when_its_output_fails() {
    let mut files = 0;
    for (name, _, bytes) in one_of_each() {
        let view = open(format_of(name), &bytes.into());
        let view = view.unwrap_or_else(|| panic!("{name} is damaged"));
        for (index, file) in view.files().iter().enumerate() {
            let mut length = Vec::new();
            view.render(index, &Alone, &mut length).unwrap();
            for left in [0, length.len() / 2, length.len().saturating_sub(1)] {
                let mut full = Full { left, failures: 0 };
                let error = view.render(index, &Alone, &mut full).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{file:?}");
                assert_eq!(full.failures, 1, "{file:?} was written further");
            }
            files += 1;
        }
    }
    assert!(files > 20, "{files}");
}
