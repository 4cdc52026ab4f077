//! The output of a check: findings, images and a summary, one per line.

use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use indicatif::{HumanBytes, ProgressBar};
use serde_json::json;

use super::dat::Entry;
use super::finding::{Cause, Severity};
use super::sums::Sums;
use crate::inspect::Error;
use crate::printable::printable;
use crate::sync::lock;
use crate::sync::tally::Tally;

/// The output style.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// JSON, one object per line.
    pub json: bool,
    /// True if the output is a terminal: control characters are escaped.
    pub is_terminal: bool,
    /// True if matters of style are listed.
    pub is_verbose: bool,
}

/// Statistics of a check.
#[derive(Debug, Default)]
pub struct Summary {
    /// Sources, including those that could not be opened.
    pub sources: Tally,
    /// Archives, discs and other containers, including nested ones.
    pub archives: Tally,
    /// Files in them, and in folders.
    pub files: Tally,
    /// Files that were parsed.
    pub assets: Tally,
    /// Bytes of files and disc images, decoded.
    pub bytes: Tally,
    /// Bytes that decoders have returned: of packed files, and of the blocks of block
    /// images. They are more than the decoded bytes of the files if something was
    /// decoded again.
    pub decoded: Tally,
    /// Findings that are damage.
    pub damage: Tally,
    /// Findings about data that could not be read.
    pub not_checked: Tally,
    /// Other findings.
    pub warnings: Tally,
    /// Matters of style, listed or not.
    pub style: Tally,
}

impl Summary {
    fn counter(&self, severity: Severity) -> &Tally {
        match severity {
            Severity::Damage => &self.damage,
            Severity::NotChecked => &self.not_checked,
            Severity::Warning => &self.warnings,
            Severity::Style => &self.style,
        }
    }
}

/// A collector of the findings of several threads.
pub(super) struct CheckOutput<'a> {
    pub(super) summary: Summary,
    out: Mutex<Out<'a>>,
    /// True if the output is closed.
    is_broken: AtomicBool,
    style: Style,
    bar: &'a ProgressBar,
    start: Instant,
}

struct Out<'a> {
    writer: &'a mut (dyn Write + Send),
    error: Option<io::Error>,
}

impl<'a> CheckOutput<'a> {
    pub(super) fn new(
        writer: &'a mut (dyn Write + Send),
        style: Style,
        bar: &'a ProgressBar,
    ) -> Self {
        Self {
            summary: Summary::default(),
            out: Mutex::new(Out {
                writer,
                error: None,
            }),
            is_broken: AtomicBool::new(false),
            style,
            bar,
            start: Instant::now(),
        }
    }

    /// Returns whether the output is closed.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// Announces that this many more bytes will be read.
    pub(super) fn expect(&self, bytes: u64) {
        self.bar.inc_length(bytes);
    }

    /// Records that this many bytes were read.
    pub(super) fn read(&self, bytes: u64) {
        self.summary.bytes.add(bytes);
        self.bar.inc(bytes);
    }

    /// Reports a finding in a source; `path` is empty for the source itself.
    pub(super) fn finding(&self, severity: Severity, source: &str, path: &str, cause: Cause) {
        self.summary.counter(severity).add(1);
        if severity == Severity::Style && !self.style.is_verbose {
            return;
        }
        let line = match self.style.json {
            true => {
                let mut finding = json!({
                    "type": "finding",
                    "severity": severity,
                    "source": source,
                    "path": path,
                    "offset": cause.offset,
                    "cause": cause.text,
                });
                if let Some(line) = cause.line {
                    finding["line"] = line.into();
                }
                finding.to_string()
            }
            false => {
                let line = cause.line.map(|line| format!("line {line}: "));
                format!(
                    "{}: {}: {}{}",
                    location(source, path),
                    severity.word(),
                    line.unwrap_or_default(),
                    cause.text
                )
            }
        };
        self.line(&line);
    }

