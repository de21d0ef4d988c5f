#!/bin/sh
# What the command line does, and what it says when it is used wrongly. ATTUNE is the program.
set -u
LC_ALL=C; export LC_ALL
unset NO_COLOR
attune=${ATTUNE:?the path of attune}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
passed=0 failed=0
small='sdpa<1,3,77,40,true>'

# try STATUS COMMAND...: runs it; stdout and stderr go to $work/out and $work/err.
try() {
  wanted=$1
  shift
  what="attune $*"
  "$attune" "$@" >"$work/out" 2>"$work/err" </dev/null
  status=$?
  if [ "$status" = "$wanted" ]; then pass; else fail "exit code $status, not $wanted"; fi
}
pass() { passed=$((passed + 1)); }
fail() {
  failed=$((failed + 1))
  printf 'FAILED %s: %s\n' "$what" "$1"
  sed 's/^/    /' "$work/out" "$work/err" | head -n 20
}
says() { if grep -qF -e "$2" "$work/$1"; then pass; else fail "'$2' is not in $1"; fi; }
silent() { if [ -s "$work/$1" ]; then fail "something is in $1"; else pass; fi; }
file() { if [ -s "$1" ]; then pass; else fail "there is no $1"; fi; }
no_file() { if [ -e "$1" ]; then fail "there is $1"; else pass; fi; }

# The default name drops the blanks and the namespace; two runs give the same bytes; nothing half-written stays.
try 0 gen " zoo::sdpa< 1, 3, 77,40 , true >" -o "$work/a"
for f in .h .cpp _portable.cpp _avx2.cpp _avx512.cpp; do file "$work/a/sdpa_1_3_77_40_true$f"; done
try 0 gen "$small" -o "$work/b" --quiet
silent out
no_file "$work/b/sdpa_1_3_77_40_true.py"
diff -r "$work/a" "$work/b" >"$work/out" && pass || fail "two runs differ"
ls "$work/a" | grep -q tmp && fail "a temporary file is left" || pass
grep -qF "attune gen '$small' --isa portable,avx2,avx512" "$work/a/sdpa_1_3_77_40_true.h" "$work/a"/*.cpp && pass || fail "no file names the command that made it"

try 0 gen "$small" --name mine --isa avx2 -o "$work/c"
file "$work/c/mine_avx2.cpp"
no_file "$work/c/mine_avx512.cpp"

try 0 list
says out 'textbook_mha<1,512,512,8>'
try 0 --version
says out "attune $(sed -n 's/^project(attune VERSION \([0-9.]*\) .*/\1/p' "$here/../../CMakeLists.txt")"
for command in list gen pack check bench explain tune verdict; do
  try 0 $command --help
  says out "  attune $command"
done
try 0 explain "$small"
says out '77'
try 0 explain 'textbook_mha<1,128,512,8>'
says out 'angles_once: cosines and sines of angles, made by pack_weights'
grep -q '^  [a-z_]*: *$\|not known' "$work/out" && fail "a region of which nothing is said" || pass
try 0 explain 'variant_window<40,0>' --isa avx2
says out "40 rows keep nothing and are 0, the first of them row 0"
try 0 explain "$small" --isa avx2 --map "$work/map.png"
says out "$work/map.png: what attention keeps, 1 x 1 scores a block"
[ "$(head -c 4 "$work/map.png" | tail -c 3)" = PNG ] && pass || fail "no PNG"
[ "$(od -An -j 16 -N 8 -tu1 "$work/map.png" | tr -s ' ')" = ' 0 0 1 206 0 0 1 206' ] && pass || fail "77 x 77 blocks of 6 x 6 pixels are not 462 x 462"
try 1 explain "$small" --map "$work/map.jpg"
says err 'name it so'
try 1 explain 'sdpa<1,8,128,64,false>' --map "$work/none.png"
says err 'no mask'
no_file "$work/none.png"
try 1 explain "$small" --map "$work/nowhere/map.png"
says err "$work/nowhere"

