#!/bin/sh
# Usage: docker/collect_bridge_root.sh ROOT
# Makes ROOT the content of an image: espalier-bridge, a user, and the licences of the modules that are linked.
# Needs Go; runs in the root of the repository.
set -eu
umask 022
root=$1
install -d "$root/etc" "$root/usr/bin" "$root/usr/share/doc/espalier-bridge"
root=$(cd "$root" && pwd)
here=$(pwd)
release/build_bridge.sh "$root/usr/bin/espalier-bridge"
cd service/go
echo 'espalier:x:65532:65532::/nonexistent:/usr/sbin/nologin' > "$root/etc/passwd"
echo 'espalier:x:65532:' > "$root/etc/group"
notices=$root/usr/share/doc/espalier-bridge/NOTICES
{ echo "espalier-bridge"; cat "$here/LICENSE"; } > "$notices"
modules=$(go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/espalier-bridge | sort -u)
{ echo "go $(go env GOVERSION) $(go env GOROOT)"; echo "$modules"; } | while read -r path version folder; do
  for file in "$folder"/LICENSE* "$folder"/COPYING* "$folder"/NOTICE*; do
    [ -f "$file" ] || continue
    printf '\n%s %s: %s\n\n' "$path" "$version" "$(basename "$file")"
    cat "$file"
  done >> "$notices"
  grep -q "^$path $version: " "$notices" || { echo "no licence is known of $path $version" >&2; exit 1; }
done
