//! Lists of preservation databases.

use hpimount::inspect::check::Dat;

/// Maximum length of the message about a list in bytes. Users see it.
const MAX_MESSAGE: usize = 1000;

/// A list, in XML or text. It is read, or refused with a one-line message.
pub fn dat(data: &[u8]) {
    if let Err(problem) = Dat::read(data) {
        assert!(problem.len() <= MAX_MESSAGE, "{problem}");
    }
}

/// Returns a list of each kind.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let (md5, sha1) = ("ab".repeat(16), "0f".repeat(20));
    let sums = [("crc", "0123abcd"), ("md5", &md5), ("sha1", &sha1)];
    let attributes = sums
        .map(|(name, sum)| format!("{name}=\"{sum}\""))
        .join(" ");
    let words = sums.map(|(name, sum)| format!("{name} {sum}")).join(" ");
    let xml = format!(
        "<?xml version=\"1.0\"?><datafile><header><name>x</name></header>\n\
         <game name=\"a &amp; b\"><rom name=\"a.iso\" size=\"2048\" {attributes}/></game></datafile>"
    );
    let text = format!(
        "clrmamepro ( name x )\ngame ( name \"a (b)\" year 2001\n\
         rom ( name \"a \\\"b\\\".iso\" size 2048 {words} flags verified ) )\n"
    );
    vec![xml.into_bytes(), text.into_bytes()]
}
