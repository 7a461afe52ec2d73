#!/bin/bash
# Checks, where the packages are installed, that a build does without them: every file of it, compiled
# yet or not, includes what is in build/gpu-libraries, which is all that a bare GPU machine has.
# Usage: bench/check_bare_build.sh BUILD   (configured with ninja)
set -euo pipefail
cd "$(dirname "$0")/.."

names=$(cd build/gpu-libraries/usr/include && printf '%s\n' * | paste -sd '|')
installed="/usr/include/(${names//./\\.})(/|\$)"
# Runs each compiler command, told to list the headers in place of compiling, and prints each list
# whole: lists that are written at the same time would break each other's lines.
list_headers() {
  python3 - "$1/compile_commands.json" <<'PYTHON'
import concurrent.futures, json, os, re, subprocess, sys

def headers(entry):
    command = re.sub(r" -o \S+ -c ", " -M ", entry["command"])
    return subprocess.run(command, shell=True, cwd=entry["directory"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout

with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for found in pool.map(headers, json.load(open(sys.argv[1]))):
        print(found)
PYTHON
}
found=$(list_headers "$1" | tr -s ' \\' '\n')
headers=$(grep -E "^$installed" <<<"$found" | sort -u || true)
libraries=$(grep -oE '(^| )/(usr/)?lib/[^ ]*lib(fmt|simdjson|yaml-cpp|tbb|z|gtest|gmock|benchmark)[.][^ ]*' \
  "$1/build.ninja" | sort -u || true)
[ -z "$headers$libraries" ] && exit
echo "of installed packages, not from build/gpu-libraries:"
printf '%s\n' "$headers" "$libraries" | grep . | head -n 20
exit 1
