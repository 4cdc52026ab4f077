//! hpimount-thumbnailer: draws thumbnails, as `hpi thumbnail`.

mod alias;

fn main() -> std::process::ExitCode {
    alias::run("hpimount-thumbnailer", "thumbnail")
}
