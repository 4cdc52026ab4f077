//! The instructions (FORMATS, TA 5).

/// The meaning of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandKind {
    /// Number of a piece.
    Piece,
    /// Axis: 0 is x, 1 is y, 2 is z.
    Axis,
    /// A value: a signed number.
    Value,
    /// Number of a local variable.
    Local,
    /// Number of a static variable.
    Static,
    /// Index of a word of the code.
    Jump,
    /// Number of a script.
    Script,
    /// Number of arguments on the stack.
    Count,
    /// Number of a string.
    String,
}

/// An instruction, apart from its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// First word.
    pub opcode: u32,
    /// Name in assembler text.
    pub mnemonic: &'static str,
    /// The meanings of the operands.
    pub operands: &'static [OperandKind],
}

impl Operation {
    /// Returns the instruction with this first word.
    pub fn find(opcode: u32) -> Option<&'static Self> {
        let index = OPERATIONS.binary_search_by_key(&opcode, |operation| operation.opcode);
        OPERATIONS.get(index.ok()?)
    }

    /// Returns the first instruction that satisfies a condition.
    pub(in crate::cob) fn find_by(is_it: impl Fn(&Self) -> bool) -> Option<&'static Self> {
        OPERATIONS.iter().find(|operation| is_it(operation))
    }
}

const fn operation(
    opcode: u32,
    mnemonic: &'static str,
    operands: &'static [OperandKind],
) -> Operation {
    Operation {
        opcode,
        mnemonic,
        operands,
    }
}

use OperandKind::{Axis, Count, Jump, Local, Piece, Script, Static, String, Value};

/// All instructions, sorted by opcode. Unknown ones are named after the middle of their
/// opcode.
const OPERATIONS: [Operation; 62] = [
    operation(0x1000_1000, "move", &[Piece, Axis]),
    operation(0x1000_2000, "turn", &[Piece, Axis]),
    operation(0x1000_3000, "spin", &[Piece, Axis]),
    operation(0x1000_4000, "stop-spin", &[Piece, Axis]),
    operation(0x1000_5000, "show", &[Piece]),
    operation(0x1000_6000, "hide", &[Piece]),
    operation(0x1000_7000, "cache", &[Piece]),
    operation(0x1000_8000, "dont-cache", &[Piece]),
    operation(0x1000_A000, "dont-shadow", &[Piece]),
    operation(0x1000_B000, "move-now", &[Piece, Axis]),
    operation(0x1000_C000, "turn-now", &[Piece, Axis]),
    operation(0x1000_D000, "shade", &[Piece]),
    operation(0x1000_E000, "dont-shade", &[Piece]),
    operation(0x1000_F000, "emit-sfx", &[Piece]),
    operation(0x1001_1000, "wait-for-turn", &[Piece, Axis]),
    operation(0x1001_2000, "wait-for-move", &[Piece, Axis]),
    operation(0x1001_3000, "sleep", &[]),
    operation(0x1002_1001, "push", &[Value]),
    operation(0x1002_1002, "push-local", &[Local]),
    operation(0x1002_1004, "push-static", &[Static]),
    operation(0x1002_2000, "create-local", &[]),
    operation(0x1002_3002, "pop-local", &[Local]),
    operation(0x1002_3004, "pop-static", &[Static]),
    operation(0x1002_4000, "pop", &[]),
    operation(0x1003_1000, "add", &[]),
    operation(0x1003_2000, "sub", &[]),
    operation(0x1003_3000, "mul", &[]),
    operation(0x1003_4000, "div", &[]),
    operation(0x1003_5000, "and", &[]),
    operation(0x1003_6000, "or", &[]),
    operation(0x1003_7000, "xor", &[]),
    operation(0x1003_8000, "not", &[]),
    operation(0x1003_9000, "op_39", &[]),
    operation(0x1003_A000, "op_3a", &[]),
    operation(0x1003_B000, "op_3b", &[]),
    operation(0x1004_1000, "rand", &[]),
    operation(0x1004_2000, "get", &[]),
    operation(0x1004_3000, "get4", &[]),
    operation(0x1005_1000, "lt", &[]),
    operation(0x1005_2000, "le", &[]),
    operation(0x1005_3000, "gt", &[]),
    operation(0x1005_4000, "ge", &[]),
    operation(0x1005_5000, "eq", &[]),
    operation(0x1005_6000, "ne", &[]),
    operation(0x1005_7000, "land", &[]),
    operation(0x1005_8000, "lor", &[]),
    operation(0x1005_9000, "lxor", &[]),
    operation(0x1005_A000, "lnot", &[]),
    operation(0x1006_1000, "start-script", &[Script, Count]),
    operation(0x1006_2000, "call-script", &[Script, Count]),
    operation(0x1006_3000, "op_63", &[Script, Count]),
    operation(0x1006_4000, "jump", &[Jump]),
    operation(0x1006_5000, "return", &[]),
    operation(0x1006_6000, "jump-if-zero", &[Jump]),
    operation(0x1006_7000, "signal", &[]),
    operation(0x1006_8000, "set-signal-mask", &[]),
    operation(0x1007_1000, "explode", &[Piece]),
    operation(0x1007_2000, "play-sound", &[String]),
    operation(0x1007_3000, "mission-command", &[String, Count]),
    operation(0x1008_2000, "set", &[]),
    operation(0x1008_3000, "attach-unit", &[]),
    operation(0x1008_4000, "drop-unit", &[]),
];

/// Maximum number of operands of an instruction.
pub(super) const MAX_OPERANDS: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_mnemonics_are_unique() {
        let sorted = OPERATIONS.windows(2);
        assert!(
            sorted
                .into_iter()
                .all(|pair| pair[0].opcode < pair[1].opcode)
        );
        let names = OPERATIONS.iter().map(|operation| operation.mnemonic);
        let names: std::collections::HashSet<_> = names.collect();
        assert_eq!(names.len(), OPERATIONS.len());
        let operands = OPERATIONS.iter().map(|operation| operation.operands.len());
        assert_eq!(operands.max(), Some(MAX_OPERANDS));
        let found = Operation::find(0x1008_3000).unwrap();
        assert_eq!((found.mnemonic, found.operands), ("attach-unit", &[][..]));
        assert!(Operation::find(0x1000_9000).is_none());
    }
}
