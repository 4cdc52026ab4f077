# shellcheck shell=bash
# Shared by the scripts here, which source it (bash). They then stand in the
# root of the repository.

# Ends the script, and says why on standard error.
die() {
    echo "scripts/$(basename "$0"): $*" >&2
    exit 1
}

# need COMMAND=PACKAGE...: sees to it that the commands are there, and installs
# the Debian packages of those that are not.
need() {
    local pair missing=()
    for pair; do
        command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
    done
    ((${#missing[@]})) || return 0
    command -v apt-get >/dev/null || die "please install what Debian calls: ${missing[*]}"
    ((EUID == 0)) || die "please install, as root: apt-get install ${missing[*]}"
    echo "installing ${missing[*]}"
    {
        apt-get update &&
            DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
    } >/dev/null || die "could not install ${missing[*]}"
}

# Building takes Rust, and a C compiler for libdeflate and for linking.
need_rust() {
    need gcc=build-essential
    PATH=$PATH:$HOME/.cargo/bin
    command -v cargo >/dev/null || die "Rust is missing: see https://rustup.rs, then try again"
}

# Mounting takes FUSE; fusermount3 is for ordinary users and for unmounting.
need_fuse() {
    need fusermount3=fuse3
    [ -e /dev/fuse ] || modprobe fuse 2>/dev/null || true
    [ -e /dev/fuse ] ||
        die "there is no /dev/fuse: load the module with 'modprobe fuse', or start the container with '--device /dev/fuse --cap-add SYS_ADMIN'"
}

# Builds the programs for use and puts them first in the PATH.
build_release() {
    cargo build --release --locked
    PATH=$(realpath "${CARGO_TARGET_DIR:-target}")/release:$PATH
}

# write_section FILE NAME: puts its input between the lines '<!-- NAME -->' and
# '<!-- end of NAME -->' of a file, in place of what is there.
write_section() {
    local file=$1 begin="<!-- $2 -->" end="<!-- end of $2 -->" text
    text=$(cat)
    grep -qxF -e "$begin" "$file" && grep -qxF -e "$end" "$file" ||
        die "$file has no place for $2"
    text=$text awk -v begin="$begin" -v end="$end" '
        $0 == end { inside = 0 }
        !inside
        $0 == begin { inside = 1; printf "\n%s\n\n", ENVIRON["text"] }
    ' "$file" >"$file.new"
    mv "$file.new" "$file"
}

# Makes a directory, $work, for files and mounts. They are gone in the end.
begin_work() {
    work=$(mktemp -d "${TMPDIR:-/tmp}/hpimount.XXXXXX")
    trap end_work EXIT
}

end_work() {
    local mount
    cd /
    for mount in "$work"/*; do
        # Lazily: a shell or a file manager may still be in there.
        mountpoint -q "$mount" && fusermount3 -u -z "$mount"
    done
    rm -rf --one-file-system "$work"
}

# sample_mod DIR: writes a folder as a mod for Total Annihilation has it. The
# texts are like the game's; the pictures, models and maps are patterns only.
sample_mod() {
    local dir=$1 unit cost=100
    mkdir -p "$dir"/{ai,anims,features/green,Maps,objects3d,scripts,sounds,unitpics,units,weapons}
    for unit in DemoTank DemoKbot DemoShip DemoPlane DemoTower DemoRadar; do
        cost=$((cost + 85))
        printf '%s\r\n' "[UNITINFO]" "	{" "	UnitName=${unit^^};" "	Name=${unit#Demo};" \
            "	Description=A ${unit#Demo} to look at;" "	Side=ARM;" "	BuildCostMetal=$cost;" \
            "	MaxDamage=$((cost * 4));" "	Weapon1=${unit^^}_GUN;" "	Category=ARM DEMO;" "	}" \
            >"$dir/units/${unit^^}.FBI"
        printf '%s\r\n' "[${unit^^}_GUN]" "	{" "	name=Gun of the ${unit#Demo};" \
            "	range=$((cost + 60));" "	reloadtime=1.5;" "	[DAMAGE]" "		{" \
            "		default=$((cost / 5));" "		}" "	}" >"$dir/weapons/${unit^^}.TDF"
        printf '%s\n' "piece base, turret;" "Create()" "	{" "	turn turret to y-axis <$cost> now;" "	}" \
            >"$dir/scripts/$unit.bos"
        pattern $((cost * 90)) >"$dir/unitpics/$unit.pcx"
        pattern $((cost * 40)) >"$dir/objects3d/$unit.3do"
    done
    printf '%s\r\n' "[Rock1]" "	{" "	world=green;" "	description=Rock;" "	metal=30;" "	}" \
        >"$dir/features/green/rocks.tdf"
    printf '%s\r\n' "[GlobalHeader]" "	{" "	missionname=Demo Flats;" "	size=8 x 8;" \
        "	numplayers=2, 4;" "	}" >"$dir/Maps/Demo Flats.ota"
    pattern 700000 >"$dir/Maps/Demo Flats.tnt"
    pattern 90000 >"$dir/anims/Demo_gadget.gaf"
    pattern 150000 >"$dir/sounds/boom.wav"
    printf '%s\r\n' "Plan Demo" "Weight DEMOTANK 2" >"$dir/ai/default.txt"
}

# pattern BYTES: that many bytes in which some things repeat.
pattern() {
    awk -v left="$1" 'BEGIN {
        for (i = 0; left > 0; i++) {
            line = sprintf("%05d %s %x\n", i * i % 9973, i % 7 ? "grass" : "stone", i % 255)
            line = substr(line, 1, left)
            left -= length(line)
            printf "%s", line
        }
    }'
}

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
