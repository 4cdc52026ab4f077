#![doc = include_str!("../README.md")]
//!
//! # Rooms
//!
//! * [`view`]: the interface between formats and the mount: a [`ViewFormat`], and the
//!   generated files of a [`View`]. A view reads other files through an
//!   [`AssetContext`].
//! * [`model`]: shared by the families: pictures, scenes, skeletons, sounds, and the
//!   writers of PNG, GLB, OBJ, BVH and WAV.
//! * [`parse`]: helpers of the parsers.
//! * [`consoles`], and in the crate of each family, a folder for each format: `parse`
//!   reads the bytes, `export` turns the model into pictures and scenes, and `view`
//!   declares the format and writes its files.
//!
//! [`ViewFormat`]: view::ViewFormat
//! [`View`]: view::View
//! [`AssetContext`]: view::AssetContext
//!
//! # Reading binary structures
//!
//! [`Cursor`] reads the fields of a structure in order and names each of them in its
//! errors. It is the usual way to read a format, and the only one for structures whose
//! length depends on their contents. The families have others: derived records;
//! `zerocopy` for long tables; `Pointer` of Total Annihilation, an offset together with
//! the place where it was found; and records of Heavy Iron, lists of names and types of
//! fields.
//!
//! [`Cursor`]: hpimount_containers::io::Cursor

#![forbid(unsafe_code)]

pub mod consoles;
pub mod model;
pub mod parse;
pub mod view;
