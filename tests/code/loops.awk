# The hot loops of a kernel, from `objdump -d --no-show-raw-insn -C`: of each micro-kernel the innermost
# loop with the most multiply-adds. Prints a line each: name, multiply-adds, all instructions but those
# that ask memory, vector loads and stores on the stack, moves between vector and scalar registers.
function close_function(  i, j, k, inner, fma, best, begin) {
  if (name == "") return
  best = 0
  for (i = 1; i <= n; ++i) {
    if (!(i in target) || !(target[i] in at)) continue
    begin = at[target[i]]
    if (begin >= i) continue
    inner = 0
    for (j = begin; j < i; ++j)
      if ((j in target) && (target[j] in at) && at[target[j]] >= begin && at[target[j]] <= j) inner = 1
    if (inner) continue
    fma = 0
    for (j = begin; j <= i; ++j) fma += text[j] ~ /vfmadd|vmulps/
    if (fma > best) {
      best = fma
      first = begin
      last = i
    }
  }
  if (best > 0) {
    stack = moves = asks = 0
    for (j = first; j <= last; ++j) {
      stack += text[j] ~ /\((%rsp|%rbp)[,)]/ && text[j] ~ /%[xyz]mm/
      asks += text[j] ~ /prefetch/
      moves += text[j] ~ /vmov[dq] |vpextr|vpinsr|vextract|vinsert/
    }
    print name, best, last - first + 1 - asks, stack, moves
  }
  name = ""
}
/^[0-9a-f]+ <.*>:$/ {
  close_function()
  delete at; delete target; delete text
  n = 0
  name = ""
  if (match($0, /::[a-z_0-9]+_(weights|values|tile)_[0-9]+x[0-9]+[a-z_]*\(/)) name = substr($0, RSTART + 2, RLENGTH - 3)
  if (name ~ /_with_holes$/) name = ""  # of the safe path: not hot
  next
}
name != "" && /^ *[0-9a-f]+:/ {
  ++n
  address = $1
  sub(/:$/, "", address)
  at[address] = n
  line = $0
  sub(/^ *[0-9a-f]+:[ \t]*/, "", line)
  text[n] = line
  if (line ~ /^j[a-z]+ /) {
    split(line, part, /[ \t]+/)
    target[n] = part[2]
  }
}
END { close_function() }
