//! Expressions as code.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::names::{Names, unknown};
use super::reader::Reader;
use super::tokens::{Kind, Token};
use super::tokens::{Problem, Result};
use crate::cob::bos::{ANGLE, LENGTH, PORTS, binary, unary};
use crate::cob::parse::Operation;
use hpimount_containers::text::windows_1252_byte;

/// Maximum nesting depth of statements and expressions. Texts of functions have a third
/// of it.
const MAX_DEPTH: usize = 256;

/// Maximum number of decimal places of a number with a unit.
const MAX_DECIMALS: usize = 18;

/// The operators, from the lowest to the highest precedence.
const OPERATORS: [&[&str]; 10] = [
    &["^^"],
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", "<=", ">", ">="],
    &["+", "-"],
    &["*", "/"],
];

/// Words for operators.
const WORDS: [(&str, &str); 3] = [("and", "&&"), ("or", "||"), ("xor", "^^")];

/// State shared by the functions of a text.
pub(super) struct Environment<'a> {
    pub(super) is_kingdoms: bool,
    pub(super) pieces: Names,
    pub(super) statics: Names,
    pub(super) scripts: Names,
    /// The strings of a Kingdoms file; new ones are added.
    pub(super) strings: &'a RefCell<Strings>,
    /// True if problems suggest names, which takes time proportional to their number.
    pub(super) proposes: Cell<bool>,
}

/// The strings of a file of Kingdoms.
#[derive(Debug, Default)]
pub(super) struct Strings {
    numbers: HashMap<String, u32>,
    count: u32,
    /// Strings that the file lacks.
    pub(super) added: Vec<String>,
}

impl Strings {
    /// Creates the strings of a file. Equal strings get the number of the first.
    pub(super) fn new(strings: impl Iterator<Item = String>) -> Self {
        let mut all = Self::default();
        for string in strings {
            all.numbers.entry(string).or_insert(all.count);
            all.count += 1;
        }
        all
    }

    fn add(&mut self, text: &str) -> u32 {
        let number = self.count;
        self.numbers.insert(text.to_owned(), number);
        self.added.push(text.to_owned());
        self.count += 1;
        number
    }
}

/// Compiles a function.
pub(super) struct Compiler<'a> {
    pub(super) environment: &'a Environment<'a>,
    pub(super) reader: Reader<'a>,
    /// The local variables in lower case, by number.
    pub(super) locals: Vec<String>,
    pub(super) code: Vec<u32>,
    /// The words that are jump targets, counted from the start of the function.
    pub(super) targets: Vec<usize>,
    pub(super) labels: HashMap<String, u32>,
    /// Words with jumps to labels.
    pub(super) jumps: Vec<(usize, &'a Token)>,
    pub(super) depth: usize,
}

impl<'a> Compiler<'a> {
    /// Adds an instruction.
    pub(super) fn emit(&mut self, mnemonic: &str, operands: &[u32]) {
        let operation = Operation::find_by(|one| one.mnemonic == mnemonic);
        debug_assert!(operation.is_some(), "{mnemonic} is an instruction");
        self.code
            .extend(operation.map(|operation| operation.opcode));
        self.code.extend(operands);
    }

