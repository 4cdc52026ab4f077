//! The words of COB that the names and signs of BOS stand for.

pub(super) const AXES: [&str; 3] = ["x-axis", "y-axis", "z-axis"];

pub(super) const PORTS: [&str; 20] = [
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

pub(super) const OPERATORS: [(&str, u32); 16] = [
    ("+", 0x1003_1000),
    ("-", 0x1003_2000),
    ("*", 0x1003_3000),
    ("/", 0x1003_4000),
    ("&", 0x1003_5000),
    ("|", 0x1003_6000),
    ("^", 0x1003_7000),
    ("<", 0x1005_1000),
    ("<=", 0x1005_2000),
    (">", 0x1005_3000),
    (">=", 0x1005_4000),
    ("==", 0x1005_5000),
    ("!=", 0x1005_6000),
    ("&&", 0x1005_7000),
    ("||", 0x1005_8000),
    ("^^", 0x1005_9000),
];

/// Statements of a word and a piece.
pub(super) const OF_PIECE: [(&str, u32); 7] = [
    ("show", 0x1000_5000),
    ("hide", 0x1000_6000),
    ("cache", 0x1000_7000),
    ("dont-cache", 0x1000_8000),
    ("dont-shadow", 0x1000_A000),
    ("shade", 0x1000_D000),
    ("dont-shade", 0x1000_E000),
];

/// Statements of a word and a value.
pub(super) const OF_VALUE: [(&str, u32); 5] = [
    ("sleep", 0x1001_3000),
    ("return", 0x1006_5000),
    ("signal", 0x1006_7000),
    ("set-signal-mask", 0x1006_8000),
    ("drop-unit", 0x1008_4000),
];

pub(super) const PUSH: u32 = 0x1002_1001;
pub(super) const JUMP: u32 = 0x1006_4000;
pub(super) const JUMP_IF_ZERO: u32 = 0x1006_6000;