# The page: whole, with nothing from elsewhere, and with what the text says.
# page COMMAND...: makes it and holds it against the text.
page() {
  try 0 "$@" --html "$work/page.html"
  mv "$work/out" "$work/page.text"
  python3 "$here/page.py" "$work/page.html" "$work/page.text" >"$work/out" 2>"$work/err" && pass || fail "the page"
}
if command -v python3 >/dev/null; then
  page explain "$here/my_attention.h" --spec 'my_attention<24>' --isa portable
  if command -v objdump >/dev/null; then
    grep -q 'instructions multiply\.' "$work/page.html" && pass || fail "no machine code in the page"
  fi
  no_measured() { grep -q 'measured, median\|class="[a-z]* measured"' "$1" && fail "$1 has what was not measured" || pass; }
  no_measured "$work/page.html"
  page explain 'textbook_mha<2,64,256,4>' --isa portable --measure --json "$work/page.json"
  grep -q 'measured, median' "$work/page.html" && pass || fail "the page does not say what was measured"
  grep -q 'class="[a-z]* measured"' "$work/page.html" && pass || fail "no measured point in the roofline"
  grep -q '^  *measured, best  ' "$work/page.text" && pass || fail "the text does not say what was measured"
  # Shares, seconds and cycles are the same figures: each is so many FLOPs of the same peak.
  python3 - "$work/page.json" >"$work/out" 2>"$work/err" <<'END' && pass || fail "the figures contradict one another"
import json, sys
spec = json.load(open(sys.argv[1]))
isa = spec["isas"][0]
m = isa["measured"]
model = sum(r["model"]["kilocycles"] for r in isa["regions"]) * 1e3
assert abs(m["predicted"]["cycles"] / model - 1) < 1e-9 and m["predicted_all"] and m["repetitions"] > 0, m
peak = [f["cycles"] * f["percent_of_peak"] for f in (m["predicted"], m["best"], m["median"])]
assert all(abs(p / peak[0] - 1) < 1e-9 for p in peak), peak
assert 0 < m["best"]["seconds"] <= m["median"]["seconds"] and all(1e8 < f["cycles"] / f["seconds"] < 1e10 for f in (m["best"], m["median"])), m
END
  if command -v valgrind >/dev/null; then  # whose CPU has no AVX-512
    what="explain --measure on a CPU without AVX-512"
    valgrind -q --tool=none "$attune" explain "$small" --isa avx512 --measure --html "$work/lacking.html" >"$work/out" 2>"$work/err" </dev/null && pass || fail "it fails"
    says err "attune: this CPU can't run avx512: not measured"
    [ "$(wc -l <"$work/err")" = 1 ] && pass || fail "more than one line"
    no_measured "$work/lacking.html"
  else
    echo 'skipped: no valgrind, so no CPU that lacks something'
  fi
  CXX=/no/such/compiler
  export CXX
  page explain 'textbook_mha<1,512,512,8>'
  try 1 explain "$small" --isa portable --measure --html "$work/unmeasured.html"
  says err 'no host compiler'
  no_file "$work/unmeasured.html"
  grep -q 'no machine code to show: no host compiler' "$work/page.html" && pass || fail "the page does not say what it lacks"
  page explain 'sdpa<1,8,128,64,false>' --isa avx2
  grep -q 'this spec has no mask' "$work/page.html" && pass || fail "a mask that is none"
  unset CXX
fi
try 1 explain "$small" --html "$work/nowhere/page.html"
says err "cannot write $work/nowhere/page.html"
[ "$(wc -l <"$work/err")" = 1 ] && pass || fail "more than one line"
silent out

# On a terminal: what takes more than two seconds says what it does; colours unless there is NO_COLOR.
# shown COMMAND: what a terminal gets.
shown() {
  what="on a terminal: $1"
  TERM=xterm script -qec "$1" /dev/null >"$work/out" 2>&1 </dev/null
}
escape=$(printf '\033')
plain() { if grep -q "$escape" "$work/$1"; then fail "escapes are in $1"; else pass; fi; }
if command -v script >/dev/null; then
  printf '#!/bin/sh\nsleep 2.3\nexec c++ "$@"\n' >"$work/slow-compiler"
  chmod +x "$work/slow-compiler"
  shown "CXX='$work/slow-compiler' '$attune' gen '$here/my_attention.h' --spec 'my_attention<24>' --isa portable -o '$work/slow'"
  says out 'compiling my_attention<24>'
  shown "'$attune' gen '$small' --isa portable -o '$work/slow'"
  plain out
  shown "'$attune' gen sdpa"
  says out "$escape[31mattune:"
  shown "NO_COLOR=1 '$attune' gen sdpa"
  plain out
  shown "'$attune' gen sdpa 2>'$work/err'"
  plain err
