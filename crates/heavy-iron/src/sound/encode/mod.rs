//! Samples in the codecs of the consoles. The encoders use the arithmetic of the
//! decoders: of all parameters of a frame, those with the least error count. So
//! what a sound plays is encoded without loss.

pub(super) mod dsp;
pub(super) mod ima;

/// Returns the square of the error of a sample.
fn square(wanted: i16, found: i16) -> u64 {
    u64::from(wanted.abs_diff(found)).pow(2)
}
