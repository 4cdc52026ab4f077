# shellcheck shell=bash
# The trials of scripts/soak with programs that others wrote: each compares a
# mount of an archive with the tree that was packed. They run for $minutes each
# in $work, and add rows to $rows.

# add_row TRIAL COUNT RESULT
add_row() {
    printf '| %s | %s | %s |\n' "$1" "$2" "$3" >>"$rows"
}

# with_mount FUNCTION: calls it with a mount of $work/tree.hpi at $work/ours.
with_mount() {
    local outcome=0
    hpimount -o case_sensitive "$work/tree.hpi" "$work/ours" || return 1
    "$1" || outcome=1
    umount "$work/ours" || outcome=1
    return $outcome
}

# Packs a tree of small files, and of large ones with the checksums that fio
# checks.
prepare_programs() {
    local tree=$work/tree
    mkdir -p "$tree/units/deep" "$work"/{ours,ext4,squashfs,merged}
    head -c 300000 /dev/urandom >"$tree/units/big.bin"
    echo hello | tee "$tree/hello.txt" >"$tree/units/deep/leaf.tdf"
    : >"$tree/empty"
    fio --name=write --directory="$tree" --filename=checked.bin --size=16m --bs=4k --rw=write \
        --verify=crc32c --do_verify=0 --verify_state_save=0 >/dev/null
    find "$tree" -type f -exec chmod 444 {} +
    hpi pack -q "$tree" "$work/tree.hpi"
}

# same_calls: compares generated system calls on a mount of an archive with those
# on the same tree in ext4 and in squashfs, mounted read-only.
same_calls() {
    local calls=3000 seed printed outcome=0
    mksquashfs "$work/tree" "$work/squashfs.img" -quiet -no-progress
    truncate -s 48M "$work/ext4.img"
    mkfs.ext4 -q -d "$work/tree" "$work/ext4.img"
    mount -o loop,ro "$work/squashfs.img" "$work/squashfs"
    mount -o loop,ro,noload "$work/ext4.img" "$work/ext4"
    for ((seed = 1; seed <= minutes; seed++)); do
        printed=$(scripts/compare-calls --calls $calls --seed $seed "$work"/{ours,ext4,squashfs}) ||
            { printf '%s\n' "$printed" && outcome=1; }
    done
    umount "$work"/{ext4,squashfs}
    add_row "generated calls on a mount, on ext4 and on squashfs" $((calls * minutes)) \
        "the same results and error numbers"
    return $outcome
}

# checked_reads: fio reads blocks in random order with each of its engines, and
# checks the checksum in each.
checked_reads() {
    local engine round reads=0
    for ((round = 1; round <= minutes; round++)); do
        for engine in sync psync vsync pvsync pvsync2 mmap libaio posixaio io_uring; do
            # Without the page cache in every other round.
            fio --name=read --readonly --directory="$work/ours" --filename=checked.bin --size=16m \
                --bs=4k --rw=randread --randseed="$round" --ioengine="$engine" --verify=crc32c \
                --verify_fatal=1 --invalidate=$((round % 2)) >"$work/fio.log" ||
                { cat "$work/fio.log" && return 1; }
            reads=$((reads + 4096))
        done
    done
    add_row "reads by fio with nine engines, with the checksum in each block" $reads "every checksum matched"
}

# stressors: stress-ng reads the mount, and changes an overlay on top of it.
stressors() {
    local kind workers=() kinds=(copy-file dentry dir fstat getdent link open readahead rename
        sendfile symlink utime xattr)
    for kind in "${kinds[@]}"; do
        workers+=("--$kind" 1)
    done
    # It leaves files in its current directory.
    (
        cd "$work"
        stress-ng --quiet --fstat 4 --fstat-dir "$work/ours" --timeout "${minutes}m" &&
            with_overlay stress-ng --quiet --verify --temp-path "$work/merged" \
                --timeout "${minutes}m" "${workers[@]}"
    ) || return 1
    add_row "stress-ng on the mount and on an overlay over it" "${#kinds[@]} stressors" "no failure, and the archive's files unchanged"
}

