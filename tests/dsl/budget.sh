#!/bin/sh
# What the language costs at compile time, against its budget: a block 1.2 s, a 40-term predicate
# 0.3 s more, and linear in size. Processor time; a machine may be slow and noisy, so only three
# times the budget fails, and that only where the best of three runs has it too.
# Usage: budget.sh      COMPILERS="g++ clang++" unless set
set -u
LC_ALL=C; export LC_ALL
dsl=$(cd "$(dirname "$0")/../../dsl" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# The block of the textbooks; a predicate of $1 terms on its scores; $1 blocks on each other.
block() {
  echo '#include <zoo/textbook.h>'
  echo 'auto block() { return attune::graph_of(zoo::textbook_mha<1, 512, 512, 8>); }'
}
predicate() {
  block
  echo 'using namespace attune;'
  echo 'constexpr auto keep = kv_index <= q_index'
  awk -v n="$1" 'BEGIN { for (i = 1; i < n; ++i) printf "    || (q_index - kv_index) %% %d == %d\n", i + 1, i }'
  echo ';'
  echo 'constexpr auto s = [] { auto q = input<1, 8, 64, 64>("q"); return mask(matmul(q, transpose(q)), keep); };'
  echo 'auto graph() { return graph_of(s); }'
}
layers() {
  cat <<'END'
#include <attune.h>
using namespace attune;
constexpr auto block(auto x) {
  auto q = split_heads<4>(linear<64>(x, "wq"));
  auto k = split_heads<4>(linear<64>(x, "wk"));
  auto v = split_heads<4>(linear<64>(x, "wv"));
  auto p = softmax(mask(matmul(q, transpose(k)) / sqrt_of<16>, kv_index <= q_index));
  return linear<64>(merge_heads(matmul(p, v)), "wo") + x;
}
END
  echo "constexpr auto s = [] { auto x = block(input<1, 16, 64>(\"x\")); for (int i = 1; i < $1; ++i) x = block(x); return x; };"
  echo 'auto graph() { return graph_of(s); }'
}

# Milliseconds of processor time that $compiler takes for the file $1: the least of $2 runs.
cost() {
  for _ in $(seq "$2"); do
    (
      "$compiler" -std=c++20 -I "$dsl" -fsyntax-only "$1" 1>&2 || echo failed
      times >"$work/times"
      awk 'NR == 2 { for (i = 1; i <= 2; ++i) { split($i, t, /[ms]/); ms += 60000 * t[1] + 1000 * t[2] } printf "%d\n", ms }' "$work/times"
    )
  done | sort -n | awk '/failed/ { bad = 1 } !/failed/ && !best { best = $1 } END { print bad ? "failed" : best }'
}
measure() {  # RUNS
  for name in block predicate40 predicate60 layers1 layers8 layers32; do
    ms=$(cost "$work/$name.cpp" "$1")
    [ "$ms" != failed ] || { echo "$compiler: $name.cpp does not compile"; exit 1; }
    eval "$name=$ms"
  done
}

figure() {  # what, cost in ms, budget in ms
  verdict=ok
  [ "$2" -le "$3" ] || verdict="over budget, tolerated"
  [ "$2" -le $((3 * $3)) ] || verdict=FAILED
  printf '%-8s %-28s %6d ms of %5d  %s\n' "$compiler" "$1" "$2" "$3" "$verdict"
}
figures() {
  figure "a block" "$block" 1200
  figure "a 40-term predicate" $((predicate40 - block)) 300
  figure "a 60-term predicate" $((predicate60 - block)) 450
  figure "7 more layers" $((layers8 - layers1)) 600
  # Four times the layers may cost four times as much; at three times that it would be quadratic.
  figure "31 more, for 31/7 of that" $((layers32 - layers1)) $(((layers8 - layers1) * 31 / 7 + 200))
}

block >"$work/block.cpp"
for n in 40 60; do predicate $n >"$work/predicate$n.cpp"; done
for n in 1 8 32; do layers $n >"$work/layers$n.cpp"; done
measured=0 failures=0
for compiler in ${COMPILERS:-g++ clang++}; do
  command -v "$compiler" >/dev/null || { echo "skipped: $compiler is not installed"; continue; }
  measured=$((measured + 1))
  measure 1
  figures >"$work/figures"
  if grep -q FAILED "$work/figures"; then
    measure 3
    figures >"$work/figures"
  fi
  cat "$work/figures"
  failures=$((failures + $(grep -c FAILED "$work/figures")))
done
[ "$measured" -gt 0 ] || exit 77
echo "compile-time budget: $failures failed"
[ "$failures" = 0 ]
