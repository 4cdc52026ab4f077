//! The statements of a function as code.

use std::collections::HashMap;

use super::expression::{Compiler, Environment};
use super::reader::Reader;
use super::source;
use super::tokens::{Kind, Token};
use super::tokens::{Problem, Result};
use crate::cob::parse::{AXES, Operation};

/// Maximum number of parameters and local variables of a function.
const MAX_LOCALS: usize = 256;

/// The code of a function.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) words: Vec<u32>,
    /// The words that are jump targets, counted from the start of the function.
    pub(super) targets: Vec<usize>,
}

/// Compiles a function. `returns` tells whether a function that may reach its end
/// returns there.
pub(super) fn compile(
    environment: &Environment<'_>,
    function: &source::Function<'_>,
    returns: bool,
) -> Result<Code> {
    let mut compiler = Compiler {
        environment,
        reader: Reader::new(function.body),
        locals: Vec::new(),
        code: Vec::new(),
        targets: Vec::new(),
        labels: HashMap::new(),
        jumps: Vec::new(),
        depth: 0,
    };
    compiler.declare(&function.parameters)?;
    while compiler.reader.peek().is_some() {
        compiler.statement()?;
    }
    compiler.finish(returns)
}

impl<'a> Compiler<'a> {
    /// Resolves the jumps to labels, and adds a return.
    fn finish(mut self, returns: bool) -> Result<Code> {
        for (word, label) in std::mem::take(&mut self.jumps) {
            let target = self.labels.get(&label.text.to_ascii_lowercase());
            let problem =
                || Problem::new(&label.at, format!("no label is called {:?}", label.text));
            self.code[word] = *target.ok_or_else(problem)?;
        }
        let end = self.here();
        let last_returns = self.code.last().copied() == opcode("return");
        let reaches_end = self.targets.iter().any(|&word| self.code[word] == end);
        if returns && (!last_returns || reaches_end) {
            self.emit("push", &[0]);
            self.emit("return", &[]);
        }
        Ok(Code {
            words: self.code,
            targets: self.targets,
        })
    }

    /// Declares local variables.
    fn declare(&mut self, names: &[&Token]) -> Result<()> {
        for name in names {
            let lower = name.text.to_ascii_lowercase();
            if self.locals.contains(&lower) {
                let text = format!("a variable is called {:?} already", name.text);
                return Err(Problem::new(&name.at, text));
            }
            if self.locals.len() == MAX_LOCALS {
                let text = format!("this is one of more than {MAX_LOCALS} variables");
                return Err(Problem::new(&name.at, text));
            }
            self.locals.push(lower);
            self.emit("create-local", &[]);
        }
        Ok(())
    }

    fn here(&self) -> u32 {
        self.code.len() as u32
    }

    /// Compiles the statements in braces, or one.
    fn block(&mut self) -> Result<()> {
        if !self.reader.take("{") {
            return self.statement();
        }
        while !self.reader.take("}") {
            self.statement()?;
        }
        Ok(())
    }

