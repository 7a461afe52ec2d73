#!/bin/bash
# Everything that wants a GPU, in one go, and what it found in one folder.
#
#   bench/gpu_run.sh libraries        where the packages are installed: copies the few libraries the
#                                     build needs to build/gpu-libraries, to be taken along
#   bench/gpu_run.sh [OUT]            on the GPU machine: builds for sm_90 without the service, tests,
#                                     sanitizers, figures; OUT is bench/results/TIME unless given
#   DEVICE=emulated bench/gpu_run.sh  the same without a GPU: a rehearsal, its figures mean nothing
#   STEPS='configure|build' ...       only the steps whose names match, where a machine is lent for
#                                     minutes; later calls find what earlier ones built
#
# OUT/summary.txt says what passed; the exit code is 0 only when everything did.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

libraries() {
  local packages=(libfmt-dev libsimdjson-dev libsimdjson14 libyaml-cpp-dev libyaml-cpp0.7
    libtbb-dev libtbb12 libtbbmalloc2 libtbbbind-2-5 libexpected-dev zlib1g-dev libgtest-dev
    libgmock-dev googletest libbenchmark-dev libbenchmark1.7.1)
  local folder=build/gpu-libraries
  rm -rf "$folder" && mkdir -p "$folder"
  for package in "${packages[@]}"; do
    dpkg -L "$package" 2>/dev/null
  done | grep -E '^/usr/(include|lib)/' | grep -vE '/(doc|man)/' | while read -r path; do
    [ -f "$path" ] || continue
    cp --parents -d "$path" "$folder"
    while [ -L "$path" ]; do  # what links lead to may be in another package
      path=$(dirname "$path")/$(readlink "$path")
      [ -e "$path" ] && cp --parents -d "$path" "$folder"
    done
  done
  du -sh "$folder"
}

if [ "${1:-}" = libraries ]; then libraries; exit; fi

device=${DEVICE:-cuda}
out=${1:-bench/results/$(date -u +%Y%m%d-%H%M%S)}
build=build/gpu
mkdir -p "$out"
summary=$out/summary.txt
failed=0

say() { echo "$*" | tee -a "$summary"; }

# step NAME COMMAND...: its output goes to OUT/NAME.log.
step() {
  local name=$1 start=$SECONDS
  shift
  [[ $name =~ ^(${STEPS:-.*})$ ]] || return 0
  if "$@" >"$out/$name.log" 2>&1; then
    say "passed  $name ($((SECONDS - start)) s)"
  else
    say "FAILED  $name: see $name.log"
    tail -n 15 "$out/$name.log"
    failed=1
    return 1
  fi
}

finish() {
  say "$([ $failed = 0 ] && echo 'everything passed' || echo 'something failed')"
  exit $failed
}

say "espalier $(git rev-parse --short HEAD 2>/dev/null || echo '?'), device $device, $(date -u)"
nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader \
  2>/dev/null | tee -a "$summary" || say "no nvidia-smi"

cuda=ON suite=test_cuda_device seeds=20000 largest=131072
if [ "$device" = emulated ]; then
  cuda=AUTO suite=test_emulated_device seeds=1000 largest=1024
else
  export ESPALIER_REQUIRE_GPU=1
fi
generator=()
command -v ninja >/dev/null || generator=(-G 'Unix Makefiles')
step configure cmake --preset gpu "${generator[@]}" -DESPALIER_CUDA=$cuda || finish
step build cmake --build $build -j "$(nproc)" --target $suite device_conformance device_speed ||
  finish
if [ -d $build/kernels/cuda ]; then step ptxas bench/ptxas_table.py $build; fi

step tests $build/$suite
step differential env ESPALIER_SEEDS=$seeds $build/$suite --gtest_filter='*Differential*'
step conformance $build/device_conformance "$device" tests/data/cases/*.gz
grep -s ' passed, ' "$out/conformance.log" | tail -n 1 | tee -a "$summary"

reduced='*BlockTeam*:*ScoresOnDevice*:*EmptyCluster*:*SmallCluster*:*corners*'
if [ "$device" != emulated ] && command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck initcheck synccheck; do
    step $tool compute-sanitizer --tool $tool --error-exitcode 9 \
      $build/$suite --gtest_filter="$reduced"
  done
else
  say "left out  memcheck racecheck initcheck synccheck: no compute-sanitizer for $device"
fi

step speed $build/device_speed "$device" $largest
if [ -f "$out/speed.log" ] && command -v python3 >/dev/null; then
  grep '^{' "$out/speed.log" >"$out/speed.jsonl"
  python3 - "$out/speed.jsonl" <<'PYTHON' | tee -a "$summary"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
print("bench        nodes  gangs shapes  device ms     cpu ms  % of floor  answers")
for row in rows:
    if "ahead" in row:
        print(f"          {row['nodes']:8} nodes: {row['gangs']} gangs in order in {row['rounds']} rounds,"
              f" {row['decided']} decided")
    if "bench" not in row:
        continue
    device, cpu = row["device_ms"][1], row["cpu_ms"][1]
    print(f"{row['bench']:10}{row['nodes']:8}{row['gangs']:7}{row['shapes']:7}{device:11.3f}"
          f"{cpu:11.3f}{100 * row['floor_ms'] / device:12.1f}  "
          f"{'equal' if row['same_answers'] else 'DIFFERENT'}")
PYTHON
fi
finish
