//! The address cache of copies (RFC 3284, section 5).

use hpimount_containers::io::{Error, Result};

use crate::number::{read_vcdiff, vcdiff_length, write_vcdiff};
use crate::stream::Stream;

/// Size of the near cache.
const NEAR: usize = 4;

/// Size of each of the three parts of the same cache, which one byte addresses.
const SAME: usize = 3 * 256;

/// Modes: the address itself, the distance from the current position, one for each
/// entry of the near cache, and three for the same cache.
const SELF: u8 = 0;
const HERE: u8 = 1;
const FIRST_NEAR: u8 = 2;
const FIRST_SAME: u8 = FIRST_NEAR + NEAR as u8;

/// The earlier addresses of a window.
pub(super) struct Addresses {
    near: [u64; NEAR],
    next: usize,
    same: Box<[u64; SAME]>,
}

impl Addresses {
    /// Begins a window.
    pub(super) fn new() -> Self {
        Self {
            near: [0; NEAR],
            next: 0,
            same: Box::new([0; SAME]),
        }
    }

    fn add(&mut self, address: u64) {
        self.near[self.next] = address;
        self.next = (self.next + 1) % NEAR;
        self.same[address as usize % SAME] = address;
    }

    /// Reads an address of this mode, which must be below `here`.
    pub(super) fn read(&mut self, mode: u8, here: u64, stream: &mut Stream) -> Result<u64> {
        let start = stream.offset();
        let address = if mode >= FIRST_SAME {
            let row = usize::from(mode - FIRST_SAME) * 256;
            let byte = stream.byte("address")?;
            Some(self.same[row + usize::from(byte)])
        } else {
            let number = read_vcdiff(stream, "address")?;
            match mode {
                SELF => Some(number),
                HERE => here.checked_sub(number),
                near => self.near[usize::from(near - FIRST_NEAR)].checked_add(number),
            }
        };
        let address = address
            .filter(|&address| address < here)
            .ok_or_else(|| Error::damaged(start, "address", format!("is not below {here}")))?;
        self.add(address);
        Ok(address)
    }

    /// Writes an address in its shortest encoding, and returns the mode.
    pub(super) fn write(&mut self, address: u64, here: u64, out: &mut Vec<u8>) -> u8 {
        let slot = address as usize % SAME;
        let mode = if self.same[slot] == address {
            out.push((slot % 256) as u8);
            FIRST_SAME + (slot / 256) as u8
        } else {
            let near = (FIRST_NEAR..).zip(self.near);
            let near = near.filter_map(|(mode, near)| Some((address.checked_sub(near)?, mode)));
            let numbers = [(address, SELF), (here - address, HERE)];
            let all = numbers.into_iter().chain(near);
            let best = all.min_by_key(|&(number, mode)| (vcdiff_length(number), mode));
            let (number, mode) = best.unwrap_or((address, SELF));
            write_vcdiff(number, out);
            mode
        };
        self.add(address);
        mode
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_containers::io::ReadAt;
    use proptest::prelude::*;
    use std::sync::Arc;

    proptest! {
        #[test]
        fn addresses_are_read_as_they_were_written(
            list in prop::collection::vec((0..5000_u64, 1..3000_u64), 0..100),
        ) {
            let (mut bytes, mut addresses) = (Vec::new(), Addresses::new());
            let pairs = list.iter().map(|&(address, above)| (address, address + above));
            let modes: Vec<u8> = pairs
                .clone()
                .map(|(address, here)| addresses.write(address, here, &mut bytes))
                .collect();
            let source: Arc<dyn ReadAt> = Arc::new(bytes);
            let mut stream = Stream::new(&source, 0..source.len(), 16);
            let mut addresses = Addresses::new();
            for ((address, here), mode) in pairs.zip(modes) {
                prop_assert_eq!(addresses.read(mode, here, &mut stream).unwrap(), address);
            }
            prop_assert_eq!(stream.left(), 0);
        }
    }

    #[test]
    fn a_repeated_address_takes_one_byte() {
        let (mut bytes, mut addresses) = (Vec::new(), Addresses::new());
        addresses.write(100_000, 200_000, &mut bytes);
        let first = bytes.len();
        addresses.write(100_000, 200_000, &mut bytes);
        assert_eq!(bytes.len() - first, 1);
    }
}
