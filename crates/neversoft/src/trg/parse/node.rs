//! A node.

use std::borrow::Cow;

use super::fields::{align, numbers, text};
use super::script::{self, Command};
use hpimount_containers::io::{Cursor, Result};

/// The kind of the last node.
pub(super) const TERMINATOR: u16 = 255;

/// Largest number in the list of flags of a baddy.
const MAX_FLAG: u8 = 9;

/// Maximum number of flags of a baddy.
const MAX_FLAGS: usize = 8;

/// A decoded node. Its fields depend on its kind.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// Kind; see [`kind_name`].
    pub kind: u16,
    /// Subtype of a baddy or a power-up.
    pub subtype: Option<u16>,
    /// Priority of a baddy.
    pub priority: Option<u16>,
    /// Flags.
    pub flags: Option<Flags>,
    /// Numbers of the linked nodes.
    pub links: Option<Vec<u16>>,
    /// Position with 12 fractional bits; x right, y down, z forward.
    pub position: Option<[i32; 3]>,
    /// Angles about x, y and z; 4096 is a full turn.
    pub angles: Option<[i16; 3]>,
    /// Hash of a model.
    pub checksum: Option<u32>,
    /// Hashes of models.
    pub checksums: Option<Vec<u32>>,
    /// Name of a restart.
    pub label: Option<String>,
    /// Radius and mode of a camera.
    pub camera: Option<[u16; 2]>,
    /// Words without a known meaning.
    pub words: Option<Vec<u16>>,
    /// Commands.
    pub commands: Option<Vec<Command>>,
    /// Statements of a script.
    pub script: Option<Vec<Command>>,
    /// Bytes that were not decoded.
    pub rest: Option<Vec<u8>>,
    /// The reason why the node was not decoded. Then it has only its kind and its
    /// bytes.
    pub problem: Option<String>,
    /// Offsets of numbers, bytes, and first elements of lists in the file, by field
    /// name.
    places: Vec<(&'static str, usize)>,
}

/// Flags of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flags {
    /// Bits.
    Bits(u16),
    /// The numbers of the set flags.
    List(Vec<u8>),
}

/// Returns the name of a node kind.
pub fn kind_name(kind: u16) -> Cow<'static, str> {
    let name = match kind {
        1 => "baddy",
        2 => "crate",
        3 => "point",
        4 => "autoexec",
        5 => "powerup",
        6 => "command",
        7 => "seedable_baddy",
        8 => "restart",
        9 => "barrel",
        10 => "rail_def",
        11 => "rail_point",
        12 => "trick_object",
        13 => "camera_point",
        14 => "goal_object",
        15 => "autoexec2",
        16 => "mysterious",
        17 => "trick_cluster",
        20 => "type20",
        TERMINATOR => "terminator",
        500 => "light",
        501 => "off_light",
        1000 => "script_point",
        1001 => "camera_path",
        1002 => "enhanced_spawn",
        _ => return format!("type{kind}").into(),
    };
    name.into()
}

impl Node {
    /// Returns the location of the field with this name in the file, if it is stored
    /// there.
    pub fn place(&self, field: &str) -> Option<usize> {
        let mut places = self.places.iter();
        places
            .find(|(name, _)| *name == field)
            .map(|(_, place)| *place)
    }

    /// Records that a field begins at the cursor.
    fn begins(&mut self, field: &'static str, cursor: &Cursor<'_>) {
        self.places.push((field, cursor.offset() as usize));
    }

    /// Reads a node of a file with this minor version.
    pub(super) fn read(mut cursor: Cursor<'_>, minor: u16) -> Result<Self> {
        let kind = cursor.u16("kind")?;
        let mut rest = cursor.clone();
        let mut node = Self {
            kind,
            ..Self::default()
        };
        if let Err(error) = node.read_fields(&mut cursor, minor) {
            return Ok(Self {
                kind,
                rest: Some(remaining(&mut rest)),
                problem: Some(error.to_string()),
                ..Self::default()
            });
        }
        Ok(node)
    }

