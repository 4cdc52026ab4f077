//! A compiler of the source text of QB scripts, which shares nothing with the
//! writer of that text, and a reader of tokens to compare its results with.
//!
//! Both leave out what the text does not have: the numbers of lines, jumps, the
//! table of names, and which of several tokens for the same word was used.

use std::collections::HashMap;

use hpimount_containers::text::windows_1252;

/// A token that both the text and the file have.
#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    Line,
    Word(u8),
    Name(u32),
    Integer(i32),
    Hexadecimal(u32),
    /// The bits of a float.
    Float(u32),
    Vector(Vec<u32>),
    Text(char, String),
    Parameter,
    /// The start of a choice, of one of its blocks with its weight, and the end.
    Choice(u8),
    Block(u16),
    EndChoice,
}

/// The words of the language, with their tokens.
const WORDS: [(&str, u8); 49] = [
    ("{", 0x03),
    ("}", 0x04),
    ("[", 0x05),
    ("]", 0x06),
    ("=", 0x07),
    (".", 0x08),
    (",", 0x09),
    ("-", 0x0A),
    ("+", 0x0B),
    ("/", 0x0C),
    ("*", 0x0D),
    ("(", 0x0E),
    (")", 0x0F),
    ("==", 0x11),
    ("<", 0x12),
    ("<=", 0x13),
    (">", 0x14),
    (">=", 0x15),
    ("begin", 0x20),
    ("repeat", 0x21),
    ("break", 0x22),
    ("script", 0x23),
    ("endscript", 0x24),
    ("if", 0x25),
    ("else", 0x26),
    ("elseif", 0x27),
    ("endif", 0x28),
    ("return", 0x29),
    ("undefined", 0x2A),
    ("<...>", 0x2C),
    ("RandomRange", 0x30),
    ("||", 0x32),
    ("&&", 0x33),
    ("^", 0x34),
    ("<<", 0x35),
    (">>", 0x36),
    ("RandomRange2", 0x38),
    ("NOT", 0x39),
    ("AND", 0x3A),
    ("OR", 0x3B),
    ("switch", 0x3C),
    ("endswitch", 0x3D),
    ("case", 0x3E),
    ("default", 0x3F),
    ("::", 0x42),
    ("Random", 0x2F),
    ("Random2", 0x37),
    ("RandomNoRepeat", 0x40),
    ("RandomPermute", 0x41),
];

const CHOICES: [u8; 4] = [0x2F, 0x37, 0x40, 0x41];

/// The names of a script that its own table has, with their hashes.
pub type Names = HashMap<String, u32>;

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Returns the tokens of a script up to its end or an unknown one, without ends
/// of lines after the last other token, and the table of names.
pub fn tokens(bytes: &[u8]) -> (Vec<Token>, Names) {
    let mut reader = Reader {
        bytes,
        at: 0,
        found: Vec::new(),
        names: Names::new(),
        marks: HashMap::new(),
        singles: 0,
    };
    while reader.read() {}
    (without_end(reader.found), reader.names)
}

/// Returns the bits of a number; the same for all that are none.
fn bits(number: f32) -> u32 {
    match number.is_nan() {
        true => f32::NAN.to_bits(),
        false => number.to_bits(),
    }
}

fn without_end(mut tokens: Vec<Token>) -> Vec<Token> {
    while tokens.last() == Some(&Token::Line) {
        tokens.pop();
    }
    tokens
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    found: Vec<Token>,
    names: Names,
    /// What stands before the token at an offset: ends of choices, and blocks.
    marks: HashMap<usize, Vec<Token>>,
    /// Choices of one block, which end with their line.
    singles: usize,
}

