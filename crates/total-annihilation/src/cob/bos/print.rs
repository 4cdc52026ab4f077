//! Functions as text.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};
use std::ops::Range;

use super::expression::{Expression, Value};
use super::lines::{Counted, Lines, Place};
use super::names::Names;
use super::steps::{Function, Lost, Step, StepKind, Variable};
use super::structure::{Node, structured};
use crate::Name;
use crate::cob::Cob;
use crate::cob::parse::{AXES, Content};
use hpimount_containers::text::windows_1252;

/// A length. Compilers count 163,840 for one unit, which is 2.5 map pixels.
pub(in crate::cob) const LENGTH: Unit = Unit {
    signs: ['[', ']'],
    scale: 163_840,
};

/// An angle. Compilers count 182 for a degree.
pub(in crate::cob) const ANGLE: Unit = Unit {
    signs: ['<', '>'],
    scale: 182,
};

/// Names of the properties of units and games, from number 1 on.
pub(in crate::cob) const PORTS: [&str; 20] = [
    "ACTIVATION",
    "STANDINGMOVEORDERS",
    "STANDINGFIREORDERS",
    "HEALTH",
    "INBUILDSTANCE",
    "BUSY",
    "PIECE_XZ",
    "PIECE_Y",
    "UNIT_XZ",
    "UNIT_Y",
    "UNIT_HEIGHT",
    "XZ_ATAN",
    "XZ_HYPOT",
    "ATAN",
    "HYPOT",
    "GROUND_HEIGHT",
    "BUILD_PERCENT_LEFT",
    "YARD_OPEN",
    "BUGGER_OFF",
    "ARMORED",
];

/// Number of decimal places of a number with a unit.
const DECIMALS: u32 = 6;

pub(in crate::cob) struct Unit {
    signs: [char; 2],
    pub(in crate::cob) scale: u64,
}

impl Unit {
    /// Returns a number with this unit. The result is rounded up by less than one step,
    /// so that compilers that round and compilers that truncate both restore the
    /// number.
    fn text(&self, value: i32) -> String {
        let ten = 10_u64.pow(DECIMALS);
        let scaled = (u64::from(value.unsigned_abs()) * ten).div_ceil(self.scale);
        let sign = if value < 0 { "-" } else { "" };
        let (whole, part) = (scaled / ten, scaled % ten);
        let part = format!("{part:0width$}", width = DECIMALS as usize);
        let part = part.trim_end_matches('0');
        let dot = if part.is_empty() { "" } else { "." };
        let [open, close] = self.signs;
        format!("{open}{sign}{whole}{dot}{part}{close}")
    }
}

/// A function, as it is written.
pub(super) struct Text<'a> {
    /// Number of its script.
    pub(super) script: usize,
    /// Another script with the same code.
    pub(super) same: Option<usize>,
    /// Words.
    pub(super) range: Range<u32>,
    pub(super) function: Result<Function, Lost>,
    /// The text and words after the code.
    pub(super) notes: Vec<Content<'a>>,
}

/// Writes the text of a file.
pub(super) struct Printer<'a> {
    cob: &'a Cob,
    names: &'a Names,
    out: Counted<'a>,
    /// The lines of the written text, for callers that need them.
    lines: Option<&'a mut Lines>,
    /// The current function.
    script: usize,
    /// True if an earlier function has the same code.
    is_copy: bool,
    depth: usize,
}

impl<'a> Printer<'a> {
    pub(super) fn new(
        cob: &'a Cob,
        names: &'a Names,
        out: &'a mut dyn Write,
        lines: Option<&'a mut Lines>,
    ) -> Self {
        Self {
            cob,
            names,
            out: Counted::new(out),
            lines,
            script: 0,
            is_copy: false,
            depth: 0,
        }
    }

    /// Records that a place is in the next line.
    fn note(&mut self, place: Place) {
        if let Some(lines) = &mut self.lines {
            lines.set(place, self.out.line());
        }
    }

    /// Records that a statement is in the next line.
    fn note_word(&mut self, word: u32) {
        if !self.is_copy {
            self.note(Place::Word(word));
        }
    }

    /// Writes the declarations.
    pub(super) fn head(&mut self) -> io::Result<()> {
        let (cob, names) = (self.cob, self.names);
        if !names.pieces.is_empty() {
            self.note(Place::Pieces);
            writeln!(self.out, "piece {};", names.pieces.join(", "))?;
        }
        let renamed = cob
            .pieces
            .iter()
            .zip(&names.pieces)
            .map(|(name, new)| ("piece", name, new));
        let scripts = cob.scripts.iter().zip(&names.scripts);
        let renamed = renamed.chain(scripts.map(|(name, new)| ("script", name, new)));
        for (kind, name, new) in renamed {
            if name.text() != new.as_str() {
                writeln!(
                    self.out,
                    "// The name of the {kind} {new} is {:?} in the file.",
                    plain(&name)
                )?;
            }
        }
        if cob.statics > 0 {
            self.note(Place::Statics);
            write!(self.out, "static-var ")?;
            for number in 0..cob.statics.min(MAX_STATICS) {
                let comma = if number > 0 { ", " } else { "" };
                write!(self.out, "{comma}{}", names.fixed(number))?;
            }
            writeln!(self.out, ";")?;
        }
        Ok(())
    }

