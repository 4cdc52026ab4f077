//! hpipack: packs, as `hpi pack`.

mod alias;

fn main() -> std::process::ExitCode {
    alias::run("hpipack", "pack")
}
