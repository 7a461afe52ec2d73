#!/bin/sh
# Usage: release/build_bridge.sh FILE
# Builds espalier-bridge as FILE: static, the same bytes for the same sources, with its version and commit.
# Needs Go, and fetches modules.
set -eu
file=$(realpath -m "$1")
cd "$(dirname "$0")/../service/go"
facts=$(../../release/version.sh)
version=$(echo "$facts" | sed -n 1p)
commit=$(echo "$facts" | sed -n 2p)
CGO_ENABLED=0 go build -trimpath -buildvcs=false \
  -ldflags "-s -X main.version=$version -X 'main.commit=$commit'" -o "$file" ./cmd/espalier-bridge
