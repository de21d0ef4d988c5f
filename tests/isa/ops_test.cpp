// Every prelude compiles without a warning on its own, and each op does what its scalar meaning
// says: natively where the host can, emulated always.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "isa/isa.h"

using namespace attune;
namespace fs = std::filesystem;

namespace {

// What kernels may ask of every ISA.
const std::set<std::string> vocabulary{
    "vec", "ivec", "lanes_t", "load", "store", "load_part", "store_part", "load_strided", "load_strided_part", "iload", "iload_part", "iload_strided", "iload_strided_part", "load_four_columns", "iload_four_columns", "splat", "fma", "fma_unless", "min", "max",
    "less", "less_equal", "equal", "not_less", "is_minus_zero", "both", "either", "negation", "select", "keep_where", "any", "all_lanes",
    "iota", "isplat", "floor_div", "floor_mod", "imin", "imax", "iless", "iless_equal", "iequal", "to_real",
    "exp", "exp_nonpositive", "exp2", "exp2_nonpositive", "exp2_near", "shift_of", "exp_shifted", "exponent_of", "inverse_power", "log", "tanh", "first", "reduce_add", "reduce_max", "swap_pairs",
    "transpose_block", "prefetch", "prefetch_l2", "has_nan", "set_float_state", "restore_float_state"};

struct Outcome {
  int status;
  std::string output;
};

Outcome run(const std::string& command) {
  INFO(command);
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe);
  std::string output;
  char buffer[4096];
  while (size_t n = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, n);
  int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

std::vector<std::string> compilers() {
  std::vector<std::string> found;
  for (std::string name : {"g++", "clang++"})
    if (run("command -v " + name).status == 0) found.push_back(name);
  REQUIRE(!found.empty());
  return found;
}

std::string write(const std::string& name, const std::string& text) {
  fs::path dir = fs::path(ATTUNE_BINARY_DIR) / "isa_ops";
  fs::create_directories(dir);
  std::ofstream(dir / name) << text;
  return (dir / name).string();
}

std::string file_of(const Isa& isa, const std::string& body) { return isa.headers + isa.open + "\n" + body + "\n" + isa.close; }

// Builds the checks of ops.inc on a prelude, runs them and returns the digest of the results.
std::string check_ops(const Isa& isa, const std::string& name, const std::string& compiler, const std::string& flags, bool fused) {
  std::string dir = std::string(ATTUNE_SOURCE_DIR) + "/tests/isa/";
  std::string body = "namespace kernel {\nenum { fused = " + std::to_string(fused) + " };\n\n" + prelude(isa, vocabulary) +
                     "\n#include \"" + dir + "ops.inc\"\n\n}\n" +
                     "int run_checks(unsigned long seed) {\n  Report report(seed);\n  kernel::check_all(report);\n  return report.finish();\n}\n";
  std::string source = write(name + ".cpp", "#include \"" + dir + "report.h\"\n" + file_of(isa, body) + "int main() { return run_checks(20261129); }\n");
  std::string program = source.substr(0, source.size() - 4) + "." + compiler;
  Outcome built = run(compiler + " -std=c++17 -O2 -Wall -Wextra " + flags + " -o " + program + " " + source);
  INFO(compiler << " " << flags << " " << source << "\n"
                << built.output);
  REQUIRE(built.status == 0);
  CHECK(built.output.empty());
  Outcome ran = run(program);
  INFO(ran.output);
  CHECK(ran.status == 0);
  return ran.output.substr(ran.output.rfind("digest") == std::string::npos ? 0 : ran.output.rfind("digest"));
}

// Ops natively and emulated, with what the baseline has and with what this host has: same bits.
void check_isa(const std::string& name) {
  for (const std::string& compiler : compilers()) {
    std::string baseline = check_ops(emulated(isa(name)), name + "_emulated", compiler, "", true);
    if (host_supports("avx2"))
      CHECK(check_ops(emulated(isa(name)), name + "_emulated_avx2", compiler, "-mavx2 -mfma", true) == baseline);
    if (host_supports(name))
      CHECK(check_ops(isa(name), name, compiler, "", true) == baseline);
    else
      WARN("this host can't run " << name << " itself");
  }
}

}  // namespace

