//! COB files (5).

use super::Writer;

#[derive(Debug, Clone, Default)]
pub struct Cob {
    /// 4 or 6.
    pub version: u32,
    pub statics: u32,
    /// Scripts, with the index of their first word.
    pub scripts: Vec<(String, u32)>,
    pub pieces: Vec<String>,
    /// Only in version 6.
    pub strings: Vec<String>,
    pub code: Vec<u32>,
}

pub const PUSH: u32 = 0x1002_1001;
pub const RETURN: u32 = 0x1006_5000;
pub const HIDE: u32 = 0x1000_6000;
pub const TURN: u32 = 0x1000_2000;
pub const JUMP: u32 = 0x1006_4000;
pub const CALL: u32 = 0x1006_2000;
pub const PLAY_SOUND: u32 = 0x1007_2000;
pub const POP_STATIC: u32 = 0x1002_3004;

/// Returns a script that hides a piece.
pub fn small(version: u32) -> Cob {
    Cob {
        version,
        statics: 1,
        scripts: vec![("Create".to_owned(), 0)],
        pieces: vec!["base".to_owned(), "gun".to_owned()],
        strings: Vec::new(),
        code: vec![HIDE, 1, PUSH, 0, RETURN],
    }
}

/// Returns the text as words of the code.
pub fn text(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let words = bytes.chunks(4);
    words
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect()
}

impl Cob {
    /// Returns a whole file.
    pub fn file(&self) -> Vec<u8> {
        let mut out = Writer::default();
        let (scripts, pieces) = (self.scripts.len() as u32, self.pieces.len() as u32);
        out.u32s(&[
            self.version,
            scripts,
            pieces,
            self.code.len() as u32,
            self.statics,
        ]);
        out.u32s(&[0; 6]);
        let is_kingdoms = self.version == 6;
        if is_kingdoms {
            out.u32s(&[0, self.strings.len() as u32]);
        }
        out.put(36, out.at());
        out.u32s(&self.code);
        out.put(24, out.at());
        self.scripts.iter().for_each(|(_, start)| out.u32(*start));
        let scripts: Vec<&String> = self.scripts.iter().map(|(name, _)| name).collect();
        let mut tables = vec![(28, scripts), (32, self.pieces.iter().collect())];
        if is_kingdoms {
            tables.push((44, self.strings.iter().collect()));
        }
        for (pointer, names) in &tables {
            out.put(*pointer, out.at());
            out.u32s(&vec![0; names.len()]);
        }
        out.put(40, out.at());
        for (pointer, names) in tables {
            let table = super::u32_at(&out.bytes, pointer as usize);
            for (number, name) in names.into_iter().enumerate() {
                let name = out.name(name);
                out.put(table + 4 * number as u32, name);
            }
        }
        out.bytes
    }
}
