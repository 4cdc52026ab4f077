//! The tokens of a script (FORMATS, Neversoft 5).

use hpimount_containers::io::{Cursor, Endian, Error, Result};

/// Maximum length of a name in bytes. A file can refer to a name in every five bytes,
/// so longer names would make its text far longer than the file.
const MAX_NAME: usize = 255;

/// A token with its data.
#[derive(Debug, Clone, PartialEq)]
pub enum Token<'a> {
    /// The end of the script.
    End,
    /// The end of a line.
    Line,
    /// A word of the language.
    Word(Word),
    /// The hash of a name.
    Name(u32),
    /// A number.
    Integer(i32),
    /// A number in hexadecimal notation.
    Hexadecimal(u32),
    /// A number with a fraction.
    Float(f32),
    /// Two or three numbers.
    Vector(Vec<f32>),
    /// A text up to its first NUL, and its quote.
    Text(&'a [u8], char),
    /// The mark of a parameter name.
    Parameter,
    /// A choice of several blocks.
    Random(Random),
    /// An entry of the table of names: a hash, and the name.
    Entry(u32, &'a [u8]),
    /// A truncated entry of the table of names.
    CutEntry,
    /// Data without source text.
    Hidden,
    /// A two-byte jump of a block.
    ShortJump,
    /// A token that is not known.
    Unknown(u8),
}

/// A keyword or an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub text: &'static str,
    /// Effect on the indentation.
    pub nesting: Nesting,
    /// True if the token has a short jump.
    pub is_short_jump: bool,
}

/// The effect of a word on the indentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nesting {
    /// None.
    None,
    /// As the first word of a line, it opens a block.
    Opens,
    /// As the first word of a line, it closes a block.
    Closes,
    /// As the first word of a line, it is between two parts of a block.
    Divides,
    /// Opening bracket.
    Bracket,
    /// Closing bracket.
    BracketEnd,
}

/// A choice of several blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    /// Word.
    pub word: &'static str,
    /// The weight of each block; 1 in files without weights.
    pub weights: Vec<u16>,
    /// The start of each block.
    pub targets: Vec<usize>,
    /// The end of the blocks, according to the jump before the second one.
    pub end: Option<usize>,
    /// True if the file has weights.
    pub is_weighted: bool,
}

/// Reads tokens up to and including the end, an error, or an unknown token.
pub struct Tokens<'a> {
    bytes: &'a [u8],
    cursor: Cursor<'a>,
    has_ended: bool,
}

impl<'a> Tokens<'a> {
    /// Creates a reader of the tokens in `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            cursor: Cursor::new(bytes, 0, Endian::Little),
            has_ended: false,
        }
    }

    fn read(&mut self) -> Result<Token<'a>> {
        let cursor = &mut self.cursor;
        let code = cursor.u8("token")?;
        Ok(match code {
            0x00 => Token::End,
            0x01 => Token::Line,
            0x02 => {
                cursor.u32("line number")?;
                Token::Line
            }
            0x10 | 0x2E => {
                cursor.u32("jump")?;
                Token::Hidden
            }
            0x16 | 0x43 | 0x44 => Token::Name(cursor.u32("name")?),
            0x17 => Token::Integer(cursor.i32("number")?),
            0x18 | 0x19 => Token::Hexadecimal(cursor.u32("number")?),
            0x1A => Token::Float(cursor.f32("number")?),
            0x1B => Token::Text(text(cursor)?, '"'),
            0x1C => Token::Text(text(cursor)?, '\''),
            0x1E => Token::Vector(vector(cursor, 3)?),
            0x1F => Token::Vector(vector(cursor, 2)?),
            0x2B => {
                let (hash, at) = (cursor.u32("hash of a name"), cursor.offset());
                match (hash, cursor.c_string("name")) {
                    (Ok(hash), Ok(name)) if name.len() <= MAX_NAME => Token::Entry(hash, name),
                    (_, Ok(name)) => {
                        let problem = format!("has {} bytes, more than {MAX_NAME}", name.len());
                        return Err(Error::damaged(at, "name", problem));
                    }
                    _ => Token::CutEntry,
                }
            }
            0x2D => Token::Parameter,
            0x49 => {
                cursor.u16("jump")?;
                Token::ShortJump
            }
            _ => match (random_word(code), word(code)) {
                (Some(word), _) => Token::Random(self.read_random(word)?),
                (_, Some(word)) => {
                    if word.is_short_jump {
                        cursor.u16("jump")?;
                    }
                    Token::Word(word)
                }
                _ => Token::Unknown(code),
            },
        })
    }

    /// Reads a choice. Only its structure reveals whether there are weights.
    fn read_random(&mut self, word: &'static str) -> Result<Random> {
        let at = self.cursor.offset() - 1;
        let count = self.cursor.u32("number of blocks")?;
        let count = self.cursor.check_count(count.into(), 4, "blocks")?;
        if count == 0 {
            return Ok(Random {
                word,
                weights: Vec::new(),
                targets: Vec::new(),
                end: None,
                is_weighted: false,
            });
        }
        for is_weighted in [false, true] {
            let mut cursor = self.cursor.clone();
            if let Some(random) = read_blocks(&mut cursor, self.bytes, count, is_weighted) {
                self.cursor = cursor;
                return Ok(Random { word, ..random });
            }
        }
        let problem = format!("has a table of {count} blocks that fits no blocks");
        Err(Error::damaged(at, "choice", problem))
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Result<(usize, Token<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended || self.cursor.remaining() == 0 {
            return None;
        }
        let at = self.cursor.offset() as usize;
        let token = self.read();
        self.has_ended = matches!(
            token,
            Ok(Token::End | Token::CutEntry | Token::Unknown(_)) | Err(_)
        );
        Some(token.map(|token| (at, token)))
    }
}