TEST_CASE("ISA tables name what they lack") {
  CHECK(isa_names() == std::vector<std::string>{"portable", "avx2", "avx512"});
  CHECK_THROWS_WITH(isa("sse9"), "there is no ISA 'sse9'; there are portable, avx2, avx512");
  CHECK_THROWS_WITH(prelude(isa("avx2"), {"frobnicate"}), "ISA avx2 has no op \"frobnicate\"");
  CHECK(prelude(isa("avx2"), {}).empty());
  CHECK(host_supports("portable"));
  CHECK_FALSE(host_supports("sse9"));
}

// The kernel's own list of the CPU's features, as it prints them.
TEST_CASE("an ISA runs where the CPU has what it needs") {
  std::ifstream info("/proc/cpuinfo");
  std::string flags;
  for (std::string line; std::getline(info, line) && flags.empty();)
    if (line.rfind("flags", 0) == 0) flags = line + " ";
  if (flags.empty()) return;
  const auto has = [&](std::initializer_list<const char*> features) {
    return std::all_of(features.begin(), features.end(), [&](const char* f) { return flags.find(std::string(" ") + f + " ") != std::string::npos; });
  };
  CHECK(host_supports("avx2") == has({"avx2", "fma"}));
  CHECK(host_supports("avx512") == has({"avx512f", "avx512vl", "avx512dq", "avx512bw"}));
  CHECK(host_supports(fastest_isa()));
}

TEST_CASE("every ISA has every op, behind what it needs") {
  for (const std::string& name : isa_names())
    for (const Isa& table : {isa(name), emulated(isa(name))}) {
      CAPTURE(name);
      CHECK(table.lanes == isa(name).lanes);
      std::set<std::string> seen;
      for (const OpText& op : table.ops) {
        CAPTURE(op.name);
        CHECK(seen.insert(op.name).second);
        for (const std::string& need : op.needs) {
          CAPTURE(need);
          CHECK(seen.count(need));
        }
      }
      for (const std::string& op : vocabulary) {
        CAPTURE(op);
        CHECK(seen.count(op));
      }
    }
}

TEST_CASE("an op with what it needs is complete and warning-free") {
  for (const std::string& name : isa_names()) {
    for (bool emulate : {false, true}) {
      Isa table = emulate ? emulated(isa(name)) : isa(name);
      std::string body;
      for (const OpText& op : table.ops) body += "namespace only_" + op.name + " {\n\n" + prelude(table, {op.name}) + "\n}\n";
      std::string source = write(name + (emulate ? "_emulated" : "") + "_alone.cpp", file_of(table, body));
      for (const std::string& compiler : compilers())
        for (std::string level : {"-O0", "-O2"}) {
          Outcome built = run(compiler + " -std=c++17 " + level + " -Wall -Wextra -c -o " + source + ".o " + source);
          INFO(compiler << " " << level << " " << source << "\n"
                        << built.output);
          CHECK(built.status == 0);
          CHECK(built.output.empty());
        }
    }
  }
}

TEST_CASE("ops call no function of a library") {
  std::string body = R"(
void use(const float* p, float* q, long n, int d) {
  vec x = load(p), y = load_strided(p, n), z = load_part(p, n) + load_strided_part(p, n, n);
  vec sum = fma(exp(x), tanh(y), exp_nonpositive(z)) + exp2(x) + exp2_nonpositive(y) + exp_shifted(x, shift_of(y)) + to_real(floor_mod(floor_div(iota(), d), 3));
  store(q, select(less(x, y), min(sum, x), max(sum, y)));
  store_part(q, splat(exp(reduce_add(x)) + exp2(reduce_max(y)) + tanh(*p)), n);
  transpose_block(p, n, q, n, x);
}
)";
  for (const std::string& name : isa_names())
    for (const std::string& compiler : compilers()) {
      std::set<std::string> used = vocabulary;
      std::string source = write(name + "_symbols.cpp", file_of(isa(name), "namespace kernel {\n\n" + prelude(isa(name), used) + body + "\n}\n"));
      for (std::string level : {"-O2", "-O3"}) {
        Outcome built = run(compiler + " -std=c++17 " + level + " -Wall -Wextra -c -o " + source + ".o " + source);
        INFO(compiler << " " << level << " " << source << "\n"
                      << built.output);
        REQUIRE(built.status == 0);
        CHECK(built.output.empty());
        CHECK(run("nm -u " + source + ".o").output == "");
        CHECK(run("nm " + source + ".o | grep -c ' [dDbB] '").output == "0\n");
      }
    }
}

