//! What a mount under load shows, who reads it, and how that went.

pub mod figures;
pub mod readers;
pub mod set;