fn text<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8]> {
    let length = cursor.u32("length of a text")?;
    let bytes = cursor.take(length as usize, "text")?;
    Ok(bytes.split(|&byte| byte == 0).next().unwrap_or_default())
}

fn vector(cursor: &mut Cursor<'_>, parts: usize) -> Result<Vec<f32>> {
    (0..parts).map(|_| cursor.f32("vector")).collect()
}

/// Reads the table of a choice, or returns `None` if its blocks are not at the stored
/// offsets.
fn read_blocks(
    cursor: &mut Cursor<'_>,
    bytes: &[u8],
    count: usize,
    is_weighted: bool,
) -> Option<Random> {
    let mut weights = vec![1; count];
    if is_weighted {
        for weight in &mut weights {
            *weight = cursor.u16("weight").ok()?;
        }
    }
    let mut targets = Vec::with_capacity(count);
    for _ in 0..count {
        let offset = cursor.u32("block").ok()? as usize;
        targets.push((cursor.offset() as usize).checked_add(offset)?);
    }
    let end = match fits(bytes, cursor.offset() as usize, &targets)? {
        Some(jump) => Some(jump),
        None if count == 1 => None,
        None => return None,
    };
    Some(Random {
        word: "",
        weights,
        targets,
        end,
        is_weighted,
    })
}

/// Checks the blocks of a choice whose table ends at `at`: only ends of lines precede
/// the first block, and a jump precedes each other block. Returns the target of the
/// first jump, or `None` if they do not fit.
fn fits(bytes: &[u8], mut at: usize, targets: &[usize]) -> Option<Option<usize>> {
    let (&first, &last) = (targets.first()?, targets.last()?);
    while at < first {
        at += match bytes.get(at)? {
            1 => 1,
            2 => 5,
            _ => break,
        };
    }
    if at != first || last > bytes.len() {
        return None;
    }
    for pair in targets.windows(2) {
        let jump = pair[1].checked_sub(5).filter(|&jump| jump >= pair[0])?;
        if *bytes.get(jump)? != 0x2E {
            return None;
        }
    }
    let Some(&second) = targets.get(1) else {
        return Some(None);
    };
    let jump = bytes.get(second - 4..second)?.try_into().ok()?;
    Some(Some(
        second.saturating_add(u32::from_le_bytes(jump) as usize),
    ))
}

fn random_word(code: u8) -> Option<&'static str> {
    Some(match code {
        0x2F => "Random",
        0x37 => "Random2",
        0x40 => "RandomNoRepeat",
        0x41 => "RandomPermute",
        _ => return None,
    })
}

/// Returns the word of a token.
fn word(code: u8) -> Option<Word> {
    use Nesting::{Bracket, BracketEnd, Closes, Divides, None as Plain, Opens};
    let (text, nesting) = match code {
        0x03 => ("{", Bracket),
        0x04 => ("}", BracketEnd),
        0x05 => ("[", Bracket),
        0x06 => ("]", BracketEnd),
        0x07 => ("=", Plain),
        0x08 => (".", Plain),
        0x09 => (",", Plain),
        0x0A => ("-", Plain),
        0x0B => ("+", Plain),
        0x0C => ("/", Plain),
        0x0D => ("*", Plain),
        0x0E => ("(", Plain),
        0x0F => (")", Plain),
        0x11 => ("==", Plain),
        0x12 => ("<", Plain),
        0x13 => ("<=", Plain),
        0x14 => (">", Plain),
        0x15 => (">=", Plain),
        0x20 => ("begin", Opens),
        0x21 => ("repeat", Closes),
        0x22 => ("break", Plain),
        0x23 => ("script", Opens),
        0x24 => ("endscript", Closes),
        0x25 | 0x47 => ("if", Opens),
        0x26 | 0x48 => ("else", Divides),
        0x27 => ("elseif", Divides),
        0x28 => ("endif", Closes),
        0x29 => ("return", Plain),
        0x2A => ("undefined", Plain),
        0x2C => ("<...>", Plain),
        0x30 => ("RandomRange", Plain),
        0x32 => ("||", Plain),
        0x33 => ("&&", Plain),
        0x34 => ("^", Plain),
        0x35 => ("<<", Plain),
        0x36 => (">>", Plain),
        0x38 => ("RandomRange2", Plain),
        0x39 => ("NOT", Plain),
        0x3A => ("AND", Plain),
        0x3B => ("OR", Plain),
        0x3C => ("switch", Opens),
        0x3D => ("endswitch", Closes),
        0x3E => ("case", Divides),
        0x3F => ("default", Divides),
        0x42 => ("::", Plain),
        _ => return None,
    };
    Some(Word {
        text,
        nesting,
        is_short_jump: matches!(code, 0x47 | 0x48),
    })
}

/// Returns whether a name must be quoted because it is a keyword.
pub(crate) fn is_reserved(name: &str) -> bool {
    const OTHERS: [&str; 4] = ["while", "randomshuffle", "nan", "inf"];
    let words = (0..=0x48_u8).filter_map(|code| match word(code) {
        Some(word) => Some(word.text),
        None => random_word(code),
    });
    let mut words = words.chain(OTHERS);
    words.any(|word| word.eq_ignore_ascii_case(name))
}