impl Reader<'_> {
    fn word(&mut self) -> u32 {
        self.at += 4;
        u32_at(self.bytes, self.at - 4)
    }

    fn float(&mut self) -> u32 {
        bits(f32::from_bits(self.word()))
    }

    /// Reads a token; false at the end.
    fn read(&mut self) -> bool {
        let marks = self.marks.remove(&self.at);
        let is_marked = marks.is_some();
        self.found.extend(marks.into_iter().flatten());
        let Some(&code) = self.bytes.get(self.at) else {
            return false;
        };
        let is_after_choice = matches!(self.found.last(), Some(Token::Choice(_)));
        if matches!(code, 0x01 | 0x02 | 0x24) && !is_marked && !is_after_choice {
            let ends = std::mem::take(&mut self.singles);
            self.found.extend(vec![Token::EndChoice; ends]);
        }
        self.at += 1;
        let token = match code {
            0x01 => Token::Line,
            0x02 => {
                self.at += 4;
                Token::Line
            }
            0x10 | 0x2E => {
                self.at += 4;
                return true;
            }
            0x49 => {
                self.at += 2;
                return true;
            }
            0x2B => {
                let hash = self.word();
                let rest = &self.bytes[self.at..];
                let end = rest.iter().position(|&byte| byte == 0).unwrap();
                let name = windows_1252(&rest[..end]).into_owned();
                self.names.insert(name, hash);
                self.at += end + 1;
                return true;
            }
            0x16 | 0x43 | 0x44 => Token::Name(self.word()),
            0x17 => Token::Integer(self.word() as i32),
            0x18 | 0x19 => Token::Hexadecimal(self.word()),
            0x1A => Token::Float(self.float()),
            0x1E => Token::Vector((0..3).map(|_| self.float()).collect()),
            0x1F => Token::Vector((0..2).map(|_| self.float()).collect()),
            0x1B | 0x1C => {
                let length = self.word() as usize;
                let text = &self.bytes[self.at..self.at + length];
                let text = text.split(|&byte| byte == 0).next().unwrap();
                let quote = if code == 0x1B { '"' } else { '\'' };
                self.at += length;
                Token::Text(quote, windows_1252(text).into_owned())
            }
            0x2D => Token::Parameter,
            0x47 | 0x48 => {
                self.at += 2;
                Token::Word(code - 0x22)
            }
            code if CHOICES.contains(&code) => {
                self.found.push(Token::Choice(code));
                if self.choice() == 0 {
                    self.found.push(Token::EndChoice);
                }
                return true;
            }
            code if WORDS.iter().any(|(_, known)| *known == code) => Token::Word(code),
            _ => return false,
        };
        self.found.push(token);
        true
    }

    /// Reads the table of a choice, and returns the number of its blocks. At most
    /// ends of lines come before the first block, and a jump before each other
    /// one; if that is not so, the offsets have weights before them.
    fn choice(&mut self) -> usize {
        let count = self.word() as usize;
        if count == 0 {
            return 0;
        }
        let table = self.at;
        let blocks = |weights: usize| -> Vec<usize> {
            let offsets = (0..count).map(|block| table + weights + 4 * block);
            let targets = offsets.map(|at| at + 4 + u32_at(self.bytes, at) as usize);
            targets.collect()
        };
        let plain = blocks(0);
        let is_plain = plain
            .windows(2)
            .all(|pair| pair[0] < pair[1] && self.bytes.get(pair[1] - 5) == Some(&0x2E))
            && matches!(
                self.bytes.get(table + 4 * count..plain[0]),
                Some([] | [1 | 2, ..])
            );
        let weights = if is_plain { 0 } else { 2 * count };
        let targets = blocks(weights);
        let weight = |block: usize| match is_plain {
            true => 1,
            false => {
                let at = table + 2 * block;
                u16::from_le_bytes(self.bytes[at..at + 2].try_into().unwrap())
            }
        };
        let marked: Vec<(usize, u16)> = (0..count).map(|at| (targets[at], weight(at))).collect();
        for (target, weight) in marked {
            let marks = self.marks.entry(target).or_default();
            marks.push(Token::Block(weight));
        }
        match targets.get(1) {
            Some(&second) => {
                let end = second + u32_at(self.bytes, second - 4) as usize;
                // Before the block of an outer choice that begins there.
                self.marks
                    .entry(end)
                    .or_default()
                    .insert(0, Token::EndChoice);
            }
            None => self.singles += 1,
        }
        self.at = table + weights + 4 * count;
        count
    }
}

/// Compiles a text. `names` are the names whose hashes the file has itself.
///
/// # Errors
/// Returns the line and the rest of it that cannot be read.
pub fn compile(text: &str, names: &Names) -> Result<Vec<Token>, String> {
    let mut compiler = Compiler {
        rest: text,
        names,
        found: Vec::new(),
        open: Vec::new(),
    };
    while !compiler.rest.is_empty() {
        if compiler.token().is_none() {
            let line = compiler.rest.lines().next().unwrap_or_default();
            let number = text.lines().count() - compiler.rest.lines().count() + 1;
            return Err(format!("line {number}: {line}"));
        }
    }
    Ok(without_end(compiler.found))
}

struct Compiler<'a> {
    rest: &'a str,
    names: &'a Names,
    found: Vec<Token>,
    /// For each open bracket, whether a choice is in it.
    open: Vec<bool>,
}