    fn read_fields(&mut self, cursor: &mut Cursor<'_>, minor: u16) -> Result<()> {
        match self.kind {
            3 => self.read_place(cursor)?,
            10 | 11 => self.read_rail(cursor)?,
            2 | 12 | 14 => {
                self.read_links(cursor)?;
                self.read_checksum(cursor)?;
            }
            17 => self.read_models(cursor)?,
            1 | 7 => self.read_object(cursor)?,
            5 => {
                self.read_subtype(cursor)?;
                self.read_place(cursor)?;
                self.read_words(cursor)?;
            }
            20 => {
                self.read_subtype(cursor)?;
                self.read_links(cursor)?;
                self.read_rest(cursor);
            }
            6 => {
                self.read_links(cursor)?;
                self.read_checksum(cursor)?;
                self.read_commands(cursor, minor);
            }
            4 | 15 => self.read_commands(cursor, minor),
            8 => {
                self.read_place(cursor)?;
                self.read_angles(cursor)?;
                self.label = Some(text(cursor)?);
                self.read_commands(cursor, minor);
            }
            13 => {
                self.read_place(cursor)?;
                self.begins("camera", cursor);
                self.camera = Some([cursor.u16("radius")?, cursor.u16("mode")?]);
            }
            500 | 501 => {
                self.read_position(cursor)?;
                self.read_rest(cursor);
            }
            1000 | 1001 => {
                self.read_place(cursor)?;
                self.read_angles(cursor)?;
                self.read_script(cursor);
            }
            1002 => {
                self.begins("flags", cursor);
                self.flags = Some(Flags::Bits(cursor.u16("flags")?));
                self.read_place(cursor)?;
            }
            TERMINATOR => {}
            _ => self.read_rest(cursor),
        }
        Ok(())
    }

    /// Reads the position and the flags of a rail point.
    fn read_rail(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        self.read_place(cursor)?;
        self.read_words(cursor)?;
        self.flags = match self.words.as_deref() {
            Some(&[flags] | &[flags, _]) => Some(Flags::Bits(flags)),
            _ => None,
        };
        Ok(())
    }

    /// Reads links and the hashes of models.
    fn read_models(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        self.read_links(cursor)?;
        align(cursor, 4);
        self.begins("checksums", cursor);
        let mut hashes = Vec::new();
        while cursor.remaining() >= 4 {
            match cursor.u32("hash of a model")? {
                0 => break,
                hash => hashes.push(hash),
            }
        }
        self.checksums = Some(hashes);
        Ok(())
    }

    /// Reads an object that may move, and its script.
    fn read_object(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        self.read_subtype(cursor)?;
        self.begins("priority", cursor);
        self.priority = Some(cursor.u16("priority")?);
        self.read_links(cursor)?;
        self.begins("flags", cursor);
        self.flags = flags(cursor)?.map(Flags::List);
        self.read_position(cursor)?;
        self.read_angles(cursor)?;
        if cursor.remaining() >= 2 {
            self.read_script(cursor);
        }
        Ok(())
    }

    /// Reads links and a position.
    fn read_place(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        self.read_links(cursor)?;
        self.read_position(cursor)
    }

    fn read_position(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        align(cursor, 4);
        self.begins("position", cursor);
        self.position = Some(numbers(cursor, "position")?);
        Ok(())
    }

    fn read_subtype(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        self.begins("subtype", cursor);
        self.subtype = Some(cursor.u16("subtype")?);
        Ok(())
    }

    fn read_links(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let count = cursor.u16("links")?;
        let count = cursor.check_count(count.into(), 2, "links")?;
        self.begins("links", cursor);
        let links = (0..count).map(|_| cursor.u16("link"));
        self.links = Some(links.collect::<Result<_>>()?);
        Ok(())
    }

    fn read_checksum(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        align(cursor, 4);
        self.begins("checksum", cursor);
        self.checksum = Some(cursor.u32("hash of a model")?);
        Ok(())
    }

    fn read_words(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        self.begins("words", cursor);
        let count = cursor.remaining() / 2;
        let words = (0..count).map(|_| cursor.u16("word"));
        self.words = Some(words.collect::<Result<_>>()?);
        Ok(())
    }

