#!/bin/sh
# Checks the form of the Go module and of tests/manifests, whose tests ctest runs, and runs the tests of the
# first, against the real server in build/release or at $ESPALIER_BINARY. With --if-possible it says what is
# missing, and ends well, where there is no Go that is new enough or modules cannot be fetched.
set -eu
cd "$(dirname "$0")"
MANIFESTS=../../tests/manifests
STATICCHECK=honnef.co/go/tools/cmd/staticcheck@v0.7.0

missing=
if ! command -v go >/dev/null; then
  missing="there is no Go here"
elif ! said=$({ go list -deps -test ./... && go -C $MANIFESTS list -deps -test ./...; } 2>&1 >/dev/null); then
  missing="Go is older than go.mod wants, or modules cannot be fetched: $(echo "$said" | tail -n 1)"
elif ! said=$(go run $STATICCHECK -version 2>&1); then
  missing="staticcheck cannot be fetched: $(echo "$said" | tail -n 1)"
fi
if [ -n "$missing" ]; then
  echo "test-go: NOT RUN: $missing"
  [ "${1-}" = --if-possible ]
  exit
fi

unformatted=$(gofmt -l . $MANIFESTS)
if [ -n "$unformatted" ]; then
  echo "test-go: not formatted, run gofmt -w:" $unformatted
  exit 1
fi
go vet ./...
go run $STATICCHECK ./...
go -C $MANIFESTS vet ./...
go -C $MANIFESTS run $STATICCHECK ./...
# Built, not run: that is make cluster-test.
go vet -tags cluster ./clustertest
go run $STATICCHECK -tags cluster ./clustertest
go test -timeout 10m ./...