TEST_CASE("tiles of fma keep their accumulators in registers") {
  struct Tile {
    std::string isa;
    int rows, columns;
  };
  for (const Tile& tile : {Tile{"avx512", 8, 3}, Tile{"avx512", 6, 4}, Tile{"avx2", 6, 2}, Tile{"avx2", 4, 3}}) {
    const Isa& target = isa(tile.isa);
    std::string zero, step, end;
    for (int j = 0; j < tile.columns; ++j) step += fmt::format("    vec b{} = load(b + {});\n", j, target.lanes * j);
    for (int i = 0; i < tile.rows; ++i) {
      step += fmt::format("    vec a{0} = splat(a[{0}]);\n", i);
      for (int j = 0; j < tile.columns; ++j) {
        zero += fmt::format("  vec c{}{} = splat(0.0f);\n", i, j);
        step += fmt::format("    c{0}{1} = fma(a{0}, b{1}, c{0}{1});\n", i, j);
        end += fmt::format("  store(c + {2}, c{0}{1});\n", i, j, (i * tile.columns + j) * target.lanes);
      }
    }
    std::string body = fmt::format(
        "namespace kernel {{\n\n{}\nvoid tile(const float* a, const float* b, float* c, long n) {{\n{}"
        "#pragma GCC unroll 4\n  for (long k = 0; k < n; ++k, a += {}, b += {}) {{\n{}  }}\n{}}}\n\n}}\n",
        prelude(target, {"load", "store", "splat", "fma"}), zero, tile.rows, tile.columns * target.lanes, step, end);
    std::string source = write(fmt::format("{}_{}x{}.cpp", tile.isa, tile.rows, tile.columns), file_of(target, body));
    for (const std::string& compiler : compilers()) {
      REQUIRE(run(compiler + " -std=c++17 -O2 -fno-asynchronous-unwind-tables -S -o " + source + ".s " + source).output == "");
      INFO(compiler << " " << source);
      CHECK(run("grep -c vfmadd " + source + ".s").output != "0\n");
      CHECK(run("grep -E 'rsp|rbp' " + source + ".s | grep mm").output == "");
    }
  }
}

TEST_CASE("preludes are laid out as clang-format would, in 100 columns") {
  for (const std::string& name : isa_names())
    for (const Isa& table : {isa(name), emulated(isa(name))}) {
      std::string text = file_of(table, "namespace kernel {\n\n" + prelude(table, vocabulary) + "\n}  // namespace kernel");
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) {
        CAPTURE(name, line);
        CHECK((line.size() <= 100 || line.starts_with("  #pragma")));
      }
      if (run("command -v clang-format").status != 0) continue;
      std::string source = write("layout.cpp", text);
      CHECK(run("clang-format --style='file:" ATTUNE_SOURCE_DIR "/generated/.clang-format' " + source + " | diff " + source + " -").output == "");
    }
}

TEST_CASE("portable ops do what they say") {
  for (const std::string& compiler : compilers()) {
    check_ops(isa("portable"), "portable", compiler, "", false);
    if (host_supports("avx2")) check_ops(isa("portable"), "portable_avx2", compiler, "-mavx2 -mfma", false);
  }
}

TEST_CASE("avx2 ops do what they say") { check_isa("avx2"); }

TEST_CASE("avx512 ops do what they say") { check_isa("avx512"); }
