#!/bin/bash
# Everything that wants a GPU, in calls of less than ten minutes each, and what they found in one
# folder and one archive.
#
#   bench/gpu_run.sh libraries         where the packages are installed: copies the few libraries the
#                                      build needs to build/gpu-libraries, to be taken along
#   bench/gpu_run.sh first [OUT]       on the GPU machine: builds for sm_90 without the service; tests,
#                                      recorded cases, 3,000 random questions, figures by scenario and
#                                      by kernel. The rest needs what this built:
#   bench/gpu_run.sh sanitizers [OUT]  memcheck, racecheck, initcheck and synccheck of compute-sanitizer
#   bench/gpu_run.sh long [OUT]        20,000 random questions
#   DEVICE=emulated bench/gpu_run.sh first   a rehearsal without a GPU: its figures mean nothing, but it
#                                      fails where the build needs more than build/gpu-libraries has
#
# OUT is bench/results/TIME unless given. OUT/summary.txt says what passed, OUT.tar.gz is all of OUT;
# the exit code is 0 only when everything passed. A call ends after LIMIT seconds (570 unless told):
# steps that are not done by then have failed, those not begun are left out.
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
  done | grep -E '^/usr/(include|lib|share/cmake)/' | grep -vE '/(doc|man)/' | while read -r path; do
    [ -f "$path" ] || continue
    cp --parents -d "$path" "$folder"
    while [ -L "$path" ]; do  # what links lead to may be in another package
      path=$(dirname "$path")/$(readlink "$path")
      [ -e "$path" ] && cp --parents -d "$path" "$folder"
    done
  done
  du -sh "$folder"
}

usage() { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }

call=${1:-}
case $call in
  libraries) libraries; exit ;;
  first | sanitizers | long) ;;
  *) usage ;;
esac

device=${DEVICE:-cuda}
out=${2:-bench/results/$(date -u +%Y%m%d-%H%M%S)}
build=build/gpu
limit=${LIMIT:-570}
mkdir -p "$out"
summary=$out/summary.txt
failed=0

say() { echo "$*" | tee -a "$summary"; }

# step SECONDS NAME COMMAND...: its output goes to OUT/NAME.log. It gets so many seconds, or what is
# left of the call.
step() {
  local most=$1 name=$2 start=$SECONDS code=0
  shift 2
  local left=$((limit - SECONDS))
  if ((left < 5)); then
    say "left out  $name: the call's $limit s are over"
    failed=1
    return 1
  fi
  timeout --kill-after=5 $((most < left ? most : left)) "$@" >"$out/$name.log" 2>&1 || code=$?
  if ((code == 0)); then
    say "passed  $name ($((SECONDS - start)) s)"
    return 0
  fi
  say "FAILED  $name: $( ((code == 124 || code == 137)) && echo "not done after $((SECONDS - start)) s"), see $name.log"
  tail -n 15 "$out/$name.log"
  failed=1
  return 1
}

finish() {
  say "$([ $failed = 0 ] && echo 'everything passed' || echo 'something failed')"
  tar -czf "$out.tar.gz" -C "$(dirname "$out")" "$(basename "$out")"
  echo "all of it: $out.tar.gz"
  exit $failed
}

say "espalier $(git rev-parse --short HEAD 2>/dev/null || echo '?'), $call, device $device, $(date -u)"
nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader \
  2>/dev/null | tee -a "$summary" || say "no nvidia-smi"

cuda=ON suite=test_cuda_device largest=131072
if [ "$device" = emulated ]; then
  cuda=AUTO suite=test_emulated_device largest=1024
else
  export ESPALIER_REQUIRE_GPU=1
fi

if [ "$call" = first ]; then
  generator=()
  command -v ninja >/dev/null || generator=(-G 'Unix Makefiles')
  step 60 configure cmake --fresh --preset gpu "${generator[@]}" -DESPALIER_CUDA=$cuda || finish
  step 360 build cmake --build $build -j "$(nproc)" \
    --target $suite device_conformance device_speed || finish
  if [ "$device" = emulated ] && [ -d build/gpu-libraries ]; then
    step 60 bare bench/check_bare_build.sh $build
  fi
  if [ -d $build/kernels/cuda ]; then step 30 ptxas bench/ptxas_table.py $build; fi
  step 120 conformance $build/device_conformance "$device" tests/data/cases/*.gz
  grep -s ' passed, ' "$out/conformance.log" | tail -n 1 | tee -a "$summary"
  step 120 tests $build/$suite --gtest_filter='-*Differential*'
  step 120 differential env ESPALIER_SEEDS=$([ "$device" = emulated ] && echo 300 || echo 3000) \
    $build/$suite --gtest_filter='*Differential*'
  step 120 kernels $build/device_speed "$device" --largest $largest --kernels
  step 240 speed $build/device_speed "$device" --largest $largest
fi

if [ "$call" = sanitizers ]; then
  # In the toolkit it is beside the compiler, or in a folder of its own.
  nvcc=$(readlink -f "$(sed -n 's/^ESPALIER_NVCC:FILEPATH=//p' $build/CMakeCache.txt 2>/dev/null)" ||
    true)
  sanitizer=$(PATH=$PATH:$(dirname "$nvcc"):$(dirname "$nvcc")/../compute-sanitizer \
    command -v compute-sanitizer || true)
  reduced='*BlockTeam*:*ScoresOnDevice*:*EmptyCluster*:*SmallCluster*:*corners*'
  if [ -z "$sanitizer" ]; then
    say "left out  sanitizers: no compute-sanitizer in PATH or beside ${nvcc:-nvcc}"
    failed=1
  else
    for tool in memcheck racecheck initcheck synccheck; do
      step 135 $tool "$sanitizer" --tool $tool --error-exitcode 9 \
        $build/$suite --gtest_filter="$reduced"
    done
  fi
fi

if [ "$call" = long ]; then
  step 560 differential env ESPALIER_SEEDS=20000 $build/$suite --gtest_filter='*Differential*'
fi

if command -v python3 >/dev/null; then
  cat "$out/speed.log" "$out/kernels.log" 2>/dev/null | grep '^{' >"$out/speed.jsonl"
  python3 bench/gpu_table.py "$out/speed.jsonl" | tee -a "$summary"
fi
finish