else
  echo 'skipped: no script(1), so no terminal'
fi

# Specs that are not in the zoo.
try 0 gen "sdpa<1,2,19,8,false>" --isa portable -o "$work/d"
file "$work/d/sdpa_1_2_19_8_false_portable.cpp"
try 0 gen "$here/my_attention.h" --spec 'my_attention<24>' --isa portable -o "$work/e"
file "$work/e/my_attention_24_portable.cpp"
try 0 check "$here/my_attention.h" --spec 'my_attention<24>' --isa portable
says out 'ok'
sed 's/softmax(\(.*\)), v/row_reduction(\1, algebra(exp(score - row_max), exp(row_max - old_max), 1.0 \/ row_sum)), v/' "$here/my_attention.h" >"$work/unsound.h"
try 1 gen "$work/unsound.h" --spec 'my_attention<24>' --isa portable -o "$work/f"
says err 'attune: my_attention<24>: line'
no_file "$work/f"
sed 's/transpose(k)/k/' "$here/my_attention.h" >"$work/broken.h"
try 1 gen "$work/broken.h" --spec 'my_attention<24>' -o "$work/f"
says err 'error:'
says err 'broken.h:'
[ "$(wc -l <"$work/err")" -le 4 ] && pass || fail "more than the first error is shown"
lines=$(wc -l <"$work/err")
no_file "$work/f"
try 1 gen "$work/broken.h" --spec 'my_attention<24>' -o "$work/f" --verbose
[ "$(wc -l <"$work/err")" -gt "$lines" ] && pass || fail "--verbose shows no more"
try 1 gen "$work/none.h" --spec 'my_attention<24>'
says err 'there is no file'
try 1 gen "$here/my_attention.h"
says err '--spec'
says err "Say --spec 'my_attention'"
try 1 gen "$work" --spec 'my_attention<24>'
says err "there is no file $work"
try 1 gen "$work/none.h"
says err 'there is no file'
{ cat "$here/my_attention.h"; sed -n 's/my_attention/your_attention/; /^template/,$p' "$here/my_attention.h"; } >"$work/two.h"
for compiler in g++ clang++; do
  command -v $compiler >/dev/null || continue
  CXX=$compiler
  export CXX
  try 1 gen "$work/two.h" --spec 'my_attentoin<24>' -o "$work/f"
  says err "there is no spec 'my_attentoin' in $work/two.h; did you mean 'my_attention<24>'? It defines my_attention, your_attention"
  [ "$(wc -l <"$work/err")" = 1 ] && pass || fail "more than one line"
  unset CXX
done
try 1 gen "$work/two.h"
says err 'it defines my_attention, your_attention'
sed 's/Seq, 16>("v")/Seq, 16>("v" + nothing)/' "$here/my_attention.h" >"$work/unknown.h"
try 1 gen "$work/unknown.h" --spec 'my_attention<24>' -o "$work/f"
says err "'nothing' was not declared"
no_file "$work/f"
# A compiler that speaks the user's language is asked for English.
cat >"$work/compiler" <<'END'
#!/bin/sh
[ "$LC_ALL" = C ] && exec c++ "$@"
echo "a.h:1: Fehler: nein"
exit 1
END
chmod +x "$work/compiler"
what='a German compiler'
LC_ALL=de_DE.UTF-8 CXX="$work/compiler" "$attune" gen "$work/broken.h" --spec 'my_attention<24>' -o "$work/f" >"$work/out" 2>"$work/err"
says err 'error:'
# The language is compiled and kept; what was made of another is not taken.
mkdir "$work/kept"
echo '// another' >"$work/kept/dsl.h"
echo 'old' >"$work/kept/dsl.h.gch"
try 0 gen "$here/my_attention.h" --spec 'my_attention<24>' --isa portable -o "$work/e2" --precompiled "$work/kept" --depfile "$work/e2.d"
diff -r "$work/e" "$work/e2" >"$work/out" && pass || fail "a precompiled language gives another kernel"
[ "$(wc -c <"$work/kept/dsl.h.gch")" -gt 100000 ] && pass || fail "an old language is kept"
grep -qF "$here/my_attention.h" "$work/e2.d" && pass || fail "the dependencies lack the header"
grep -qF "$work/e2/my_attention_24.h:" "$work/e2.d" && pass || fail "the dependencies are of something else"
cp -p "$work/kept/dsl.h.gch" "$work/first.gch"
try 0 gen "$here/my_attention.h" --spec 'my_attention<24>' --isa portable -o "$work/e2" --precompiled "$work/kept"
[ "$work/kept/dsl.h.gch" -nt "$work/first.gch" ] && fail "the language was compiled again" || pass
try 1 gen "$work/broken.h" --spec 'my_attention<24>' -o "$work/f" --precompiled "$work/kept"
says err 'broken.h:'
try 1 gen "$here/my_attention.h" --spec 'my_attention<24>' --precompiled /proc/attune
says err '/proc/attune'
try 2 gen "$small" --depfile "$work/e2.d"

