//! The declarations and functions of a text.

use super::reader::Reader;
use super::tokens::{Kind, Token};
use super::tokens::{Problem, Result};

/// The parts of a text.
#[derive(Debug, Default)]
pub(super) struct Source<'a> {
    pub(super) pieces: Vec<&'a Token>,
    pub(super) statics: Vec<&'a Token>,
    pub(super) functions: Vec<Function<'a>>,
}

/// A function of a text.
#[derive(Debug)]
pub(super) struct Function<'a> {
    pub(super) name: &'a Token,
    pub(super) parameters: Vec<&'a Token>,
    /// The tokens between its braces.
    pub(super) body: &'a [Token],
}

impl<'a> Source<'a> {
    pub(super) fn new(tokens: &'a [Token]) -> Result<Self> {
        let mut source = Self::default();
        let mut reader = Reader::new(tokens);
        while let Some(first) = reader.peek() {
            let is_function = reader.peek_at(1).is_some_and(|next| next.is("("));
            if !is_function && (first.is("piece") || first.is("static-var")) {
                reader.next();
                let list = match first.is("piece") {
                    true => &mut source.pieces,
                    false => &mut source.statics,
                };
                list.extend(reader.names()?);
                reader.expect(";")?;
            } else {
                let function = Function::read(&mut reader, tokens)?;
                source.functions.push(function);
            }
        }
        Ok(source)
    }
}

impl<'a> Function<'a> {
    fn read(reader: &mut Reader<'a>, tokens: &'a [Token]) -> Result<Self> {
        let name = reader.expect_kind(Kind::Name, "piece, static-var or the name of a script")?;
        reader.expect("(")?;
        let parameters = match reader.sees(")") {
            true => Vec::new(),
            false => reader.names()?,
        };
        reader.expect(")")?;
        reader.expect("{")?;
        let start = reader.position();
        let mut depth = 1;
        while depth > 0 {
            let token = reader.next();
            let token =
                token.ok_or_else(|| Problem::new(&name.at, "the script has no closing brace"))?;
            depth += i32::from(token.is("{")) - i32::from(token.is("}"));
        }
        Ok(Self {
            name,
            parameters,
            body: &tokens[start..reader.position() - 1],
        })
    }

    /// Returns whether it has the same words and operators as another function.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same = |(one, other): (&Token, &Token)| one.is_same(other);
        self.parameters.len() == other.parameters.len()
            && self.body.len() == other.body.len()
            && std::iter::zip(
                self.parameters.iter().copied(),
                other.parameters.iter().copied(),
            )
            .all(same)
            && self.body.iter().zip(other.body).all(same)
    }
}
