//! The commands of nodes and scripts, and their arguments.

/// A number, its name, and a letter for each argument:
///
/// ```text
/// h  signed 16-bit number          s  text
/// H  unsigned 16-bit number        S  texts up to an empty one
/// c  aligned 32-bit hash           b  aligned box: six 32-bit numbers
/// d  color: two words, high first  B  boxes up to a word 255
/// p  aligned position              v  value: a number or a variable
/// ```
pub(super) type Row = (u16, &'static str, &'static str);

/// Returns the row of a number. Tables are sorted by number.
pub(super) fn row(table: &[Row], number: u16) -> Option<Row> {
    let index = table.binary_search_by_key(&number, |row| row.0).ok()?;
    Some(table[index])
}

/// Commands of the levels.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Row] = &[
    (2, "SetCheatRestarts", "S"),
    (3, "SendPulse", ""),
    (4, "SendActivate", ""),
    (5, "SendSuspend", ""),
    (10, "SendSignal", ""),
    (11, "SendKill", ""),
    (12, "SendKillLoudly", ""),
    (13, "SendVisible", "h"),
    (102, "WaterEffectOn", ""),
    (103, "WaterEffectOff", ""),
    (104, "SetFoggingParams", "HHH"),
    (105, "PlaySound", "h"),
    (106, "StopSound", "h"),
    (110, "ClearAllPSXs", ""),
    (119, "DebugText", "s"),
    (126, "SpoolIn", "s"),
    (127, "SpoolOut", "s"),
    (128, "SpoolEnv", "s"),
    (129, "SpoolLock", ""),
    (130, "SetCamAngle", "hh"),
    (131, "BackgroundOn", "h"),
    (132, "BackgroundOff", "h"),
    (133, "KillEverythingInBox", "b"),
    (134, "SetInitialPulses", "h"),
    (135, "SetCamDistXZ", "hh"),
    (136, "AllowXA", ""),
    (137, "DisallowXA", ""),
    (138, "SeekXA", ""),
    (139, "PlayXA", "hh"),
    (140, "SetRestart", "s"),
    (141, "SetVisibilityInBox", "hhB"),
    (142, "SetObjFile", "s"),
    (143, "SetCamDistY", "hh"),
    (144, "SetCamOffsetX", "hh"),
    (145, "SetCamOffsetY", "hh"),
    (146, "SetCamOffsetZ", "hh"),
    (147, "SetGameLevel", "h"),
    (148, "IfPulseCount", "h"),
    (149, "Endif", ""),
    (150, "MIDIChannelMute", "h"),
    (151, "SetDualBufferSize", "h"),
    (152, "KillBruce", ""),
    (153, "SetCamColijSide", "h"),
    (155, "MIDIFadeIn", "h"),
    (156, "MIDIFadeOut", "h"),
    (157, "SetReverbType", "h"),
    (158, "EndLevel", ""),
    (159, "SpoolMidi", "s"),
    (160, "SetCamMode", "h"),
    (161, "SetComplexMode", "h"),
    (162, "ClearAllCodeModules", ""),
    (163, "IgnoreBruceInput", "h"),
    (166, "SetOTPushback", "h"),
    (167, "SetCamZoom", "hh"),
    (168, "SetCamPitchDamp", "h"),
    (169, "SetOTPushback2", "h"),
    (170, "SetSuspendDistance", "h"),
    (171, "BackgroundCreate", "chhh"),
    (172, "SetCamYDamp", "h"),
    (173, "SetCamFocusEqualsTripod", ""),
    (176, "SetRestart2", "s"),
    (178, "SetRestart2Player", "s"),
    (181, "LoadNewTrg", "s"),
    (189, "SpoolCodeModule", "s"),
    (190, "RunCinema", "h"),
    (195, "WideScreen", "h"),
    (200, "SetFadeColor", "d"),
    (201, "GapPolyHit", "ch"),
    (202, "SetSkyColor", "d"),
    (203, "SetCareerFlag", "h"),
    (204, "IfCareerFlag", "h"),
    (300, "AllowSpeedup", ""),
    (301, "DisallowSpeedup", ""),
    (302, "EndLevelNode", "h"),
];

