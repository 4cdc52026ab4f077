//! Source text of a script (FORMATS, Neversoft 5).

use std::collections::HashMap;
use std::io::{self, Write};

use super::hash::hash as hash_of;
use super::parse::{Nesting, Qb, Random, Token, is_reserved};
use hpimount_containers::text::windows_1252;

/// Maximum indentation of a line.
const MAX_DEPTH: usize = 64;

/// Writes the source text.
pub(super) fn write(qb: &Qb, out: &mut dyn Write) -> io::Result<()> {
    let mut source = Source::new(qb, out);
    for (at, token) in qb.bytes.tokens().map_while(Result::ok) {
        source.marks(at, &token);
        source.token(token)?;
    }
    source.finish()
}

/// Text before a token that belongs to a choice.
#[derive(Default)]
struct Marks {
    /// Choices that end there.
    ends: usize,
    /// The weights of blocks that begin there.
    blocks: Vec<u16>,
}

/// A line that is being written.
#[derive(Default)]
struct Line {
    text: String,
    /// The effect of its first word, if any.
    first: Option<Nesting>,
    /// True if the next word follows without a space.
    is_glued: bool,
    /// Closing brackets before any other word.
    closing: isize,
    /// True if another word has come.
    has_other: bool,
    /// Opening brackets minus closing ones.
    brackets: isize,
}

impl Line {
    fn push(&mut self, word: &str, nesting: Nesting) {
        let is_glued = self.is_glued || matches!(word, ")" | "," | "." | "::");
        if self.first.is_some() && !is_glued {
            self.text.push(' ');
        }
        self.text.push_str(word);
        self.is_glued = matches!(word, "(" | "." | "::");
        self.first.get_or_insert(nesting);
        match nesting {
            Nesting::BracketEnd => {
                self.brackets -= 1;
                self.closing += isize::from(!self.has_other);
            }
            nesting => {
                self.brackets += isize::from(nesting == Nesting::Bracket);
                self.has_other = true;
            }
        }
    }

    /// Returns how much less the line is indented than its block.
    fn outdent(&self) -> isize {
        let is_back = matches!(self.first, Some(Nesting::Closes | Nesting::Divides));
        self.closing + isize::from(is_back)
    }

    /// Returns the change of indentation for the following lines.
    fn change(&self) -> isize {
        let block = match self.first {
            Some(Nesting::Opens) => 1,
            Some(Nesting::Closes) => -1,
            _ => 0,
        };
        block + self.brackets
    }
}

/// The text up to a token.
struct Source<'a> {
    qb: &'a Qb,
    out: &'a mut dyn Write,
    line: Line,
    /// Number of lines so far.
    lines: usize,
    depth: isize,
    /// By the offset of the token.
    marks: HashMap<usize, Marks>,
    /// Choices of one block, which end at the end of their line.
    single: usize,
    /// True if the next name is a parameter.
    is_parameter: bool,
    /// True if the previous token was a choice.
    is_after_choice: bool,
}

impl<'a> Source<'a> {
    fn new(qb: &'a Qb, out: &'a mut dyn Write) -> Self {
        Self {
            qb,
            out,
            line: Line::default(),
            lines: 0,
            depth: 0,
            marks: HashMap::new(),
            single: 0,
            is_parameter: false,
            is_after_choice: false,
        }
    }

    fn push(&mut self, word: &str) {
        self.line.push(word, Nesting::None);
    }

    /// Adds the text before the token at this offset.
    fn marks(&mut self, at: usize, token: &Token<'_>) {
        let marks = self.marks.remove(&at);
        let is_marked = marks.is_some();
        let Marks { ends, blocks } = marks.unwrap_or_default();
        (0..ends).for_each(|_| self.push(")"));
        for weight in blocks {
            match weight {
                1 => self.push("@"),
                weight => self.push(&format!("@*{weight}")),
            }
        }
        let ends_line = match token {
            Token::Line => true,
            Token::Word(word) => word.text == "endscript",
            _ => false,
        };
        if ends_line && !is_marked && !self.is_after_choice {
            (0..std::mem::take(&mut self.single)).for_each(|_| self.push(")"));
        }
    }

