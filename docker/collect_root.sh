#!/bin/bash
# Usage: docker/collect_root.sh BUILD ROOT
# Makes ROOT the content of an image: the espalier of the build folder BUILD, the libraries that it
# loads, a user, and what is known of both: licences and an SBOM. There is no shell in it and no
# package manager. Runs on Debian, in the root of the repository.
set -euo pipefail
build=$1 root=$2

install -d "$root"/etc "$root"/usr/{bin,lib,lib64} "$root"/usr/share/doc/espalier
install -d -m 1777 "$root/tmp"
ln -s usr/lib usr/lib64 "$root"
strip -o "$root/usr/bin/espalier" "$build/espalier"
release/bill_of_materials.py --build "$build" --files | while read -r file; do
  install -D -m 755 "$file" "$root/usr/${file#/usr}"  # /lib is a link to /usr/lib, here as there
done
echo 'espalier:x:65532:65532::/nonexistent:/usr/sbin/nologin' > "$root/etc/passwd"
echo 'espalier:x:65532:' > "$root/etc/group"
release/bill_of_materials.py --build "$build" --binary "$root/usr/bin/espalier" --shipped \
  --notices "$root/usr/share/doc/espalier/NOTICES" \
  --spdx "$root/usr/share/doc/espalier/espalier.spdx.json"
install -m 644 LICENSE "$root/usr/share/doc/espalier/LICENSE"
