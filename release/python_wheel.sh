#!/bin/bash
# Usage: release/python_wheel.sh FOLDER
# Makes the wheel of service/python in FOLDER, of the commit, with the version of the release. PYTHON has to have
# build and the setuptools of pyproject.toml, as that of `make test-python` does; else it says that it made none.
# SOURCE_DATE_EPOCH is every time in it.
set -euo pipefail
umask 022
out=$(realpath "$1")
cd "$(dirname "$0")/.."
python=${PYTHON:-build/python/bin/python}
if ! said=$("$python" -c 'import build, setuptools
assert int(setuptools.__version__.split(".")[0]) >= 77, "its setuptools is too old"' 2>&1); then
  echo "dist: WITHOUT the Python wheel: $(echo "$said" | tail -n 1); \`make test-python\` makes build/python"
  exit
fi
version=$(release/version.sh | head -n 1)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
git -c tar.umask=0022 archive HEAD LICENSE service/python | tar -x -C "$stage"
mv "$stage/LICENSE" "$stage/service/python"
sed -i "s/^version = .*/version = \"$version\"/" "$stage/service/python/pyproject.toml"
if ! said=$("$python" -m build --wheel --no-isolation --outdir "$out" "$stage/service/python" 2>&1); then
  echo "$said" >&2
  exit 1
fi
