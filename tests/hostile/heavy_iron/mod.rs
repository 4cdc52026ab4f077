//! Assets of Heavy Iron's games.

mod bombs;
mod damage;