/// The command that replaces another one in Mat Hoffman's Pro BMX.
pub(super) const BMX_GAP: Row = (204, "Gap", "hhs");

/// Variables of scripts, as values.
#[rustfmt::skip]
pub(super) const VARIABLES: &[Row] = &[
    (0x2100, "V_HEALTH", ""),
    (0x2101, "V_DAMAGE", ""),
    (0x2114, "V_VARIABLE_0", ""),
    (0x2115, "V_VARIABLE_1", ""),
    (0x2120, "V_REGISTER", "H"),
    (0x2121, "V_HEIGHT", ""),
    (0x2122, "V_TIMER", ""),
    (0x2123, "V_APPLY_GRAVITY", ""),
    (0x2124, "V_MODEL_INDEX", ""),
    (0x2125, "V_ATTRIBUTE", "H"),
    (0x2127, "V_ANGULAR_VELOCITY", "vvv"),
    (0x2128, "V_ANGULAR_ACCELERATION", "hhh"),
    (0x2129, "V_RANDOM", "H"),
    (0x212A, "V_MY_NODE", ""),
    (0x212B, "V_LINKED_NODE", "v"),
    (0x212C, "V_INPUT_SIGNAL", ""),
    (0x212D, "V_FACING", ""),
    (0x212E, "V_COUNTER", ""),
    (0x212F, "V_MODEL_CHECKSUM", "c"),
    (0x2131, "V_GRAVITY_FLAG", ""),
    (0x2132, "V_BRUCE_XZ_DIST", ""),
    (0x2133, "V_LINE_OF_SIGHT", ""),
    (0x2134, "V_VELOCITY", "hhh"),
    (0x2135, "V_CHECKSUM_2", "c"),
    (0x2136, "V_FMV_FRAME", ""),
    (0x2137, "V_ANGLES", "hhh"),
    (0x2138, "V_SENT_DEATH_PULSE", "H"),
    (0x2140, "V_POS_X", ""),
    (0x2141, "V_POS_Y", ""),
    (0x2142, "V_POS_Z", ""),
    (0x2150, "V_PLAYER_X", ""),
    (0x2151, "V_PLAYER_Y", ""),
    (0x2152, "V_PLAYER_Z", ""),
    (0x2200, "V_COLLISION_COUNT", ""),
];

/// The value assigned to a variable in a statement, after the variable's own arguments.
#[rustfmt::skip]
pub(super) const ASSIGNED: &[Row] = &[
    (0x2100, "V_HEALTH", "v"),
    (0x2101, "V_DAMAGE", "v"),
    (0x2114, "V_VARIABLE_0", "v"),
    (0x2115, "V_VARIABLE_1", "v"),
    (0x2120, "V_REGISTER", "v"),
    (0x2121, "V_HEIGHT", "v"),
    (0x2122, "V_TIMER", "v"),
    (0x2123, "V_APPLY_GRAVITY", "H"),
    (0x2124, "V_MODEL_INDEX", "v"),
    (0x2125, "V_ATTRIBUTE", "H"),
    (0x212C, "V_INPUT_SIGNAL", "H"),
    (0x212D, "V_FACING", "v"),
    (0x212E, "V_COUNTER", "v"),
    (0x2131, "V_GRAVITY_FLAG", "v"),
];

