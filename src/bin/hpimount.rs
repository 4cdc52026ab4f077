//! hpimount: mounts, as `hpi mount`.

mod alias;

fn main() -> std::process::ExitCode {
    alias::run("hpimount", "mount")
}