    fn statement(&mut self) -> Result<()> {
        self.enter()?;
        let next = |text| self.reader.peek_at(1).is_some_and(|next| next.is(text));
        if next("=") {
            self.assignment()?;
        } else if next(":") {
            let label = self.reader.expect_kind(Kind::Name, "a label")?;
            let here = self.here();
            if self
                .labels
                .insert(label.text.to_ascii_lowercase(), here)
                .is_some()
            {
                let text = format!("a label is called {:?} already", label.text);
                return Err(Problem::new(&label.at, text));
            }
            self.reader.expect(":")?;
        } else if self.reader.take("if") {
            self.condition()?;
        } else if self.reader.take("while") {
            let start = self.here();
            let test = self.test()?;
            self.block()?;
            let back = self.jump("jump");
            self.code[back] = start;
            self.code[test] = self.here();
        } else if !self.reader.take(";") {
            self.simple()?;
            self.reader.expect(";")?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn assignment(&mut self) -> Result<()> {
        let name = self.reader.expect_kind(Kind::Name, "a variable")?;
        let (kind, number) = self.assigned(name)?;
        self.reader.expect("=")?;
        self.value()?;
        self.emit(&format!("pop-{kind}"), &[number]);
        self.reader.expect(";")
    }

    /// Compiles what follows `if`.
    fn condition(&mut self) -> Result<()> {
        let test = self.test()?;
        self.block()?;
        if self.reader.take("else") {
            let end = self.jump("jump");
            self.code[test] = self.here();
            self.block()?;
            self.code[end] = self.here();
        } else {
            self.code[test] = self.here();
        }
        Ok(())
    }

    /// Compiles a condition in parentheses. Returns the word of the jump that is taken
    /// if it is false.
    fn test(&mut self) -> Result<usize> {
        self.reader.expect("(")?;
        self.value()?;
        self.reader.expect(")")?;
        Ok(self.jump("jump-if-zero"))
    }

    /// Adds a jump, and returns the word of its target.
    fn jump(&mut self, mnemonic: &str) -> usize {
        self.emit(mnemonic, &[0]);
        let word = self.code.len() - 1;
        self.targets.push(word);
        word
    }

    /// Compiles a jump to a label.
    fn jump_to_label(&mut self, word: usize) -> Result<()> {
        let label = self.reader.expect_kind(Kind::Name, "a label")?;
        self.jumps.push((word, label));
        Ok(())
    }

    /// Compiles a statement that ends with a semicolon.
    fn simple(&mut self) -> Result<()> {
        let Some(word) = self.reader.peek() else {
            return Err(self.reader.expected("a statement"));
        };
        let text = word.text.to_ascii_lowercase();
        self.reader.next();
        match &*text {
            "var" => {
                let names = self.reader.names()?;
                self.declare(&names)?;
            }
            "++" | "--" => {
                let name = self.reader.expect_kind(Kind::Name, "a variable")?;
                let (kind, number) = self.assigned(name)?;
                self.emit(&format!("push-{kind}"), &[number]);
                self.emit("push", &[1]);
                self.emit(if text == "++" { "add" } else { "sub" }, &[]);
                self.emit(&format!("pop-{kind}"), &[number]);
            }
            "jump" => {
                let word = self.jump("jump");
                self.jump_to_label(word)?;
            }
            "jump-if-zero" => {
                let word = self.test()?;
                self.jump_to_label(word)?;
            }
            "return" if !self.reader.sees(";") => self.with_value(&text)?,
            "return" if self.environment.is_kingdoms => {
                self.emit("create-local", &[]);
                self.emit("return", &[]);
            }
            "return" => {
                self.emit("push", &[0]);
                self.emit("return", &[]);
            }
            "sleep" | "signal" | "set-signal-mask" | "drop-unit" => self.with_value(&text)?,
            "show" | "hide" | "cache" | "dont-cache" | "shade" | "dont-shade" | "dont-shadow" => {
                let piece = self.piece()?;
                self.emit(&text, &[piece]);
            }
            "get" => {
                self.get()?;
                self.emit("pop", &[]);
            }
            "set" => {
                self.value()?;
                self.reader.expect("to")?;
                self.with_value(&text)?;
            }
            "attach-unit" => {
                self.value()?;
                self.reader.expect("to")?;
                self.value()?;
                self.value_after("type")?;
                self.emit(&text, &[]);
            }
            "call-script" | "start-script" => {
                let name = self.reader.expect_kind(Kind::Name, "a script")?;
                let script = self.number_of("script", name, &self.environment.scripts)?;
                let count = self.list()?;
                self.emit(&text, &[script, count as u32]);
            }
            "play-sound" | "mission-command" if self.environment.is_kingdoms => {
                self.with_string(&text)?;
            }
            "explode" => {
                let piece = self.piece()?;
                self.reader.expect("type")?;
                self.value()?;
                self.emit(&text, &[piece]);
            }
            "emit-sfx" => {
                self.value()?;
                self.reader.expect("from")?;
                let piece = self.piece()?;
                self.emit(&text, &[piece]);
            }
            "move" | "turn" => self.motion(&text)?,
            "spin" | "stop-spin" => self.rotation(&text)?,
            "wait-for-turn" | "wait-for-move" => {
                let piece = self.piece()?;
                let before = if text == "wait-for-turn" {
                    "around"
                } else {
                    "along"
                };
                self.reader.expect(before)?;
                let axis = self.axis()?;
                self.emit(&text, &[piece, axis]);
            }
            "play-sound" | "mission-command" => {
                let text = format!("only TA: Kingdoms has {text}");
                return Err(Problem::new(&word.at, text));
            }
            _ => {
                let text = format!("no statement begins with {:?}", word.text);
                return Err(Problem::new(&word.at, text));
            }
        }
        Ok(())
    }

    /// Compiles a value, and the instruction that uses it.
    fn with_value(&mut self, mnemonic: &str) -> Result<()> {
        self.value()?;
        self.emit(mnemonic, &[]);
        Ok(())
    }

    /// Compiles the value after a word, or 0 without this.
    fn value_after(&mut self, word: &str) -> Result<()> {
        match self.reader.take(word) {
            true => self.value(),
            false => {
                self.emit("push", &[0]);
                Ok(())
            }
        }
    }

    /// Compiles a value whose code follows later, and returns it.
    fn later(&mut self) -> Result<Vec<u32>> {
        let start = self.code.len();
        self.value()?;
        Ok(self.code.split_off(start))
    }

    /// Compiles what follows `move` and `turn`.
    fn motion(&mut self, word: &str) -> Result<()> {
        let piece = self.piece()?;
        self.reader.expect("to")?;
        let axis = self.axis()?;
        let to = self.later()?;
        if self.reader.take("now") {
            self.code.extend(to);
            self.emit(&format!("{word}-now"), &[piece, axis]);
            return Ok(());
        }
        if !self.reader.take("speed") {
            return Err(self.reader.expected("\"now\" or \"speed\""));
        }
        self.value()?;
        self.code.extend(to);
        self.emit(word, &[piece, axis]);
        Ok(())
    }

    /// Compiles what follows `spin` and `stop-spin`.
    fn rotation(&mut self, word: &str) -> Result<()> {
        let piece = self.piece()?;
        self.reader.expect("around")?;
        let axis = self.axis()?;
        if word == "spin" {
            self.reader.expect("speed")?;
            let speed = self.later()?;
            self.value_after("accelerate")?;
            self.code.extend(speed);
        } else {
            self.value_after("decelerate")?;
        }
        self.emit(word, &[piece, axis]);
        Ok(())
    }

    /// Compiles a sound, whose result is dropped, or a command.
    fn with_string(&mut self, word: &str) -> Result<()> {
        self.reader.expect("(")?;
        let string = self.string()?;
        let mut count = 0;
        while self.reader.take(",") {
            self.value()?;
            count += 1;
        }
        match (word, count) {
            ("play-sound", 1) => {
                self.emit(word, &[string]);
                self.emit("pop", &[]);
            }
            ("play-sound", _) => return Err(self.problem("a sound has one value, its priority")),
            _ => self.emit(word, &[string, count]),
        }
        self.reader.expect(")")
    }

    fn piece(&mut self) -> Result<u32> {
        let name = self.reader.expect_kind(Kind::Name, "a piece")?;
        self.number_of("piece", name, &self.environment.pieces)
    }

    fn axis(&mut self) -> Result<u32> {
        let axis = AXES.iter().position(|axis| self.reader.take(axis));
        let axis = axis.ok_or_else(|| self.reader.expected("x-axis, y-axis or z-axis"))?;
        Ok(axis as u32)
    }

    /// Returns whether an assigned variable is local or static, and its number.
    fn assigned(&self, name: &Token) -> Result<(&'static str, u32)> {
        let locals = self.locals.iter().map(String::as_str);
        let known = locals.chain(self.environment.statics.spellings());
        self.variable(name)
            .ok_or_else(|| self.unknown("variable", name, known))
    }
}

fn opcode(mnemonic: &str) -> Option<u32> {
    Operation::find_by(|one| one.mnemonic == mnemonic).map(|operation| operation.opcode)
}
