//! `hpi serve`: the tree over the network.

#![cfg(feature = "serve")]

mod browser;
mod clients;
mod conditions;
#[cfg(target_os = "linux")]
mod confined;
mod container;
mod dav;
#[cfg(target_os = "linux")]
mod edit;
mod files;
mod guard;
mod kit;
mod life;
mod list;
mod nfs;
mod package;
mod page;
mod search;
mod thumb;
mod zip;