    /// Enters a nested statement or expression.
    pub(super) fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        match self.depth > MAX_DEPTH {
            true => Err(self.problem("this is in too many others")),
            false => Ok(()),
        }
    }

    /// Returns a problem of the next token.
    pub(super) fn problem(&self, text: &str) -> Problem {
        match self.reader.peek() {
            Some(token) => Problem::new(&token.at, text),
            None => self.reader.expected(text),
        }
    }

    /// Returns the problem of an unknown name.
    pub(super) fn unknown<'n>(
        &self,
        noun: &str,
        name: &Token,
        known: impl Iterator<Item = &'n str>,
    ) -> Problem {
        let proposes = self.environment.proposes.get();
        unknown(noun, name, known.take_while(|_| proposes))
    }

    /// Returns the number of a piece or a script.
    pub(super) fn number_of(&self, noun: &str, name: &Token, names: &Names) -> Result<u32> {
        let number = names.get(&name.text);
        number.ok_or_else(|| self.unknown(noun, name, names.spellings()))
    }

    /// Compiles an expression.
    pub(super) fn value(&mut self) -> Result<()> {
        self.operation(0)
    }

    /// Compiles an expression of operators with at least the precedence `level`.
    fn operation(&mut self, level: usize) -> Result<()> {
        self.operand()?;
        while let Some((sign, found)) = self.operator().filter(|(_, found)| *found >= level) {
            self.reader.next();
            self.operation(found + 1)?;
            let operation = Operation::find_by(|one| binary(one.mnemonic) == Some(sign));
            self.code
                .extend(operation.map(|operation| operation.opcode));
        }
        Ok(())
    }

    /// Returns the next operator and its precedence.
    fn operator(&self) -> Option<(&'static str, usize)> {
        let token = self.reader.peek()?;
        let word = WORDS.iter().find(|(word, _)| token.is(word));
        let text = word.map_or(&*token.text, |(_, sign)| sign);
        if word.is_none() && token.kind != Kind::Sign {
            return None;
        }
        OPERATORS.iter().zip(0..).find_map(|(signs, level)| {
            let sign = signs.iter().find(|sign| **sign == text)?;
            Some((*sign, level))
        })
    }

    fn operand(&mut self) -> Result<()> {
        self.enter()?;
        let Some(token) = self.reader.peek() else {
            return Err(self.reader.expected("a value"));
        };
        let variable = self.variable(token);
        if let Some((kind, number)) = variable {
            self.reader.next();
            self.emit(&format!("push-{kind}"), &[number]);
        } else if self.reader.take("(") {
            self.value()?;
            self.reader.expect(")")?;
        } else if let Some(sign) = ["!", "~"].into_iter().find(|sign| self.reader.take(sign)) {
            self.unary(sign)?;
        } else if self.reader.take("not") {
            self.unary("!")?;
        } else if self.reader.take("get") {
            self.get()?;
        } else if self.reader.take("rand") {
            self.arguments(2)?;
            self.emit("rand", &[]);
        } else if token.kind == Kind::Name {
            self.reader.next();
            let number = self.named(token)?;
            self.emit("push", &[number]);
        } else {
            let number = self.number()?;
            self.emit("push", &[number]);
        }
        self.depth -= 1;
        Ok(())
    }

    fn unary(&mut self, sign: &str) -> Result<()> {
        self.operand()?;
        let operation = Operation::find_by(|one| unary(one.mnemonic) == Some(sign));
        self.code
            .extend(operation.map(|operation| operation.opcode));
        Ok(())
    }

    /// Compiles what follows `get`.
    pub(super) fn get(&mut self) -> Result<()> {
        self.operand()?;
        if !self.reader.sees("(") {
            self.emit("get", &[]);
            return Ok(());
        }
        let count = self.list()?;
        if count > 4 {
            return Err(self.problem("get has more than four values before this"));
        }
        for _ in count..4 {
            self.emit("push", &[0]);
        }
        self.emit("get4", &[]);
        Ok(())
    }

    /// Compiles this number of values in parentheses.
    fn arguments(&mut self, count: usize) -> Result<()> {
        match self.list()? == count {
            true => Ok(()),
            false => Err(self.problem(&format!("{count} values should be before this"))),
        }
    }

    /// Compiles values in parentheses, and returns their number.
    pub(super) fn list(&mut self) -> Result<usize> {
        self.reader.expect("(")?;
        let mut count = 0;
        while !self.reader.sees(")") {
            if count > 0 {
                self.reader.expect(",")?;
            }
            self.value()?;
            count += 1;
        }
        self.reader.expect(")")?;
        Ok(count)
    }

    /// Returns whether a variable is local or static, and its number.
    pub(super) fn variable(&self, name: &Token) -> Option<(&'static str, u32)> {
        if name.kind != Kind::Name {
            return None;
        }
        let lower = name.text.to_ascii_lowercase();
        match self.locals.iter().position(|local| *local == lower) {
            Some(local) => Some(("local", local as u32)),
            None => Some(("static", self.environment.statics.get(&lower)?)),
        }
    }

    /// Returns the number of a piece or of a property of units.
    fn named(&self, name: &Token) -> Result<u32> {
        let port = || {
            let place = PORTS.iter().position(|port| name.is(port))?;
            Some(place as u32 + 1)
        };
        let pieces = &self.environment.pieces;
        pieces.get(&name.text).or_else(port).ok_or_else(|| {
            let locals = self.locals.iter().map(String::as_str);
            let known = pieces
                .spellings()
                .chain(self.environment.statics.spellings());
            self.unknown("variable or piece", name, known.chain(locals))
        })
    }

    /// Reads a number with an optional sign and optional brackets for its unit.
    fn number(&mut self) -> Result<u32> {
        let unit = [("[", "]", LENGTH), ("<", ">", ANGLE)];
        let unit = unit.into_iter().find(|(open, ..)| self.reader.take(open));
        let is_negative = self.reader.take("-");
        let token = self.reader.expect_kind(Kind::Number, "a value")?;
        let number = match &unit {
            Some((_, close, unit)) => {
                self.reader.expect(close)?;
                scaled(&token.text, unit.scale)
            }
            None => whole(&token.text),
        };
        // Lengths and angles have a sign.
        let most = match unit {
            Some(_) => i128::from(i32::MAX),
            None => i128::from(u32::MAX),
        };
        let range = i128::from(i32::MIN)..=most;
        let number = number.map(|number| if is_negative { -number } else { number });
        let number = number.filter(|number| range.contains(number));
        number.map(|number| number as u32).ok_or_else(|| {
            let text = format!("{:?} is no number of 32 bits here", token.text);
            Problem::new(&token.at, text)
        })
    }

    /// Returns the number of a string. A new string is added.
    pub(super) fn string(&mut self) -> Result<u32> {
        let token = self.reader.expect_kind(Kind::Text, "a text in quotes")?;
        let mut strings = self.environment.strings.borrow_mut();
        if let Some(&number) = strings.numbers.get(&*token.text) {
            return Ok(number);
        }
        if let Some(letter) = token
            .text
            .chars()
            .find(|&letter| windows_1252_byte(letter).is_none())
        {
            let text = format!("the letter \"{letter}\" is not in Windows-1252");
            return Err(Problem::new(&token.at, text));
        }
        Ok(strings.add(&token.text))
    }
}

/// Returns a whole number.
pub(super) fn whole(text: &str) -> Option<i128> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match hex {
        Some(digits) => u32::from_str_radix(digits, 16).ok().map(i128::from),
        None => text.parse().ok(),
    }
}

/// Returns a decimal number times a scale, truncated.
fn scaled(text: &str, scale: u64) -> Option<i128> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = [whole, part].concat();
    if part.len() > MAX_DECIMALS || digits.len() > 2 * MAX_DECIMALS {
        return None;
    }
    let number: i128 = digits.parse().ok()?;
    let number = number.checked_mul(scale.into())?;
    Some(number / 10_i128.pow(part.len() as u32))
}
