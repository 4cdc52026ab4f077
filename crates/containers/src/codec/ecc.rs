//! The error correction of a CD sector (ECMA-130, Annex A): two parities over the
//! bytes after the sync, as polynomials over the field of 256 elements generated
//! by x^8 + x^4 + x^3 + x^2 + 1.

/// Offsets of the protected bytes and of the two parities.
const PROTECTED: usize = 12;
const P: usize = 2076;
const Q: usize = 2248;

/// Offset of the mode, and number of bytes of address and mode.
const MODE: usize = 15;
const ADDRESS: usize = 4;

/// The sync at the start of a sector.
pub(crate) const SYNC: [u8; 12] = [0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0];

/// A byte times x.
const DOUBLE: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let carry = if byte & 0x80 != 0 { 0x1D } else { 0 };
        table[byte] = (byte << 1) as u8 ^ carry;
        byte += 1;
    }
    table
};

/// The inverse of multiplying by x + 1.
const HALVE: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte ^ DOUBLE[byte] as usize] = byte as u8;
        byte += 1;
    }
    table
};

/// Fills in the sync of a sector.
pub(crate) fn restore_sync(sector: &mut [u8]) {
    sector[..SYNC.len()].copy_from_slice(&SYNC);
}

/// Fills in the sync and the parities of a sector of 2352 bytes.
pub(crate) fn restore(sector: &mut [u8]) {
    restore_sync(sector);
    parity(sector, P, [86, 24], [2, 86]);
    parity(sector, Q, [52, 43], [86, 88]);
}

/// Fills in one parity of `rows` rows of `length` bytes. Rows begin in pairs,
/// `next` bytes apart, and continue in steps of `step`, wrapping around at the
/// end of the covered bytes.
fn parity(sector: &mut [u8], at: usize, [rows, length]: [usize; 2], [next, step]: [usize; 2]) {
    let covered = rows * length;
    // Addresses of Mode 2 are treated as zeros.
    let without_address = sector[MODE] == 2;
    for row in 0..rows {
        let mut index = row / 2 * next + row % 2;
        let (mut first, mut sum) = (0, 0);
        for _ in 0..length {
            let byte = match without_address && index < ADDRESS {
                true => 0,
                false => sector[PROTECTED + index],
            };
            first = DOUBLE[usize::from(first ^ byte)];
            sum ^= byte;
            index += step;
            if index >= covered {
                index -= covered;
            }
        }
        let first = HALVE[usize::from(DOUBLE[usize::from(first)] ^ sum)];
        sector[at + row] = first;
        sector[at + row + rows] = first ^ sum;
    }
}
