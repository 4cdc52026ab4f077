//! hpimount-open: opens archives for the desktop, as `hpi open`.

mod alias;

fn main() -> std::process::ExitCode {
    alias::run("hpimount-open", "open")
}
