//! The code of a function as a list of statements and jumps.

use std::collections::HashSet;

use super::expression::{Expression, Value, binary, unary};
use crate::cob::parse::{Content, Instruction, Item, Operation};

/// The reason why a function is not written as BOS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lost(pub(super) &'static str);

/// A variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variable {
    Local(u32),
    Static(u32),
}

/// A statement or a jump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    /// Index of its first word.
    pub(super) at: u32,
    pub(super) kind: StepKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StepKind {
    /// A declaration of a local variable.
    Declare(u32),
    Assign(Variable, Expression),
    /// An instruction for a piece, with its values in code order.
    Piece {
        operation: &'static Operation,
        piece: u32,
        axis: Option<u32>,
        values: Vec<Expression>,
    },
    /// A script that is started or called.
    Call {
        operation: &'static Operation,
        script: u32,
        arguments: Vec<Expression>,
    },
    /// A sound of Kingdoms whose result is dropped.
    Sound(u32, Expression),
    /// A command to Kingdoms.
    Command(u32, Vec<Expression>),
    /// Another instruction with its values.
    Other(&'static Operation, Vec<Expression>),
    /// A jump to a word if the condition is 0.
    Test(Expression, u32),
    Jump(u32),
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    /// Number of parameters, which are the first local variables.
    pub(super) parameters: u32,
    /// Code after the declaration of the parameters.
    pub(super) steps: Vec<Step>,
    /// Index of the word after it.
    pub(super) end: u32,
}

impl Function {
    /// Combines the code of a function to statements. `parameters` is the number of
    /// arguments, if known.
    pub(super) fn new(items: &[Item<'_>], end: u32, parameters: u32) -> Result<Self, Lost> {
        let mut machine = Machine::default();
        for item in items {
            match item.content {
                Content::Instruction(instruction) => machine.run(item.at, instruction)?,
                Content::Text(_) | Content::Unknown(_) => {
                    return Err(Lost("it has words that are not instructions"));
                }
            }
        }
        if !machine.stack.is_empty() {
            return Err(Lost("its values are not used up"));
        }
        let mut steps = machine.steps;
        let declared = steps
            .iter()
            .take_while(|step| matches!(step.kind, StepKind::Declare(_)));
        let parameters = parameters.min(declared.count() as u32);
        steps.drain(..parameters as usize);
        let end = match items.last() {
            // Without the compiler's text after it.
            Some(last) => end.min(last.at + words(last)),
            None => end,
        };
        let function = Self {
            parameters,
            steps,
            end,
        };
        match function.has_sound_jumps() {
            true => Ok(function),
            false => Err(Lost("a jump leaves it or goes into a statement")),
        }
    }

    /// Returns the targets of its jumps.
    pub(super) fn targets(&self) -> HashSet<u32> {
        let targets = self.steps.iter().filter_map(|step| match step.kind {
            StepKind::Test(_, target) | StepKind::Jump(target) => Some(target),
            _ => None,
        });
        targets.collect()
    }

    fn has_sound_jumps(&self) -> bool {
        let mut begins: HashSet<u32> = self.steps.iter().map(|step| step.at).collect();
        begins.insert(self.end);
        self.targets().is_subset(&begins)
    }
}

/// Returns the number of words of an item of the code.
fn words(item: &Item<'_>) -> u32 {
    match item.content {
        Content::Instruction(instruction) => 1 + instruction.operands().count() as u32,
        Content::Text(_) | Content::Unknown(_) => 1,
    }
}

/// Executes instructions with expressions instead of numbers.
#[derive(Default)]
struct Machine {
    steps: Vec<Step>,
    stack: Vec<Expression>,
    locals: u32,
    /// A sound whose result is on the stack.
    sound: Option<(u32, u32, Expression)>,
}

impl Machine {
    fn run(&mut self, at: u32, instruction: Instruction) -> Result<(), Lost> {
        let operation = instruction.operation;
        let mut operands = instruction.operands().map(|(_, value)| value);
        let mut operand = || {
            operands
                .next()
                .ok_or(Lost("its code ends in an instruction"))
        };
        if let Some((at, name, priority)) = self.sound.take() {
            return match operation.mnemonic {
                "pop" => self.step(at, StepKind::Sound(name, priority)),
                _ => Err(Lost("it uses the result of a sound")),
            };
        }
        match operation.mnemonic {
            "push" => self.push(at, Value::Constant(operand()? as i32)),
            "push-local" => self.push(at, Value::Local(operand()?)),
            "push-static" => self.push(at, Value::Static(operand()?)),
            "rand" => self.compute(|operands| Value::Random(Box::new(operands))),
            "get" => self.compute(|[port]: [_; 1]| Value::Get(Box::new(port))),
            "get4" => self.compute(|operands| Value::GetOf(Box::new(operands))),
            "pop" => {
                let [value] = self.take()?;
                match value.value {
                    Value::Get(_) | Value::GetOf(_) => {
                        self.step(value.at, StepKind::Other(operation, vec![value]))
                    }
                    _ => Err(Lost("a value is dropped")),
                }
            }
            "create-local" => {
                self.locals += 1;
                self.step(at, StepKind::Declare(self.locals - 1))
            }
            "pop-local" => self.assign(Variable::Local(operand()?)),
            "pop-static" => self.assign(Variable::Static(operand()?)),
            "jump" => self.step(at, StepKind::Jump(operand()?)),
            "jump-if-zero" => {
                let target = operand()?;
                let [condition] = self.take()?;
                self.step(condition.at, StepKind::Test(condition, target))
            }
            "play-sound" => {
                let name = operand()?;
                let [priority] = self.take()?;
                self.sound = Some((priority.at, name, priority));
                Ok(())
            }
            "start-script" | "call-script" => {
                let (script, count) = (operand()?, operand()?);
                let arguments = self.take_list(count as usize)?;
                let at = arguments.first().map_or(at, |first| first.at);
                let kind = StepKind::Call {
                    operation,
                    script,
                    arguments,
                };
                self.step(at, kind)
            }
            "mission-command" => {
                let (command, count) = (operand()?, operand()?);
                let arguments = self.take_list(count as usize)?;
                let at = arguments.first().map_or(at, |first| first.at);
                self.step(at, StepKind::Command(command, arguments))
            }
            "return" if self.stack.is_empty() => self.return_nothing(operation),
            mnemonic => {
                if let Some(sign) = binary(mnemonic) {
                    return self.compute(|operands| Value::Binary(sign, Box::new(operands)));
                }
                if let Some(sign) = unary(mnemonic) {
                    return self.compute(|[one]: [_; 1]| Value::Unary(sign, Box::new(one)));
                }
                let (values, has_piece, has_axis) = shape(mnemonic)?;
                let piece = has_piece.then(&mut operand).transpose()?;
                let axis = has_axis.then(&mut operand).transpose()?;
                let values = self.take_list(values)?;
                let at = values.first().map_or(at, |first| first.at);
                let kind = match piece {
                    Some(piece) => StepKind::Piece {
                        operation,
                        piece,
                        axis,
                        values,
                    },
                    None => StepKind::Other(operation, values),
                };
                self.step(at, kind)
            }
        }
    }

    /// Compilers for Kingdoms write a return without a value as the return of a new
    /// variable.
    fn return_nothing(&mut self, operation: &'static Operation) -> Result<(), Lost> {
        let last = self.steps.pop();
        let declared = last.filter(|step| matches!(step.kind, StepKind::Declare(_)));
        let declared = declared.ok_or(Lost("a value is missing"))?;
        self.locals -= 1;
        self.step(declared.at, StepKind::Other(operation, Vec::new()))
    }

    fn push(&mut self, at: u32, value: Value) -> Result<(), Lost> {
        self.stack.push(Expression::leaf(at, value));
        Ok(())
    }

    /// Replaces the operands on the stack by their result.
    fn compute<const N: usize>(
        &mut self,
        value: impl FnOnce([Expression; N]) -> Value,
    ) -> Result<(), Lost> {
        let operands = self.take_some()?;
        let result = Expression::of(operands, value);
        self.stack
            .push(result.ok_or(Lost("an expression is too deep"))?);
        Ok(())
    }

    fn assign(&mut self, variable: Variable) -> Result<(), Lost> {
        let [value] = self.take()?;
        self.step(value.at, StepKind::Assign(variable, value))
    }

    /// Adds a step, which must leave the stack empty.
    fn step(&mut self, at: u32, kind: StepKind) -> Result<(), Lost> {
        if !self.stack.is_empty() {
            return Err(Lost("values stay on the stack between statements"));
        }
        self.steps.push(Step { at, kind });
        Ok(())
    }

    /// Takes all values of a statement from the stack.
    fn take<const N: usize>(&mut self) -> Result<[Expression; N], Lost> {
        self.take_some()
    }

    fn take_some<const N: usize>(&mut self) -> Result<[Expression; N], Lost> {
        let values = self.take_list(N)?;
        values.try_into().map_err(|_| Lost("a value is missing"))
    }

    fn take_list(&mut self, count: usize) -> Result<Vec<Expression>, Lost> {
        let rest = self.stack.len().checked_sub(count);
        let rest = rest.ok_or(Lost("a value is missing"))?;
        Ok(self.stack.split_off(rest))
    }
}

/// Returns the number of values of a statement's instruction, and whether it has a
/// piece and an axis.
fn shape(mnemonic: &str) -> Result<(usize, bool, bool), Lost> {
    Ok(match mnemonic {
        "move" | "turn" | "spin" => (2, true, true),
        "move-now" | "turn-now" | "stop-spin" => (1, true, true),
        "wait-for-turn" | "wait-for-move" => (0, true, true),
        "explode" | "emit-sfx" => (1, true, false),
        "show" | "hide" | "cache" | "dont-cache" | "dont-shadow" | "shade" | "dont-shade" => {
            (0, true, false)
        }
        "sleep" | "return" | "signal" | "set-signal-mask" | "drop-unit" => (1, false, false),
        "set" => (2, false, false),
        "attach-unit" => (3, false, false),
        _ => return Err(Lost("BOS has no word for one of its instructions")),
    })
}