    /// Reports the checksums of an image, and its entry in a list.
    pub(super) fn image(&self, source: &str, path: &str, image: &Image<'_>) {
        let Image {
            name,
            size,
            sums,
            listed,
        } = image;
        let line = match self.style.json {
            true => {
                let mut line = json!({
                    "type": "image",
                    "source": source,
                    "path": path,
                    "image": name,
                    "size": size,
                    "crc32": sums.crc32(),
                    "md5": sums.md5(),
                    "sha1": sums.sha1(),
                });
                if let Some(listed) = listed {
                    line["listed"] = json!(listed);
                }
                line.to_string()
            }
            false => {
                let mut line = format!(
                    "{}: {name}: {size} bytes, CRC-32 {}, MD5 {}, SHA-1 {}",
                    location(source, path),
                    sums.crc32(),
                    sums.md5(),
                    sums.sha1()
                );
                if let Some(listed) = listed {
                    line += &format!(", listed as {listed}");
                }
                line
            }
        };
        self.line(&line);
    }

    /// Reports how many files of a folder of changes a source shows, and how many of
    /// them wrongly.
    pub(super) fn applied(&self, source: &str, files: usize, wrong: usize) {
        let line = match self.style.json {
            true => json!({
                "type": "applied",
                "source": source,
                "files": files,
                "wrong": wrong,
            })
            .to_string(),
            false => format!(
                "{}: {} of {files} changed files are as in the folder of changes",
                location(source, ""),
                files - wrong
            ),
        };
        self.line(&line);
    }

    fn line(&self, line: &str) {
        let line = match self.style.is_terminal && !self.style.json {
            true => printable(line),
            false => line.into(),
        };
        let mut out = lock(&self.out);
        let written = self
            .bar
            .suspend(|| writeln!(out.writer, "{line}").and_then(|()| out.writer.flush()));
        if let Err(error) = written {
            self.is_broken.store(true, Ordering::Relaxed);
            out.error.get_or_insert(error);
        }
    }

    /// Reports the summary.
    pub(super) fn finish(self) -> Result<Summary, Error> {
        let seconds = self.start.elapsed().as_secs_f64();
        let summary = &self.summary;
        let [
            sources,
            archives,
            files,
            assets,
            bytes,
            damage,
            not_checked,
            warnings,
            style,
        ] = [
            &summary.sources,
            &summary.archives,
            &summary.files,
            &summary.assets,
            &summary.bytes,
            &summary.damage,
            &summary.not_checked,
            &summary.warnings,
            &summary.style,
        ]
        .map(Tally::get);
        let speed = (bytes as f64 / seconds.max(1e-6)) as u64;
        let line = match self.style.json {
            true => json!({
                "type": "summary",
                "sources": sources,
                "archives": archives,
                "files": files,
                "assets": assets,
                "bytes": bytes,
                "seconds": seconds,
                "damage": damage,
                "not_checked": not_checked,
                "warnings": warnings,
                "style": style,
            })
            .to_string(),
            false => format!(
                "checked {}, {}, {}, {}, {} in {seconds:.1} s ({}/s): \
                 {damage} damaged, {not_checked} not checked, {}{}",
                counted(sources, "source"),
                counted(archives, "archive"),
                counted(files, "file"),
                counted(assets, "asset"),
                HumanBytes(bytes),
                HumanBytes(speed),
                counted(warnings, "warning"),
                match (style, self.style.is_verbose) {
                    (0, _) => String::new(),
                    (_, true) => format!(", {style} of style"),
                    (_, false) => format!(", {style} of style (-v lists them)"),
                },
            ),
        };
        self.bar.finish_and_clear();
        self.line(&line);
        let out = self.out.into_inner();
        let out = out.unwrap_or_else(std::sync::PoisonError::into_inner);
        match out.error {
            Some(error) => Err(Error::Output(error)),
            None => Ok(self.summary),
        }
    }
}

/// A reported image.
pub(super) struct Image<'a> {
    pub(super) name: &'a str,
    pub(super) size: u64,
    pub(super) sums: &'a Sums,
    /// Its entry in a list.
    pub(super) listed: Option<&'a Entry<'a>>,
}

/// Returns the name of a path in a source.
fn location(source: &str, path: &str) -> String {
    match path {
        "" => source.to_owned(),
        path => format!("{source}: {path}"),
    }
}

fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}
