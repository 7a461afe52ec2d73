#!/bin/bash
# run.sh SECONDS [TARGET...]: runs fuzz targets of build/asan, all of them unless told, each for so
# long, as many at once as there are cores. What is found on the way stays in build/fuzz/corpus;
# an input that breaks a target is left in build/fuzz/findings and makes the exit code 1. With
# FUZZ_SEED every run tries the same inputs, as far as it gets.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:?usage: run.sh SECONDS [TARGET...]}
shift
targets=("$@")
if ((${#targets[@]} == 0)); then
  mapfile -t targets < <(find tests/fuzz/seeds -mindepth 1 -maxdepth 1 -printf '%f\n' | sort)
fi

run_one() {
  local target=$1 seconds=$2 dictionary=tests/fuzz/dictionaries/$1.dict log=build/fuzz/$1.log
  # Weighing inputs by entropy would cost targets with much coverage half of their inputs.
  local arguments=(-max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len=8192
    -entropic=0 -seed="${FUZZ_SEED:-0}" -print_final_stats=1 -artifact_prefix="build/fuzz/findings/$target-")
  [ ! -f "$dictionary" ] || arguments+=(-dict="$dictionary")
  mkdir -p "build/fuzz/corpus/$target" build/fuzz/findings
  if "build/asan/fuzz_$target" "${arguments[@]}" "build/fuzz/corpus/$target" \
      "tests/fuzz/seeds/$target" >"$log" 2>&1; then
    awk -v t="$target" '/number_of_executed_units/ {n = $2} / cov: / {c = $4}
      END {printf "%-14s %9d inputs, %6d edges: nothing found\n", t, n, c}' "$log"
  else
    tail -n 40 "$log"
    # Whoever sees no more than this output can still have the input.
    sed -n 's/.*Test unit written to //p' "$log" | while read -r finding; do
      echo "$finding, base64:"
      base64 -w 0 "$finding"
      echo
    done
    printf '%-14s FAILED, see %s\n' "$target" "$log"
    return 1
  fi
}
export -f run_one
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -c 'run_one {} '"$seconds" || exit 1
