//! Lists of preservation databases such as Redump and No-Intro: in Logiqx XML,
//! or in clrmamepro's older text format.

mod clrmamepro;
mod list;
mod logiqx;

use std::io::{BufRead, BufReader, Read};

pub use self::list::Dat;
pub(super) use self::list::Entry;

/// Maximum length of a list in bytes.
const MAX_LIST: u64 = 256 << 20;

impl Dat {
    /// Reads a list.
    ///
    /// # Errors
    /// Returns a message with the position and the cause.
    pub fn read(list: impl Read) -> Result<Self, String> {
        let mut list = BufReader::new(list.take(MAX_LIST));
        let start = list.fill_buf().map_err(|error| error.to_string())?;
        // XML may begin with a byte order mark.
        let is_text = start
            .iter()
            .find(|byte| byte.is_ascii() && !byte.is_ascii_whitespace())
            .is_some_and(|&byte| byte != b'<');
        let mut dat = Self::default();
        match is_text {
            true => clrmamepro::read(list, &mut dat)?,
            false => logiqx::read(list, &mut dat)?,
        }
        if dat.files.is_empty() {
            return Err("is not a list of Redump or No-Intro: it names no files".to_owned());
        }
        Ok(dat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::check::sums::Sums;

    const SUMS: Sums = Sums {
        crc32: 0x0102_0304,
        md5: [0xAB; 16],
        sha1: [0xCD; 20],
    };

    fn list(roms: &str) -> Result<Dat, String> {
        let text = format!(
            "<?xml version=\"1.0\"?>\n\
             <!DOCTYPE datafile PUBLIC \"-//Logiqx//DTD ROM Management Datafile//EN\" \"d\">\n\
             <datafile><header><name>A list</name></header>\n\
             <game name=\"Tom &amp; Jerry\"><category>Games</category>{roms}</game></datafile>"
        );
        Dat::read(text.as_bytes())
    }

    #[test]
    fn an_image_is_found_by_all_the_sums_that_the_list_has() {
        let (md5, sha1) = ("ab".repeat(16), "CD".repeat(20));
        let all = format!("size=\"7\" crc=\"01020304\" md5=\"{md5}\" sha1=\"{sha1}\"");
        let dat = list(&format!("<rom name=\"a.iso\" {all} status=\"verified\"/>")).unwrap();
        let name = "\"a.iso\" of \"Tom & Jerry\"";
        let found = dat.find(7, &SUMS).map(|entry| entry.to_string());
        assert_eq!(found.as_deref(), Some(name));
        assert_eq!(dat.find(8, &SUMS), None);
        let other = Sums { crc32: 0, ..SUMS };
        assert_eq!(dat.find(7, &other), None);
        let dat = list("<rom name=\"a.iso\" size=\"7\" crc=\"01020304\" sha1=\"\"/>").unwrap();
        assert!(dat.find(7, &SUMS).is_some());
        let dat = list("<rom name=\"a.iso\" size=\"7\"/><rom name=\"b\" crc=\"0\"/>");
        assert_eq!(dat.unwrap().find(7, &SUMS), None);
    }

    #[test]
    fn a_difference_is_reported_by_name() {
        let dat = list("<rom name=\"A.iso\" size=\"7\" crc=\"ffffffff\"/>").unwrap();
        let difference = |name, size| dat.difference(name, size, &SUMS);
        let has = "is not as listed: \"A.iso\" of the list has CRC-32 ffffffff";
        assert_eq!(difference("a.rvz", 7), has);
        let longer = "has 8 bytes; \"A.iso\" of the list has 7";
        assert_eq!(difference("a.iso", 8), longer);
        assert_eq!(difference("b.iso", 7), "is not in the list");
    }

    #[test]
    fn the_missing_files_of_a_title_are_named() {
        let dat = list(
            "<rom name=\"1.bin\" size=\"7\" crc=\"01020304\"/>\
             <rom name=\"2.bin\" size=\"7\" crc=\"01020304\"/>\
             <rom name=\"3.bin\" size=\"9\" crc=\"05060708\"/>\
             <rom name=\"a.cue\" size=\"1\" crc=\"05060708\"/>\
             </game><game name=\"Spike\"><rom name=\"4.bin\" size=\"8\" crc=\"01020304\"/>",
        );
        let dat = dat.unwrap();
        let lacks = "lacks \"3.bin\" of \"Tom & Jerry\"";
        assert_eq!(dat.incomplete(&[(7, &SUMS)]), [lacks]);
        let mixed = "is of several titles: \"Tom & Jerry\", \"Spike\"";
        assert_eq!(dat.incomplete(&[(7, &SUMS), (8, &SUMS)]), [mixed]);
        assert!(dat.incomplete(&[(8, &SUMS), (6, &SUMS)]).is_empty());
        assert!(dat.incomplete(&[(6, &SUMS)]).is_empty());
        assert!(
            dat.other_sheet("A.CUE", 2, &SUMS)
                .unwrap()
                .starts_with("has 2 bytes")
        );
        assert_eq!(dat.other_sheet("b.cue", 2, &SUMS), None);
    }

    #[test]
    fn a_message_does_not_quote_a_long_tag() {
        let text = format!("<datafile><header></{}>", "x".repeat(5000));
        let message = Dat::read(text.as_bytes()).err().unwrap();
        assert!(
            message.starts_with("at byte ") && message.len() < 200,
            "{message}"
        );
    }

    #[test]
    fn other_data_is_rejected_with_its_position() {
        assert!(
            Dat::read(&b"<html></html>"[..])
                .unwrap_err()
                .contains("no <datafile>")
        );
        assert!(Dat::read(&b""[..]).is_err());
        assert!(list("").unwrap_err().contains("it names no files"));
        let header: &[u8] = b"clrmamepro (\n\tname \"Discs\"\n)\n";
        assert!(Dat::read(header).unwrap_err().contains("it names no files"));
        assert!(Dat::read(&b"a text, no list"[..]).is_err());
        for roms in [
            "<rom name=\"a\" size=\"x\"/>",
            "<rom name=\"a\" size=\"7\" crc=\"012\"/>",
            "<rom name=\"a\" size=\"7\" md5=\"zz\"/>",
            "<rom name=\"a\" size=\"7\" crc=\"éé\"/>",
            "<rom name=\"&bomb;\" size=\"7\"/>",
            "<rom name=\"a\" size=\"7\"/></rom>",
        ] {
            let error = list(roms).unwrap_err();
            assert!(error.starts_with("at byte "), "{roms}: {error}");
        }
    }
}