    /// Reads the bytes that are left.
    fn read_rest(&mut self, cursor: &mut Cursor<'_>) {
        self.begins("rest", cursor);
        self.rest = Some(remaining(cursor));
    }

    fn read_angles(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        self.begins("angles", cursor);
        let mut angles = [0; 3];
        for angle in &mut angles {
            *angle = cursor.i16("angles")?;
        }
        self.angles = Some(angles);
        Ok(())
    }

    fn read_commands(&mut self, cursor: &mut Cursor<'_>, minor: u16) {
        self.commands = Some(script::commands(cursor, minor));
        self.read_unknown(cursor);
    }

    fn read_script(&mut self, cursor: &mut Cursor<'_>) {
        self.script = Some(script::script(cursor));
        self.read_unknown(cursor);
    }

    /// Reads the bytes from an unreadable command on.
    fn read_unknown(&mut self, cursor: &mut Cursor<'_>) {
        if cursor.remaining() >= 2 {
            self.read_rest(cursor);
        }
    }

    /// Returns whether it is a rail point.
    pub fn is_rail(&self) -> bool {
        matches!(self.kind, 10 | 11)
    }

    /// Returns the commands or statements.
    pub fn steps(&self) -> &[Command] {
        let steps = self.commands.as_ref().or(self.script.as_ref());
        steps.map_or(&[], Vec::as_slice)
    }
}

/// Returns the bytes that are left.
fn remaining(cursor: &mut Cursor<'_>) -> Vec<u8> {
    let rest = cursor.take(cursor.remaining(), "rest");
    rest.unwrap_or_default().to_vec()
}

/// Reads the flags of a baddy up to a byte 0xFF. Returns `None` if there is no list of
/// flags: only some baddies have one, and no field tells.
fn flags(cursor: &mut Cursor<'_>) -> Result<Option<Vec<u8>>> {
    let mut ahead = cursor.clone();
    let mut flags = Vec::new();
    while flags.len() < MAX_FLAGS && ahead.remaining() > 0 {
        match ahead.u8("flag")? {
            0xFF => {
                *cursor = ahead;
                return Ok(Some(flags));
            }
            flag if flag > MAX_FLAG => return Ok(None),
            flag => flags.push(flag),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{file, words};
    use super::super::{Argument, parse};
    use super::*;

    fn node(bytes: Vec<u8>) -> Node {
        let trg = parse(&file(&[bytes, super::super::tests::words(&[255])]).into());
        trg.unwrap().node(0).unwrap()
    }

    #[test]
    fn a_baddy_has_flags_only_if_they_look_like_a_list() {
        let baddy = |flags: &[u8]| {
            let head = words(&[1, 402, 0x1000, 0]);
            let mut bytes = [head, flags.to_vec()].concat();
            // Nodes begin at 0x14 in this file.
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            let place = [[1_u8, 0, 0, 0]; 3].concat();
            node([bytes, place, words(&[0, 1024, 0])].concat())
        };
        let with = baddy(&[0, 2, 4, 0xFF]);
        assert_eq!(with.flags, Some(Flags::List(vec![0, 2, 4])));
        assert_eq!(with.position, Some([1; 3]));
        let without = baddy(&[]);
        assert_eq!(without.flags, None);
        assert_eq!(without.angles, Some([0, 1024, 0]));
    }

    #[test]
    fn a_node_that_is_cut_off_keeps_its_bytes() {
        let node = node(words(&[8, 9, 1]));
        assert_eq!(node.kind, 8);
        assert!(node.problem.is_some());
        assert_eq!(node.rest, Some(words(&[9, 1])));
        assert_eq!(node.links, None);
    }

    #[test]
    fn commands_end_at_the_first_unknown_one() {
        let node = node(words(&[4, 134, 0xFFFF, 3, 999, 1, 0xFFFF]));
        let commands = node.commands.unwrap();
        assert_eq!(commands[0].name, "SetInitialPulses");
        assert_eq!(commands[0].arguments, [Argument::Number(-1)]);
        assert_eq!(commands[1].name, "SendPulse");
        assert_eq!(commands.len(), 2);
        assert_eq!(node.rest, Some(words(&[999, 1, 0xFFFF])));
    }
}
