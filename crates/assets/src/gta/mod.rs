//! Assets of the Grand Theft Auto games.

pub mod ifp;
