//! Formats inside archives: from bytes to a typed model and warnings.
//!
//! A model knows nothing of files, JSON or tables; it is complete enough to
//! export geometry, textures and keyframes from without reading the bytes
//! again. Lost structure is an error with an offset; an odd value (a bad
//! index, a missing palette) is a warning, and parsing goes on.
