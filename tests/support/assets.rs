//! Small PSX, HGO and IFP files.

use super::build::ifp::Tail;
use super::build::{Endian, hgo, ifp, psx};

/// Returns a PSX file with all kinds of contents.
pub fn level(version: u32) -> Vec<u8> {
    let file = psx::File {
        version,
        ..psx::rich()
    };
    file.bytes()
}

/// Returns a PSX file without contents.
pub fn empty_psx() -> Vec<u8> {
    psx::File::new(4).bytes()
}

/// Returns an HGO file with a skeleton, meshes and a texture.
pub fn model(endian: Endian) -> Vec<u8> {
    hgo::Build::new(endian).mouse()
}

/// Returns a table of one HGO block.
pub fn block_table() -> Vec<u8> {
    [&b"HGOF"[..], &[4, 0, 0, 0], b"NTBL", &[12, 0, 0, 0]].concat()
}

/// Returns an ANP2 or ANP3 package with every kind of object, and an animation
/// without objects.
pub fn anp(is_anp3: bool) -> Vec<u8> {
    let root = ifp::anp_object("Root", 4, 0, &ifp::shorts(&[0, 0, 0, 4096, 6, 1024, 0, 0]));
    let spine = ifp::anp_object(" Spine", 3, -1, &ifp::shorts(&[0, 0, 0, 4096, 12]));
    let still = ifp::anp_object("hand", 1, 5, &ifp::floats(&[0.0, 0.0, 0.0, 1.0, 0.5]));
    let moved = ifp::anp_object("leg", 2, 6, &ifp::floats(&[0.5; 8]));
    let objects = vec![root, spine, still, moved];
    ifp::anp(is_anp3, "ped", &[("walk", objects), ("walk", Vec::new())])
}

/// Returns an ANPK package with two animations: one with every kind of object,
/// and one without objects.
pub fn anpk() -> Vec<u8> {
    let mut kinds = Vec::new();
    for (kind, count) in [(b"KR00", 5), (b"KRT0", 8), (b"KRTS", 11)] {
        let keys = ifp::floats(&vec![0.25; 2 * count]);
        kinds.push(ifp::anpk_object("Root", Tail::Bone(0), Some((kind, &keys))));
    }
    kinds.push(ifp::anpk_object("swaist", Tail::Siblings(1, -1), None));
    ifp::anpk("ped", &[("walking", &kinds), ("a", &[])])
}

/// Returns a list of two packages.
pub fn anlf() -> Vec<u8> {
    ifp::anlf(&[anpk(), anpk()])
}

/// Returns one of each kind: its name, its format in `info.json`, and its bytes.
pub fn one_of_each() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    vec![
        ("level.psx", "PSX", level(4)),
        ("empty.psx", "PSX", empty_psx()),
        ("model.hgo", "HGO", model(Endian::Big)),
        ("model_le.hgo", "HGO", model(Endian::Little)),
        ("model.hgo.blk", "HGO block table", block_table()),
        ("anp2.ifp", "ANP2", anp(false)),
        ("anp3.ifp", "ANP3", anp(true)),
        ("anpk.ifp", "ANPK", anpk()),
        ("anlf.ifp", "ANLF", anlf()),
    ]
}
