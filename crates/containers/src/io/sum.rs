//! Comparing checksums.

use std::fmt::LowerHex;

/// Compares the checksum of data with the one that its container records.
///
/// # Errors
/// Returns the problem if they differ, the checksum of the data first: `checksum is
/// 00009a3c, should be 00009a3d`. `name` is what the format calls it.
pub(crate) fn check_sum<T: LowerHex + PartialEq>(
    name: &str,
    found: T,
    recorded: T,
) -> Result<(), String> {
    let digits = 2 * size_of::<T>();
    match found == recorded {
        true => Ok(()),
        false => Err(format!(
            "{name} is {found:0digits$x}, should be {recorded:0digits$x}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_of_the_data_is_named_before_the_recorded_one() {
        assert_eq!(check_sum("checksum", 7_u32, 7), Ok(()));
        let problem = check_sum("checksum", 0x9A3C_u32, 0x9A3D).unwrap_err();
        assert_eq!(problem, "checksum is 00009a3c, should be 00009a3d");
        let problem = check_sum("CRC-16", 1_u16, 0xFFFF).unwrap_err();
        assert_eq!(problem, "CRC-16 is 0001, should be ffff");
    }
}
