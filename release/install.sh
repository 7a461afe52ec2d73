#!/bin/bash
# Usage: release/install.sh BUILD PREFIX
# Copies the espalier of a build folder below PREFIX, with manual pages and completion of bash and fish.
set -euo pipefail
espalier=$1/espalier share=$2/share
install -D -m 755 "$espalier" "$2/bin/espalier"
install -d "$share/bash-completion/completions" "$share/fish/vendor_completions.d" "$share/man/man1"
"$espalier" completion bash > "$share/bash-completion/completions/espalier"
"$espalier" completion fish > "$share/fish/vendor_completions.d/espalier.fish"
"$(dirname "$0")/man_pages.py" "$espalier" "$share/man/man1"
