#!/bin/bash
# Usage: release/dist_go.sh FOLDER
# Makes in FOLDER what a release has of Go: the module as a folder that Go takes for a module proxy, and, where
# Go is, espalier-bridge with notices and SBOM. SOURCE_DATE_EPOCH is every time in them.
set -euo pipefail
umask 022
out=$(realpath "$1")
cd "$(dirname "$0")/.."
{ read -r version; read -r commit; } < <(release/version.sh)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

# pack NAME FILE: the folder NAME of the stage as FILE.
pack() {
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$stage" -c "$1" \
    | gzip -9 --no-name > "$out/$2"
}

module=espalier-$version-go-module
release/go_module.py "$version" "$stage/$module"
pack "$module" "$module.tar.gz"

if ! command -v go >/dev/null; then
  echo "dist: WITHOUT espalier-bridge: there is no Go here"
  exit
elif ! said=$(go -C service/go list -deps ./cmd/espalier-bridge 2>&1 >/dev/null); then
  echo "dist: WITHOUT espalier-bridge: Go cannot build it here: $(echo "$said" | tail -n 1)"
  exit
fi
docker/collect_bridge_root.sh "$stage/root"
bridge=espalier-bridge-$version
install -D -m 755 "$stage/root/usr/bin/espalier-bridge" "$stage/$bridge/espalier-bridge"
install -m 644 "$stage/root/usr/share/doc/espalier-bridge/NOTICES" "$stage/$bridge"
release/bridge_bill_of_materials.py "$version" "$commit" "$stage/$bridge/espalier-bridge" \
  > "$stage/$bridge/espalier-bridge.spdx.json"
cp "$stage/$bridge/espalier-bridge.spdx.json" "$out/$bridge.spdx.json"
pack "$bridge" "$bridge-linux-$(go env GOARCH).tar.gz"
