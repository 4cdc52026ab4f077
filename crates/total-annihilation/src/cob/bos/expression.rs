//! Expressions.

/// Maximum depth of an expression. Real expressions have less than ten levels.
const MAX_DEPTH: u8 = 64;

/// The value of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Constant(i32),
    Local(u32),
    Static(u32),
    /// An operator in front of its operand.
    Unary(&'static str, Box<Expression>),
    /// An operator between its operands.
    Binary(&'static str, Box<[Expression; 2]>),
    /// A random number between two.
    Random(Box<[Expression; 2]>),
    /// A property of the unit or the game.
    Get(Box<Expression>),
    /// A property that depends on four values, which follow its number.
    GetOf(Box<[Expression; 5]>),
}

/// An expression, and where its code begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expression {
    /// Index of its first word.
    pub(super) at: u32,
    depth: u8,
    pub(super) value: Value,
}

impl Expression {
    /// Creates an expression without operands.
    pub(super) fn leaf(at: u32, value: Value) -> Self {
        Self {
            at,
            depth: 0,
            value,
        }
    }

    /// Creates an expression with operands. Its code begins with the code of the first
    /// operand. Returns `None` if it is too deep.
    pub(super) fn of<const N: usize>(
        operands: [Self; N],
        value: impl FnOnce([Self; N]) -> Value,
    ) -> Option<Self> {
        let at = operands.first()?.at;
        let depths = operands.iter().map(|operand| operand.depth);
        let depth = depths.max()? + 1;
        (depth <= MAX_DEPTH).then(|| Self {
            at,
            depth,
            value: value(operands),
        })
    }

    /// Returns whether another expression has the same value, regardless of its
    /// position.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same = |ours: &[Self], theirs: &[Self]| {
            ours.iter()
                .zip(theirs)
                .all(|(one, other)| one.is_same(other))
        };
        match (&self.value, &other.value) {
            (Value::Unary(sign, one), Value::Unary(other_sign, other)) => {
                sign == other_sign && one.is_same(other)
            }
            (Value::Binary(sign, ours), Value::Binary(other_sign, theirs)) => {
                sign == other_sign && same(&**ours, &**theirs)
            }
            // Two random numbers differ.
            (Value::Random(_), _) => false,
            (Value::Get(one), Value::Get(other)) => one.is_same(other),
            (Value::GetOf(ours), Value::GetOf(theirs)) => same(&**ours, &**theirs),
            (one, other) => one == other,
        }
    }

    /// Visits the value and the values of its operands.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(&Value)) {
        visit(&self.value);
        let operands: &[Self] = match &self.value {
            Value::Constant(_) | Value::Local(_) | Value::Static(_) => &[],
            Value::Unary(_, operand) | Value::Get(operand) => std::slice::from_ref(operand),
            Value::Binary(_, operands) | Value::Random(operands) => &**operands,
            Value::GetOf(operands) => &**operands,
        };
        operands.iter().for_each(|operand| operand.visit(visit));
    }

    /// Returns the value of a constant.
    pub(super) fn constant(&self) -> Option<i32> {
        match self.value {
            Value::Constant(value) => Some(value),
            _ => None,
        }
    }
}

/// Returns the operator of an instruction with two operands.
pub(in crate::cob) fn binary(mnemonic: &str) -> Option<&'static str> {
    Some(match mnemonic {
        "add" => "+",
        "sub" => "-",
        "mul" => "*",
        "div" => "/",
        "and" => "&",
        "or" => "|",
        "xor" => "^",
        "lt" => "<",
        "le" => "<=",
        "gt" => ">",
        "ge" => ">=",
        "eq" => "==",
        "ne" => "!=",
        "land" => "&&",
        "lor" => "||",
        "lxor" => "^^",
        _ => return None,
    })
}

/// Returns the operator of an instruction with one operand.
pub(in crate::cob) fn unary(mnemonic: &str) -> Option<&'static str> {
    match mnemonic {
        "not" => Some("~"),
        "lnot" => Some("!"),
        _ => None,
    }
}
