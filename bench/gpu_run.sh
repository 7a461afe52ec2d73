#!/bin/bash
# Everything that wants a GPU, for a GPU machine that is lent for minutes: builds what it needs,
# measures and tests within a time limit, and prints figures as they come.
#
#   bench/gpu_run.sh libraries    where the packages are installed: copies the few libraries the build
#                                 needs to build/gpu-libraries, to be taken along
#   bench/gpu_run.sh [STEP...]    on the GPU machine: the steps in the order below, all unless named
#       probe         bandwidth of copies and memory, latency of launches and waits
#       speed         scenarios on the device and on the CPU
#       kernels       what each kernel takes, beside what the model predicts
#       conformance   all recorded cases
#       differential  random questions, against the oracle and the CPU
#       tests         all other tests of the device
#       sanitizers    memcheck, racecheck, initcheck and synccheck of compute-sanitizer
#
# Every call builds what its steps need and is not there yet. Results are in the folder $OUT
# (bench/results/TIME unless set): summary.txt, results.jsonl and logs.tar.gz, written anew after
# every step, so that a call that is cut off leaves what was done. The call ends after LIMIT seconds
# (570 unless set), which the steps share: what one leaves goes to those behind it. Measuring and
# comparing stop by themselves when their time is over. A step fails when the CPU answered what the
# device could have. The exit code is 0 only when all steps passed.
#
# DEVICE=emulated is a rehearsal without a GPU: its figures mean nothing, but all of it runs.
set -uo pipefail
cd -P "$(dirname "$0")/.." || exit

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

# Seconds of each step in a call of 570; another call shares its time in the same proportions.
declare -A weight=([configure]=20 [build]=200 [probe]=15 [speed]=95 [kernels]=35 [conformance]=45
  [differential]=45 [tests]=45 [sanitizers]=60)
order=(probe speed kernels conformance differential tests sanitizers)

[ "${1:-}" = libraries ] && { libraries; exit; }
for step in "$@"; do [[ " ${order[*]} " == *" $step "* ]] || usage; done
wanted=("$@")
[ $# = 0 ] && wanted=("${order[@]}")

device=${DEVICE:-cuda}
out=${OUT:-bench/results/$(date -u +%Y%m%d-%H%M%S)}
limit=${LIMIT:-570}
build=build/gpu
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
mkdir -p "$out"
summary=$out/summary.txt
results=$out/results.jsonl
: >"$summary" && : >"$results"
failed=0

say() { echo "$*" | tee -a "$summary"; }

# Steps that are still to come, those that build included.
coming=(configure build)
for step in "${order[@]}"; do [[ " ${wanted[*]} " == *" $step "* ]] && coming+=("$step"); done
# Sets `share` to the seconds of the next step.
next_share() {
  local sum=0 name
  for name in "${coming[@]}"; do ((sum += weight[$name])); done
  share=$(((limit - SECONDS) * weight[$1] / sum))
  coming=("${coming[@]:1}")
}

# run SECONDS NAME COMMAND...: the output goes to NAME.log in the archive, and through `view`.
run() {
  local most=$1 name=$2 start=$SECONDS code=0
  shift 2
  if ((most < 2)); then
    say "left out  $name: the call's $limit s are over"
    failed=1
    return 1
  fi
  timeout --kill-after=5 "$most" "$@" 2>&1 | tee "$logs/$name.log" | "$view"
  code=${PIPESTATUS[0]}
  if ((code == 0)); then
    say "passed  $name ($((SECONDS - start)) s)"
  else
    say "FAILED  $name: $( ((code == 124 || code == 137)) && echo "not done after $most s" ||
      echo "exit code $code"), see $name.log"
    [ "$view" = some ] && tail -n 15 "$logs/$name.log"
    failed=1
  fi
  tar -czf "$out/logs.new" -C "$logs" . && mv "$out/logs.new" "$out/logs.tar.gz"
  return $code
}

# What is printed of a step's output, as it comes: some lines, all lines, or figures as tables.
some() { awk 'NR % 50 == 0 { print; fflush() }'; }
if command -v python3 >/dev/null; then
  tables() { python3 -u bench/gpu_table.py "$results"; }
else
  tables() { tee >(grep --line-buffered '^{' >>"$results"); }
fi
view=some

