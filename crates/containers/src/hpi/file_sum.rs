//! The checksum of a file in version 2 (FORMATS, HPI 7).

/// The checksum over the decoded bytes of a file so far.
///
/// It consists of four sums of one byte: the bytes by addition and by exclusive
/// or, and the bytes combined with their positions, likewise.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct FileSum {
    sums: [u8; 4],
    /// Position in the file of the next byte, modulo 256.
    position: u8,
}

impl FileSum {
    /// Adds the next bytes of the file.
    pub fn update(&mut self, bytes: &[u8]) {
        let [mut added, mut toggled, mut added_at, mut toggled_at] = self.sums;
        let mut position = self.position;
        for &byte in bytes {
            added = added.wrapping_add(byte);
            toggled ^= byte;
            added_at = added_at.wrapping_add(byte ^ position);
            toggled_at ^= byte.wrapping_add(position);
            position = position.wrapping_add(1);
        }
        self.sums = [added, toggled, added_at, toggled_at];
        self.position = position;
    }

    /// Returns the checksum, as in a file record.
    pub fn value(self) -> u32 {
        u32::from_le_bytes(self.sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(bytes: &[u8]) -> u32 {
        let mut sum = FileSum::default();
        sum.update(bytes);
        sum.value()
    }

    #[test]
    fn bytes_are_summed_alone_and_with_their_positions() {
        assert_eq!(sum(&[]), 0);
        // 5+6, 5^6, (5^0)+(6^1), (5+0)^(6+1)
        assert_eq!(sum(&[5, 6]), u32::from_le_bytes([11, 3, 12, 2]));
    }

    #[test]
    fn a_sum_in_pieces_is_the_sum_of_the_whole() {
        let bytes: Vec<u8> = (0..=255).cycle().skip(77).take(1000).collect();
        let mut pieces = FileSum::default();
        for piece in bytes.chunks(331) {
            pieces.update(piece);
        }
        assert_eq!(pieces.value(), sum(&bytes));
    }
}
