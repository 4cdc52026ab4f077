use std::sync::Arc;

use hpimount_containers::io::ReadAt;

use crate::number::write_bps;
use crate::{Error, Extents, Format, Mismatch, Options, Patch, Patched, Result, Sums, write};

fn original() -> Vec<u8> {
    (0..200).collect()
}

/// Returns a patch with these sizes, actions and checksums of both files.
fn framed(magic: &[u8; 4], sizes: &[u64], actions: &[u8], sums: [u32; 2]) -> Vec<u8> {
    let mut patch = magic.to_vec();
    for size in sizes {
        write_bps(*size, &mut patch).unwrap();
    }
    patch.extend(actions);
    patch.extend(sums.iter().flat_map(|sum| sum.to_le_bytes()));
    patch.extend(crc32fast::hash(&patch).to_le_bytes());
    patch
}

/// Returns an action, and a distance.
fn action(kind: u64, length: u64, distance: Option<i64>) -> Vec<u8> {
    let mut action = Vec::new();
    write_bps((length - 1) << 2 | kind, &mut action).unwrap();
    if let Some(distance) = distance {
        let number = distance.unsigned_abs() << 1 | u64::from(distance < 0);
        write_bps(number, &mut action).unwrap();
    }
    action
}

fn bps(result: &[u8], actions: &[Vec<u8>]) -> Vec<u8> {
    let sums = [crc32fast::hash(&original()), crc32fast::hash(result)];
    framed(
        b"BPS1",
        &[200, result.len() as u64, 0],
        &actions.concat(),
        sums,
    )
}

fn apply(patch: Vec<u8>, original: Vec<u8>) -> Result<Patched> {
    let patched = Patch::open(Arc::new(patch))?.apply(Arc::new(original))?;
    patched.verify()?;
    Ok(patched)
}

