use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, LazyLock};
use std::thread;
use std::time::Duration;

use super::*;
use crate::content::checkpoints::SPACING;
use crate::content::{File, OpenVolume, Reader, Spool, VolumeId};
use hpimount_containers::volume::{Content, FileId, Mountable, Streams, Volume, Whole};

/// Memory of a decoder that can be copied.
const MEMORY: usize = 40_000;

const SIZE: u64 = 64 << 20;

/// The window of all decoders.
const WINDOW: [u8; 4] = *b"last";

/// The first bytes of the file, which repeat. Their number is prime, so that no two
/// blocks near each other are alike.
static BYTES: LazyLock<[u8; 65_521]> = LazyLock::new(|| {
    std::array::from_fn(|position| (position.wrapping_mul(0x9E37_79B9) >> 24) as u8)
});

/// Fills `out` with the bytes of the file from a position on. They are copied: tests
/// are not optimized, and need many.
fn fill(out: &mut [u8], position: u64) {
    let first = (position % BYTES.len() as u64) as usize;
    let (head, rest) = out.split_at_mut(out.len().min(BYTES.len() - first));
    head.copy_from_slice(&BYTES[first..][..head.len()]);
    for piece in rest.chunks_mut(BYTES.len()) {
        piece.copy_from_slice(&BYTES[..piece.len()]);
    }
}

/// Returns a range of the file.
fn bytes_of(range: Range<u64>) -> Vec<u8> {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    fill(&mut bytes, range.start);
    bytes
}

/// A volume of long files, with the same bytes.
struct Long {
    needs: Needs,
    /// Distance of the positions where decoding can begin.
    restarts: u64,
    size: u64,
    /// Bytes that were decoded.
    decoded: Arc<AtomicU64>,
    /// The position where decoding fails.
    damaged_at: u64,
    /// Barrier where a thread that tries to decode a file at once meets the test.
    meeting: Option<Arc<Barrier>>,
}

struct Counting {
    is_copied: bool,
    /// Bytes that the next ones depend on.
    window: Box<[u8]>,
    size: u64,
    position: u64,
    decoded: Arc<AtomicU64>,
    damaged_at: u64,
}

impl Decoder for Counting {
    fn left(&self) -> u64 {
        self.size - self.position
    }

    fn read(&mut self, out: &mut [u8]) -> Result<()> {
        assert_eq!(*self.window, WINDOW);
        fill(out, self.position);
        self.position += out.len() as u64;
        self.decoded.fetch_add(out.len() as u64, Ordering::Relaxed);
        if self.position > self.damaged_at {
            return Err(Error::damaged(7, "packed data", "is damaged"));
        }
        Ok(())
    }

    fn fork(&self) -> Option<Box<dyn Decoder>> {
        self.is_copied.then(|| {
            Box::new(Self {
                decoded: self.decoded.clone(),
                window: self.window.clone(),
                ..*self
            }) as Box<dyn Decoder>
        })
    }

    fn take_window(&mut self) -> Box<[u8]> {
        std::mem::take(&mut self.window)
    }

    fn set_window(&mut self, window: Box<[u8]>) {
        self.window = window;
    }

    fn memory(&self) -> usize {
        match self.window.is_empty() {
            true => 100,
            false => MEMORY,
        }
    }
}

impl Streams for Long {
    fn restart_before(&self, _file: FileId, position: u64) -> u64 {
        position - position % self.restarts
    }

    fn decoder(&self, file: FileId) -> Result<Box<dyn Decoder>> {
        self.decoder_before(file, 0)
    }

    fn decoder_before(&self, file: FileId, position: u64) -> Result<Box<dyn Decoder>> {
        Ok(Box::new(Counting {
            is_copied: self.needs.is_copied,
            window: WINDOW.into(),
            size: self.size,
            position: self.restart_before(file, position),
            decoded: self.decoded.clone(),
            damaged_at: self.damaged_at,
        }))
    }

    fn decode_whole(&self, _file: FileId) -> Option<Vec<u8>> {
        if let Some(meeting) = &self.meeting {
            meeting.wait();
            thread::sleep(Duration::from_millis(50));
        }
        self.decoded.fetch_add(self.size, Ordering::Relaxed);
        (self.damaged_at > self.size).then(|| bytes_of(0..self.size))
    }

