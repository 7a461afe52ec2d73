#!/bin/sh
# Usage: release/version.sh [SOURCE]
# Prints the version of the sources in SOURCE (this repository unless told) and, on a second line, their commit.
#
# The version is that of the tag at the commit: v1.2.3 makes 1.2.3, and 4 commits later it is 1.2.3+4.
# Where no tag leads to the commit, or nothing is known of it, it is that of CMakeLists.txt and "-dev". An
# archive made by `git archive` says in version.txt what git would.
set -eu
source=${1:-$(dirname "$0")/..}
tag='' commit=''
if [ -e "$source/.git" ] && command -v git >/dev/null; then
  # One question each: a description by a tag has no commit in it where the tag is at the commit.
  tag=$(git -C "$source" describe --tags --match 'v[0-9]*' --abbrev=12 2>/dev/null) || tag=''
  commit=$(git -C "$source" describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null) || commit=''
else
  tag=$(sed -n 's/^tag: \(v[0-9].*\)$/\1/p' "$source/version.txt")
  commit=$(sed -nE 's/^commit: ([0-9a-f]{12})[0-9a-f]*$/\1/p' "$source/version.txt")
fi
version=$(echo "$tag" | sed -nE 's/^v(.+)-([0-9]+)-g[0-9a-f]+$/\1+\2/p; t; s/^v(.+)$/\1/p')
echo "${version:-$(sed -nE 's/^project\(espalier VERSION ([^ ]+).*/\1-dev/p' "$source/CMakeLists.txt")}"
echo "${commit:-unknown commit}"
