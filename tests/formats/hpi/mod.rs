//! HPI archives.

mod properties;