# moves: processes rename, remove, copy and write files of an overlay over the
# mount at the same time.
moves() {
    with_overlay race || return 1
    add_row "moves by four processes in an overlay over the mount" "$minutes min" "the archive's files unchanged"
}

race() {
    local until=$((SECONDS + 60 * minutes)) number jobs=()
    for number in 1 2 3 4; do
        (
            cd "$work/merged"
            while ((SECONDS < until)); do
                mv units "moved$number" || true
                cp -r "moved$number" "copy$number" || true
                mv "moved$number" units || true
                echo more >>units/deep/leaf.tdf || true
                rm -rf "copy$number" units/big.bin || true
                cat checked.bin >/dev/null || exit 1
            done 2>/dev/null
        ) &
        jobs+=($!)
    done
    wait "${jobs[@]}"
}

# with_overlay COMMAND...: runs it with an overlay over the mount; the mount must
# have the same files afterwards.
with_overlay() {
    local outcome=0
    mkdir -p "$work/layers"
    mount -t tmpfs none "$work/layers"
    mkdir "$work"/layers/{upper,work}
    mount -t overlay -o "lowerdir=$work/ours,upperdir=$work/layers/upper,workdir=$work/layers/work" \
        none "$work/merged" || outcome=1
    [ $outcome != 0 ] || "$@" || outcome=1
    umount "$work/merged" "$work/layers" || outcome=1
    diff -r "$work/tree" "$work/ours" || outcome=1
    return $outcome
}

# copies: rsync compares the checksums of all files, and tar an archive of the
# mount with the mount.
copies() {
    local round differences
    for ((round = 1; round <= minutes; round++)); do
        differences=$(rsync --recursive --checksum --dry-run --out-format=%n "$work/tree/" "$work/ours/" | grep -v '/$') &&
            { printf '%s\n' "$differences" && return 1; }
        tar -C "$work/ours" -cf "$work/ours.tar" . || return 1
        tar -C "$work/ours" --compare -f "$work/ours.tar" || return 1
        tar -C "$work/tree" --compare -f "$work/ours.tar" 2>&1 | grep -E 'Contents differ|Size differs' && return 1
    done
    add_row "\`rsync -c\`, \`tar --compare\`" "$minutes" "no difference"
}

# nfs_config FOLDER NAME RECOVERY: prints a configuration of ganesha, which exports a
# folder by a name, and keeps its state in a third one.
nfs_config() {
    cat <<END
NFS_CORE_PARAM { NFS_Protocols = 4; NFS_Port = 22049; Enable_NLM = false; Enable_RQUOTA = false; Bind_addr = 127.0.0.1; }
NFSv4 { Graceless = true; RecoveryBackend = fs; RecoveryRoot = $3; }
EXPORT {
    Export_Id = 1; Path = $1; Pseudo = /$2; Access_Type = RO; Squash = None;
    SecType = sys; Protocols = 4; Transports = TCP; FSAL { Name = VFS; }
}
END
}

# exported: an NFS server exports the mount, and a client in user space reads it.
exported() {
    local round file url outcome=0
    mkdir -p "$work/recovery"
    nfs_config "$work/ours" ours "$work/recovery" >"$work/ganesha.conf"
    ganesha.nfsd -F -f "$work/ganesha.conf" -L "$work/ganesha.log" -p "$work/ganesha.pid" &
    url="nfs://127.0.0.1/ours/%s?version=4&nfsport=22049"
    for ((round = 1; round <= 60; round++)); do
        # shellcheck disable=SC2059
        nfs-ls "$(printf "$url" "")" >/dev/null 2>&1 && break
        sleep 1
    done
    for ((round = 1; round <= minutes; round++)); do
        while read -r file; do
            rm -f "$work/copied"
            # shellcheck disable=SC2059
            nfs-cp "$(printf "$url" "$file")" "$work/copied" >/dev/null &&
                cmp "$work/copied" "$work/tree/$file" || outcome=1
        done < <(cd "$work/tree" && find . -type f -printf '%P\n')
    done
    kill %ganesha.nfsd
    wait
    add_row "files read through an NFS server (ganesha, NFS 4)" "$((minutes * $(find "$work/tree" -type f | wc -l)))" "the same bytes"
    return $outcome
}

