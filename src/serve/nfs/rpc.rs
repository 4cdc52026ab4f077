//! Remote procedure calls: what is around the arguments and results of procedures.

/// The version of the protocol.
const VERSION: u32 = 2;

/// Longest credentials, which mean nothing here.
const MAX_CREDENTIALS: usize = 400;

/// The head of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    id: u32,
    pub(super) program: u32,
    pub(super) version: u32,
    pub(super) procedure: u32,
}

/// Outcome of a call.
pub(super) enum Outcome {
    /// It has these results.
    Results(Vec<u8>),
    OtherProgram,
    OtherVersion,
    OtherProcedure,
    /// Its arguments are wrong.
    Garbage,
}

impl Call {
    /// Parses a call; returns it with its arguments. `None` if it is none.
    pub(super) fn parse(record: &[u8]) -> Option<(Self, Args<'_>)> {
        let mut args = Args(record);
        let id = args.number()?;
        let (kind, version) = (args.number()?, args.number()?);
        if (kind, version) != (0, VERSION) {
            return None;
        }
        let call = Self {
            id,
            program: args.number()?,
            version: args.number()?,
            procedure: args.number()?,
        };
        // The credentials and the verifier of the caller.
        for _ in 0..2 {
            args.number()?;
            args.bytes(MAX_CREDENTIALS)?;
        }
        Some((call, args))
    }

    /// Returns the record that answers it.
    pub(super) fn reply(self, outcome: Outcome) -> Vec<u8> {
        let mut record = Vec::new();
        let mut put = |numbers: &[u32]| {
            for number in numbers {
                record.extend_from_slice(&number.to_be_bytes());
            }
        };
        // An answer, which was accepted, without a proof of who sends it.
        put(&[self.id, 1, 0, 0, 0]);
        match outcome {
            Outcome::Results(results) => {
                put(&[0]);
                record.extend_from_slice(&results);
            }
            Outcome::OtherProgram => put(&[1]),
            Outcome::OtherVersion => put(&[2, 3, 3]),
            Outcome::OtherProcedure => put(&[3]),
            Outcome::Garbage => put(&[4]),
        }
        record
    }
}

/// The arguments of a procedure, which were not taken yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Args<'a>(&'a [u8]);

impl<'a> Args<'a> {
    /// Takes a number.
    pub(super) fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*number))
    }

    /// Takes a long number.
    pub(super) fn long(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_be_bytes(*number))
    }

    /// Takes bytes with their number in front, of which there are at most `most`.
    pub(super) fn bytes(&mut self, most: usize) -> Option<&'a [u8]> {
        let length = self.number()? as usize;
        if length > most {
            return None;
        }
        let padded = length.next_multiple_of(4);
        let (bytes, rest) = self.0.split_at_checked(padded)?;
        self.0 = rest;
        Some(&bytes[..length])
    }

    /// Takes a number of bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_call_is_taken_apart() {
        let numbers = [7_u32, 0, 2, 100_003, 3, 6, 1, 4, 0xabab_abab, 0, 0, 99];
        let record: Vec<u8> = numbers
            .iter()
            .flat_map(|number| number.to_be_bytes())
            .collect();
        let (call, mut args) = Call::parse(&record).unwrap();
        assert_eq!(
            (call.program, call.version, call.procedure),
            (100_003, 3, 6)
        );
        assert_eq!((args.number(), args.number()), (Some(99), None));
        assert_eq!(call.reply(Outcome::OtherProcedure)[20..], [0, 0, 0, 3]);
        assert!(Call::parse(b"POST / HTTP/1.1\r\n").is_none());
        assert!(Call::parse(&record[..record.len() - 8]).is_none());
    }

    proptest! {
        #[test]
        fn no_record_panics(record in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut record = record;
            let _ = Call::parse(&record);
            if let Some(head) = record.first_chunk_mut::<12>() {
                *head = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2];
                let _ = Call::parse(&record);
            }
        }
    }
}
