# SPDX-License-Identifier: Apache-2.0

fstab=${FSTAB:-/etc/fstab}
go=
case "${1-}" in
    "") echo "This is a dry run: nothing is changed. '$0 --go' moves the directories." ;;
    --go) go=yes ;;
    *) echo "usage: $0 [--go]" >&2; exit 2 ;;
esac

# The echo of some shells interprets backslashes.
say() {
    printf '%s\n' "$*"
}

fail() {
    say "$0: $*" >&2
    exit 1
}

[ "$(id -u)" = 0 ] || fail "must run as root"
for program in rsync sha256sum findmnt; do
    command -v "$program" >/dev/null || fail "$program is not installed"
done
[ "$(findmnt --noheadings --first-only --output UUID --target "$fast")" = "$uuid" ] || fail "$fast is not on $uuid"

# Prints the names, types and checksums of all files below a directory.
hashes() {
    (cd "$1" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum &&
        find . ! -type f -printf '%y %p %l\n' | LC_ALL=C sort)
}

# Adds a line to fstab unless it is already there.
line() {
    say "fstab: $1"
    # Without a newline at the end of the file, the new line would be joined to the last one.
    [ -z "$go" ] || [ -z "$(tail -c 1 "$fstab")" ] || echo >>"$fstab"
    [ -z "$go" ] || grep -qxF -- "$1" "$fstab" || say "$1" >>"$fstab"
}

# Escapes whitespace and backslashes for fstab.
escaped() {
    printf '%s' "$1" | sed 's/\\/\\134/g; s/ /\\040/g; s/\t/\\011/g'
}

# Quotes a word for the shell.
quoted() {
    printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"
}

# Prints the maximum number of bytes that a directory needs on another filesystem, where sparse files lose their holes.
size() {
    { du -sx --block-size=1 "$1"; du -sx --block-size=1 --apparent-size "$1"; } | sort -n | tail -n 1 | cut -f 1
}

# Checks the free space. In a dry run, the earlier directories have not been copied yet, so their sizes are added.
planned=0
room() {
    takes=$(size "$1")
    planned=$((planned + takes))
    free=$(df --output=avail --block-size=1 "$fast" | tail -n 1)
    if [ -n "$go" ]; then planned=$takes; fi
    [ "$planned" -lt "$free" ] || fail "$fast has $free bytes free, and $1 needs $planned"
}

move() {
    from=$1
    to=$fast/moved$1
    [ -d "$from" ] || fail "$from is not a directory"
    [ ! -L "$from" ] || fail "$from is a symbolic link"
    [ ! -e "$to" ] || fail "$to already exists"
    [ ! -e "$from.before" ] || fail "$from.before already exists"
    ! findmnt --noheadings --mountpoint "$from" >/dev/null || fail "$from is a mount point"
    findmnt --noheadings --list --output TARGET | while read -r mount; do
        case $mount in "$from"/*) fail "$mount, in $from, is a mount point" ;; esac
    done || exit 1
    room "$from"
    bind="$(escaped "$to") $(escaped "$from") none bind,nofail,x-systemd.before=local-fs.target,x-systemd.requires-mounts-for=$(escaped "$fast") 0 0"
    if [ -z "$go" ]; then
        say "$from -> $to:"
        rsync -aAXHn --one-file-system --stats "$from/" "$fast/" | grep -E '^(Number of files|Total file size)'
        line "$bind"
        return
    fi
    # Users who may not enter the original parent directories must not reach the copy here. They use the bind mount.
    mkdir -p "$fast/moved"
    chmod 700 "$fast/moved"
    mkdir -p "$to"
    rsync -aAXH --numeric-ids --one-file-system "$from/" "$to/"
    hashes "$from" >"$work/from"
    hashes "$to" >"$work/to"
    cmp "$work/from" "$work/to" || fail "$to differs from $from. If a program is writing there, stop it; then remove $to and try again"
    mv -T "$from" "$from.before"
    mounted || { back; fail "$to could not be mounted at $from, which is unchanged; the copy is in $to"; }
    how="To go back: umount $(quoted "$from"); rmdir $(quoted "$from"); mv -T $(quoted "$from.before") $(quoted "$from"); remove the line from $fstab"
    line "$bind" || fail "$from is on $fast until the next boot: $fstab could not be written. $how"
    say "$from is on $fast. $how"
}

# Mounts the copy in place of the directory.
mounted() {
    mkdir "$from" && chown --reference="$from.before" "$from" && chmod --reference="$from.before" "$from" &&
        mount --bind "$to" "$from"
}

back() {
    [ ! -e "$from" ] || rmdir "$from" || fail "to go back: rmdir $(quoted "$from"); mv -T $(quoted "$from.before") $(quoted "$from")"
    mv -T "$from.before" "$from"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -n "$go" ]; then
    [ -e "$fstab.before-move" ] || cp -p "$fstab" "$fstab.before-move" || fail "$fstab cannot be saved"
fi