/// Statements of scripts.
#[rustfmt::skip]
pub(super) const STATEMENTS: &[Row] = &[
    (0x4100, "C_DONE", ""),
    (0x4101, "C_GOTO", "H"),
    (0x4102, "C_GOTO_BREAK", "H"),
    (0x4104, "C_LABEL", "H"),
    (0x4105, "C_READ_LABELS", ""),
    (0x4107, "C_BREAK", ""),
    (0x4110, "C_ADD", "vv"),
    (0x4112, "C_IF_GT", "vv"),
    (0x4113, "C_IF_LT", "vv"),
    (0x4114, "C_IF_EQ", "vv"),
    (0x4115, "C_IF_FLAG_SET", "v"),
    (0x4116, "C_IF_FLAG_CLEAR", "v"),
    (0x4117, "C_IF_WHAT_IF", ""),
    (0x4120, "C_ENDIF", ""),
    (0x4200, "C_LOAD_MODEL", "s"),
    (0x4201, "C_CYCLE_ANIM", "HH"),
    (0x4202, "C_RUN_ANIM", "H"),
    (0x4203, "C_DISPLAY_ON", ""),
    (0x4204, "C_DISPLAY_OFF", ""),
    (0x4205, "C_DIE_QUIETLY", ""),
    (0x4220, "C_MOVE_TO_ABSOLUTE", "p"),
    (0x4221, "C_MOVE_TO_NODE", "v"),
    (0x4222, "C_MOVE_RELATIVE", "p"),
    (0x4226, "C_ZERO_VELOCITY", ""),
    (0x4227, "C_SET_BOUNCE_ANIM", "H"),
    (0x4240, "C_RESET_INPUT", ""),
    (0x4280, "C_WAIT", "v"),
    (0x4281, "C_WAIT_FOR_SIGNAL", ""),
    (0x4290, "C_PLAY_SFX", "h"),
    (0x4291, "C_PLAY_POSITIONAL_SFX", "h"),
    (0x4292, "C_SPARK", "H"),
    (0x4293, "C_SET_FMV_CHECKSUM", "c"),
    (0x4294, "C_START_FMV", ""),
    (0x4295, "C_NOP", ""),
    (0x4296, "C_MIDI_FADE_IN", "H"),
    (0x4297, "C_MIDI_FADE_OUT", "H"),
    (0x4298, "C_SHAKE_CAMERA", "H"),
    (0x4299, "C_SET_FMV_TRACK", "H"),
    (0x429B, "C_SMOKEJET_ON", "HHHHHH"),
    (0x429C, "C_FLASH_SCREEN", "HHHHH"),
    (0x429D, "C_NOP_FR", ""),
    (0x429E, "C_SET_WATER_LEVEL", ""),
    (0x429F, "C_SMOKEJET_OFF", ""),
    (0x42A2, "C_SET_WATER_DAMAGE", "H"),
    (0x42A6, "C_MOVE_TO_SELF", ""),
    (0x42B0, "C_TEXT_MESSAGE", "s"),
    (0x42B1, "C_SEND_PULSE_TO_LINKS", "v"),
    (0x42B2, "C_SEND_PULSE_TO_LINKS_B", "v"),
    (0x42B3, "C_SEND_SIGNAL_TO_NODE", "v"),
    (0x42B4, "C_SEND_PULSE_TO_NODE", "v"),
    (0x42C0, "C_GOALCOUNTER", "H"),
    (0x4300, "C_WAIT_FOR_COLLISION", ""),
    (0x4301, "C_SHATTER", ""),
    (0x4302, "C_SET_ROTATION", "hhh"),
    (0x4303, "C_SET_MOVE_SPEED", "H"),
    (0x4304, "C_SCALE_ALL", "HH"),
    (0x4305, "C_SET_SOLID", "H"),
    (0x4306, "C_SCALE_X", "vv"),
    (0x4307, "C_SCALE_Y", "vv"),
    (0x4308, "C_SCALE_Z", "vv"),
    (0x4309, "C_IS_BOUNCY", "H"),
    (0x4503, "C_MAKE_RAIN", "H"),
    (0x4507, "C_PLAY_LOOPING_SFX", "h"),
    (0x4508, "C_PLAY_LOOPING_POSITIONAL_SFX", "hH"),
    (0x4509, "C_STOP_LOOPING_SFX", ""),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_and_have_known_letters() {
        for table in [COMMANDS, VARIABLES, ASSIGNED, STATEMENTS] {
            assert!(table.is_sorted_by(|a, b| a.0 < b.0));
            for (_, name, letters) in table {
                let mut letters = letters.chars();
                assert!(
                    letters.all(|letter| "hHcdpsSbBv".contains(letter)),
                    "{name}"
                );
            }
        }
        assert_eq!(row(COMMANDS, 128), Some((128, "SpoolEnv", "s")));
        assert_eq!(row(COMMANDS, 7), None);
    }
}
