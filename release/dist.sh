#!/bin/bash
# Makes in build/dist what a release consists of: the sources as a tarball, a Debian package of
# build/release/espalier, an SBOM and checksums. The same commit gives the same tarball, and the same
# binary the same package: every time in them is that of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/release out=build/dist
umask 022

if [ -n "$(git status --porcelain)" ]; then
  echo "dist: these files are not in the commit; commit or remove them:" >&2
  git status --porcelain >&2
  exit 1
fi
read -r _ version commit < <("$build/espalier" --version | head -n 1 | tr -d '()')
if [ "$commit" != "$(git rev-parse --short=12 HEAD)" ]; then
  echo "dist: $build/espalier is of $commit, not of HEAD; \`make build\` first" >&2
  exit 1
fi
release/check_version.py "$version"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
rm -rf "$out"
mkdir -p "$out"

# The sources.
name=espalier-$version
git -c tar.umask=0022 archive --format=tar --prefix="$name/" HEAD | gzip -9 --no-name > "$out/$name.tar.gz"

# The Debian package.
stage=$out/stage
doc=$stage/usr/share/doc/espalier
debian=${version//-/\~}-1  # 1.2.3-dev comes before 1.2.3
architecture=$(dpkg --print-architecture)
maintainer=${MAINTAINER:-$(git log -1 --format='%an <%ae>')}
make --no-print-directory install DESTDIR="$PWD/$stage" PREFIX=/usr >/dev/null
strip --remove-section=.comment --remove-section=.note "$stage/usr/bin/espalier"
gzip -9 --no-name "$stage"/usr/share/man/man1/*.1
install -D -m 644 release/espalier.service "$stage/lib/systemd/system/espalier.service"
install -D -m 644 release/copyright "$doc/copyright"
gzip -9 --no-name < CHANGELOG.md > "$doc/changelog.gz"
printf 'espalier (%s) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- %s  %s\n' "$debian" \
  "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9 --no-name > "$doc/changelog.Debian.gz"
release/bill_of_materials.py --build "$build" --binary "$stage/usr/bin/espalier" \
  --notices "$doc/NOTICES" --spdx "$doc/espalier.spdx.json"
cp "$doc/espalier.spdx.json" "$out/$name.spdx.json"
gzip -9 --no-name "$doc/NOTICES" "$doc/espalier.spdx.json"
mkdir "$stage/DEBIAN"
cat > "$stage/DEBIAN/control" <<END
Package: espalier
Version: $debian
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size --exclude=DEBIAN "$stage" | cut -f 1)
Depends: $(release/bill_of_materials.py --build "$build" --binary "$stage/usr/bin/espalier" --depends)
Section: admin
Priority: optional
Description: topology placement service for batch controllers
 Says for gangs of pods in which racks, blocks and zones of a Kubernetes
 cluster they would go, or why they wait: by the rules of Kueue's Topology
 Aware Scheduling, for saved clusters at the terminal and over gRPC beside a
 controller.
END
(cd "$stage" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) \
  > "$stage/DEBIAN/md5sums"
find "$stage" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$stage" "$out/espalier_${debian}_$architecture.deb" >/dev/null
rm -rf "$stage"

(cd "$out" && sha256sum -- * > SHA256SUMS)
ls -l "$out"
