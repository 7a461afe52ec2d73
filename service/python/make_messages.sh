#!/bin/bash
# Makes espalier/v1 of proto/, below the folder that is given or in the place of what is committed.
# PYTHON has to have the grpcio-tools of requirements.txt: `make python-proto` sees to that.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
proto=$here/../../proto
mkdir -p "$out/espalier/v1"
"${PYTHON:-python3}" -m grpc_tools.protoc -I "$proto" --python_out="$out" --pyi_out="$out" \
  "$proto"/espalier/v1/*.proto
