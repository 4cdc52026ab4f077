//! The statements and expressions of BOS.

use std::collections::HashMap;

use super::tokens::tokens;
use super::words::*;
use super::{Function, Program};

/// Compiles a text. `strings` are the names of sounds, by their numbers.
pub fn compile(text: &str, strings: &[String]) -> Result<Program, String> {
    let tokens = tokens(text);
    // Functions may be called before they are defined.
    let mut scripts = Vec::new();
    let mut depth = 0;
    for (number, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" if depth == 0 => {
                let open = tokens[..number].iter().rposition(|token| token == "(");
                scripts.push(tokens[open.unwrap() - 1].to_ascii_lowercase());
                depth = 1;
            }
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
    }
    let mut compiler = Compiler {
        tokens: &tokens,
        at: 0,
        strings,
        scripts,
        program: Program::default(),
        locals: Vec::new(),
        code: Vec::new(),
        targets: Vec::new(),
        labels: HashMap::new(),
        jumps: Vec::new(),
    };
    compiler.file().map_err(|error| {
        let end = tokens.len().min(compiler.at + 3);
        let around = &tokens[compiler.at.saturating_sub(8)..end];
        format!("{error} near {}", around.join(" "))
    })?;
    Ok(compiler.program)
}

struct Compiler<'a> {
    tokens: &'a [String],
    at: usize,
    strings: &'a [String],
    scripts: Vec<String>,
    program: Program,
    locals: Vec<String>,
    code: Vec<u32>,
    targets: Vec<usize>,
    labels: HashMap<String, u32>,
    /// Words with jumps to labels.
    jumps: Vec<(usize, String)>,
}

type Done = Result<(), String>;

