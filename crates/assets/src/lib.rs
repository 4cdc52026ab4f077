#![doc = include_str!("../README.md")]
//!
//! # Rooms
//!
//! * [`formats`]: the only lists of the asset formats and of the reports.
//! * [`view`]: what every format gives to the mount: a [`ViewFormat`], and the
//!   generated files of a [`View`]. An [`AssetContext`] is how a view reads
//!   other files.
//! * [`model`]: what the families share: pictures, scenes, skeletons, sounds,
//!   and the writers of PNG, GLB, OBJ, BVH and WAV.
//! * [`parse`]: what the parsers share.
//! * A room for each family, and in it one for each format: `parse` reads the
//!   bytes, `export` turns the model into pictures and scenes, and `view`
//!   declares the format and writes its files. What only one family needs of an
//!   [`AssetContext`] is in its `context`.
//!
//! [`ViewFormat`]: view::ViewFormat
//! [`View`]: view::View
//! [`AssetContext`]: view::AssetContext
//!
//! # Reading binary structures
//!
//! [`Cursor`] reads the fields of a structure in order and names each of them
//! in its errors; it is the usual way, and the only one for structures whose
//! length depends on their contents. `zerocopy` records read the long tables
//! of PSX (objects, vertices, textures, poses) and the keys of IFP: a table is
//! checked once as a whole, and its entries are decoded where they are used.
//! `Pointer` of [`total_annihilation`] is not a
//! third way to read fields: it is an offset from a file, together with the
//! place where it was found, and returns the bytes or the record at its target,
//! or an error about the pointer. A [`heavy_iron::record`] is for the objects
//! of these archives. They have more than fifty types: a list of names and
//! types of fields describes each, and the fields are decoded when they are
//! shown. A `Cursor` decodes them underneath.
//!
//! [`Cursor`]: hpimount_containers::io::Cursor

#![forbid(unsafe_code)]

pub mod consoles;
pub mod crash;
pub mod formats;
pub mod gta;
pub mod heavy_iron;
pub mod model;
pub mod neversoft;
pub mod parse;
pub mod renderware;
pub mod total_annihilation;
pub mod view;