    fn needs(&self, _file: FileId) -> Needs {
        self.needs
    }
}

impl Volume for Long {
    fn content(&self, _file: FileId) -> Result<Content<'_>> {
        Ok(Content::Stream(self))
    }
}

impl Mountable for Long {
    fn memory(&self) -> usize {
        0
    }
}

/// A reader, the long files, and the number of bytes decoded of them.
struct Case {
    reader: Arc<Reader>,
    volume: OpenVolume,
    decoded: Arc<AtomicU64>,
}

impl Case {
    fn new(memory: usize, damaged_at: u64) -> Self {
        Self::with(Needs::default(), memory, 0, damaged_at)
    }

    /// Files whose decoders cannot be copied and have a dictionary.
    fn solid(dictionary: usize, memory: usize, spool: u64) -> Self {
        let needs = Needs {
            memory: dictionary,
            is_copied: false,
            whole: None,
        };
        Self::with(needs, memory, spool, u64::MAX)
    }

    fn with(needs: Needs, memory: usize, spool: u64, damaged_at: u64) -> Self {
        Self::with_restarts(needs, u64::MAX, memory, spool, damaged_at)
    }

    fn with_restarts(
        needs: Needs,
        restarts: u64,
        memory: usize,
        spool: u64,
        damaged_at: u64,
    ) -> Self {
        let volume = Long {
            needs,
            restarts,
            size: needs.whole.map_or(SIZE, |whole| whole.size),
            decoded: Arc::default(),
            damaged_at,
            meeting: None,
        };
        Self::of(volume, memory, spool)
    }

    fn of(volume: Long, memory: usize, spool: u64) -> Self {
        let decoded = volume.decoded.clone();
        Self {
            reader: Reader::new(&Budget::new(memory), Spool::new(None, spool)),
            volume: OpenVolume {
                id: VolumeId(1, 0),
                ..OpenVolume::new("", "test", Box::new(volume))
            },
            decoded,
        }
    }

    /// Reads and compares bytes; returns how many were decoded for that.
    fn read(&self, start: u64, length: u64) -> Result<u64> {
        self.read_of(0, start..start + length, Access::Unknown)
    }

    /// Does the same for a file of this number.
    fn read_of(&self, number: u32, range: Range<u64>, access: Access) -> Result<u64> {
        let before = self.decoded.load(Ordering::Relaxed);
        let file = File {
            volume: &self.volume,
            file: FileId(number),
        };
        let start = range.start;
        let bytes = self.reader.read(file, range.clone(), access)?;
        assert!(*bytes == bytes_of(range), "{start}");
        assert!(self.reader.budget().used() <= self.reader.budget().limit());
        Ok(self.decoded.load(Ordering::Relaxed) - before)
    }
}

#[test]
fn a_decoder_whose_reader_was_killed_is_kept_for_the_next_one() {
    for case in [Case::new(16 << 20, u64::MAX), Case::solid(0, 16 << 20, 0)] {
        case.read(0, 1 << 20).unwrap();
        requester::serve_killed(|| {
            let killed = case.read(SIZE - 1, 1).unwrap_err();
            assert!(crate::requester::Outcome::is_killed(&killed));
        });
        // Nothing is decoded again.
        let decoded = case.read(1 << 20, 1).unwrap();
        assert!(decoded <= BLOCK_SIZE.into(), "{decoded}");
    }
}

#[test]
fn sequential_reads_decode_every_byte_once() {
    let case = Case::new(16 << 20, SIZE);
    let step = 128 << 10;
    let decoded = (0..SIZE / step).map(|at| case.read(at * step, step).unwrap());
    assert_eq!(decoded.sum::<u64>(), SIZE);
}

#[test]
fn any_byte_is_near_a_checkpoint_once_the_file_was_decoded() {
    let case = Case::new(16 << 20, SIZE);
    case.read(SIZE - 100, 100).unwrap();
    for number in 0..200_u64 {
        let position = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (SIZE - 4096);
        let decoded = case.read(position, 4096).unwrap();
        assert!(
            decoded <= 2 * SPACING + 2 * u64::from(BLOCK_SIZE),
            "{decoded}"
        );
    }
}

