//! `hpi diff`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueHint};

use super::contents::{Bounds, Contents};
use crate::app;
use crate::mount::Sources;

/// Compare two sources
///
/// Printed are files that were added, removed, moved or changed, also in nested archives, and how
/// assets have changed. `hpi diff A B` compares two sources; `hpi diff A... --against B` compares
/// several sources, merged as in a mount, with those of `--against`. A game is compared with
/// `--game`, which can be given twice. `-o cachesize` and `-o threads` apply here too; with `-o
/// meta=off` assets are not compared. The exit status is that of `diff(1)`: 0 without differences,
/// 1 with differences, 2 if something could not be compared. No FUSE is needed.
#[derive(Debug, Parser)]
#[command(override_usage = "hpi diff [OPTIONS] A B\n       \
    hpi diff [OPTIONS] A... --against B...\n       \
    hpi diff [OPTIONS] --apply CHANGES SOURCE\n       \
    hpi diff [OPTIONS] --export DIR A B")]
pub struct Diff {
    /// What to compare
    #[arg(value_name = "SOURCE", value_hint = ValueHint::AnyPath)]
    sources: Vec<OsString>,
    /// A source of the second side; may be repeated
    ///
    /// All other SOURCEs are of the first side. It may be given several times; the last one wins
    /// where they are merged. Without it, the second side is the second of two SOURCEs.
    #[arg(long, value_name = "SOURCE", value_hint = ValueHint::AnyPath)]
    against: Vec<OsString>,
    /// Print which files differ, and not how assets have changed
    #[arg(long)]
    brief: bool,
    /// Write the differences as a folder of changes, for `hpi apply`
    ///
    /// DIR is new or empty, and gets the layout of `--apply`: `--apply DIR` of the first side then
    /// has the files of the second one. Of an archive X only the changes inside are written, as
    /// `X.d/`, if they suffice. With `--apply PATCH SOURCE`, a patch becomes a folder that can be
    /// edited. What a folder of changes cannot express is listed, and nothing is written. The exit
    /// status is 0 if everything was written.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    export: Option<PathBuf>,
    /// With --export, write archives in the sources as a whole instead of the changes inside
    #[arg(long, requires = "export")]
    whole: bool,
    /// Write JSON, one object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    bounds: Bounds,
    /// Options for sources.
    #[command(flatten)]
    pub contents: Contents,
}

impl Diff {
    /// Returns what to compare.
    ///
    /// # Errors
    /// Returns a message if something is missing, superfluous or not supported.
    pub fn plan(&self) -> Result<app::Diff, String> {
        Ok(app::Diff {
            sides: self.sides()?,
            expansion: self.bounds.expansion,
            json: self.json,
            brief: self.brief,
            progress: !self.contents.quiet,
            folder: self.export.clone(),
            whole: self.whole,
        })
    }

    fn sides(&self) -> Result<[Sources; 2], String> {
        let contents = &self.contents;
        let (game, given) = (|game| contents.of_game(game), |side| contents.given(side));
        let applies = !contents.apply.is_empty();
        Ok(
            match (&contents.game[..], &self.sources[..], &self.against[..]) {
                ([one, other], [], []) => [game(one)?, game(other)?],
                ([one], [], against @ [_, ..]) => [game(one)?, given(against)?],
                ([one], sources @ [_, ..], []) => [game(one)?, given(sources)?],
                ([one], [], []) if applies => [game(one)?, game(one)?],
                ([], source @ [_], []) if applies => [given(source)?, given(source)?],
                ([], sources @ [_, _], []) => [given(&sources[..1])?, given(&sources[1..])?],
                ([], sources @ [_, ..], against @ [_, ..]) => [given(sources)?, given(against)?],
                _ => {
                    return Err(
                        "compared are two SOURCEs, SOURCEs with those of --against, a --game with \
                     SOURCEs or another --game, or one of these with its changes (--apply)"
                            .to_owned(),
                    );
                }
            },
        )
    }
}
