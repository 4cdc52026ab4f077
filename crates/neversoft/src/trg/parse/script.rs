//! Commands, and statements of scripts.

use super::fields::{align, numbers, text};
use super::table::{self, Row};
use hpimount_containers::io::{Cursor, Error, Result};

/// The end of commands.
const END: u16 = 0xFFFF;

/// Maximum nesting depth of the values of a statement.
const MAX_NESTING: usize = 8;

/// A command or statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Name.
    pub name: &'static str,
    /// Arguments.
    pub arguments: Vec<Argument>,
}

/// An argument of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// A number.
    Number(i32),
    /// A hash or a color.
    Hash(u32),
    /// A text.
    Text(String),
    /// The corners of a box.
    Box([i32; 6]),
    /// A variable with its own arguments.
    Variable(Command),
}

/// Reads commands up to their end. At an unknown or damaged command, the cursor stays
/// there, because its length is unknown.
pub(super) fn commands(cursor: &mut Cursor<'_>, minor: u16) -> Vec<Command> {
    let mut commands = Vec::new();
    while cursor.remaining() >= 2 {
        let mut ahead = cursor.clone();
        match read_command(&mut ahead, minor) {
            Ok(Some(command)) => commands.push(command),
            Ok(None) => {
                // Data after the end does not belong to a command.
                let _ = cursor.take(cursor.remaining(), "rest");
                return commands;
            }
            Err(_) => return commands,
        }
        *cursor = ahead;
    }
    commands
}

/// Reads a command; `None` at the end.
fn read_command(cursor: &mut Cursor<'_>, minor: u16) -> Result<Option<Command>> {
    let at = cursor.offset();
    let number = cursor.u16("command")?;
    let row = match number {
        END => return Ok(None),
        number if minor == 1 && number == table::BMX_GAP.0 => Some(table::BMX_GAP),
        number => table::row(table::COMMANDS, number),
    };
    let (_, name, letters) = row.ok_or_else(|| unknown(at, number))?;
    Ok(Some(command(cursor, name, letters, 0)?))
}

/// Reads the statements of a script up to the end of the node, because some scripts
/// continue after their end. At an unknown or damaged statement, the cursor stays
/// there.
pub(super) fn script(cursor: &mut Cursor<'_>) -> Vec<Command> {
    let mut statements = Vec::new();
    while cursor.remaining() >= 2 {
        let mut ahead = cursor.clone();
        match statement(&mut ahead) {
            Ok(statement) => statements.push(statement),
            Err(_) => return statements,
        }
        *cursor = ahead;
    }
    statements
}

/// Reads a statement: an instruction, or an assignment to a variable.
fn statement(cursor: &mut Cursor<'_>) -> Result<Command> {
    let at = cursor.offset();
    let number = cursor.u16("statement")?;
    if let Some((_, name, letters)) = table::row(table::STATEMENTS, number) {
        return command(cursor, name, letters, 0);
    }
    let (_, name, letters) =
        table::row(table::VARIABLES, number).ok_or_else(|| unknown(at, number))?;
    let mut statement = command(cursor, name, letters, 0)?;
    if let Some((_, _, letters)) = table::row(table::ASSIGNED, number) {
        let assigned = command(cursor, name, letters, 0)?;
        statement.arguments.extend(assigned.arguments);
    }
    Ok(statement)
}

fn unknown(at: u64, number: u16) -> Error {
    Error::damaged(at, "command", format!("is {number:#06x}, which is unknown"))
}

/// Reads the arguments of a command.
fn command(
    cursor: &mut Cursor<'_>,
    name: &'static str,
    letters: &str,
    depth: usize,
) -> Result<Command> {
    let mut arguments = Vec::new();
    for letter in letters.bytes() {
        argument(cursor, letter, depth, &mut arguments)?;
    }
    Ok(Command { name, arguments })
}

/// Reads the argument for a letter of a [`Row`].
fn argument(
    cursor: &mut Cursor<'_>,
    letter: u8,
    depth: usize,
    arguments: &mut Vec<Argument>,
) -> Result<()> {
    match letter {
        b'h' => arguments.push(Argument::Number(cursor.i16("argument")?.into())),
        b'H' => arguments.push(Argument::Number(cursor.u16("argument")?.into())),
        b'c' => {
            align(cursor, 4);
            arguments.push(Argument::Hash(cursor.u32("hash")?));
        }
        b'd' => {
            let (high, low) = (cursor.u16("color")?, cursor.u16("color")?);
            arguments.push(Argument::Hash(u32::from(high) << 16 | u32::from(low)));
        }
        b's' => arguments.push(Argument::Text(text(cursor)?)),
        b'S' => loop {
            match text(cursor)? {
                text if text.is_empty() => break,
                text => arguments.push(Argument::Text(text)),
            }
        },
        b'b' => {
            align(cursor, 4);
            arguments.extend(numbers::<6>(cursor, "box")?.map(Argument::Number));
        }
        b'B' => loop {
            let mut ahead = cursor.clone();
            if ahead.u16("box")? == 255 {
                *cursor = ahead;
                break;
            }
            align(cursor, 4);
            arguments.push(Argument::Box(numbers(cursor, "box")?));
        },
        b'p' => {
            align(cursor, 4);
            arguments.extend(numbers::<3>(cursor, "position")?.map(Argument::Number));
        }
        _ => arguments.push(value(cursor, depth + 1)?),
    }
    Ok(())
}

/// Reads a value: a number, or a variable with its own arguments.
fn value(cursor: &mut Cursor<'_>, depth: usize) -> Result<Argument> {
    let at = cursor.offset();
    let number = cursor.i16("value")?;
    if number as u16 & 0xF000 != 0x2000 {
        return Ok(Argument::Number(number.into()));
    }
    let row: Option<Row> = table::row(table::VARIABLES, number as u16);
    match row {
        Some((_, name, letters)) if depth <= MAX_NESTING => {
            command(cursor, name, letters, depth).map(Argument::Variable)
        }
        _ => Err(unknown(at, number as u16)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_containers::io::Endian;

    fn read(words: &[u16]) -> (Vec<Command>, usize) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut cursor = Cursor::new(&bytes, 0, Endian::Little);
        let statements = script(&mut cursor);
        (statements, cursor.remaining())
    }

    #[test]
    fn values_are_numbers_or_variables() {
        // C_IF_GT V_REGISTER(1) -5; V_RANDOM is assigned nothing.
        let (statements, left) = read(&[0x4112, 0x2120, 1, 0xFFFB, 0x2129, 9]);
        let register = Command {
            name: "V_REGISTER",
            arguments: vec![Argument::Number(1)],
        };
        assert_eq!(statements[0].name, "C_IF_GT");
        assert_eq!(
            statements[0].arguments,
            [Argument::Variable(register), Argument::Number(-5)]
        );
        assert_eq!(statements[1].arguments, [Argument::Number(9)]);
        assert_eq!((statements.len(), left), (2, 0));
    }

    #[test]
    fn values_that_are_nested_too_deeply_are_not_read() {
        let nested = |depth: usize| [vec![0x42B1], vec![0x212B; depth], vec![7]].concat();
        assert_eq!(read(&nested(MAX_NESTING)).1, 0);
        let deep = nested(MAX_NESTING + 1);
        assert_eq!(read(&deep), (Vec::new(), 2 * deep.len()));
    }
}
