//! A compiled script: its bytes, and facts derived from its tokens.

mod token;

pub(crate) use token::is_reserved;
pub use token::{Nesting, Random, Token, Tokens, Word};

use std::collections::BTreeMap;

use bytes::Bytes;
use get_size2::GetSize;

use super::hash::hash as hash_of;
use hpimount_containers::codec::unpack_lzss;
use hpimount_containers::io::{Error, Result, Warnings};
use hpimount_containers::text::windows_1252;

/// Extension of the files.
pub const EXTENSION: &str = "qb";

/// Extension of packed files.
pub const PACKED_EXTENSION: &str = "qb_compressed";

/// Maximum length of an unpacked file in bytes. Real files have less than a hundredth.
const MAX_UNPACKED: usize = 1 << 26;

/// A parsed script.
#[derive(Debug, Clone, GetSize)]
pub struct Qb {
    /// True if the file is packed.
    pub is_packed: bool,
    /// The tokens, unpacked.
    #[get_size(size_fn = unpacked_size)]
    pub bytes: Tokenized,
    /// The names of hashes, from the file itself.
    pub names: BTreeMap<u32, String>,
    /// Names in the file with a wrong hash.
    pub wrong_names: usize,
    /// The used hashes without a name in the file.
    pub unnamed: BTreeMap<u32, Option<String>>,
    /// The offsets of the scripts, and the hashes of their names.
    pub scripts: Vec<(u32, u32)>,
    /// Number of tokens.
    pub tokens: usize,
    /// True if a choice has weights.
    pub has_weights: bool,
    /// True if there are jumps of two bytes.
    pub has_short_jumps: bool,
    /// Offset of the last token.
    pub end: usize,
    /// The error that ended the reading of tokens.
    pub problem: Option<String>,
    /// Warnings.
    pub warnings: Warnings,
}

/// The bytes of the tokens.
#[derive(Debug, Clone)]
pub enum Tokenized {
    /// The file itself.
    Plain(Bytes),
    /// The unpacked bytes.
    Unpacked(Vec<u8>),
}

impl Tokenized {
    /// Returns the tokens.
    pub fn tokens(&self) -> Tokens<'_> {
        Tokens::new(self.bytes())
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Unpacked(bytes) => bytes,
        }
    }
}

fn unpacked_size(bytes: &Tokenized) -> usize {
    match bytes {
        Tokenized::Plain(_) => 0,
        Tokenized::Unpacked(bytes) => bytes.capacity(),
    }
}

/// Parses a file.
///
/// # Errors
/// Returns [`Error::Damaged`] if a token is cut off or a choice does not fit
/// its blocks, and for scripts of later games.
pub fn parse(bytes: &Bytes, is_packed: bool) -> Result<Qb> {
    let bytes = match is_packed {
        true => Tokenized::Unpacked(unpack_lzss(bytes, MAX_UNPACKED)?),
        false => Tokenized::Plain(bytes.clone()),
    };
    if is_of_later_games(bytes.bytes()) {
        let problem = "is that of a script of Tony Hawk's American Wasteland or later";
        return Err(Error::damaged(0, "header", problem));
    }
    let mut qb = Qb {
        is_packed,
        bytes: Tokenized::Plain(Bytes::new()),
        names: BTreeMap::new(),
        wrong_names: 0,
        unnamed: BTreeMap::new(),
        scripts: Vec::new(),
        tokens: 0,
        has_weights: false,
        has_short_jumps: false,
        end: 0,
        problem: None,
        warnings: Warnings::default(),
    };
    let mut is_script = false;
    for token in bytes.tokens() {
        let (at, token) = token?;
        is_script = qb.count(at, &token, is_script);
    }
    qb.unnamed.retain(|hash, _| !qb.names.contains_key(hash));
    if let Some(problem) = &qb.problem {
        qb.warnings.push(format!("{problem}; the text ends there"));
    }
    if qb.wrong_names > 0 {
        let count = qb.wrong_names;
        qb.warnings.push(format!("{count} names have other hashes"));
    }
    qb.bytes = bytes;
    Ok(qb)
}

/// Returns whether a file has the header of later games: a zero, and its own length.
fn is_of_later_games(bytes: &[u8]) -> bool {
    let length = (bytes.len() as u32).to_le_bytes();
    bytes.starts_with(&[0; 4]) && bytes.get(4..8) == Some(&length)
}

