//! Memory of opened archives and discs.

use std::sync::Arc;

use allocation_counter::measure;
use fixtures::container_seeds as seeds;
use fixtures::disc::Disc;
use fixtures::hpi::{V1, V2, usual_tree};
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
    ]
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
        // What the sink keeps is not the volume's.
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
