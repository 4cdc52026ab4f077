//! IFP and HGO files of a megabyte that are full of the smallest possible
//! parts.

const MEGABYTE: usize = 1 << 20;

fn little(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn big(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Returns as many copies of `item` as fit into a megabyte, after a head that
/// `head` builds from their number and length.
fn full_of(item: &[u8], head: impl Fn(u32, u32) -> Vec<u8>) -> Vec<u8> {
    let count = (MEGABYTE - 200) / item.len();
    let body = item.repeat(count);
    let mut bytes = head(count as u32, body.len() as u32);
    bytes.extend(body);
    bytes
}

fn anp3_head(animations: u32) -> Vec<u8> {
    [b"ANP3".to_vec(), vec![0xff; 28], little(&[animations])].concat()
}

/// Returns IFP files of a megabyte, each full of one kind of smallest parts.
pub fn full_ifp_files() -> Vec<(&'static str, Vec<u8>)> {
    let object = [vec![1; 24], little(&[3, 0, 0])].concat();
    let objects = full_of(&object, |count, _| {
        let animation = [vec![1; 24], little(&[count, 0, 0])].concat();
        [anp3_head(1), animation].concat()
    });
    let animation = [vec![1; 24], little(&[0, 0, 0])].concat();
    let animations = full_of(&animation, |count, _| anp3_head(count));
    let keys = full_of(&[1; 10], |count, _| {
        let animation = [vec![1; 24], little(&[1, 0, 0])].concat();
        let object = [vec![1; 24], little(&[3, count, 0])].concat();
        [anp3_head(1), animation, object].concat()
    });
    let anpk_animation = little(&[0, 0, 0, 0, 0, 4, 0]);
    let anpk = full_of(&anpk_animation, |count, _| {
        [b"ANPK".to_vec(), little(&[0, 0, 4, count])].concat()
    });
    let package = [b"ANPK".to_vec(), little(&[0, 0, 4, 0])].concat();
    let list = full_of(&package, |count, _| {
        [b"ANLF".to_vec(), little(&[4, count])].concat()
    });
    vec![
        ("objects", objects),
        ("animations", animations),
        ("keys", keys),
        ("tagged animations", anpk),
        ("packages", list),
    ]
}

fn block(tag: &[u8; 4], size: usize) -> Vec<u8> {
    big(&[u32::from_le_bytes(*tag), size as u32])
}

/// Zeros at the end of every HGO file, enough for what may follow the items.
pub const TAIL: usize = 60;

/// Returns the head of a file with this block, where `before` precedes the
/// `items` bytes of items.
fn hgo_head(tag: &[u8; 4], before: &[u8], items: u32) -> Vec<u8> {
    let size = 8 + before.len() + items as usize + TAIL;
    [block(b"HGOF", 8 + size), block(tag, size), before.to_vec()].concat()
}

/// Returns HGO files of a megabyte, each full of one kind of smallest parts.
pub fn full_hgo_files() -> Vec<(&'static str, Vec<u8>)> {
    let in_block = |tag: &'static [u8; 4], item: &[u8]| {
        full_of(item, |count, length| hgo_head(tag, &big(&[count]), length))
    };
    let names = full_of(&[1, 0], |_, length| {
        hgo_head(b"NTBL", &big(&[length]), length)
    });
    let blocks = full_of(&block(b"XYZ0", 8), |_, length| {
        block(b"HGOF", length as usize + 8)
    });
    let texture = [block(b"TXM0", 24), big(&[0x83, 0, 0, 0])].concat();
    let textures = full_of(&texture, |_, length| hgo_head(b"TST0", &[], length));
    // Many references to an unterminated name whose bytes are all escaped.
    let table = [block(b"NTBL", 112), big(&[100]), vec![1; 100]].concat();
    let animations = full_of(&[0; 32], |count, length| {
        let size = 16 + length as usize + TAIL;
        let head = block(b"HGOF", 8 + table.len() + size);
        [head, table.clone(), block(b"TAS0", size), big(&[count, 0])].concat()
    });
    // Geometry of a single joint: what precedes the number of meshes.
    let skeleton = [
        vec![1],
        vec![0; 210],
        vec![0; 2],
        vec![1],
        vec![0; 4],
        vec![1, 1],
        big(&[1, 0, 0, 0, 0]),
    ]
    .concat();
    let in_geometry = |item: &[u8], before: &[u32]| {
        full_of(item, |count, length| {
            let words = big(&[before, &[count]].concat());
            hgo_head(b"HGO0", &[skeleton.clone(), words].concat(), length)
        })
    };
    let mut files = vec![
        ("materials", in_block(b"MS00", &[0xff; 84])),
        ("names", names),
        ("blocks", blocks),
        ("textures", textures),
        ("texture animations", animations),
        ("meshes", in_geometry(&[0; 24], &[])),
        ("primitives", in_geometry(&big(&[5, 0]), &[1, 0, 0, 0])),
        ("skin groups", in_geometry(&[0; 12], &[1, 0, 0, 0, 0])),
    ];
    for (_, bytes) in &mut files {
        bytes.extend([0; TAIL]);
    }
    files
}