impl Qb {
    /// Collects the facts of a token. Returns whether the next token is the name of a
    /// script; `is_script` tells this for the current one.
    fn count(&mut self, at: usize, token: &Token<'_>, is_script: bool) -> bool {
        self.tokens += 1;
        self.end = at;
        match token {
            Token::Name(hash) => {
                if is_script {
                    self.scripts.push((at as u32, *hash));
                }
                self.unnamed.entry(*hash).or_default();
            }
            Token::Entry(hash, name) => {
                self.wrong_names += usize::from(hash_of(name) != *hash);
                self.names.insert(*hash, windows_1252(name).into_owned());
            }
            Token::Random(random) => self.has_weights |= random.is_weighted,
            Token::ShortJump => self.has_short_jumps = true,
            Token::Word(word) => {
                self.has_short_jumps |= word.is_short_jump;
                return word.text == "script";
            }
            Token::CutEntry => {
                self.tokens -= 1;
                self.problem = Some(format!("the table of names is cut off at {at:#x}"));
            }
            Token::Unknown(code) => {
                self.tokens -= 1;
                self.problem = Some(format!("unknown token {code:#04x} at {at:#x}"));
            }
            _ => {}
        }
        false
    }

    /// Returns the name of a hash.
    pub fn name(&self, hash: u32) -> Option<&str> {
        let other = || self.unnamed.get(&hash)?.as_ref();
        self.names.get(&hash).or_else(other).map(String::as_str)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a name token.
    pub(crate) fn name(text: &str) -> Vec<u8> {
        [vec![0x16], hash_of(text.as_bytes()).to_le_bytes().to_vec()].concat()
    }

    /// Returns an entry of the table of names.
    pub(crate) fn entry(text: &str) -> Vec<u8> {
        let hash = hash_of(text.as_bytes()).to_le_bytes();
        [&[0x2B], &hash[..], text.as_bytes(), &[0]].concat()
    }

    fn error(bytes: &[u8]) -> String {
        parse(&Bytes::copy_from_slice(bytes), false)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn scripts_and_names_are_listed() {
        let file = [
            vec![1, 0x23],
            name("Setup"),
            vec![1, 0x24, 1],
            entry("Setup"),
            vec![0],
        ];
        let qb = parse(&file.concat().into(), false).unwrap();
        let hash = hash_of(b"Setup");
        assert_eq!(qb.scripts, [(2, hash)]);
        assert_eq!(qb.name(hash), Some("Setup"));
        assert!(qb.unnamed.is_empty());
        assert_eq!((qb.tokens, qb.end), (8, file.concat().len() - 1));
        assert!(qb.warnings.is_empty());
    }

    #[test]
    fn an_unknown_token_ends_the_script_with_a_warning() {
        let qb = parse(&Bytes::from_static(&[1, 1, 0xFE, 1]), false).unwrap();
        assert_eq!(qb.problem.as_deref(), Some("unknown token 0xfe at 0x2"));
        assert_eq!((qb.tokens, qb.warnings.len()), (2, 1));
    }

    #[test]
    fn a_script_that_is_cut_in_its_table_of_names_is_whole() {
        let file = [name("Go"), vec![1], entry("Go"), entry("Other")].concat();
        for left in [file.len() - 1, file.len() - 8] {
            let qb = parse(&Bytes::copy_from_slice(&file[..left]), false).unwrap();
            let problem = "the table of names is cut off at 0xe";
            assert_eq!(qb.problem.as_deref(), Some(problem));
            assert_eq!((qb.tokens, qb.warnings.len()), (3, 1));
            assert_eq!(qb.name(hash_of(b"go")), Some("Go"));
        }
    }

    #[test]
    fn a_token_that_is_cut_off_is_an_error() {
        assert_eq!(
            error(&[1, 0x17, 1, 2]),
            "number at 0x2: needs 4 bytes, 2 are left"
        );
        let text = [0x1B, 0xFF, 0xFF, 0xFF, 0x7F, b'a'];
        assert!(
            error(&text).starts_with("text at 0x5: "),
            "{}",
            error(&text)
        );
        assert!(error(&[0x2F, 0, 0, 0, 16]).starts_with("blocks at 0x5: "));
        let long = [vec![0x2B, 0, 0, 0, 0], vec![b'x'; 256], vec![0]].concat();
        assert!(error(&long).contains("more than 255"));
    }

    #[test]
    fn a_choice_whose_table_does_not_fit_is_an_error() {
        let choice = [
            0x2F, 2, 0, 0, 0, 4, 0, 0, 0, 9, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        ];
        assert!(
            error(&choice).starts_with("choice at 0x0: "),
            "{}",
            error(&choice)
        );
    }

    #[test]
    fn scripts_of_later_games_are_refused() {
        let mut file = vec![0, 0, 0, 0, 12, 0, 0, 0, 1, 1, 1, 1];
        assert!(error(&file).contains("American Wasteland"));
        file.pop();
        assert!(parse(&file.into(), false).is_ok());
    }
}