    /// Writes the end.
    pub(super) fn end(&mut self) -> io::Result<()> {
        if self.names.pieces.is_empty() {
            return Ok(());
        }
        let (length, angle) = (LENGTH.scale, ANGLE.scale);
        writeln!(self.out, "\n// [1] is {length}, <1> is {angle}.")
    }

    /// Writes a function.
    pub(super) fn function(&mut self, text: &Text<'_>) -> io::Result<()> {
        self.script = text.script;
        self.is_copy = text.same.is_some();
        self.depth = 0;
        writeln!(self.out)?;
        if let Some(same) = text.same {
            let same = self.names.script(same);
            writeln!(self.out, "// In the file, this is the same code as {same}.")?;
        }
        let parameters = text.function.as_ref().map_or(0, |one| one.parameters);
        let parameters = (0..parameters).map(|local| self.names.local(self.script, local));
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        let name = self.names.script(self.script);
        self.note(Place::Script(self.script));
        self.note_word(text.range.start);
        writeln!(self.out, "{name}({parameters})\n{{")?;
        self.depth = 1;
        match &text.function {
            Ok(function) => self.body(function)?,
            Err(Lost(why)) => {
                self.line(&format!("// Only as assembler text, because {why}."))?;
                if text.same.is_none() {
                    self.assembler(text.range.clone())?;
                }
            }
        }
        for note in &text.notes {
            match note {
                Content::Text(text) => {
                    let text = windows_1252(text);
                    self.line(&format!("// Text after the code: {:?}", text.trim()))?;
                }
                Content::Unknown(word) => {
                    self.line(&format!("// Word after the code: {word:#010x}"))?;
                }
                Content::Instruction(_) => {}
            }
        }
        writeln!(self.out, "}}")
    }

    fn assembler(&mut self, range: Range<u32>) -> io::Result<()> {
        let mut text = Vec::new();
        self.cob.disassemble_range(range, &mut text)?;
        let text = String::from_utf8_lossy(&text);
        text.lines()
            .try_for_each(|line| self.line(&format!("// {line}")))
    }

    fn body(&mut self, function: &Function) -> io::Result<()> {
        match structured(function) {
            Some(nodes) => {
                self.nodes(function, &nodes)?;
                let last = function.steps.last().map(|step| &step.kind);
                let returns = matches!(last, Some(StepKind::Other(operation, _)) if operation.mnemonic == "return");
                if !returns {
                    self.line("// Without a return: other compilers add one here.")?;
                }
                Ok(())
            }
            None => self.labeled(function),
        }
    }

    /// Writes a function with its jumps.
    fn labeled(&mut self, function: &Function) -> io::Result<()> {
        self.line("// The jumps of this function form no loops and conditions.")?;
        let targets: HashSet<u32> = function.targets();
        for step in &function.steps {
            if targets.contains(&step.at) {
                writeln!(self.out, "L{:04X}:", step.at)?;
            }
            self.note_word(step.at);
            match &step.kind {
                StepKind::Jump(target) => self.line(&format!("jump L{target:04X};"))?,
                StepKind::Test(condition, target) => {
                    let condition = self.top(condition);
                    self.line(&format!("jump-if-zero ({condition}) L{target:04X};"))?;
                }
                other => self.statement(other)?,
            }
        }
        if targets.contains(&function.end) {
            writeln!(self.out, "L{:04X}:", function.end)?;
        }
        Ok(())
    }

