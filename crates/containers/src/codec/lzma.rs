//! LZMA, LZMA2 and xz, decoded by liblzma, or by lzma-rust2 where liblzma lacks support.

use std::io::{self, BufRead, Read};

use liblzma::stream::{Action, CONCATENATED, Error, Filters, LzmaOptions, Status, Stream};
use lzma_rust2::LzmaReader;

/// Maximum number of literal context bits and literal position bits together that liblzma
/// supports.
const MAX_LITERAL_BITS: u8 = 4;

/// Smallest dictionary, in bytes.
const MIN_DICTIONARY: u32 = 4096;

/// Returns a reader of the `size` bytes that a stream of LZMA without a header decodes to,
/// given its byte of properties and the size of its dictionary in bytes.
///
/// # Errors
/// Returns an error if the properties are not valid.
pub(crate) fn lzma<'a, R: BufRead + Send + Sync + 'a>(
    packed: R,
    size: u64,
    properties: u8,
    dictionary: u32,
) -> io::Result<Box<dyn Read + Send + Sync + 'a>> {
    let (lc, lp, pb) = (properties % 9, properties / 9 % 5, properties / 45);
    if lc + lp > MAX_LITERAL_BITS {
        let reader = LzmaReader::new_with_props(packed, size, properties, dictionary, None)?;
        return Ok(Box::new(reader));
    }
    let mut options = LzmaOptions::new();
    options
        .literal_context_bits(lc.into())
        .literal_position_bits(lp.into())
        .position_bits(pb.into())
        .dict_size(dictionary.max(MIN_DICTIONARY));
    let decoder = Stream::new_raw_decoder(Filters::new().lzma1(&options))?;
    // Without a mark at the end, the decoder does not find it.
    Ok(Box::new(Decoding::new(packed, decoder).take(size)))
}

/// Returns a reader of what LZMA2 decodes to, given the size of its dictionary in bytes.
///
/// # Errors
/// Returns an error if there is no memory for the dictionary.
pub(crate) fn lzma2<R: BufRead>(packed: R, dictionary: u32) -> io::Result<impl Read> {
    let mut options = LzmaOptions::new();
    options.dict_size(dictionary.max(MIN_DICTIONARY));
    let decoder = Stream::new_raw_decoder(Filters::new().lzma2(&options))?;
    Ok(Decoding::new(packed, decoder))
}

/// Returns a reader of what one or several streams of xz decode to, by decoders of at most
/// `memory` bytes.
///
/// # Errors
/// Returns an error if there is no memory for it.
pub(crate) fn xz<R: BufRead>(packed: R, memory: u64) -> io::Result<impl Read> {
    let decoder = Stream::new_stream_decoder(memory, CONCATENATED)?;
    Ok(Decoding::new(packed, decoder))
}

/// A reader of the bytes that liblzma decodes, including the last ones before damage, which
/// `XzDecoder` drops.
struct Decoding<R> {
    packed: R,
    decoder: Stream,
    /// The end, or the error that follows the bytes that have been returned.
    end: Option<Result<(), Error>>,
}

impl<R: BufRead> Decoding<R> {
    fn new(packed: R, decoder: Stream) -> Self {
        Self {
            packed,
            decoder,
            end: None,
        }
    }
}

impl<R: BufRead> Read for Decoding<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(end) = self.end {
                return Ok(end.map(|()| 0)?);
            }
            let packed = self.packed.fill_buf()?;
            let is_last = packed.is_empty();
            let action = match is_last {
                true => Action::Finish,
                false => Action::Run,
            };
            let before = (self.decoder.total_in(), self.decoder.total_out());
            let status = self.decoder.process(packed, buf, action);
            let taken = self.decoder.total_in() - before.0;
            let filled = (self.decoder.total_out() - before.1) as usize;
            self.packed.consume(taken as usize);
            match status {
                Ok(Status::StreamEnd) => self.end = Some(Ok(())),
                Err(error) => self.end = Some(Err(error)),
                Ok(_) if is_last && filled == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
            }
            if filled > 0 {
                return Ok(filled);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `xz --format=raw --lzma1=preset=6` makes of [`TEXT`], with a mark at the end.
    const LZMA: [u8; 20] = [
        0x00, 0x34, 0x19, 0x49, 0xee, 0x8d, 0xef, 0x8c, 0x87, 0x31, 0xf5, 0x79, 0x89, 0xbf, 0xff,
        0xff, 0xdd, 0x24, 0x00, 0x00,
    ];

    /// The same by `--lzma2`.
    const LZMA2: [u8; 22] = [
        0xe0, 0x00, 0x13, 0x00, 0x0e, 0x5d, 0x00, 0x34, 0x19, 0x49, 0xee, 0x8d, 0xef, 0x8c, 0x87,
        0x31, 0xf5, 0x2f, 0x64, 0x00, 0x00, 0x00,
    ];

    const TEXT: &[u8] = b"hello, hello, hello\n";

    fn read(mut reader: impl Read) -> (Vec<u8>, Option<io::ErrorKind>) {
        let mut bytes = Vec::new();
        let result = reader.read_to_end(&mut bytes);
        (bytes, result.err().map(|error| error.kind()))
    }

    #[test]
    fn streams_are_decoded() {
        let size = TEXT.len() as u64;
        assert_eq!(
            read(lzma(&LZMA[..], size, 0x5d, 0).unwrap()),
            (TEXT.into(), None)
        );
        assert_eq!(read(lzma2(&LZMA2[..], 0).unwrap()), (TEXT.into(), None));
    }

    #[test]
    fn bytes_before_the_end_of_the_data_are_read() {
        let (bytes, error) = read(lzma2(&LZMA2[..17], 0).unwrap());
        assert!(!bytes.is_empty() && TEXT.starts_with(&bytes), "{bytes:?}");
        assert_eq!(error, Some(io::ErrorKind::UnexpectedEof));
    }

    #[test]
    fn bytes_before_damage_are_read() {
        let mut twice = LZMA2[..LZMA2.len() - 1].to_vec();
        // A control byte that is reserved.
        twice.push(0x03);
        let (bytes, error) = read(lzma2(&twice[..], 0).unwrap());
        assert_eq!(bytes, TEXT);
        assert_eq!(error, Some(io::ErrorKind::InvalidData));
    }

    #[test]
    fn properties_that_are_not_valid_are_refused() {
        assert!(lzma(&LZMA[..], 1, 225, 0).is_err());
    }
}
