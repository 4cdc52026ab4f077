//! The extended headers of POSIX (pax): lines with fields that replace those of
//! a header.

use crate::io::{Error, Result};

/// Fields that replace those of a header.
#[derive(Debug, Default, Clone)]
pub(super) struct Fields {
    pub(super) path: Option<Vec<u8>>,
    pub(super) link: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    /// In seconds since 1970 UTC.
    pub(super) modified: Option<i64>,
    /// True if the file has holes (GNU, and Solaris).
    pub(super) is_sparse: bool,
    /// The size of a file with holes.
    pub(super) sparse_size: Option<u64>,
}

impl Fields {
    /// Adds the fields of an extended header, of which `bytes` at `offset` are
    /// the data: lines of the form `LENGTH KEY=VALUE`, where the length is that
    /// of the line.
    ///
    /// # Errors
    /// Returns an error if a line has another form.
    pub(super) fn read(&mut self, bytes: &[u8], offset: u64) -> Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() && rest[0] != 0 {
            let at = offset + (bytes.len() - rest.len()) as u64;
            let (key, value, next) = line(rest)
                .ok_or_else(|| Error::damaged(at, "pax header", "has a line of another form"))?;
            self.set(key, value);
            rest = next;
        }
        Ok(())
    }

    fn set(&mut self, key: &[u8], value: &[u8]) {
        let text = str::from_utf8(value).unwrap_or_default();
        match key {
            b"path" => self.path = Some(value.to_vec()),
            b"linkpath" => self.link = Some(value.to_vec()),
            b"size" => self.size = text.parse().ok(),
            b"mtime" => {
                // The fraction is dropped, towards the past.
                let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
                let is_before = seconds.starts_with('-') && fraction.bytes().any(|c| c != b'0');
                let seconds: Option<i64> = seconds.parse().ok();
                self.modified = seconds.map(|seconds| seconds - i64::from(is_before));
            }
            b"GNU.sparse.name" => self.path = Some(value.to_vec()),
            b"GNU.sparse.realsize" | b"GNU.sparse.size" | b"SUN.holesdata" => {
                self.is_sparse = true;
                self.sparse_size = text.parse().ok().or(self.sparse_size);
            }
            _ if key.starts_with(b"GNU.sparse.") => self.is_sparse = true,
            _ => {}
        }
    }
}

/// Splits the first line into its key, its value and what follows it.
fn line(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = bytes.iter().take(20).position(|&byte| byte == b' ')?;
    let length: usize = str::from_utf8(&bytes[..space]).ok()?.parse().ok()?;
    let (line, rest) = bytes.split_at_checked(length)?;
    let fields = line.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = fields.iter().position(|&byte| byte == b'=')?;
    Some((&fields[..equals], &fields[equals + 1..], rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_lengths_and_values_of_any_bytes() {
        let mut fields = Fields::default();
        let bytes = b"12 path=a\nb\n20 mtime=-1.5000000\n12 size=007\n13 comment=x\n\0\0\0";
        fields.read(bytes, 0).unwrap();
        assert_eq!(fields.path.as_deref(), Some(&b"a\nb"[..]));
        assert_eq!((fields.modified, fields.size), (Some(-2), Some(7)));
        assert!(!fields.is_sparse);
    }

    #[test]
    fn other_lines_are_damage_with_their_offset() {
        for wrong in [
            &b"9 path=a"[..],
            b"99 path=a\n",
            b"x\n",
            b"4 a\n",
            b"0 path=a\n",
        ] {
            let error = Fields::default().read(wrong, 0x200).unwrap_err();
            assert!(error.to_string().starts_with("pax header at 0x200"));
        }
    }
}
