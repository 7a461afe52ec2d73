#!/bin/bash
# Checks, where the packages are installed, that a build does without them: every file of it, compiled
# yet or not, includes what is in build/gpu-libraries, which is all that a bare GPU machine has.
# Usage: bench/check_bare_build.sh BUILD   (configured with ninja)
set -euo pipefail
cd "$(dirname "$0")/.."

names=$(cd build/gpu-libraries/usr/include && printf '%s\n' * | paste -sd '|')
installed="/usr/include/(${names//./\\.})(/|\$)"
# Each compiler command, told to list the headers in place of compiling.
list_headers() {
  python3 - "$1/compile_commands.json" <<'PYTHON'
import json, re, sys
for entry in json.load(open(sys.argv[1])):
    print(f"cd '{entry['directory']}' && " + re.sub(r" -o \S+ -c ", " -M ", entry["command"]))
PYTHON
}
found=$(list_headers "$1" | xargs -d '\n' -n 1 -P "$(nproc)" sh -c | tr -s ' \\' '\n')
headers=$(grep -E "^$installed" <<<"$found" | sort -u || true)
libraries=$(grep -oE '(^| )/(usr/)?lib/[^ ]*lib(fmt|simdjson|yaml-cpp|tbb|z|gtest|gmock|benchmark)[.][^ ]*' \
  "$1/build.ninja" | sort -u || true)
[ -z "$headers$libraries" ] && exit
echo "of installed packages, not from build/gpu-libraries:"
printf '%s\n' "$headers" "$libraries" | grep . | head -n 20
exit 1
