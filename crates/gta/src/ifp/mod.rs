//! IFP: packages of animations (FORMATS, IFP).
//!
//! [`parse`](mod@parse) reads the bytes into a model, and [`export`] writes packages of
//! one animation. `keys` shows the keys of animations, and `import` turns edited keys
//! and names back into the package. `motion` moves the nodes of scenes, and `skeleton`
//! and `poses` show a package without a model. [`view`] declares the format and writes
//! the files of `X.meta`.

pub mod export;
mod import;
mod keys;
pub(crate) mod motion;
pub mod parse;
mod poses;
mod skeleton;
pub mod view;

pub use self::parse::*;
pub use self::view::FORMAT;