# source_on_nfs: the server of an archive on NFS goes away and comes back, in a guest,
# because few kernels of build machines have a client of NFS.
source_on_nfs() {
    local log=$work/guest.log rounds=$((minutes < 10 ? minutes : 10))
    command -v linux.uml >"$log" && command -v modprobe >"$log" || {
        echo "skipped: source_on_nfs: needs user-mode-linux and kmod"
        return
    }
    mkdir -p "$work/guest" "$work/uml/lib"
    ln -s /usr/lib/uml/modules "$work/uml/lib"
    nfs_config "$work/guest/export" source "$work/guest/recovery" >"$work/guest.conf"
    timeout "$((2 * rounds + 2))m" linux.uml root=/dev/root rootfstype=hostfs rootflags=/ ro quiet mem=768M \
        con=null con0=null,fd:1 init="$PWD/scripts/nfs-guest" \
        work="$work" programs="$PROGRAMS" rounds="$rounds" </dev/null >"$log" 2>&1
    (($(grep -c ^survived "$log") == 4 * rounds)) || { cat "$log" && return 1; }
    add_row "a source on NFS whose server stops or is killed, mounted soft and hard" $((4 * rounds)) \
        "cached bytes; EIO or a reader that can be killed; then every byte right; unmounted without the server"
}

# booted_systemd: a systemd in a container mounts the archive when it is accessed,
# and unmounts it when it has been idle, as its fstab says. It is accessed again
# as often as there are $minutes.
booted_systemd() {
    local root=$work/systemd units=$work/systemd/etc/systemd/system log=$work/systemd.log
    mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus,fuse3 \
        bookworm "$root" "${MIRROR:-http://deb.debian.org/debian}" || return 1
    scripts/stage "$root" "$PROGRAMS" || return 1
    cp "$work/tree.hpi" "$root/srv"
    mkdir "$root/mnt/ours"
    echo "/srv/tree.hpi /mnt/ours hpimount noauto,x-systemd.automount,x-systemd.idle-timeout=2s 0 0" \
        >"$root/etc/fstab"
    cat >"$root/srv/trial" <<'TRIAL'
#!/bin/bash
mounted() { grep -q ' /mnt/ours fuse.hpimount' /proc/mounts; }
for ((round = 1; round <= $1; round++)); do
    [ "$(cat /mnt/ours/hello.txt)" = hello ] && mounted || break
    for ((wait = 1; wait <= 60; wait++)); do
        mounted || break
        sleep 0.5
    done
    mounted && break
    echo "unmounted"
done >/srv/unmounted
systemctl poweroff
TRIAL
    chmod +x "$root/srv/trial"
    cat >"$units/trial.service" <<TRIAL
[Service]
ExecStart=/srv/trial $minutes
TRIAL
    mkdir -p "$units/multi-user.target.wants"
    ln -s ../trial.service "$units/multi-user.target.wants"
    # systemd-nspawn clears a directory in /run, and refuses to if that is on a disk.
    timeout "$((minutes + 2))m" unshare --mount bash -c 'mkdir -p /run/systemd/nspawn &&
        mount -t tmpfs tmpfs /run/systemd/nspawn && exec systemd-nspawn "$@"' nspawn \
        --quiet --directory="$root" --boot --register=no --keep-unit --capability=all \
        --bind=/dev/fuse --bind=/dev/autofs --console=pipe </dev/null >"$log" 2>&1 || true
    [ "$(grep -c unmounted "$root/srv/unmounted")" = "$minutes" ] || { cat "$log" && return 1; }
    add_row "mounted on access and unmounted when idle, by a booted systemd" "$minutes" "mounted and unmounted each time"
}