impl Compiler<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn next(&mut self) -> String {
        let token = self.peek().to_owned();
        self.at += 1;
        token
    }

    fn is(&mut self, wanted: &str) -> bool {
        let is_it = self.peek().eq_ignore_ascii_case(wanted);
        self.at += usize::from(is_it);
        is_it
    }

    fn expect(&mut self, wanted: &str) -> Done {
        match self.is(wanted) {
            true => Ok(()),
            false => Err(format!("expected {wanted}")),
        }
    }

    fn file(&mut self) -> Done {
        while self.at < self.tokens.len() {
            if self.is("piece") {
                self.program.pieces = self.list(";")?;
            } else if self.is("static-var") {
                self.program.statics = self.list(";")?;
            } else {
                self.function()?;
            }
        }
        Ok(())
    }

    /// Reads names up to a sign.
    fn list(&mut self, end: &str) -> Result<Vec<String>, String> {
        let mut names = Vec::new();
        while !self.is(end) {
            names.push(self.next());
            if !self.is(",") && self.peek() != end {
                return Err("expected a comma".into());
            }
        }
        Ok(names)
    }

    fn function(&mut self) -> Done {
        let name = self.next();
        self.expect("(")?;
        let parameters = self.list(")")?;
        self.locals.clear();
        self.code.clear();
        self.labels.clear();
        self.jumps.clear();
        parameters.into_iter().for_each(|name| self.declare(name));
        self.block()?;
        for (word, label) in std::mem::take(&mut self.jumps) {
            let target = self.labels.get(&label).ok_or("unknown label")?;
            self.code[word] = *target;
        }
        self.program.functions.push(Function {
            name,
            words: std::mem::take(&mut self.code),
            targets: std::mem::take(&mut self.targets),
        });
        Ok(())
    }

    fn declare(&mut self, name: String) {
        self.locals.push(name);
        self.code.push(0x1002_2000);
    }

    fn block(&mut self) -> Done {
        self.expect("{")?;
        while !self.is("}") {
            self.statement()?;
        }
        Ok(())
    }

    fn here(&self) -> u32 {
        self.code.len() as u32
    }

    fn statement(&mut self) -> Done {
        let word = self.peek().to_ascii_lowercase();
        let is_label = self.tokens.get(self.at + 1).is_some_and(|next| next == ":");
        if is_label {
            let name = self.next();
            self.labels.insert(name, self.here());
            return self.expect(":");
        }
        match word.as_str() {
            "if" => return self.condition(),
            "while" => return self.cycle(),
            _ => {}
        }
        self.at += 1;
        let find = |table: &[(&str, u32)]| {
            let found = table.iter().find(|(name, _)| *name == word);
            found.map(|(_, opcode)| *opcode)
        };
        if word == "return" && self.peek() == ";" {
            // As for Kingdoms: it returns a new variable.
            self.code.extend([0x1002_2000, 0x1006_5000]);
        } else if let Some(opcode) = find(&OF_PIECE) {
            let piece = self.piece()?;
            self.code.extend([opcode, piece]);
        } else if let Some(opcode) = find(&OF_VALUE) {
            self.value()?;
            self.code.push(opcode);
        } else {
            self.other(&word)?;
        }
        self.expect(";")
    }

    fn condition(&mut self) -> Done {
        self.at += 1;
        self.value()?;
        let test = self.jump(JUMP_IF_ZERO);
        self.block()?;
        if self.is("else") {
            let end = self.jump(JUMP);
            self.code[test] = self.here();
            self.block()?;
            self.code[end] = self.here();
        } else {
            self.code[test] = self.here();
        }
        Ok(())
    }

    fn cycle(&mut self) -> Done {
        self.at += 1;
        let start = self.here();
        self.value()?;
        let test = self.jump(JUMP_IF_ZERO);
        self.block()?;
        let back = self.jump(JUMP);
        self.code[back] = start;
        self.code[test] = self.here();
        Ok(())
    }

    /// Writes a jump, and returns the word of its target.
    fn jump(&mut self, opcode: u32) -> usize {
        self.code.extend([opcode, 0]);
        let target = self.code.len() - 1;
        self.targets.push(target);
        target
    }

    fn other(&mut self, word: &str) -> Done {
        match word {
            "var" => {
                let names = self.list(";")?;
                self.at -= 1;
                names.into_iter().for_each(|name| self.declare(name));
            }
            "move" | "turn" => self.movement(word == "move")?,
            "spin" => {
                let (piece, axis) = self.around()?;
                self.expect("speed")?;
                let speed = self.later()?;
                match self.is("accelerate") {
                    true => self.value()?,
                    false => self.code.extend([PUSH, 0]),
                }
                self.code.extend(speed);
                self.code.extend([0x1000_3000, piece, axis]);
            }
            "stop-spin" => {
                let (piece, axis) = self.around()?;
                match self.is("decelerate") {
                    true => self.value()?,
                    false => self.code.extend([PUSH, 0]),
                }
                self.code.extend([0x1000_4000, piece, axis]);
            }
            "wait-for-turn" | "wait-for-move" => {
                let (piece, axis) = self.around()?;
                let opcode = if word == "wait-for-turn" {
                    0x1001_1000
                } else {
                    0x1001_2000
                };
                self.code.extend([opcode, piece, axis]);
            }
            "explode" => {
                let piece = self.piece()?;
                self.expect("type")?;
                self.value()?;
                self.code.extend([0x1007_1000, piece]);
            }
            "emit-sfx" => {
                self.value()?;
                self.expect("from")?;
                let piece = self.piece()?;
                self.code.extend([0x1000_F000, piece]);
            }
            "set" => {
                self.port()?;
                self.expect("to")?;
                self.value()?;
                self.code.push(0x1008_2000);
            }
            "attach-unit" => {
                self.value()?;
                self.expect("to")?;
                self.value()?;
                match self.is("type") {
                    true => self.value()?,
                    false => self.code.extend([PUSH, 0]),
                }
                self.code.push(0x1008_3000);
            }
            "start-script" | "call-script" => {
                let name = self.next().to_ascii_lowercase();
                let script = self.scripts.iter().position(|known| *known == name);
                let script = script.ok_or("unknown script")? as u32;
                self.expect("(")?;
                let mut count = 0;
                while !self.is(")") {
                    self.value()?;
                    self.is(",");
                    count += 1;
                }
                let opcode = if word == "start-script" {
                    0x1006_1000
                } else {
                    0x1006_2000
                };
                self.code.extend([opcode, script, count]);
            }
            "play-sound" => {
                self.expect("(")?;
                let name = self.next();
                let name = name.trim_matches('"');
                let number = self.strings.iter().position(|known| known == name);
                self.expect(",")?;
                self.value()?;
                self.expect(")")?;
                self.code
                    .extend([0x1007_2000, number.ok_or("unknown sound")? as u32]);
                self.code.push(0x1002_4000);
            }
            "jump" => {
                let label = self.next();
                let target = self.jump(JUMP);
                self.jumps.push((target, label));
            }
            "jump-if-zero" => {
                self.value()?;
                let label = self.next();
                let target = self.jump(JUMP_IF_ZERO);
                self.jumps.push((target, label));
            }
            _ => self.assignment()?,
        }
        Ok(())
    }

    fn assignment(&mut self) -> Done {
        self.at -= 1;
        let name = self.next();
        self.expect("=")?;
        self.value()?;
        let pop = match self.variable(&name).ok_or("unknown variable")? {
            [0x1002_1002, number] => [0x1002_3002, number],
            [_, number] => [0x1002_3004, number],
        };
        self.code.extend(pop);
        Ok(())
    }

    /// Compiles `PIECE to AXIS VALUE now` or `speed VALUE`: the speed is pushed
    /// first.
    fn movement(&mut self, is_move: bool) -> Done {
        let (piece, axis) = self.around()?;
        let to = self.later()?;
        let opcode = match (self.is("now"), is_move) {
            (true, true) => 0x1000_B000,
            (true, false) => 0x1000_C000,
            (false, is_move) => {
                self.expect("speed")?;
                self.value()?;
                if is_move { 0x1000_1000 } else { 0x1000_2000 }
            }
        };
        self.code.extend(to);
        self.code.extend([opcode, piece, axis]);
        Ok(())
    }

    /// Reads a piece and an axis.
    fn around(&mut self) -> Result<(u32, u32), String> {
        let piece = self.piece()?;
        if !["to", "around", "along"]
            .into_iter()
            .any(|word| self.is(word))
        {
            return Err("expected an axis".into());
        }
        let axis = self.next();
        let axis = AXES
            .iter()
            .position(|known| known.eq_ignore_ascii_case(&axis));
        Ok((piece, axis.ok_or("unknown axis")? as u32))
    }

    fn piece(&mut self) -> Result<u32, String> {
        let name = self.next();
        let mut pieces = self.program.pieces.iter();
        let found = pieces.position(|known| known.eq_ignore_ascii_case(&name));
        Ok(found.ok_or("unknown piece")? as u32)
    }

    /// Compiles a value that is pushed after another one.
    fn later(&mut self) -> Result<Vec<u32>, String> {
        let start = self.code.len();
        self.value()?;
        Ok(self.code.split_off(start))
    }

    /// Compiles a value: operands with the same operator between all of them.
    fn value(&mut self) -> Done {
        self.operand()?;
        let mut first = None;
        loop {
            let sign = self.peek().to_owned();
            let found = OPERATORS.iter().find(|(known, _)| *known == sign);
            let Some((_, opcode)) = found else {
                return Ok(());
            };
            if *first.get_or_insert_with(|| sign.clone()) != sign {
                return Err("unknown precedence".into());
            }
            self.at += 1;
            self.operand()?;
            self.code.push(*opcode);
        }
    }

    fn operand(&mut self) -> Done {
        let token = self.next();
        match token.as_str() {
            "(" => {
                self.value()?;
                return self.expect(")");
            }
            "!" | "~" => {
                self.operand()?;
                self.code.push(if token == "!" {
                    0x1005_A000
                } else {
                    0x1003_8000
                });
                return Ok(());
            }
            "[" | "<" => {
                let number = self.number()?;
                let (scale, close) = if token == "[" {
                    (163_840.0, "]")
                } else {
                    (182.0, ">")
                };
                self.code.extend([PUSH, (number * scale) as i32 as u32]);
                return self.expect(close);
            }
            "rand" => {
                self.expect("(")?;
                self.value()?;
                self.expect(",")?;
                self.value()?;
                self.code.push(0x1004_1000);
                return self.expect(")");
            }
            "get" => {
                self.port()?;
                if !self.is("(") {
                    self.code.push(0x1004_2000);
                    return Ok(());
                }
                while !self.is(")") {
                    self.value()?;
                    self.is(",");
                }
                self.code.push(0x1004_3000);
                return Ok(());
            }
            _ => {}
        }
        if token == "-" || token.starts_with(|first: char| first.is_ascii_digit()) {
            self.at -= 1;
            let number = self.number()?;
            self.code.extend([PUSH, number as i64 as u32]);
            return Ok(());
        }
        match self.variable(&token) {
            Some(push) => self.code.extend(push),
            None => {
                self.at -= 1;
                let piece = self.piece()?;
                self.code.extend([PUSH, piece]);
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<f64, String> {
        let sign = if self.is("-") { -1.0 } else { 1.0 };
        let number: f64 = self.next().parse().map_err(|_| "expected a number")?;
        Ok(sign * number)
    }

    fn port(&mut self) -> Done {
        let name = self.peek().to_owned();
        let known = PORTS.iter().position(|known| *known == name);
        match known {
            Some(number) => {
                self.at += 1;
                self.code.extend([PUSH, number as u32 + 1]);
                Ok(())
            }
            None => self.operand(),
        }
    }

    /// Returns the words that push a variable.
    fn variable(&self, name: &str) -> Option<[u32; 2]> {
        let find = |names: &[String]| {
            let found = names
                .iter()
                .position(|known| known.eq_ignore_ascii_case(name));
            found.map(|number| number as u32)
        };
        let local = find(&self.locals).map(|number| [0x1002_1002, number]);
        local.or_else(|| Some([0x1002_1004, find(&self.program.statics)?]))
    }
}
