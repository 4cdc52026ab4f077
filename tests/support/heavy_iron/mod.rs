//! Assets of Heavy Iron's games: builders, and a look at all parts of a model.

pub mod build;
pub mod kinds;
pub mod look;
