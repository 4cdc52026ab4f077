//! Words, numbers and signs of a text.

use std::fmt;
use std::rc::Rc;

/// A problem in a text.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) at: At,
    text: String,
}

impl Problem {
    pub(super) fn new(at: &At, text: impl Into<String>) -> Self {
        Self {
            at: at.clone(),
            text: text.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.text)
    }
}

pub(super) type Result<T> = std::result::Result<T, Problem>;

/// Words with hyphens, which are otherwise minus signs.
const HYPHENATED: [&str; 19] = [
    "static-var",
    "call-script",
    "start-script",
    "set-signal-mask",
    "stop-spin",
    "wait-for-turn",
    "wait-for-move",
    "dont-cache",
    "dont-shade",
    "dont-shadow",
    "emit-sfx",
    "attach-unit",
    "drop-unit",
    "play-sound",
    "mission-command",
    "jump-if-zero",
    "x-axis",
    "y-axis",
    "z-axis",
];

/// Signs of two characters.
const PAIRS: [&str; 9] = ["<=", ">=", "==", "!=", "&&", "||", "^^", "++", "--"];

/// A place in a text. Places in one text are ordered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    /// The included file; `None` in the text itself.
    pub(super) file: Option<Rc<str>>,
    /// The line, from 1 on.
    pub(super) line: u32,
    /// The character in it, from 1 on.
    pub(super) column: u32,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        write!(f, "{}:{}", self.line, self.column)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Name,
    /// A number, maybe with a fraction.
    Number,
    /// A text in quotes, without them.
    Text,
    /// An operator, or an unknown character.
    Sign,
}

/// A word, number or sign.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) text: Rc<str>,
    pub(super) at: At,
}

impl Token {
    /// Returns whether it is this word or operator, ignoring case.
    pub(super) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Name | Kind::Sign) && self.text.eq_ignore_ascii_case(text)
    }

    /// Returns whether it has the same meaning as another one.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.kind == other.kind
            && match self.kind {
                Kind::Text => self.text == other.text,
                _ => self.text.eq_ignore_ascii_case(&other.text),
            }
    }
}

/// Maximum number of tokens of a text with its included files, ten times as many as the
/// largest real file has.
pub(super) const MAX_TOKENS: usize = 1 << 19;

/// Returns the problem that this token exceeds the limit.
pub(super) fn too_many(token: &Token) -> Problem {
    let text = format!("the text has more than {MAX_TOKENS} words and signs");
    Problem::new(&token.at, text)
}

/// Returns the tokens of a text without its comments. Fails for an unterminated
/// comment, and for more than `most` tokens.
pub(super) fn tokens(text: &str, file: Option<&Rc<str>>, most: usize) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut lexer = Lexer {
        rest: text,
        at: At {
            file: file.cloned(),
            line: 1,
            column: 1,
        },
    };
    while let Some(token) = lexer.token()? {
        if tokens.len() == most {
            return Err(too_many(&token));
        }
        tokens.push(token);
    }
    Ok(tokens)
}

struct Lexer<'a> {
    rest: &'a str,
    at: At,
}

impl<'a> Lexer<'a> {
    fn token(&mut self) -> Result<Option<Token>> {
        self.blanks()?;
        let at = self.at.clone();
        let Some(first) = self.rest.chars().next() else {
            return Ok(None);
        };
        let (kind, text) = match first {
            'a'..='z' | 'A'..='Z' | '_' => (Kind::Name, self.take(word_length(self.rest))),
            '0'..='9' | '.' => {
                let length = length_of(self.rest, |one| one.is_ascii_alphanumeric() || one == '.');
                (Kind::Number, self.take(length))
            }
            '"' => {
                let body = &self.rest[1..];
                let length = length_of(body, |one| !matches!(one, '"' | '\r' | '\n'));
                match body[length..].starts_with('"') {
                    true => (Kind::Text, &self.take(length + 2)[1..=length]),
                    false => (Kind::Sign, self.take(1)),
                }
            }
            _ => {
                let is_pair = PAIRS.iter().any(|pair| self.rest.starts_with(pair));
                let length = if is_pair { 2 } else { first.len_utf8() };
                (Kind::Sign, self.take(length))
            }
        };
        let text = text.into();
        Ok(Some(Token { kind, text, at }))
    }

    /// Skips blanks and comments.
    fn blanks(&mut self) -> Result<()> {
        loop {
            let length = if self.rest.starts_with("//") {
                length_of(self.rest, |one| !matches!(one, '\r' | '\n'))
            } else if let Some(body) = self.rest.strip_prefix("/*") {
                let end = body.find("*/");
                let end = end.ok_or_else(|| Problem::new(&self.at, "the comment has no end"))?;
                end + 4
            } else {
                let is_blank = |one: char| one.is_whitespace() || matches!(one, '\0' | '\u{1A}');
                match length_of(self.rest, is_blank) {
                    0 => return Ok(()),
                    length => length,
                }
            };
            self.take(length);
        }
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        for character in taken.chars() {
            match character {
                '\n' => (self.at.line, self.at.column) = (self.at.line.saturating_add(1), 1),
                _ => self.at.column = self.at.column.saturating_add(1),
            }
        }
        taken
    }
}

fn length_of(text: &str, is_in: impl Fn(char) -> bool) -> usize {
    text.find(|one| !is_in(one)).unwrap_or(text.len())
}

/// Returns the length of the word at the start of a text.
fn word_length(text: &str) -> usize {
    let is_in = |one: char| one.is_ascii_alphanumeric() || one == '_';
    let hyphenated = HYPHENATED.iter().map(|word| word.len());
    let fits = hyphenated.filter(|&length| {
        let word = text.get(..length);
        word.is_some_and(|word| HYPHENATED.iter().any(|one| one.eq_ignore_ascii_case(word)))
            && !text[length..].starts_with(is_in)
    });
    fits.max().unwrap_or_else(|| length_of(text, is_in))
}
