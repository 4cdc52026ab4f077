//! Encoders for the codecs of the consoles. They use the arithmetic of the decoders and
//! try all parameters of a frame for the least error. Decoded samples are therefore
//! encoded without loss.

pub(super) mod dsp;
pub(super) mod ima;

/// Returns the squared error of a sample.
fn square(wanted: i16, found: i16) -> u64 {
    u64::from(wanted.abs_diff(found)).pow(2)
}