# Runs a program of the build, when it was built.
run_built() {
  local program
  for program in "${@:3}"; do [[ $program == "$build"/* ]] && break; done
  if [ -x "$program" ]; then
    run "$@"
  else
    say "FAILED  $2: $program was not built"
    failed=1
  fi
}

cuda=ON suite=test_cuda_device largest=131072
if [ "$device" = emulated ]; then
  cuda=OFF suite=test_emulated_device largest=1024
else
  export ESPALIER_REQUIRE_GPU=1
fi

say "espalier $(git rev-parse --short HEAD 2>/dev/null || echo '?'), ${wanted[*]}, device $device, $(date -u)"
say "$(c++ --version | head -n 1), $(cmake --version | head -n 1)"
nvidia-smi --query-gpu=name,driver_version,memory.total,memory.used,clocks.max.sm \
  --format=csv,noheader 2>/dev/null | tee -a "$summary" || say "no nvidia-smi"

# The build of an earlier call goes on, unless it was for another folder or kind of device.
next_share configure
cached() { sed -n "s/^$1:[A-Z]*=//p" $build/CMakeCache.txt 2>/dev/null; }
if [ "$(cached CMAKE_HOME_DIRECTORY) $(cached ESPALIER_CUDA)" != "$PWD $cuda" ]; then
  generator=()
  command -v ninja >/dev/null || generator=(-G 'Unix Makefiles')
  run "$share" configure cmake --fresh --preset gpu "${generator[@]}" -DESPALIER_CUDA=$cuda || exit 1
fi
next_share build
targets=()
for step in "${coming[@]}"; do
  case $step in
    probe) targets+=(device_probe) ;;
    speed | kernels) targets+=(device_speed) ;;
    conformance) targets+=(device_conformance) ;;
    *) targets+=($suite) ;;
  esac
done
go_on=(-k)
[ -f $build/build.ninja ] && go_on=(-k 0)
run "$share" build cmake --build $build -j "$(nproc)" --target "${targets[@]}" -- "${go_on[@]}"
[ -d $build/kernels/cuda ] && [ "$cuda" = ON ] && command -v python3 >/dev/null &&
  python3 bench/ptxas_table.py $build >"$logs/ptxas.log" 2>&1

for step in "${coming[@]}"; do
  next_share "$step"
  own=$((share * 8 / 10))  # for what measures or compares as long as it may
  case $step in probe | speed | kernels) view=tables ;; conformance) view=cat ;; *) view=some ;; esac
  case $step in
    probe) run_built $share probe $build/device_probe "$device" --seconds $own ;;
    speed) run_built $share speed $build/device_speed "$device" --largest $largest --seconds $own ;;
    kernels)
      run_built $share kernels $build/device_speed "$device" --largest $largest --seconds $own --kernels
      ;;
    conformance)
      run_built $share conformance $build/device_conformance "$device" --seconds $own tests/data/cases/*.gz
      tail -n 2 "$logs/conformance.log" 2>/dev/null | tee -a "$summary"
      ;;
    differential)
      run_built $share differential env ESPALIER_SEEDS=1000000 ESPALIER_SECONDS=$((own / 6 + 1)) \
        $build/$suite --gtest_filter='*DeviceDifferential*'
      grep -s 'seeds' "$logs/differential.log" | tee -a "$summary"
      ;;
    tests) run_built $share tests $build/$suite --gtest_filter='-*DeviceDifferential*:*RecordedCases*' ;;
    sanitizers)
      # In the toolkit it is beside the compiler, or in a folder of its own.
      nvcc=$(readlink -f "$(cached ESPALIER_NVCC)" || true)
      sanitizer=$(PATH=$PATH:$(dirname "$nvcc"):$(dirname "$nvcc")/../compute-sanitizer \
        command -v compute-sanitizer || true)
      if [ "$device" = emulated ] || [ -z "$sanitizer" ]; then
        say "left out  sanitizers: $([ "$device" = emulated ] && echo 'they need a GPU' ||
          echo "no compute-sanitizer in PATH or beside ${nvcc:-nvcc}")"
        [ "$device" = emulated ] || failed=1
        continue
      fi
      reduced='*BlockTeam*:*ScoresOnDevice*:*EmptyCluster*:*SmallCluster*:*corners*'
      tools=(memcheck racecheck initcheck synccheck)
      for tool in "${tools[@]}"; do
        run_built $((share / ${#tools[@]})) "$tool" "$sanitizer" --tool "$tool" --error-exitcode 9 \
          $build/$suite --gtest_filter="$reduced"
      done
      ;;
  esac
done

say "$([ $failed = 0 ] && echo 'everything passed' || echo 'something failed') after $SECONDS s"
echo "results: $out"
exit $failed
