//! Small files with texts for tests: the texts are the German word for green,
//! and an empty one.

/// The number of the letter in the games' font.
const U_UMLAUT: u8 = 0x80 + 44;

fn part(magic: &[u8; 4], body: &[u8]) -> Vec<u8> {
    [&magic[..], &(body.len() as u32).to_le_bytes(), body].concat()
}

/// Returns a file of GTA III.
pub(crate) fn third() -> Vec<u8> {
    let keys = [
        &[0, 0, 0, 0][..],
        b"OK\0\0\0\0\0\0",
        &[10, 0, 0, 0],
        b"NO\0\0\0\0\0\0",
    ];
    let text = [b'G', 0, b'r', 0, U_UMLAUT, 0, b'n', 0, 0, 0, 0, 0];
    [part(b"TKEY", &keys.concat()), part(b"TDAT", &text)].concat()
}

/// Returns a file of San Andreas with two tables.
pub(crate) fn later() -> Vec<u8> {
    let keys = [0_u32, 1, 5, 2].map(u32::to_le_bytes).concat();
    let text = [b'G', b'r', U_UMLAUT, b'n', 0, 0];
    let table = [part(b"TKEY", &keys), part(b"TDAT", &text)].concat();
    let first = 36_u32;
    let second = first + table.len() as u32;
    let list = [
        &b"MAIN\0\0\0\0"[..],
        &first.to_le_bytes(),
        b"DEMO\0\0\0\0",
        &second.to_le_bytes(),
    ];
    [
        vec![4, 0, 8, 0],
        part(b"TABL", &list.concat()),
        table.clone(),
        b"DEMO\0\0\0\0".to_vec(),
        table,
    ]
    .concat()
}
