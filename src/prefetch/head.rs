//! Number of bytes that a reader reads from the start of each file.

use crate::mount::Ino;
use crate::platform::page_size;

/// Maximum number of bytes of a file that are pushed. From there on, the kernel's own
/// read-ahead does as well.
pub(super) const MAX_HEAD: u64 = 512 << 10;

/// Bytes that the kernel requests at least from the start of a file, by its
/// read-ahead.
const MIN_HEAD: u64 = 16 << 10;

/// Number of files with only one page pushed, to find out whether that is
/// enough.
const TRIES: u32 = 4;

/// Number of files in succession that show that a reader reads more than the
/// first page. A single file does not show it: its page may have been pushed
/// after the reader had missed it.
const MIN_BEYOND: u32 = 2;

/// Number of bytes that a reader reads from the start of each file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    /// Number of bytes that the kernel requests of each file for this reader;
    /// [`MAX_HEAD`] if it reads files to their ends, `None` until either is known.
    requested: Option<u64>,
    first_page: FirstPage,
    /// Number of files in succession where the kernel requested the second
    /// page, but not the first one.
    beyond: u32,
}

/// Test of whether a reader reads more than the first page, if the kernel requests [`MIN_HEAD`]
/// for it.
#[derive(Debug, Clone, Copy)]
enum FirstPage {
    /// Unknown: only the first page was pushed for this number of files. The
    /// inode is the last file.
    Tried(u32, Option<Ino>),
    /// It reads no more.
    Enough,
    /// It reads more.
    TooLittle,
}

impl Head {
    /// The head for a new reader, which is assumed to read whole files.
    pub(super) const UNKNOWN: Self = Self {
        requested: None,
        first_page: FirstPage::Tried(0, None),
        beyond: 0,
    };

    /// Returns the head for another reader of the same program, if this reader
    /// has shown one. Its tries count: if it has come to its end, it may have
    /// requested nothing more.
    pub(super) fn inherited(self) -> Option<Self> {
        self.requested?;
        let first_page = match self.first_page {
            FirstPage::Tried(TRIES, _) => FirstPage::Enough,
            first_page => first_page,
        };
        Some(Self { first_page, ..self })
    }

    fn requested(self) -> u64 {
        self.requested.unwrap_or(MAX_HEAD)
    }

    /// Returns whether the reader reads files to their ends.
    pub(super) fn is_whole(self) -> bool {
        self.requested() == MAX_HEAD
    }

    /// Returns whether a read up to `end` is all that the reader reads of a file.
    pub(super) fn ends_at(self, end: u64) -> bool {
        !self.is_whole() && end <= self.requested()
    }

    /// Returns the bytes to push of the next file.
    pub(super) fn to_push(self) -> u64 {
        match self.first_page {
            FirstPage::Tried(..TRIES, _) | FirstPage::Enough if self.requested() == MIN_HEAD => {
                MIN_HEAD.min(page_size())
            }
            _ => self.requested(),
        }
    }

    /// Notes that the beginning of a file of this size was pushed. Returns true if that
    /// is enough of this file; the next one may get more.
    pub(super) fn note_pushed(&mut self, file: Ino, size: u64) -> bool {
        let FirstPage::Tried(tries, _) = self.first_page else {
            return false;
        };
        let is_try = self.to_push() < self.requested().min(size);
        if is_try {
            self.first_page = FirstPage::Tried(tries + 1, Some(file));
        }
        is_try
    }

    /// Notes that the reader has passed some files without requesting anything of
    /// those that were pushed.
    pub(super) fn note_passed(&mut self, has_passed: impl Fn(Ino) -> bool) {
        if let FirstPage::Tried(TRIES, Some(last)) = self.first_page
            && has_passed(last)
        {
            self.first_page = FirstPage::Enough;
        }
    }

    /// Notes a read at `offset` of a file whose head was pushed.
    pub(super) fn note_read_beyond(&mut self, offset: u64) {
        if offset == 0 {
            self.beyond = 0;
        } else if offset == page_size() {
            self.beyond = self.beyond.saturating_add(1);
        }
        if self.requested() == MIN_HEAD && self.beyond >= MIN_BEYOND {
            self.first_page = FirstPage::TooLittle;
        }
    }

    /// Notes that the reader has passed a file after the kernel had requested it
    /// up to `end`, which is not its end.
    pub(super) fn note_head(&mut self, end: u64) {
        self.requested = Some(end.clamp(MIN_HEAD, MAX_HEAD));
    }

    /// Notes that the reader reads on in a file.
    pub(super) fn note_whole(&mut self) {
        self.requested = Some(MAX_HEAD);
    }
}
