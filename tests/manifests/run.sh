#!/bin/bash
# Usage: run.sh ESPALIER   runs the test of the manifests; 77: what it needs is not here
set -u
cd "$(dirname "$0")"
if ! command -v go >/dev/null; then
  echo "SKIPPED: there is no Go, whose Kubernetes types the manifests are held to"
  exit 77
fi
if ! said=$(go mod download 2>&1); then
  echo "SKIPPED: Go cannot fetch the Kubernetes types that the manifests are held to: $said"
  exit 77
fi
ESPALIER=$1 exec go test -count=1 ./...