impl<'a> Compiler<'a> {
    fn eat(&mut self, start: &str) -> bool {
        let rest = self.rest.strip_prefix(start);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes the characters of a word.
    fn identifier(&mut self) -> &'a str {
        let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let end = self.rest.find(|character| !is_word(character));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn token(&mut self) -> Option<()> {
        if self.eat(" ") || self.eat("\t") {
            return Some(());
        }
        if self.eat("\n") {
            self.found.push(Token::Line);
            return Some(());
        }
        if self.eat("<...>") {
            self.found.push(Token::Word(0x2C));
            return Some(());
        }
        let first = self.rest.chars().next()?;
        let second = self.rest[first.len_utf8()..].chars().next();
        let begins_name =
            |character: char| character.is_ascii_alphabetic() || "_#".contains(character);
        match first {
            '"' | '\'' => {
                let text = self.quoted()?;
                self.found.push(Token::Text(first, text));
            }
            '<' if second.is_some_and(begins_name) => {
                self.eat("<");
                self.found.push(Token::Parameter);
                let name = self.name()?;
                self.found.push(Token::Name(name));
                return self.eat(">").then_some(());
            }
            '#' => {
                let name = self.name()?;
                self.found.push(Token::Name(name));
            }
            '@' => {
                self.eat("@");
                let weight = match self.eat("*") {
                    true => self.identifier().parse().ok()?,
                    false => 1,
                };
                self.found.push(Token::Block(weight));
            }
            '(' => {
                if let Some(vector) = self.vector() {
                    self.found.push(vector);
                    return Some(());
                }
                self.eat("(");
                let is_choice = matches!(self.found.last(), Some(Token::Choice(_)));
                self.open.push(is_choice);
                if !is_choice {
                    self.found.push(Token::Word(0x0E));
                }
            }
            ')' => {
                self.eat(")");
                let token = match self.open.pop() {
                    Some(true) => Token::EndChoice,
                    _ => Token::Word(0x0F),
                };
                self.found.push(token);
            }
            _ => {
                let number = self.number();
                match number {
                    Some(number) => self.found.push(number),
                    None if begins_name(first) => self.word(),
                    None => self.sign()?,
                }
            }
        }
        Some(())
    }

    /// Takes a quoted text.
    fn quoted(&mut self) -> Option<String> {
        let quote = self.rest.chars().next()?;
        let mut text = String::new();
        let mut characters = self.rest.char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => text.push(characters.next()?.1),
                _ if character == quote => {
                    self.rest = &self.rest[at + 1..];
                    return Some(text);
                }
                _ => text.push(character),
            }
        }
        None
    }

    /// Takes a name: a word, or a quoted text after `#`.
    fn name(&mut self) -> Option<u32> {
        if !self.eat("#") {
            let name = self.identifier();
            return Some(self.hash(name));
        }
        let name = self.quoted()?;
        let digits = name.strip_prefix("0x").filter(|digits| digits.len() == 8);
        let hash = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        Some(hash.unwrap_or_else(|| self.hash(&name)))
    }

    fn hash(&self, name: &str) -> u32 {
        let known = self.names.get(name).copied();
        known.unwrap_or_else(|| !crc32fast::hash(name.to_lowercase().replace('/', "\\").as_bytes()))
    }

    fn word(&mut self) {
        let word = self.identifier();
        let known = WORDS.iter().find(|(known, _)| *known == word);
        self.found.push(match known {
            Some((_, code)) if CHOICES.contains(code) => Token::Choice(*code),
            Some((_, code)) => Token::Word(*code),
            None => Token::Name(self.hash(word)),
        });
    }

    fn sign(&mut self) -> Option<()> {
        let signs = WORDS.iter().filter(|(sign, _)| self.rest.starts_with(sign));
        let &(sign, code) = signs.max_by_key(|(sign, _)| sign.len())?;
        self.eat(sign);
        self.found.push(Token::Word(code));
        Some(())
    }

    /// Takes a number.
    fn number(&mut self) -> Option<Token> {
        let digits = self.rest.strip_prefix('-').unwrap_or(self.rest);
        let end = |text: &str| {
            let end = text.find(|character: char| !character.is_ascii_alphanumeric());
            end.unwrap_or(text.len())
        };
        if ["NaN", "Inf"].contains(&&digits[..end(digits)]) {
            let length = self.rest.len() - digits.len() + end(digits);
            let (text, rest) = self.rest.split_at(length);
            self.rest = rest;
            return Some(Token::Float(bits(text.parse().ok()?)));
        }
        if !digits.starts_with(|first: char| first.is_ascii_digit()) {
            return None;
        }
        let is_part = |character: char| character.is_ascii_alphanumeric() || character == '.';
        let sign = self.rest.len() - digits.len();
        let end = digits.find(|character| !is_part(character));
        let (text, rest) = self
            .rest
            .split_at(end.map_or(self.rest.len(), |end| sign + end));
        let number = if let Some(digits) = text.strip_prefix("0x") {
            Token::Hexadecimal(u32::from_str_radix(digits, 16).ok()?)
        } else if text.contains('.') {
            Token::Float(bits(text.parse().ok()?))
        } else {
            Token::Integer(text.parse().ok()?)
        };
        self.rest = rest;
        Some(number)
    }

    /// Takes two or three floats in brackets.
    fn vector(&mut self) -> Option<Token> {
        let (inside, rest) = self.rest.strip_prefix('(')?.split_once(')')?;
        let parts: Vec<&str> = inside.split(", ").collect();
        let is_float = |part: &&str| part.contains('.') || part.ends_with("Inf") || *part == "NaN";
        if !(2..=3).contains(&parts.len()) || !parts.iter().all(is_float) {
            return None;
        }
        let floats = parts.iter().map(|part| part.parse::<f32>().ok());
        let floats: Option<Vec<f32>> = floats.collect();
        let bits = floats?.into_iter().map(bits).collect();
        self.rest = rest;
        Some(Token::Vector(bits))
    }
}
