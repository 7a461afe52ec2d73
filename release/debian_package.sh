#!/bin/bash
# Usage: release/debian_package.sh BUILD FOLDER
# Makes FOLDER/espalier_VERSION-1_ARCHITECTURE.deb of the espalier of a build folder, and the SBOM of what is in
# it, FOLDER/espalier-VERSION.spdx.json. SOURCE_DATE_EPOCH is every time in them, MAINTAINER who made them
# ("Name <address>"); LEVEL is how hard to compress.
set -euo pipefail
umask 022
build=$1 out=$2
cd "$(dirname "$0")/.."
version=$("$build/espalier" --version | sed -n '1s/^espalier \([^ ]*\) .*/\1/p')
debian=${version//-/\~}-1  # 1.2.3-dev comes before 1.2.3
architecture=$(dpkg --print-architecture)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"
doc=$stage/usr/share/doc/espalier

release/install.sh "$build" "$stage/usr"
strip --remove-section=.comment --remove-section=.note "$stage/usr/bin/espalier"
gzip -9 --no-name "$stage"/usr/share/man/man1/*.1
install -D -m 644 release/espalier.service "$stage/lib/systemd/system/espalier.service"
install -D -m 644 release/copyright "$doc/copyright"
gzip -9 --no-name < CHANGELOG.md > "$doc/changelog.gz"
printf 'espalier (%s) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- %s  %s\n' "$debian" \
  "$MAINTAINER" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9 --no-name > "$doc/changelog.Debian.gz"
release/bill_of_materials.py --build "$build" --binary "$stage/usr/bin/espalier" \
  --notices "$doc/NOTICES" --spdx "$doc/espalier.spdx.json"
cp "$doc/espalier.spdx.json" "$out/espalier-$version.spdx.json"
gzip -9 --no-name "$doc/NOTICES" "$doc/espalier.spdx.json"

mkdir "$stage/DEBIAN"
cat > "$stage/DEBIAN/control" <<END
Package: espalier
Version: $debian
Architecture: $architecture
Maintainer: $MAINTAINER
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
find "$stage" -exec touch --no-dereference -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz "-z${LEVEL:-6}" --build "$stage" \
  "$out/espalier_${debian}_$architecture.deb" >/dev/null