#[test]
fn checkpoints_with_windows_in_the_spool_are_dense() {
    let case = Case::with(Needs::default(), 16 << 20, SIZE, SIZE);
    case.read(SIZE - 100, 100).unwrap();
    for number in 0..200_u64 {
        let position = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (SIZE - 4096);
        let decoded = case.read(position, 4096).unwrap();
        assert!(decoded <= 4 * u64::from(BLOCK_SIZE), "{decoded}");
    }
    // The spool has room for the last few windows only.
    let case = Case::with(Needs::default(), 16 << 20, 1 << 20, SIZE);
    case.read(SIZE - 100, 100).unwrap();
    case.read(SIZE / 2, 100).unwrap();
}

#[test]
fn checkpoints_are_thinned_out_if_memory_is_short() {
    let case = Case::new(1 << 20, SIZE);
    case.read(SIZE - 100, 100).unwrap();
    let decoded = case.read(SIZE / 2 + 5, 10).unwrap();
    // Three of them fit into an eighth of a MiB.
    assert!(decoded <= SIZE / 2, "{decoded}");
}

#[test]
fn damage_is_an_error_only_for_the_data_after_it() {
    let case = Case::new(16 << 20, 10 << 20);
    assert!(case.read(12 << 20, 1).is_err());
    assert!(case.read(0, 10 << 20).is_ok());
    assert!(case.read(11 << 20, 1).is_err());
}

#[test]
fn a_reader_behind_the_prefetch_decodes_nothing_of_a_solid_block_again() {
    let case = Case::solid(0, 16 << 20, 0);
    let (step, ahead) = (64 << 10, 2 << 20);
    let mut decoded = 0;
    for at in (0..SIZE).step_by(step) {
        let range = at..at + step as u64;
        decoded += case.read_of(0, range, Access::Sequential).unwrap();
        // The last page, as where the prefetch has omitted it.
        if let Some(behind) = at.checked_sub(ahead) {
            decoded += case
                .read_of(0, behind + 61_440..behind + 65_536, Access::Sequential)
                .unwrap();
        }
    }
    assert_eq!(decoded, SIZE);
}

#[test]
fn a_solid_block_is_decoded_at_most_twice_in_any_order_of_reads() {
    let case = Case::solid(0, 4 << 20, 2 * SIZE);
    let positions = (0..300_u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (SIZE - 4096));
    let decoded = positions.map(|position| case.read(position, 4096).unwrap());
    let decoded = decoded.sum::<u64>();
    assert!(decoded <= SIZE, "far jumps are spooled: {decoded}");
    // Two readers far apart, after one that read all.
    let case = Case::solid(0, 4 << 20, 2 * SIZE);
    let half = SIZE / 2;
    let mut decoded = case.read(0, half).unwrap();
    for at in (0..half).step_by(64 << 10) {
        decoded += case.read(half + at, 64 << 10).unwrap();
        decoded += case.read(at, 64 << 10).unwrap();
    }
    assert!(decoded <= 2 * SIZE, "{decoded}");
}

#[test]
fn a_solid_block_that_fits_in_the_spool_is_decoded_once() {
    let case = Case::solid(0, 4 << 20, 2 * SIZE);
    case.read(0, SIZE).unwrap();
    let piece = 2 << 20;
    let backward = (0..SIZE / piece).rev();
    let decoded = backward.map(|number| case.read(number * piece, piece).unwrap());
    assert_eq!(decoded.sum::<u64>(), 0);
}

#[test]
fn what_is_read_once_is_spooled_only_after_somebody_has_gone_back() {
    for case in [
        Case::solid(0, 4 << 20, 2 * SIZE),
        Case::with(Needs::default(), 4 << 20, 2 * SIZE, u64::MAX),
    ] {
        let piece = u64::from(BLOCK_SIZE);
        let read = |number| {
            let range = number * piece..(number + 1) * piece;
            case.read_of(0, range, Access::Once).unwrap()
        };
        let decoded: u64 = (0..SIZE / piece).map(read).sum();
        assert_eq!((decoded, case.reader.spool.used()), (SIZE, 0));
    }
    let case = Case::solid(0, 4 << 20, 2 * SIZE);
    case.read_of(0, 0..SIZE, Access::Once).unwrap();
    let piece = 2 << 20;
    let backward = (0..SIZE / piece).rev();
    let read = |number| {
        let range = number * piece..(number + 1) * piece;
        case.read_of(0, range, Access::Once).unwrap()
    };
    assert!(backward.map(read).sum::<u64>() <= SIZE, "decoded once more");
}

