#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a Debian package of a built lab: deb.sh [PROGRAM [FOLDER]]; by default of target/dist/benchlab, in build/.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
program=${1:-$root/target/dist/benchlab}
folder=${2:-$root/build}
[ -x "$program" ] || { echo "deb.sh: $program is not there: cargo build --profile dist --locked -p benchlab makes it" >&2; exit 2; }

version=$("$program" --version | cut -d' ' -f2)
architecture=$(dpkg --print-architecture)
# What it was linked with is the oldest that it is known to work with.
libc=$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
share=$tree/usr/share

install -Ds -m 755 "$program" "$tree/usr/bin/benchlab"
"$program" man "$share/man/man1"
find "$share/man" -name '*.1' -exec gzip -9n {} +
completion() { mkdir -p "$share/$2" && "$program" completions "$1" > "$share/$2/$3"; }
completion bash bash-completion/completions benchlab
completion zsh zsh/vendor-completions _benchlab
completion fish fish/vendor_completions.d benchlab.fish

# What `benchlab run` needs: tracked files alone, without what was built among them.
mkdir -p "$share/benchlab"
git -C "$root" ls-files -z experiments kits appserver pom.xml LICENSE \
    | tar -C "$root" --null --no-recursion -T - -cf - | tar -C "$share/benchlab" -xf -

doc=$share/doc/benchlab
mkdir -p "$doc"
cp "$root/README.md" "$doc/"
git -C "$root" ls-files -z docs | tar -C "$root" --null -T - -cf - | tar -C "$doc" -xf -
gzip -9nc "$root/CHANGELOG.md" > "$doc/changelog.gz"
cat > "$doc/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: benchlab

Files: *
Copyright: the authors of benchlab
License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.
END

mkdir "$tree/DEBIAN"
cat > "$tree/DEBIAN/control" <<END
Package: benchlab
Version: $version
Architecture: $architecture
Maintainer: the authors of benchlab <benchlab@localhost>
Section: devel
Priority: optional
Installed-Size: $(du -sk "$tree" | cut -f1)
Depends: libc6 (>= $libc), libgcc-s1
Recommends: valgrind
Suggests: git
Description: measures what a stack really costs
 Compares commands, revisions, servers and database drivers in turns, with
 an interval for every figure, and says what the figures support: faster,
 slower, equivalent, or inconclusive. Puts load on HTTP servers, reads
 Valgrind's profiles, and shows all runs as local pages.
END
(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum) > "$tree/DEBIAN/md5sums"

mkdir -p "$folder"
dpkg-deb --root-owner-group --build "$tree" "$folder/benchlab_${version}_$architecture.deb"
