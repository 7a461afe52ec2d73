#!/bin/bash
# Makes in build/dist what a release consists of: the sources as a tarball, a Debian package of
# build/release/espalier and its SBOM, the Go module, espalier-bridge, the Python wheel and checksums. What takes
# Go or Python's build is left out where these are not, with a line that says so. The same commit gives the same
# bytes, with the same tools, and the same binary the same package: every time in them is that of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/release out=build/dist

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
MAINTAINER=${MAINTAINER:-$(git log -1 --format='%an <%ae>')}
export SOURCE_DATE_EPOCH MAINTAINER
rm -rf "$out"
mkdir -p "$out"

git -c tar.umask=0022 archive --format=tar --prefix="espalier-$version/" HEAD \
  | gzip -9 --no-name > "$out/espalier-$version.tar.gz"
release/debian_package.sh "$build" "$out"
release/dist_go.sh "$out"
release/python_wheel.sh "$out"
(cd "$out" && sha256sum -- * > SHA256SUMS)
ls -l "$out"
