#!/bin/sh
# A user's CMake project: check.sh installed|cross. BUILD is the build tree of attune, CXX the compiler.
# The generator is not compiled here. `installed` installs what the build made, moves it and uses it
# by find_package. `cross` takes the sources, by FetchContent with ATTUNE_EXECUTABLE, the program of
# the build, in place of the targets that compile it, and by add_subdirectory, where the generator's
# own build for this machine is configured but not made. (That a native project builds its kernels
# by add_subdirectory, tests/readme/check.sh proves, in the same two steps.)
set -u
LC_ALL=C; export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
CXX=${CXX:-c++}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
log=$work/log
passed=0 failed=0
# expect WHAT COMMAND...: COMMAND succeeds. It may read $log, which holds what the last one said.
expect() {
  what=$1
  shift
  "$@" >"$work/said" 2>&1
  code=$?
  mv "$work/said" "$log"
  if [ $code = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $what"
    tail -n 20 "$log" | sed 's/^/    /'
  fi
}
not() { ! "$@"; }
command -v ninja >/dev/null && CMAKE_GENERATOR=Ninja && export CMAKE_GENERATOR
mkdir "$work/use"
cp "$here"/*.h "$here"/*.cpp "$here/CMakeLists.txt" "$work/use"
echo 'int main() {}' >"$work/empty.cpp"
threads=openmp
"$CXX" -fopenmp "$work/empty.cpp" -o "$work/empty" 2>/dev/null || threads=pool  # Clang without libomp-dev
configure() { cmake -S "$work/use" -B "$work/build" -DCMAKE_CXX_COMPILER="$CXX" -DTHREADS=$threads "$@"; }

case $1 in
  installed)
    expect 'cmake --install' cmake --install "$BUILD" --prefix "$work/installed"
    mv "$work/installed" "$work/moved"
    expect 'find_package' configure -DWAY=find_package -DCMAKE_PREFIX_PATH="$work/moved"
    expect 'the build' cmake --build "$work/build"
    expect 'the kernels, on every adapter' "$work/build/app" 3
    expect 'specs are compiled with what is installed' grep -qF "$work/moved/share/attune/driver/spec.cpp" "$work/build/nearby.kernel/nearby.d"
    expect 'against its headers' grep -qF "$work/moved/include/attune.h" "$work/build/attune_dsl/dsl.h"
    expect 'nothing refers to the sources' not grep -rqF "$root/" "$work/build" --include='*.d' --include=build.ninja --include=Makefile

    # What changes is generated again and compiled again; the other kernel is left alone.
    touch "$work/before"
    sleep 0.05
    sed 's/= 3/= 5/' "$here/nearby_tokens.h" >"$work/use/nearby_tokens.h"
    expect 'the build after a change' cmake --build "$work/build"
    expect 'the changed kernel' "$work/build/app" 5
    expect 'its library is new' [ "$work/build/libnearby.a" -nt "$work/before" ]
    expect 'the other is as it was' [ "$work/before" -nt "$work/build/libaverage.a" ]
    expect 'its source is as it was' [ "$work/before" -nt "$work/build/average.kernel/average_portable.cpp" ]
    expect 'the language is compiled once' [ "$work/before" -nt "$work/build/attune_dsl/dsl.h.gch" ]
    begin=$(date +%s%N)
    touch "$work/use/average.h"
    expect 'generating alone' cmake --build "$work/build" --target average.kernel/average_portable.cpp
    echo "from a changed spec to its source: $((($(date +%s%N) - begin) / 1000000)) ms"
    sed 's/transpose(v)/v/' "$here/average.h" >"$work/use/average.h"
    expect 'a spec that does not compile fails the build' not cmake --build "$work/build"
    expect 'its error is shown' grep -q 'error: .*matmul(a, b)' "$log"
    sed -i 's|^  // stored tensors|  another,|' "$work/moved/include/attune/graph.h"
    expect 'headers of another version are refused' not "$work/moved/bin/attune" explain 'sdpa<1,1,17,16,false>'
    expect 'with their place' grep -q "^attune: $work/moved/include holds another version" "$log"
    ;;
  cross)
    # By Clang, which makes code for any machine.
    command -v clang++ >/dev/null || { echo 'skipped: no clang++ to cross-compile with'; exit 77; }
    cat >"$work/aarch64.cmake" <<'END'
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER clang++)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_FLAGS_INIT -ffreestanding)           # there is no library for aarch64,
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # nor a linker
set(CMAKE_HAVE_LIBC_PTHREAD ON)
END
    cross() { cmake -S "$work/use" -B "$@" -DTHREADS=pool -DATTUNE="$root" -DCMAKE_TOOLCHAIN_FILE="$work/aarch64.cmake"; }
    expect 'FetchContent, with a generator that is there' cross "$work/cross" -DWAY=FetchContent -DATTUNE_EXECUTABLE="$BUILD/attune"
    expect 'the kernel' cmake --build "$work/cross" --target average
    expect 'its machine' sh -c "cd '$work/cross' && ar x libaverage.a && readelf -h average_portable.cpp.o | grep AArch64"
    expect 'add_subdirectory, generator included' cross "$work/whole" -DWAY=add_subdirectory -DATTUNE_HOST_CXX="$(command -v "$CXX")"
    stamp=attune/attune_for_host-prefix/src/attune_for_host-stamp/attune_for_host-configure
    expect 'the generator configures' cmake --build "$work/whole" --target $stamp
    cache=$work/whole/attune/attune_for_host/CMakeCache.txt
    expect 'for this machine' grep -q "^CMAKE_CXX_COMPILER:[A-Z]*=.*/$(basename "$CXX")\$" "$cache"
    expect 'and no other' not grep -q aarch64 "$cache" "${cache%/*}/build.ninja"
    ;;
esac
echo "consumer, $1: $passed passed, $failed failed"
[ "$failed" = 0 ]
