//! Memory of opened archives and discs.

use std::sync::Arc;

use allocation_counter::measure;
use fixtures::container_seeds as seeds;
use fixtures::disc::Disc;
use fixtures::hpi::{V1, V2, usual_tree};
use fixtures::inno::{Inno, Packing, gog_files, inno_file};
use hpimount_containers::extract::Listing;
use hpimount_containers::format::{Input, Options};
use hpimount_containers::formats::detect;
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::io::ReadAt;

/// Returns small archives and discs, whose descriptions are larger than their tables.
fn small() -> Vec<(&'static str, Vec<u8>)> {
    let mut disc = Disc::default();
    disc.file("A.TXT", b"a");
    vec![
        ("a.hpi", V1::new(usual_tree(Method::Stored)).build().bytes),
        ("b.hpi", V2::new(usual_tree(Method::Stored)).build().bytes),
        ("a.gcm", seeds::gcm()),
        ("a.iso", disc.iso()),
        ("a.xiso", seeds::xdvdfs_with("a.txt", &[7; 100])),
        ("a.zip", seeds::zip()),
        ("a.img", seeds::img()),
        ("setup.exe", installer()),
    ]
}

/// Returns an installer with files in many chunks. One of them cannot be read.
fn installer() -> Vec<u8> {
    let files =
        (0..500).map(|number| inno_file(&format!("{number}.txt"), &[7; 100][..number % 90]));
    let mut files: Vec<_> = files.collect();
    files.extend(gog_files("a.txt", &[&b"first"[..], &b"second"[..]], ""));
    files.extend(gog_files("b.txt", &[b"second", b"first"], ""));
    files.extend(gog_files("c.txt", &[b"first", b"third"], "").drain(..1));
    let installer = Inno {
        packing: Packing::Lzma2,
        components: vec!["a component with a long name"; 100],
        ..Inno::new(files)
    };
    installer.program()
}

#[test]
fn an_opened_volume_reports_its_memory() {
    for (name, bytes) in small() {
        let source: Arc<dyn ReadAt> = Arc::new(bytes);
        let mut listing = Listing::default();
        let mut opened = None;
        let input = || Input::alone(source.clone(), Options::default());
        let format = detect(&input()).unwrap_or_else(|error| panic!("{name}: {error}"));
        (format.open)(input(), &mut listing).unwrap();
        let mut listing = Listing::default();
        // The sink's memory does not belong to the volume.
        let listed = measure(|| drop((format.open)(input(), &mut listing).unwrap()));
        let mut listing = Listing::default();
        let both = measure(|| opened = Some((format.open)(input(), &mut listing).unwrap()));
        let kept = usize::try_from(both.bytes_current - listed.bytes_current).unwrap();
        let counted = opened.unwrap().memory();
        assert!(
            kept <= counted + 256,
            "{name}: reports {counted} bytes, uses {kept}"
        );
    }
}
