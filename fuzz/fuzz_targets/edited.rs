#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hpimount_fuzz::fuzz::edited(data));
