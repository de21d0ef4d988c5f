# The table under "Measured" in README.md: ./run bench | awk -f tests/readme/measured.awk
# A row for each spec and instruction set; columns as bench prints them.
BEGIN {
  print "| spec | | median time | best % of FMA peak | median % | x naive, textbook | x naive, vectorised |"
  print "|---|---|---|---|---|---|---|"
}
/ MFLOP\)$/ { spec = $1 }
/^  (portable|avx2|avx512) / { printf "| `%s` | %s | %s %s | %s | %s | %s | %s |\n", spec, $1, $2, $3, $4, $5, $6, $7 }
