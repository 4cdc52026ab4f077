# shellcheck shell=bash
# Sourced by the scripts here (bash). Changes to the root of the repository.

# Prints a message on standard error and exits.
die() {
    echo "scripts/$(basename "$0"): $*" >&2
    exit 1
}

# need COMMAND=PACKAGE...: installs the Debian packages of missing commands.
need() {
    local pair missing=()
    for pair; do
        command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
    done
    ((${#missing[@]})) || return 0
    command -v apt-get >/dev/null || die "please install the equivalents of the Debian packages: ${missing[*]}"
    ((EUID == 0)) || die "please install, as root: apt-get install ${missing[*]}"
    echo "installing ${missing[*]}"
    {
        apt-get update &&
            DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y \
                --no-install-recommends "${missing[@]}"
    } >/dev/null || die "could not install ${missing[*]}"
}

# need_file FILE PACKAGE: the same for packages without a command.
need_file() {
    [ -e "$1" ] || need "no command of $2=$2"
}

# Building requires Rust, and a C compiler for libdeflate, for Zstandard
# and for linking.
need_rust() {
    need gcc=build-essential
    PATH=$PATH:$HOME/.cargo/bin
    command -v cargo >/dev/null || die "Rust is missing: see https://rustup.rs, then try again"
}

# Mounting requires FUSE; fusermount3 is for ordinary users and for unmounting.
need_fuse() {
    need fusermount3=fuse3
    [ -e /dev/fuse ] || modprobe fuse 2>/dev/null || true
    [ -e /dev/fuse ] ||
        die "there is no /dev/fuse: load the module with 'modprobe fuse', or start the container with '--device /dev/fuse --cap-add SYS_ADMIN'"
}

# Installs what the tests need from PyPI, an S3 emulator and writers of archives and
# discs, in a virtual environment below target/, and puts its programs first in the
# PATH.
need_python_packages() {
    local place=${CARGO_TARGET_DIR:-target}/python
    local packages=()
    command -v moto_server >/dev/null || packages+=('moto[s3,server]==5.2.1')
    python3 -c 'import nod_rs, py7zr, pycdlib' 2>/dev/null ||
        packages+=(nod-rs==2.0.0a12 py7zr==1.1.4 pycdlib==1.22.0)
    ((${#packages[@]})) || return 0
    if [ "$(cat "$place/packages" 2>/dev/null)" != "${packages[*]}" ]; then
        # Blender takes its packages from the first Python in the PATH, which
        # therefore has those of Debian.
        need_file /usr/bin/python3 python3
        /usr/bin/python3 -c 'import ensurepip' 2>/dev/null || need pyvenv=python3-venv
        echo "installing ${packages[*]}"
        /usr/bin/python3 -m venv --system-site-packages "$place" &&
            "$place/bin/pip" install --quiet "${packages[@]}" ||
            die "could not install ${packages[*]}"
        echo "${packages[*]}" >"$place/packages"
    fi
    PATH=$(realpath "$place")/bin:$PATH
}

# programs [DIRECTORY]: sets $PROGRAMS to a directory with the programs and the
# examples, and puts it first in the PATH: DIRECTORY, or else that of a new
# release build.
programs() {
    if [ -n "${1-}" ]; then
        PROGRAMS=$(realpath "$1")
    else
        need_rust
        cargo build --release --locked --bins --examples
        PROGRAMS=$(realpath "${CARGO_TARGET_DIR:-target}")/release
    fi
    PATH=$PROGRAMS:$PATH
}

# The requirements of scripts/session and the scripts that it runs.
need_desktop() {
    need xvfb-run=xvfb xauth=xauth dbus-run-session=dbus openbox=openbox pcmanfm=pcmanfm \
        thunar=thunar xfconf-query=xfconf import=imagemagick xdotool=xdotool \
        gio=libglib2.0-bin xdg-open=xdg-utils notify-send=libnotify-bin \
        setpriv=util-linux \
        update-mime-database=shared-mime-info update-desktop-database=desktop-file-utils
    # These have no commands: thumbnails, notifications, icons.
    need_file /usr/share/dbus-1/services/org.xfce.Tumbler.Thumbnailer1.service tumbler
    need_file /usr/share/icons/Adwaita/index.theme adwaita-icon-theme
    need_file /usr/share/dbus-1/services/org.knopwob.dunst.service dunst
}

# write_section FILE NAME: replaces the text between the lines '<!-- NAME -->'
# and '<!-- end of NAME -->' of a file by its input.
write_section() {
    local file=$1 begin="<!-- $2 -->" end="<!-- end of $2 -->" text
    text=$(cat)
    grep -qxF -e "$begin" "$file" && grep -qxF -e "$end" "$file" ||
        die "$file has no section $2"
    text=$text awk -v begin="$begin" -v end="$end" '
        $0 == end { inside = 0 }
        !inside
        $0 == begin { inside = 1; printf "\n%s\n\n", ENVIRON["text"] }
    ' "$file" >"$file.new"
    mv "$file.new" "$file"
}

# Creates a directory, $work, for files and mounts, which are removed on exit.
begin_work() {
    work=$(mktemp -d "${TMPDIR:-/tmp}/hpimount.XXXXXX")
    trap end_work EXIT
}

end_work() {
    local mount
    cd /
    for mount in "$work"/*; do
        # Lazily, since a shell or a file manager may still use it.
        mountpoint -q "$mount" && fusermount3 -u -z "$mount"
    done
    rm -rf --one-file-system "$work"
}

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
