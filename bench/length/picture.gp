# Draws length.csv of the folder it is run in: gnuplot -c picture.gp "caption"
set datafile separator ","
set terminal svg size 1000,480 font "sans-serif,13" background "white"
set output "length.svg"
set multiplot layout 1,2 title ARG1
set logscale x 2
set logscale y 10
set grid
set key left top reverse Left
set xlabel "T (queries and keys)"
set xtics rotate by -45
set format y "10^{%T}"
set style line 1 lc rgb "#6c757d" lw 1.5 pt 7 ps 0.6
set style line 2 lc rgb "#457b9d" lw 1.5 pt 5 ps 0.6
set style line 3 lc rgb "#c1121f" lw 2.5 pt 9 ps 0.8
set style line 4 lc rgb "#000000" lw 1 dt 3

set title "time of a call: all grow as T^2"
set ylabel "seconds"
plot "length.csv" using 1:2 skip 1 with linespoints ls 1 title "naive, textbook order", \
     "" using 1:3 skip 1 with linespoints ls 2 title "naive, vectorisable", \
     "" using 1:4 skip 1 with linespoints ls 3 title "Attune"

set title "memory of a process: naive T^2, Attune T"
set ylabel "bytes"
plot "length.csv" using 1:5 skip 1 with linespoints ls 1 title "naive", \
     "" using 1:6 skip 1 with linespoints ls 3 title "Attune", \
     "" using 1:7 skip 1 with lines ls 4 title "inputs and result alone (computed)"
unset multiplot