fn all(source: &dyn ReadAt) -> Vec<u8> {
    let mut bytes = vec![0; source.len() as usize];
    source.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

#[test]
fn actions_copy_from_the_original_the_patch_and_the_result() {
    let expected = [&original()[..20], b"abc", &original()[50..60], b"abcabcab"].concat();
    let actions = [
        action(0, 20, None),
        [action(1, 3, None), b"abc".to_vec()].concat(),
        action(2, 10, Some(50)),
        action(3, 3, Some(20)),
        action(3, 5, Some(10)),
    ];
    let patched = apply(bps(&expected, &actions), original()).unwrap();
    assert_eq!(all(&patched), expected);
}

#[test]
fn actions_outside_of_their_sources_are_damaged() {
    for actions in [
        vec![action(0, 101, None)],
        vec![action(0, 99, None)],
        vec![action(2, 100, Some(101))],
        vec![action(2, 100, Some(-1))],
        vec![action(3, 100, Some(0))],
        vec![action(0, 50, None), action(3, 50, Some(50))],
        vec![action(0, 50, None), action(3, 50, Some(-1))],
        vec![action(1, 100, None)],
        vec![action(2, 100, Some(i64::MAX >> 1))],
    ] {
        let error = apply(bps(&[0; 100], &actions), original()).err().unwrap();
        assert!(
            matches!(error, Error::Source(_)) && !error.is_fault(),
            "{error}"
        );
    }
}

#[test]
fn another_original_is_an_error_that_names_both() {
    let patch = bps(&original()[..100], &[action(0, 100, None)]);
    let error = |original| apply(patch.clone(), original).err().unwrap().to_string();
    assert_eq!(
        error(vec![1; 150]),
        "made for a file of 200 bytes with CRC-32 3a6e0b7e; this file has 150 bytes"
            .replace("3a6e0b7e", &format!("{:08x}", crc32fast::hash(&original())))
    );
    assert!(error(vec![1; 200]).contains("; this file has 200 bytes with CRC-32 "));
    assert_eq!(
        error(original()[..100].to_vec()),
        "this file is the result of this patch already, 100 bytes"
    );
}

#[test]
fn a_damaged_patch_is_noticed_when_it_is_opened() {
    let patch = bps(&original()[..100], &[action(0, 100, None)]);
    for number in 0..patch.len() {
        let mut damaged = patch.clone();
        damaged[number] ^= 0x10;
        assert!(Patch::open(Arc::new(damaged)).is_err(), "byte {number}");
        assert!(
            Patch::open(Arc::new(patch[..number].to_vec())).is_err(),
            "{number}"
        );
    }
}

#[test]
fn a_result_of_a_tebibyte_takes_no_memory_and_more_is_refused() {
    let huge = |size: u64| {
        let run = [
            action(1, 1, None),
            b"x".to_vec(),
            action(3, size - 1, Some(0)),
        ];
        let patch = framed(b"BPS1", &[200, size, 0], &run.concat(), [0, 0]);
        let options = Options {
            memory: 4096,
            ..Options::default()
        };
        Patch::open_with(Arc::new(patch), options)?.apply(Arc::new(original()))
    };
    let patched = huge(1 << 40).unwrap();
    let mut byte = [0];
    patched.read_exact_at(&mut byte, (1 << 40) - 1).unwrap();
    assert_eq!(byte, *b"x");
    assert!(huge((1 << 40) + 1).is_err());
}

#[test]
fn patches_with_too_many_parts_for_the_memory_are_refused_with_the_number() {
    let actions: Vec<_> = (0..100)
        .map(|number| action(2, 1, Some(number % 3)))
        .collect();
    let result = vec![0; 100];
    let options = Options {
        memory: 1000,
        ..Options::default()
    };
    let patch = Patch::open_with(Arc::new(bps(&result, &actions)), options).unwrap();
    let error = patch.apply(Arc::new(original())).err().unwrap();
    assert!(
        error.is_fault() && error.to_string().contains("1000"),
        "{error}"
    );
}

/// The size of the result is more than 2^28.
#[test]
fn long_copies_are_written_as_several_actions() {
    let mut extents = Extents::default();
    extents.append_fill(7, (1 << 28) + 5);
    let mut patch = Vec::new();
    write::bps(&extents, &original(), &mut patch).unwrap();
    assert!(patch.len() < 60, "{}", patch.len());
    let patched = apply(patch, original()).unwrap();
    assert_eq!(patched.len(), (1 << 28) + 5);
}

#[test]
fn ups_patches_apply_in_both_directions() {
    let (old, mut new) = (original(), original());
    new[3] = 99;
    new[70..75].copy_from_slice(b"abcde");
    for length in [200, 203, 180] {
        new.resize(length, 5);
        let patch = ups(&old, &new);
        let opened = Patch::open(Arc::new(patch.clone())).unwrap();
        let sums = |bytes: &Vec<u8>| Sums {
            size: bytes.len() as u64,
            crc32: Some(crc32fast::hash(bytes)),
        };
        assert_eq!(opened.format(), Format::Ups);
        assert_eq!(opened.metadata().original, Some(sums(&old)));
        assert_eq!(all(&apply(patch.clone(), old.clone()).unwrap()), new);
        assert_eq!(all(&apply(patch.clone(), new.clone()).unwrap()), old);
        let error = apply(patch, vec![1; 100]).err().unwrap();
        assert!(
            matches!(error, Error::WrongOriginal(Mismatch::File { .. })),
            "{error}"
        );
    }
}

/// Returns a UPS patch.
fn ups(old: &[u8], new: &[u8]) -> Vec<u8> {
    let longest = old.len().max(new.len());
    let byte = |bytes: &[u8], at: usize| bytes.get(at).copied().unwrap_or(0);
    let xor: Vec<u8> = (0..longest)
        .map(|at| byte(old, at) ^ byte(new, at))
        .collect();
    let (mut blocks, mut position) = (Vec::new(), 0);
    while let Some(skip) = xor[position..].iter().position(|byte| *byte != 0) {
        let start = position + skip;
        let end = xor[start..].iter().position(|byte| *byte == 0);
        let end = end.map_or(longest, |length| start + length);
        write_bps(skip as u64, &mut blocks).unwrap();
        blocks.extend(&xor[start..end]);
        blocks.push(0);
        position = longest.min(end + 1);
    }
    let sums = [crc32fast::hash(old), crc32fast::hash(new)];
    framed(
        b"UPS1",
        &[old.len() as u64, new.len() as u64],
        &blocks,
        sums,
    )
}
