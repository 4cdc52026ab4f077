//! A bounded reader over bytes in memory with their offset in the source.

use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use super::{Error, Result};

/// Byte order of the numbers that a [`Cursor`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

/// Reads fields in order from `data`, and never past its end.
///
/// Every reading method takes the field's name for its errors. Offsets in
/// errors are absolute, relative to the start of the source and not of `data`.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    data: &'a [u8],
    base: u64,
    position: usize,
    endian: Endian,
}

macro_rules! number {
    ($($name:ident: $type:ty, $doc:literal;)*) => {$(
        #[doc = concat!("Reads ", $doc, " in the cursor's byte order.")]
        ///
        /// # Errors
        /// Returns [`Error::Damaged`] if too few bytes are left.
        #[inline]
        pub fn $name(&mut self, field: &'static str) -> Result<$type> {
            let mut bytes = [0; size_of::<$type>()];
            bytes.copy_from_slice(self.take(size_of::<$type>(), field)?);
            Ok(match self.endian {
                Endian::Little => <$type>::from_le_bytes(bytes),
                Endian::Big => <$type>::from_be_bytes(bytes),
            })
        }
    )*};
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the start of `data`, which begins at `base` in its
    /// source.
    pub fn new(data: &'a [u8], base: u64, endian: Endian) -> Self {
        Self {
            data,
            base,
            position: 0,
            endian,
        }
    }

    /// Returns the absolute offset of the next byte in the source.
    pub fn offset(&self) -> u64 {
        self.base + self.position as u64
    }

    /// Returns the number of bytes that are left.
    pub fn remaining(&self) -> usize {
        self.data.len() - self.position
    }

    /// Returns the byte order of the numbers.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// Moves to the absolute offset `offset`, forward or back.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] with the name `field` of the pointer if the
    /// offset is outside the data. The end itself is inside.
    pub fn seek(&mut self, offset: u64, field: &'static str) -> Result<()> {
        let position = offset
            .checked_sub(self.base)
            .and_then(|relative| usize::try_from(relative).ok())
            .filter(|&relative| relative <= self.data.len());
        let Some(position) = position else {
            let (start, end) = (self.base, self.base + self.data.len() as u64);
            return Err(Error::damaged(
                self.offset(),
                field,
                format!("points to {offset:#x}, outside {start:#x}..{end:#x}"),
            ));
        };
        self.position = position;
        Ok(())
    }

    /// Returns a cursor at `target`, which is the pointer stored at
    /// `stored_at`.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Cursor::seek`], with the
    /// offset of the pointer.
    pub fn follow(&self, target: u64, stored_at: u64, field: &'static str) -> Result<Self> {
        let mut cursor = self.clone();
        cursor.seek(stored_at, field)?;
        cursor.seek(target, field)?;
        Ok(cursor)
    }

    /// Takes the next `length` bytes.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if fewer are left.
    #[inline]
    pub fn take(&mut self, length: usize, field: &'static str) -> Result<&'a [u8]> {
        let rest = &self.data[self.position..];
        let Some(bytes) = rest.get(..length) else {
            return Err(self.too_few(length, field));
        };
        self.position += length;
        Ok(bytes)
    }

    #[cold]
    fn too_few(&self, wanted: usize, field: &'static str) -> Error {
        let text = format!("needs {wanted} bytes, {} are left", self.remaining());
        Error::damaged(self.offset(), field, text)
    }

    /// Takes the next `length` bytes as a separate cursor.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if fewer are left.
    pub fn section(&mut self, length: usize, field: &'static str) -> Result<Cursor<'a>> {
        let base = self.offset();
        let data = self.take(length, field)?;
        Ok(Cursor::new(data, base, self.endian))
    }

    /// Takes the bytes up to the next NUL, and skips the NUL.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if no NUL follows.
    pub fn c_string(&mut self, field: &'static str) -> Result<&'a [u8]> {
        let rest = &self.data[self.position..];
        let Some(length) = rest.iter().position(|&byte| byte == 0) else {
            return Err(Error::damaged(
                self.offset(),
                field,
                "is a string without its end",
            ));
        };
        self.position += length + 1;
        Ok(&rest[..length])
    }

    /// Reads a fixed-size record that is declared as a `zerocopy` struct.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if too few bytes are left.
    pub fn record<T>(&mut self, field: &'static str) -> Result<&'a T>
    where
        T: FromBytes + KnownLayout + Immutable + Unaligned,
    {
        let offset = self.offset();
        let bytes = self.take(size_of::<T>(), field)?;
        T::ref_from_bytes(bytes)
            .map_err(|_| Error::damaged(offset, field, "cannot be read as a record"))
    }

    /// Checks a count that was just read: `count` items of at least `unit_size`
    /// bytes each must fit into the rest. Must be called before allocating or
    /// looping for them.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if they do not fit.
    pub fn check_count(&self, count: u64, unit_size: usize, field: &'static str) -> Result<usize> {
        let left = self.remaining();
        match count.checked_mul(unit_size as u64) {
            Some(bytes) if bytes <= left as u64 => Ok(count as usize),
            _ => Err(Error::damaged(
                self.offset(),
                field,
                format!("{count} items of {unit_size} bytes do not fit into {left} bytes"),
            )),
        }
    }

    number! {
        u8: u8, "a byte";
        i8: i8, "a signed byte";
        u16: u16, "an unsigned 16-bit number";
        i16: i16, "a signed 16-bit number";
        u32: u32, "an unsigned 32-bit number";
        i32: i32, "a signed 32-bit number";
        u64: u64, "an unsigned 64-bit number";
        f32: f32, "a 32-bit IEEE 754 number";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_byte_order() {
        let data = [1, 2, 3, 4];
        let read = |endian| Cursor::new(&data, 0, endian).u32("n").unwrap();
        assert_eq!(read(Endian::Little), 0x0403_0201);
        assert_eq!(read(Endian::Big), 0x0102_0304);
    }

    #[test]
    fn errors_carry_the_absolute_offset_and_the_field() {
        let mut cursor = Cursor::new(&[0, 0], 0x100, Endian::Little);
        cursor.u8("flag").unwrap();
        assert_eq!(
            cursor.u32("size").unwrap_err().to_string(),
            "size at 0x101: needs 4 bytes, 1 are left"
        );
        assert_eq!(
            cursor.seek(0x99, "root").unwrap_err().to_string(),
            "root at 0x101: points to 0x99, outside 0x100..0x102"
        );
        assert_eq!(
            cursor.follow(0x103, 0x100, "root").unwrap_err().to_string(),
            "root at 0x100: points to 0x103, outside 0x100..0x102"
        );
    }

    #[test]
    fn counts_are_checked_without_overflow() {
        let cursor = Cursor::new(&[0; 16], 0, Endian::Little);
        assert_eq!(cursor.check_count(2, 8, "n").unwrap(), 2);
        assert!(cursor.check_count(3, 8, "n").is_err());
        assert!(cursor.check_count(u64::MAX, 8, "n").is_err());
    }
}