# What does not exist.
try 1 gen 'textbok_mha<1,512,512,8>'
says err "did you mean 'textbook_mha<1,512,512,8>'?"
try 1 gen mha
says err "did you mean 'textbook_mha"
try 1 gen sdpa
says err 'could be any of'
try 1 gen "$small" --isa avx2,avx1024 -o "$work/g"
says err "there is no ISA 'avx1024'"
no_file "$work/g"
try 1 gen "$small" --name '2fast' -o "$work/g"
says err "'2fast'"
try 2 frobnicate
try 2 gen
try 2

# Folders that can't be written.
try 1 gen "$small" -o "$work/no/such/parent"
says err "$work/no/such/parent"
echo text >"$work/text"
try 1 gen "$small" -o "$work/text"
says err 'a file has that name'
try 1 gen "$small" -o /proc/attune
says err '/proc/attune'
try 1 bench "$small" --json "$work/no/such/file.json"
says err 'file.json'

# The host compiler: none, or one without an ISA.
CXX=/no/such/compiler
export CXX
try 1 check "$small"
says err "no host compiler"
try 1 gen "sdpa<1,2,19,8,false>" -o "$work/h"
says err "no host compiler"
try 0 gen "$small" -o "$work/h"
unset CXX
cat >"$work/old-compiler" <<'END'
#!/bin/sh
case "$*" in *_avx2.cpp*) echo "kernel.cpp:1: error: no such target"; exit 1 ;; esac
exec c++ "$@"
END
chmod +x "$work/old-compiler"
CXX=$work/old-compiler
export CXX
try 1 check "$small" --isa portable,avx2
says out 'no such target'
grep -q 'portable.*standard.* ok$' "$work/out" && pass || fail "the other ISA was not checked"
unset CXX

try 0 check "$small" --json "$work/check.json"
says out 'NaN in the last key'
says out 'avx512'
grep -q FAIL "$work/out" && fail "a check fails" || pass
grep -q '"inputs": "NaN in the last key"' "$work/check.json" && pass || fail "a row of the table is not in the JSON"
[ "$(grep -c '"ok": true' "$work/check.json")" = "$(grep -c ' ok$' "$work/out")" ] && pass || fail "the JSON has other rows than the table"

# JSON of the other tables; with - nothing else is on stdout.
try 0 list --json "$work/list.json"
[ "$(grep -c '"spec":' "$work/list.json")" = "$(grep -c '<.*>' "$work/out")" ] && pass || fail "the JSON has other specs than the table"
try 0 list --json -
cmp -s "$work/out" "$work/list.json" && pass || fail "stdout is not the JSON"
try 0 explain "$small" --isa avx2 --json -
for key in graph masks workspace_bytes schedule kilocycles; do says out "\"$key\":"; done
[ "$(head -c 1 "$work/out")" = '{' ] && pass || fail "stdout is not JSON alone"
try 1 list --json "$work/no/such/list.json"
says err 'list.json'
silent out

try 0 bench "$small" --isa portable --json "$work/bench.json"
says out 'of FMA peak'
says out 'naive, textbook order'
for counter in pct_fma_peak speedup_vs_naive max_err_over_bound; do
  grep -q "\"$counter\"" "$work/bench.json" && pass || fail "no $counter in the JSON"