#[test]
fn a_solid_block_that_only_nearly_fits_in_the_spool_is_decoded_once_more() {
    let case = Case::solid(0, 4 << 20, SIZE);
    case.read(0, SIZE).unwrap();
    let piece = 2 << 20;
    let backward = (0..SIZE / piece).rev();
    let decoded = backward.map(|number| case.read(number * piece, piece).unwrap());
    assert!(decoded.sum::<u64>() <= SIZE);
}

#[test]
fn a_long_file_that_fits_in_the_spool_is_decoded_once() {
    let case = Case::with(Needs::default(), 16 << 20, 2 * SIZE, SIZE);
    // In order for a while, then far ahead, then anywhere.
    let first = (0..64_u64).map(|at| case.read(at << 17, 1 << 17).unwrap());
    let mut decoded = first.sum::<u64>() + case.read(SIZE - 100, 100).unwrap();
    for number in 0..200_u64 {
        let position = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (SIZE - 4096);
        decoded += case.read(position, 4096).unwrap();
    }
    assert_eq!(decoded, SIZE);
}

#[test]
fn a_block_that_the_spool_has_evicted_is_decoded_from_a_checkpoint_near_it() {
    let case = Case::with(Needs::default(), 16 << 20, SIZE * 3 / 2, SIZE);
    case.read(0, SIZE).unwrap();
    // The first blocks of the first file make room for the second one.
    case.read_of(1, 0..SIZE, Access::Sequential).unwrap();
    let decoded = case.read(29 << 20, 4096).unwrap();
    assert!((1..=SPARSE_SPACING).contains(&decoded), "{decoded}");
}

#[test]
fn what_a_damaged_solid_block_has_before_the_damage_is_read_in_any_order() {
    let needs = Needs {
        memory: 0,
        is_copied: false,
        whole: None,
    };
    let case = Case::with(needs, 4 << 20, SIZE, 10 << 20);
    assert!(case.read(12 << 20, 1).is_err());
    assert!(case.read(9 << 20, 65_536).is_ok());
    assert!(case.read(0, 10 << 20).is_ok());
    assert!(case.read(11 << 20, 1).is_err());
}

#[test]
fn decoders_that_do_not_fit_together_take_turns() {
    let case = Case::solid(9 << 20, 16 << 20, 4 * SIZE);
    let mut decoded = 0;
    for at in (0..SIZE).step_by(128 << 10) {
        for number in 0..2 {
            let range = at..at + (128 << 10);
            decoded += case.read_of(number, range, Access::Sequential).unwrap();
        }
    }
    assert!(decoded <= 2 * 3 * SIZE, "{decoded}");
}

#[test]
fn threads_with_decoders_that_do_not_fit_together_wait_for_each_other() {
    let case = Case::solid(9 << 20, 16 << 20, 8 * SIZE);
    thread::scope(|scope| {
        for number in 0..4 {
            let case = &case;
            scope.spawn(move || {
                for at in (0..SIZE / 4).step_by(128 << 10) {
                    let range = at..at + (128 << 10);
                    case.read_of(number, range, Access::Sequential).unwrap();
                }
            });
        }
    });
}

#[test]
fn one_decoder_may_be_larger_than_the_budget() {
    let case = Case::solid(40 << 20, 16 << 20, SIZE);
    for number in 0..2 {
        let decoded = case.read_of(number, 0..1 << 20, Access::Sequential);
        assert_eq!(decoded.unwrap(), 1 << 20);
    }
}

#[test]
fn a_thread_that_returns_to_a_decoder_larger_than_the_budget_is_waited_for() {
    let size = 3 << 20;
    let meeting = Arc::new(Barrier::new(2));
    let volume = Long {
        needs: Needs {
            memory: 40 << 20,
            is_copied: false,
            whole: Some(Whole { packed: 0, size }),
        },
        restarts: u64::MAX,
        size,
        decoded: Arc::default(),
        // It cannot be decoded at once, which takes a while to find out.
        damaged_at: size - 1,
        meeting: Some(meeting.clone()),
    };
    let case = Case::of(volume, 16 << 20, 0);
    let read = |number, start| case.read_of(number, start..start + 1000, Access::Sequential);
    read(0, 0).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| read(0, BLOCK_SIZE.into()).unwrap());
        meeting.wait();
        read(1, 0).unwrap();
    });
}

