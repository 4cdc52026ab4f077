//! Reading tokens in their order.

use super::tokens::{At, Kind, Problem, Result, Token};

/// Reads tokens.
#[derive(Debug, Clone)]
pub(super) struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(tokens: &'a [Token]) -> Self {
        Self { tokens, at: 0 }
    }

    /// Returns the number of tokens that were read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn peek(&self) -> Option<&'a Token> {
        self.peek_at(0)
    }

    /// Returns a token after the next one.
    pub(super) fn peek_at(&self, distance: usize) -> Option<&'a Token> {
        self.tokens.get(self.at + distance)
    }

    pub(super) fn next(&mut self) -> Option<&'a Token> {
        let token = self.peek()?;
        self.at += 1;
        Some(token)
    }

    /// Returns whether the next token is this word or operator.
    pub(super) fn sees(&self, text: &str) -> bool {
        self.peek().is_some_and(|token| token.is(text))
    }

    /// Reads this word or operator if it is the next token.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let is_next = self.sees(text);
        self.at += usize::from(is_next);
        is_next
    }

    /// Reads this word or sign.
    pub(super) fn expect(&mut self, text: &str) -> Result<()> {
        match self.take(text) {
            true => Ok(()),
            false => Err(self.expected(&format!("\"{text}\""))),
        }
    }

    /// Reads a token of this kind. `what` is the noun for it.
    pub(super) fn expect_kind(&mut self, kind: Kind, what: &str) -> Result<&'a Token> {
        let token = self.peek().filter(|token| token.kind == kind);
        let token = token.ok_or_else(|| self.expected(what))?;
        self.at += 1;
        Ok(token)
    }

    /// Reads names with commas between them.
    pub(super) fn names(&mut self) -> Result<Vec<&'a Token>> {
        let mut names = vec![self.expect_kind(Kind::Name, "a name")?];
        while self.take(",") {
            names.push(self.expect_kind(Kind::Name, "a name")?);
        }
        Ok(names)
    }

    /// Returns the problem that another token was expected here.
    pub(super) fn expected(&self, what: &str) -> Problem {
        match (self.peek(), self.tokens.last()) {
            (Some(found), _) => {
                let text = format!("{what} should stand before {:?}", found.text);
                Problem::new(&found.at, text)
            }
            (None, Some(last)) => {
                Problem::new(&last.at, format!("{what} should stand behind this"))
            }
            (None, None) => {
                let at = At {
                    file: None,
                    line: 1,
                    column: 1,
                };
                Problem::new(&at, format!("{what} is missing"))
            }
        }
    }
}