done
grep -q 'times one core' "$work/out" && fail "one worker is compared with one core" || pass
what="attune bench --workers 2"
if "$attune" bench "$small" --isa portable --workers 2 --json "$work/bench.json" >"$work/out" 2>"$work/err"; then
  says out 'portable, 2 workers'
  says out 'portable, 2 copies at once'
  says out 'times one core'
  grep -q '"times_one_core"' "$work/bench.json" && pass || fail "no times_one_core in the JSON"
else
  says err 'cores that this process may use: 1'
fi
try 1 bench "$small" --workers 9999 --json "$work/many.json"
says err 'cores that this process may use'
no_file "$work/many.json"
try 2 bench "$small" --workers 0

# Schedules that were measured: kept, resumed, used by gen; a file of another version is refused and stays.
try 0 tune "$small" --isa portable --candidates 3 --wisdom "$work/wisdom.json"
says out 'times as fast'
machine=$(sed -n 's/^portable: //p' "$work/out")
grep -qF '"version": 1' "$work/wisdom.json" && pass || fail "the wisdom has no version"
cp "$work/wisdom.json" "$work/before.json"
try 0 tune "$small" --isa portable --candidates 3 --wisdom "$work/wisdom.json"
says out 'known before'
cmp -s "$work/wisdom.json" "$work/before.json" && pass || fail "what was known was measured again"
try 0 gen "$small" --isa portable --wisdom "$work/wisdom.json" -o "$work/tuned"

# The machine is measured with the first schedules, kept, and what explain and the others cost by.
what='the machine in the wisdom'
case $machine in *' fma, '*' loads or '*) pass ;; *) fail "tune says nothing of the machine" ;; esac
try 0 explain "$small" --isa portable --wisdom "$work/wisdom.json"
says out "with $machine:"
try 0 explain "$small" --isa portable
grep -qF "with $machine:" "$work/out" && fail "the default is what was measured" || pass
says out 'by the model'
says out '% of peak'
grep -Eq '^  attention +[0-9.]+ +[0-9.]+ .* fma [0-9]+ % of the time, then [a-zA-Z0-9]+ [0-9]+ %$' "$work/out" && pass || fail "no account of the region"
sed 's/"fma_latency": [0-9.]*/"fma_latency": 7.5/' "$work/wisdom.json" >"$work/slow.json"
try 0 explain "$small" --isa portable --wisdom "$work/slow.json"
says out 'sums after 7.5'
for change in 's/"l2_rate": [0-9.]*/"l2_rate": -1/' 's/"l2_rate": [0-9.]*/"l2_rate": "fast"/' '/"l2_rate"/d' 's/"machines": \[/"machines": [7,/'; do
  sed "$change" "$work/wisdom.json" >"$work/odd.json"
  try 1 gen "$small" --isa portable --wisdom "$work/odd.json" -o "$work/odd"
  says err 'is no wisdom'
  [ "$(wc -l <"$work/err")" = 1 ] && pass || fail "more than one line"
  no_file "$work/odd"
done
echo '{"version": 1, "entries": []}' >"$work/old.json"
try 0 explain "$small" --isa portable --wisdom "$work/old.json"
try 2 verdict --wisdom "$work/none.json"
sed 's/"columns": [0-9]*/"columns": 7/' "$work/wisdom.json" >"$work/odd.json"
try 1 gen "$small" --isa portable --wisdom "$work/odd.json" -o "$work/odd"
says err 'is no schedule for'
no_file "$work/odd"
sed 's/"version": 1/"version": 2/' "$work/before.json" >"$work/wisdom.json"
cp "$work/wisdom.json" "$work/before.json"
try 1 gen "$small" --wisdom "$work/wisdom.json" -o "$work/odd"
says err 'version 2'
try 1 tune "$small" --isa portable --wisdom "$work/wisdom.json"
cmp -s "$work/wisdom.json" "$work/before.json" && pass || fail "a file of another version was changed"
echo 'no json' >"$work/bad.json"
try 1 explain "$small" --wisdom "$work/bad.json"
says err 'is no wisdom'
try 2 gen "$small" --wisdom "$work/none.json"
try 2 tune "$small" --candidates 0
try 2 verdict --candidates 1
try 1 tune "$small" --isa portable --wisdom /proc/wisdom.json

echo "command line: $passed passed, $failed failed"
[ "$failed" = 0 ]
