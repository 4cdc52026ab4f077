//! PSX, HGO and IFP files.

mod converted;
mod exports;
mod ifp_hgo;
mod meta;
mod mounted;
mod psx;
mod psx_damage;
mod samples;
