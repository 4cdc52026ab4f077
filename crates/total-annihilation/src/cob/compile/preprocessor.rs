//! Macros, conditions and included files.

use std::collections::HashMap;
use std::rc::Rc;

use super::expression::whole;
use super::headers::header;
use super::reader::Reader;
use super::tokens::{Kind, MAX_TOKENS, Token, tokens as all_tokens, too_many};
use super::tokens::{Problem, Result};

/// Returns the text of an included file.
pub(in crate::cob) type Include<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Maximum total size of included files in bytes.
const MAX_INCLUDED: usize = 16 << 20;

/// Minimum charge for an included file in bytes, because reading it takes time.
const MIN_INCLUDED: usize = 16 << 10;

/// Maximum nesting depth of included files, and of macros.
const MAX_DEPTH: usize = 32;

/// Returns the tokens of a text without directives.
pub(super) fn tokens(text: &str, include: Include<'_>) -> Result<Vec<Token>> {
    let mut preprocessor = Preprocessor {
        include,
        macros: HashMap::new(),
        tokens: Vec::new(),
        read: 0,
        included: 0,
        seen: 0,
    };
    preprocessor.text(text, None, 0)?;
    Ok(preprocessor.tokens)
}

struct Preprocessor<'a> {
    include: Include<'a>,
    macros: HashMap<Rc<str>, Rc<[Token]>>,
    tokens: Vec<Token>,
    /// Number of tokens of all texts.
    read: usize,
    /// Number of bytes of all included files.
    included: usize,
    /// Number of tokens after conditions and macros.
    seen: usize,
}

/// A condition around lines.
struct Condition {
    /// The `#if`.
    token: Token,
    is_met: bool,
    /// True if the surrounding conditions are true.
    is_read: bool,
}

impl Preprocessor<'_> {
    fn text(&mut self, text: &str, file: Option<&Rc<str>>, depth: usize) -> Result<()> {
        let all = all_tokens(text, file, MAX_TOKENS - self.read)?;
        self.read += all.len();
        let mut conditions: Vec<Condition> = Vec::new();
        for line in all.chunk_by(|one, next| one.at.line == next.at.line) {
            let is_read = conditions
                .last()
                .is_none_or(|one| one.is_met && one.is_read);
            match line {
                [sign, word, rest @ ..] if sign.is("#") && word.kind == Kind::Name => {
                    match &*word.text {
                        "if" | "ifdef" | "ifndef" => conditions.push(Condition {
                            token: word.clone(),
                            is_met: is_read && self.is_met(word, rest)?,
                            is_read,
                        }),
                        "else" | "endif" => {
                            let open = conditions.pop();
                            let open =
                                open.ok_or_else(|| Problem::new(&word.at, "no #if is open"))?;
                            if word.is("else") {
                                if let Some(token) = rest.first() {
                                    let text = "#else should be alone in its line";
                                    return Err(Problem::new(&token.at, text));
                                }
                                let is_met = !open.is_met;
                                conditions.push(Condition { is_met, ..open });
                            }
                        }
                        "elif" => {
                            let text = "#elif is not known: use #else and #if";
                            return Err(Problem::new(&word.at, text));
                        }
                        _ if is_read => self.directive(word, rest, depth)?,
                        _ => {}
                    }
                }
                _ if is_read => line
                    .iter()
                    .try_for_each(|token| self.expand(token, &mut Vec::new()))?,
                _ => {}
            }
        }
        match conditions.pop() {
            None => Ok(()),
            Some(open) => Err(Problem::new(&open.token.at, "the condition has no #endif")),
        }
    }

    /// Evaluates a condition: a number, a macro with one, or `defined`.
    fn is_met(&self, word: &Token, rest: &[Token]) -> Result<bool> {
        let is_defined = |name: &Token| self.macros.contains_key(&name.text);
        let mut reader = Reader::new(rest);
        let is_not = word.is("ifndef") || word.is("if") && reader.take("!");
        let is_met = if !word.is("if") || reader.take("defined") {
            let has_sign = reader.take("(");
            let name = reader.expect_kind(Kind::Name, "the name of a macro")?;
            if has_sign {
                reader.expect(")")?;
            }
            is_defined(name)
        } else {
            let mut token = reader
                .next()
                .ok_or_else(|| Problem::new(&word.at, "no condition"))?;
            for _ in 0..MAX_DEPTH {
                match self.macros.get(&token.text).map(|body| &**body) {
                    Some([one]) => token = one,
                    _ => break,
                }
            }
            let number = match token.kind {
                Kind::Name => Some(0),
                _ => whole(&token.text).filter(|_| token.kind == Kind::Number),
            };
            let number = number.filter(|_| reader.peek().is_none());
            let number = number.ok_or_else(|| {
                let text = "only a whole number, a macro or defined NAME can be a condition";
                Problem::new(&word.at, text)
            })?;
            number != 0
        };
        Ok(is_met != is_not)
    }

    fn directive(&mut self, word: &Token, rest: &[Token], depth: usize) -> Result<()> {
        match (&*word.text, rest) {
            ("define", [name, body @ ..]) if name.kind == Kind::Name => {
                let end = name.at.column + name.text.len() as u32;
                if body
                    .first()
                    .is_some_and(|next| next.is("(") && next.at.column == end)
                {
                    return Err(Problem::new(&name.at, "macros cannot have parameters"));
                }
                self.macros.insert(name.text.clone(), body.into());
                Ok(())
            }
            ("undef", [name]) => {
                self.macros.remove(&name.text);
                Ok(())
            }
            ("include", [name]) if name.kind == Kind::Text => {
                if depth == MAX_DEPTH {
                    return Err(Problem::new(&name.at, "files include each other"));
                }
                let text = (self.include)(&name.text);
                let text = text.or_else(|| header(&name.text));
                let text = text.ok_or_else(|| {
                    Problem::new(&name.at, format!("no file is called {:?}", name.text))
                })?;
                self.included += text.len().max(MIN_INCLUDED);
                if self.included > MAX_INCLUDED {
                    let text = "too many or too large files are included";
                    return Err(Problem::new(&name.at, text));
                }
                self.text(&text, Some(&name.text), depth + 1)
            }
            _ => {
                let text = format!("#{} is no directive with this content", word.text);
                Err(Problem::new(&word.at, text))
            }
        }
    }

    /// Adds a token, or the expansion of its macro. `within` has the macros that are
    /// being expanded.
    fn expand(&mut self, token: &Token, within: &mut Vec<Rc<str>>) -> Result<()> {
        self.seen += 1;
        if self.seen > MAX_TOKENS {
            return Err(too_many(token));
        }
        let body = self.macros.get(&token.text).filter(|_| {
            token.kind == Kind::Name && within.len() < MAX_DEPTH && !within.contains(&token.text)
        });
        let Some(body) = body.cloned() else {
            self.tokens.push(token.clone());
            return Ok(());
        };
        within.push(token.text.clone());
        for part in &*body {
            let at = token.at.clone();
            self.expand(&Token { at, ..part.clone() }, within)?;
        }
        within.pop();
        Ok(())
    }
}