    /// Adds a token.
    fn token(&mut self, token: Token<'_>) -> io::Result<()> {
        self.is_after_choice = matches!(token, Token::Random(_));
        match token {
            Token::Line => return self.end_line(),
            Token::Word(word) => self.line.push(word.text, word.nesting),
            Token::Name(hash) => self.name(hash),
            Token::Integer(number) => self.push(&number.to_string()),
            Token::Hexadecimal(number) => self.push(&format!("{number:#010x}")),
            Token::Float(number) => self.push(&float(number)),
            Token::Vector(numbers) => {
                let numbers: Vec<_> = numbers.into_iter().map(float).collect();
                self.push(&format!("({})", numbers.join(", ")));
            }
            Token::Text(text, quote) => self.push(&quoted(&windows_1252(text), quote)),
            Token::Parameter => self.is_parameter = true,
            Token::Random(random) => self.random(random),
            Token::End
            | Token::Entry(..)
            | Token::CutEntry
            | Token::Hidden
            | Token::ShortJump
            | Token::Unknown(_) => {}
        }
        Ok(())
    }

    fn name(&mut self, hash: u32) {
        let name = self.qb.name(hash).filter(|name| is_read_as(name, hash));
        let name = match name {
            None => format!("#\"{hash:#010x}\""),
            Some(name) if is_identifier(name) && !is_reserved(name) => name.to_owned(),
            Some(name) => format!("#{}", quoted(name, '"')),
        };
        match std::mem::take(&mut self.is_parameter) {
            true => self.push(&format!("<{name}>")),
            false => self.push(&name),
        }
    }

    fn random(&mut self, random: Random) {
        self.push(random.word);
        self.push("(");
        for (&target, weight) in random.targets.iter().zip(random.weights) {
            self.marks.entry(target).or_default().blocks.push(weight);
        }
        match random.end {
            Some(end) => self.marks.entry(end).or_default().ends += 1,
            None if random.targets.is_empty() => self.push(")"),
            None => self.single += 1,
        }
    }

