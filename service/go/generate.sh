#!/bin/sh
# Writes gen/espalier/v1 anew from proto/, with the plugins of these versions. Needs protoc and Go.
set -eu
cd "$(dirname "$0")"
PROTOC_GEN_GO=v1.36.10
PROTOC_GEN_GO_GRPC=v1.6.0

bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install google.golang.org/protobuf/cmd/protoc-gen-go@$PROTOC_GEN_GO
GOBIN=$bin go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@$PROTOC_GEN_GO_GRPC

rm -rf gen
PATH=$bin:$PATH protoc -I ../../proto \
  --go_out=. --go_opt=module=espalier.dev/espalier \
  --go-grpc_out=. --go-grpc_opt=module=espalier.dev/espalier \
  ../../proto/espalier/v1/*.proto
