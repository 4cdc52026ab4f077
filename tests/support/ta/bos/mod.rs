//! A compiler of BOS (5). Tests compare its words with the words of the file that a
//! text was made from.
//!
//! It knows what the games' compilers accept, but no precedence of operators,
//! because the compilers differ in it.

mod compiler;
mod tokens;
mod words;

// Each test program uses a part of these.
#[allow(unused_imports)]
pub use self::compiler::compile;
use super::cob::Cob;

/// A compiled text.
#[derive(Debug, Default)]
pub struct Program {
    pub pieces: Vec<String>,
    pub statics: Vec<String>,
    pub functions: Vec<Function>,
}

/// A compiled function.
#[derive(Debug, Default)]
pub struct Function {
    pub name: String,
    /// Its words. Targets of jumps are relative to its start.
    pub words: Vec<u32>,
    /// The indices of the words that are targets of jumps.
    pub targets: Vec<usize>,
}

impl Program {
    /// Returns the file of the program.
    pub fn cob(&self, strings: &[String]) -> Cob {
        let mut cob = Cob {
            version: if strings.is_empty() { 4 } else { 6 },
            statics: self.statics.len() as u32,
            pieces: self.pieces.clone(),
            strings: strings.to_vec(),
            ..Cob::default()
        };
        for function in &self.functions {
            let start = cob.code.len();
            cob.scripts.push((function.name.clone(), start as u32));
            cob.code.extend(&function.words);
            for target in &function.targets {
                cob.code[start + target] += start as u32;
            }
        }
        cob
    }
}