#[test]
fn an_idle_decoder_gives_its_memory_to_whoever_needs_it() {
    let case = Case::solid(12 << 20, 16 << 20, SIZE);
    case.read(0, 128 << 10).unwrap();
    let budget = case.reader.budget();
    assert!(budget.used() >= 12 << 20);
    let charge = budget.charge("a test", 14 << 20);
    assert_eq!(charge.unwrap().bytes(), 14 << 20);
    case.read(128 << 10, 128 << 10).unwrap();
}

/// A file of 3 MiB that can be decoded at once.
fn short_file(memory: usize, damaged_at: u64) -> Case {
    let size = 3 << 20;
    let needs = Needs {
        whole: Some(Whole { packed: size, size }),
        ..Needs::default()
    };
    Case::with(needs, memory, SIZE, damaged_at)
}

#[test]
fn a_file_that_fits_in_memory_is_decoded_at_once_and_not_again() {
    let size = 3 << 20;
    // More than it takes, and less than its blocks.
    for memory in [24 << 20, 20 << 20] {
        let case = short_file(memory, u64::MAX);
        let mut decoded = 0;
        for at in (0..size).step_by(128 << 10) {
            decoded += case
                .read_of(0, at..at + (128 << 10), Access::Sequential)
                .unwrap();
        }
        assert_eq!(decoded, size);
        let case = short_file(memory, u64::MAX);
        let positions = (0..300_u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (size - 4096));
        let decoded = positions.map(|position| case.read(position, 4096).unwrap());
        let decoded = decoded.sum::<u64>();
        assert!(decoded <= size + 2 * u64::from(BLOCK_SIZE), "{decoded}");
    }
}

#[test]
fn only_the_first_block_is_decoded_for_a_small_read_at_the_beginning() {
    let case = short_file(32 << 20, u64::MAX);
    assert_eq!(case.read(0, 4096).unwrap(), u64::from(BLOCK_SIZE));
}

#[test]
fn a_file_that_cannot_be_decoded_at_once_is_tried_once() {
    let size = 3 << 20;
    let case = short_file(32 << 20, size - 1);
    let mut decoded = 0;
    for at in (0..2 << 20).step_by(128 << 10) {
        decoded += case.read(at, 128 << 10).unwrap();
    }
    assert_eq!(decoded, size + (2 << 20));
    assert!(case.read(size - 10, 10).is_err());
}

#[test]
fn a_file_that_takes_much_of_the_budget_is_decoded_in_blocks() {
    let case = short_file(8 << 20, u64::MAX);
    let decoded = case.read(128 << 10, 64 << 10).unwrap();
    assert_eq!(decoded, 192 << 10);
}

#[test]
fn decoding_begins_at_the_restart_before_a_read() {
    let needs = Needs {
        memory: 0,
        is_copied: false,
        whole: None,
    };
    let distance = 3_000_000;
    let case = Case::with_restarts(needs, distance, 4 << 20, 0, u64::MAX);
    for number in 0..50_u64 {
        let position = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (SIZE - 4096);
        let decoded = case.read(position, 4096).unwrap();
        assert!(decoded <= distance + 2 * u64::from(BLOCK_SIZE), "{decoded}");
    }
    // Nothing is decoded twice by a reader that goes on.
    let case = Case::with_restarts(needs, distance, 4 << 20, 0, u64::MAX);
    let step = 128 << 10;
    let decoded = (0..SIZE / step).map(|at| case.read(at * step, step).unwrap());
    assert_eq!(decoded.sum::<u64>(), SIZE);
}

#[test]
fn the_records_of_spooled_blocks_take_a_small_part_of_the_budget() {
    let case = Case::solid(0, 1 << 20, 4 * SIZE);
    for number in 0..60_u64 {
        let position = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (SIZE - 4096);
        case.read(position, 4096).unwrap();
    }
    assert!(case.reader.spool.used() > 8 << 20);
    let budget = case.reader.budget();
    assert!(budget.charge("a test", 800 << 10).is_ok());
}
