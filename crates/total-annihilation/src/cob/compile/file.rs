//! Encoding of a file in the layout of all known compilers: header, code, starts,
//! pointers to names, names.

use crate::Names;
use crate::cob::Cob;
use crate::pointer::u32_at;

/// The parts of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    pub(super) version: u32,
    pub(super) unknown_20: u32,
    pub(super) statics: u32,
    pub(super) code: Vec<u32>,
    /// The first words of the scripts.
    pub(super) starts: Vec<u32>,
    pub(super) scripts: Vec<Vec<u8>>,
    pub(super) pieces: Vec<Vec<u8>>,
    /// Only files of Kingdoms have these.
    pub(super) strings: Option<Vec<Vec<u8>>>,
}

impl File {
    /// Returns the parts of a file.
    pub(super) fn of(cob: &Cob) -> Self {
        let names = |names: &Names| names.iter().map(|name| name.bytes().to_vec()).collect();
        let starts = (0..).map_while(|script| cob.script_start(script));
        Self {
            version: cob.version,
            unknown_20: cob.unknown_20,
            statics: cob.statics,
            code: cob.words(0..cob.code_words() as u32),
            starts: starts.collect(),
            scripts: names(&cob.scripts),
            pieces: names(&cob.pieces),
            strings: cob.is_kingdoms().then(|| names(&cob.strings)),
        }
    }

    /// Overwrites the code and the starts of a file with otherwise equal contents.
    /// Returns whether they fit.
    pub(super) fn patch(&self, old: &Self, file: &mut [u8]) -> bool {
        let others = |file: &Self| Self {
            code: Vec::new(),
            starts: Vec::new(),
            ..file.clone()
        };
        let is_like = others(self) == others(old) && self.code.len() == old.code.len();
        // The header has the offsets of the starts and of the code.
        is_like
            && [(24, &self.starts), (36, &self.code)]
                .into_iter()
                .all(|(at, words)| {
                    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                    let start = u32_at(&file[at..], 0).unwrap_or(u32::MAX) as usize;
                    let place = file
                        .get_mut(start..)
                        .and_then(|rest| rest.get_mut(..bytes.len()));
                    place.map(|place| place.copy_from_slice(&bytes)).is_some()
                })
    }

    /// Returns the bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let header = if self.strings.is_some() { 52 } else { 44 };
        let starts = header + 4 * self.code.len();
        let scripts = starts + 4 * self.starts.len();
        let pieces = scripts + 4 * self.scripts.len();
        let strings = pieces + 4 * self.pieces.len();
        let string_count = self.strings.as_ref().map_or(0, Vec::len);
        let names = strings + 4 * string_count;
        let mut out = Vec::new();
        let mut put = |number: usize| out.extend((number as u32).to_le_bytes());
        put(self.version as usize);
        put(self.scripts.len());
        put(self.pieces.len());
        put(self.code.len());
        put(self.statics as usize);
        put(self.unknown_20 as usize);
        for pointer in [starts, scripts, pieces, header, names] {
            put(pointer);
        }
        if self.strings.is_some() {
            put(strings);
            put(string_count);
        }
        for word in self.code.iter().chain(&self.starts) {
            out.extend(word.to_le_bytes());
        }
        let strings = self.strings.iter().flatten();
        let all = self.scripts.iter().chain(&self.pieces).chain(strings);
        let mut at = names;
        for name in all.clone() {
            out.extend((at as u32).to_le_bytes());
            at += name.len() + 1;
        }
        for name in all {
            out.extend(name);
            out.push(0);
        }
        out
    }
}
