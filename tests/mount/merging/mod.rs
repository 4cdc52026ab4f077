//! Several sources in one tree (SEMANTICS, Merging).

mod aliases;
mod game_order;
mod model;
mod precedence;
mod scale;
