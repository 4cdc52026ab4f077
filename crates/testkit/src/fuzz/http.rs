//! Answers of HTTP servers.

use hpimount::source::remote::answer::judged;

/// Maximum length of an object that a server may send as a whole.
const BLOCK: u64 = 128 << 10;

/// A status, a requested range, and one header per line; after an empty line, the body.
/// An accepted answer has exactly the requested bytes.
pub fn http(data: &[u8]) {
    let Some((&[status, first, length], rest)) = data.split_first_chunk() else {
        return;
    };
    let first = u64::from(first) << 12;
    let wanted = (first, first + (u64::from(length) << 10));
    let status = [200, 206, 301, 307, 400, 404, 416, 503][usize::from(status % 8)];
    let end = rest.windows(2).position(|window| window == b"\n\n");
    let (head, body) = rest.split_at(end.unwrap_or(rest.len()));
    let headers = head.split(|&byte| byte == b'\n').filter_map(|line| {
        let colon = line.iter().position(|&byte| byte == b':')?;
        Some((&line[..colon], &line[colon + 1..]))
    });
    match judged(status, headers, wanted, body.get(2..).unwrap_or_default()) {
        Ok((first, last, total)) => {
            assert_eq!(first, wanted.0);
            assert!(first <= last && last < total);
            assert!(last <= wanted.1.max(BLOCK - 1));
        }
        Err(text) => {
            assert!(!text.chars().any(char::is_control), "{text:?}");
            assert!(text.len() < 1000, "{text}");
        }
    }
}

/// Returns answers that are accepted, and others.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let answer = |status: u8, first: u8, length: u8, text: &str| {
        [&[status, first, length], text.as_bytes()].concat()
    };
    vec![
        answer(
            1,
            1,
            1,
            "content-range:bytes 4096-5120/9000\ncontent-length:1025\n\nbody",
        ),
        answer(0, 0, 1, "content-length:8\n\n12345678"),
        answer(6, 1, 1, "content-range:bytes */0\n"),
        answer(2, 0, 1, "x-amz-bucket-region:eu-west-1\n"),
        answer(7, 0, 1, "retry-after:3\n"),
    ]
}
