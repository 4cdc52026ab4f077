//! Assets of Crash Bandicoot: The Wrath of Cortex.

pub mod hgo;