    fn nodes(&mut self, function: &Function, nodes: &[Node]) -> io::Result<()> {
        let mut rest = nodes.iter().peekable();
        while let Some(node) = rest.next() {
            match node {
                Node::Step(step) => {
                    let Step { at, kind } = &function.steps[*step];
                    self.note_word(*at);
                    let StepKind::Declare(local) = kind else {
                        self.statement(kind)?;
                        continue;
                    };
                    let mut names = vec![self.names.local(self.script, *local)];
                    while let Some(local) = rest.peek().and_then(|node| declared(function, node)) {
                        names.push(self.names.local(self.script, local));
                        rest.next();
                    }
                    self.line(&format!("var {};", names.join(", ")))?;
                }
                Node::While(test, body) => {
                    let condition = self.condition(function, *test);
                    self.line(&format!("while ({condition})"))?;
                    self.block(function, body)?;
                }
                Node::If { test, then, other } => {
                    let condition = self.condition(function, *test);
                    self.line(&format!("if ({condition})"))?;
                    self.block(function, then)?;
                    if let Some(other) = other {
                        self.line("else")?;
                        self.block(function, other)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn block(&mut self, function: &Function, nodes: &[Node]) -> io::Result<()> {
        self.line("{")?;
        self.depth += 1;
        self.nodes(function, nodes)?;
        self.depth -= 1;
        self.line("}")
    }

    /// Returns the text of a condition, which goes into the next line.
    fn condition(&mut self, function: &Function, test: usize) -> String {
        let Step { at, kind } = &function.steps[test];
        self.note_word(*at);
        match kind {
            StepKind::Test(condition, _) => self.top(condition),
            _ => String::new(),
        }
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}{text}", "\t".repeat(self.depth))
    }

    fn statement(&mut self, kind: &StepKind) -> io::Result<()> {
        let text = match kind {
            StepKind::Declare(local) => format!("var {}", self.names.local(self.script, *local)),
            StepKind::Assign(variable, value) => {
                let names_piece =
                    *variable == Variable::Local(0) && self.names.returns_piece(self.script);
                let piece = value.constant().filter(|_| names_piece);
                let piece =
                    piece.and_then(|piece| self.names.pieces.get(usize::try_from(piece).ok()?));
                let value = piece.cloned().unwrap_or_else(|| self.top(value));
                let variable = match *variable {
                    Variable::Local(local) => self.names.local(self.script, local),
                    Variable::Static(number) => self.names.fixed(number),
                };
                format!("{variable} = {value}")
            }
            StepKind::Piece {
                operation,
                piece,
                axis,
                values,
            } => self.for_piece(operation.mnemonic, *piece, *axis, values),
            StepKind::Call {
                operation,
                script,
                arguments,
            } => {
                let name = self.names.script(*script as usize);
                let arguments = arguments.iter().map(|argument| self.top(argument));
                let arguments = arguments.collect::<Vec<_>>().join(", ");
                format!("{} {name}({arguments})", operation.mnemonic)
            }
            StepKind::Sound(name, priority) => {
                format!("play-sound({}, {})", self.string(*name), self.top(priority))
            }
            StepKind::Command(command, arguments) => {
                let arguments = arguments.iter().map(|one| format!(", {}", self.top(one)));
                let arguments: String = arguments.collect();
                format!("mission-command({}{arguments})", self.string(*command))
            }
            StepKind::Other(operation, values) => self.other(operation.mnemonic, values),
            StepKind::Test(..) | StepKind::Jump(_) => return Ok(()),
        };
        self.line(&format!("{text};"))
    }

    /// Returns a string of the file in quotes. A string that is missing, or cannot be
    /// quoted, is written as a name, which compilers refuse.
    fn string(&self, number: u32) -> String {
        let string = self.cob.strings.get(number as usize);
        let text = string.map(|string| plain(&string));
        match text.filter(|text| !text.contains('"')) {
            Some(text) => format!("\"{text}\""),
            None => format!("string_{number}"),
        }
    }

    fn other(&self, mnemonic: &str, values: &[Expression]) -> String {
        match (mnemonic, values) {
            ("pop", [value]) => self.top(value),
            ("return", [value]) => format!("return ({})", self.top(value)),
            ("set", [port, value]) => format!("set {} to {}", self.port(port), self.nested(value)),
            ("attach-unit", [unit, piece, zero]) => {
                let piece = self.nested(piece);
                let unit = self.nested(unit);
                match zero.constant() {
                    Some(0) => format!("attach-unit {unit} to {piece}"),
                    _ => format!("attach-unit {unit} to {piece} type {}", self.nested(zero)),
                }
            }
            (mnemonic, [value]) => format!("{mnemonic} {}", self.nested(value)),
            (mnemonic, _) => mnemonic.to_owned(),
        }
    }

    /// Returns an instruction for a piece.
    fn for_piece(
        &self,
        mnemonic: &str,
        piece: u32,
        axis: Option<u32>,
        values: &[Expression],
    ) -> String {
        let piece = match self.names.pieces.get(piece as usize) {
            Some(name) => Cow::Borrowed(name.as_str()),
            None => Cow::Owned(format!("piece_{piece}")),
        };
        let axis = axis.map(|axis| match AXES.get(axis as usize) {
            Some(name) => (*name).to_owned(),
            None => format!("axis_{axis}"),
        });
        let axis = axis.unwrap_or_default();
        let unit = if mnemonic.starts_with("move") {
            LENGTH
        } else {
            ANGLE
        };
        let with_unit = |value: &Expression| match value.constant() {
            Some(value) => unit.text(value),
            None => self.nested(value),
        };
        match (mnemonic, values) {
            ("move" | "turn", [speed, to]) => {
                let (to, speed) = (with_unit(to), with_unit(speed));
                format!("{mnemonic} {piece} to {axis} {to} speed {speed}")
            }
            ("move-now" | "turn-now", [to]) => {
                let verb = mnemonic.trim_end_matches("-now");
                format!("{verb} {piece} to {axis} {} now", with_unit(to))
            }
            ("spin", [acceleration, speed]) => {
                let speed = with_unit(speed);
                match acceleration.constant() {
                    Some(0) => format!("spin {piece} around {axis} speed {speed}"),
                    _ => {
                        let more = with_unit(acceleration);
                        format!("spin {piece} around {axis} speed {speed} accelerate {more}")
                    }
                }
            }
            ("stop-spin", [less]) => match less.constant() {
                Some(0) => format!("stop-spin {piece} around {axis}"),
                _ => format!(
                    "stop-spin {piece} around {axis} decelerate {}",
                    with_unit(less)
                ),
            },
            ("wait-for-turn", _) => format!("wait-for-turn {piece} around {axis}"),
            ("wait-for-move", _) => format!("wait-for-move {piece} along {axis}"),
            ("explode", [kind]) => format!("explode {piece} type {}", self.top(kind)),
            ("emit-sfx", [kind]) => format!("emit-sfx {} from {piece}", self.nested(kind)),
            (mnemonic, _) => format!("{mnemonic} {piece}"),
        }
    }

    /// Returns an expression without parentheses around it.
    fn top(&self, expression: &Expression) -> String {
        match &expression.value {
            Value::Binary(sign, operands) => {
                let [left, right] = operands.each_ref().map(|one| self.nested(one));
                format!("{left} {sign} {right}")
            }
            Value::Get(port) => format!("get {}", self.port(port)),
            Value::GetOf(operands) => {
                let [port, rest @ ..] = &**operands;
                let rest = rest.iter().map(|one| self.top(one));
                let rest = rest.collect::<Vec<_>>().join(", ");
                format!("get {}({rest})", self.port(port))
            }
            _ => self.nested(expression),
        }
    }

    /// Returns an expression as an operand, because the precedence of operators differs
    /// among compilers.
    fn nested(&self, expression: &Expression) -> String {
        match &expression.value {
            Value::Constant(value) => value.to_string(),
            Value::Local(local) => self.names.local(self.script, *local),
            Value::Static(number) => self.names.fixed(*number),
            Value::Unary(sign, operand) => format!("{sign}{}", self.nested(operand)),
            Value::Binary(..) | Value::Get(_) | Value::GetOf(_) => {
                format!("({})", self.top(expression))
            }
            Value::Random(limits) => {
                let [low, high] = limits.each_ref().map(|one| self.top(one));
                format!("rand({low}, {high})")
            }
        }
    }

    /// Returns the number of a property with its name as a comment. Compilers know the
    /// name only from an included file.
    fn port(&self, port: &Expression) -> String {
        let text = self.nested(port);
        let number = port.constant().and_then(|port| usize::try_from(port).ok());
        match number.and_then(|number| PORTS.get(number.checked_sub(1)?)) {
            Some(name) => format!("{text} /* {name} */"),
            None => text,
        }
    }
}

/// Returns the variable that a part of a function declares.
fn declared(function: &Function, node: &Node) -> Option<u32> {
    match node {
        Node::Step(step) => match function.steps[*step].kind {
            StepKind::Declare(local) => Some(local),
            _ => None,
        },
        _ => None,
    }
}

/// Maximum number of declared static variables.
pub(super) const MAX_STATICS: u32 = 65536;

/// Returns a name without characters that would end its line.
pub(in crate::cob) fn plain(name: &Name) -> String {
    let text = name.text();
    text.chars().filter(|one| !one.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units_are_as_short_as_possible() {
        assert_eq!(LENGTH.text(-327_680), "[-2]");
        assert_eq!(LENGTH.text(81_920), "[0.5]");
        assert_eq!(LENGTH.text(1), "[0.000007]");
        assert_eq!(ANGLE.text(54_600), "<300>");
        assert_eq!(ANGLE.text(-91), "<-0.5>");
        assert_eq!(ANGLE.text(100), "<0.549451>");
    }

    #[test]
    fn a_number_with_a_unit_can_be_rounded_or_cut_off() {
        for unit in [LENGTH, ANGLE] {
            for value in (0..400_000).chain([i32::MIN, i32::MAX, -32_760]) {
                let text = unit.text(value);
                let number: f64 = text.trim_matches(unit.signs).parse().unwrap();
                let again = number * unit.scale as f64;
                assert_eq!(again.trunc(), f64::from(value), "{text}");
                assert_eq!(again.round(), f64::from(value), "{text}");
            }
        }
    }
}
