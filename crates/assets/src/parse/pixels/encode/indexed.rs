//! Palette indices in rows.

/// Writes palette indices of 4 or 8 bits into rows of `row_size` bytes. With 4 bits,
/// the left pixel is in the low half of a byte. Rows past the end are left out.
pub fn write(rows: &mut [u8], row_size: usize, bits: u8, width: usize, indices: &[u16]) {
    let lines = indices.chunks_exact(width.max(1));
    for (row, indices) in rows.chunks_mut(row_size.max(1)).zip(lines) {
        for (x, &index) in indices.iter().enumerate() {
            match bits {
                4 => {
                    if let Some(pair) = row.get_mut(x / 2) {
                        let shift = 4 * (x % 2);
                        *pair = *pair & !(15 << shift) | (index as u8 & 15) << shift;
                    }
                }
                _ => {
                    if let Some(byte) = row.get_mut(x) {
                        *byte = index as u8;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_behind_the_pixels_of_a_row_stay() {
        let mut rows = [0xF0, 0xF0, 9, 0xF0, 0xF0];
        write(&mut rows, 3, 4, 3, &[1, 2, 3, 4, 5, 6]);
        assert_eq!(rows, [0x21, 0xF3, 9, 0x54, 0xF6]);
        let mut rows = [7; 5];
        write(&mut rows, 3, 8, 2, &[1, 2, 3, 4]);
        assert_eq!(rows, [1, 2, 7, 3, 4]);
    }
}