    fn end_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        if line.first.is_some() {
            let depth = (self.depth - line.outdent()).clamp(0, MAX_DEPTH as isize);
            self.out.write_all(&[b'\t'; MAX_DEPTH][..depth as usize])?;
        }
        self.depth = (self.depth + line.change()).max(0);
        self.lines += 1;
        self.out.write_all(line.text.as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// Ends the last line.
    fn finish(mut self) -> io::Result<()> {
        match self.line.first.is_some() || self.lines == 0 {
            true => self.end_line(),
            false => Ok(()),
        }
    }
}

/// Returns whether compilers derive this hash from a name, which may be in quotes.
fn is_read_as(name: &str, hash: u32) -> bool {
    hash_of(name.as_bytes()) == hash && !name.starts_with("0x")
}

fn is_identifier(name: &str) -> bool {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    name.starts_with(|first: char| is_word(first) && !first.is_ascii_digit())
        && name.chars().all(is_word)
}

fn quoted(text: &str, quote: char) -> String {
    let mut quoted = String::from(quote);
    for character in text.chars() {
        if character == quote || character == '\\' {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push(quote);
    quoted
}

/// Returns the shortest decimal that is read as the same number, always with a point
/// and without an exponent.
fn float(number: f32) -> String {
    if number.is_nan() {
        return "NaN".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Inf" } else { "-Inf" }.into();
    }
    let text = number.to_string();
    match text.contains('.') {
        true => text,
        false => text + ".0",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qb::parse;
    use crate::qb::parse::tests::{entry, name};

    fn source(parts: &[Vec<u8>]) -> String {
        let qb = parse(&parts.concat().into(), false).unwrap();
        let mut text = Vec::new();
        write(&qb, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn blocks_and_brackets_are_indented() {
        let text = source(&[
            vec![0x23],
            name("Go"),
            vec![1, 0x25, 0x39],
            name("x"),
            vec![
                1, 0x03, 1, 0x05, 1, 0x06, 0x04, 1, 0x26, 1, 0x28, 1, 1, 0x24, 1,
            ],
            entry("Go"),
            entry("x"),
            vec![0],
        ]);
        let expected =
            "script Go\n\tif NOT x\n\t\t{\n\t\t\t[\n\t\t] }\n\telse\n\tendif\n\nendscript\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn signs_are_written_with_the_spaces_of_the_language() {
        let text = source(&[vec![
            0x0E, 0x17, 1, 0, 0, 0, 0x09, 0x18, 0xFE, 0xCA, 0, 0, 0x0F, 0x42, 0x2C,
        ]]);
        assert_eq!(text, "(1, 0x0000cafe)::<...>\n");
    }

    #[test]
    fn names_that_are_no_identifiers_are_quoted() {
        let names = ["plain", "odd name", "Script", "9a", "say\"so"];
        let tokens = names.map(name).concat();
        let table = names.map(entry).concat();
        assert_eq!(
            source(&[tokens, table]),
            "plain #\"odd name\" #\"Script\" #\"9a\" #\"say\\\"so\"\n"
        );
        let parameter = [vec![0x2D, 0x16], vec![1, 0, 0, 0]].concat();
        assert_eq!(source(&[parameter]), "<#\"0x00000001\">\n");
    }

    #[test]
    fn a_name_that_is_read_as_another_hash_is_written_as_its_hash() {
        let mut entry = entry("Other");
        entry[1..5].copy_from_slice(&[1, 0, 0, 0]);
        let tokens = [vec![0x16, 1, 0, 0, 0], name("0x00000002")].concat();
        let hash = hash_of(b"0x00000002");
        assert_eq!(
            source(&[tokens, entry, super::tests::entry("0x00000002")]),
            format!("#\"0x00000001\" #\"{hash:#010x}\"\n")
        );
    }

    #[test]
    fn a_choice_has_its_blocks_and_their_weights() {
        // Two blocks of one number each, with weights 3 and 1.
        let number = |number: u8| vec![0x17, number, 0, 0, 0];
        let jump = vec![0x2E, 5, 0, 0, 0];
        let table = |first: u8, second: u8| vec![first, 0, 0, 0, second, 0, 0, 0];
        let weights = vec![3, 0, 1, 0];
        let head = vec![0x2F, 2, 0, 0, 0];
        let blocks = [number(7), jump, number(8)].concat();
        let plain = source(&[head.clone(), table(4, 10), blocks.clone(), vec![1]]);
        assert_eq!(plain, "Random (@ 7 @ 8)\n");
        let weighted = source(&[head, weights, table(4, 10), blocks, vec![1]]);
        assert_eq!(weighted, "Random (@*3 7 @ 8)\n");
        let single = source(&[vec![0x37, 1, 0, 0, 0, 0, 0, 0, 0], number(7), vec![1, 1]]);
        assert_eq!(single, "Random2 (@ 7)\n\n");
    }

    #[test]
    fn numbers_are_the_shortest_that_read_back() {
        let texts = [0.1, -0.0, 16_777_216.0, 1e-20, f32::NAN, -f32::INFINITY].map(float);
        assert_eq!(
            texts,
            [
                "0.1",
                "-0.0",
                "16777216.0",
                "0.00000000000000000001",
                "NaN",
                "-Inf"
            ]
        );
    }

    #[test]
    fn indentation_has_a_limit() {
        let text = source(&[[0x03, 1].repeat(100)]);
        let last = text.lines().last().unwrap();
        assert_eq!(last.trim_start_matches('\t'), "{");
        assert_eq!(last.len(), MAX_DEPTH + 1);
        assert_eq!(source(&[]), "\n");
    }
}
