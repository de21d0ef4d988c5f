#include "numerics/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "cli/host/process.h"
#include "cli/host/compiler.h"

namespace numerics {

namespace host = attune::host;
namespace fs = std::filesystem;

const std::vector<Target>& targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> r;
    const bool emulate = std::getenv("ATTUNE_EMULATE") != nullptr;  // all of them
    for (const std::string& isa : attune::isa_names()) r.push_back({isa, !attune::host_supports(isa) || (emulate && isa != "portable")});
    return r;
  }();
  return all;
}

// ---- libraries ------------------------------------------------------------------------------------

static std::vector<std::string> flags_for(bool emulated) {
  std::vector<std::string> flags{"-std=c++17", "-O2"};
  if (emulated) flags.push_back("-march=native");
  return flags;
}

static const std::string& compiler() {
  static const std::string command_and_version = [] {
    std::vector<std::string> argv = host::compiler();
    argv.push_back("--version");
    return fmt::format("{}", fmt::join(argv, " ")) + host::run(argv).output;
  }();
  return command_and_version;
}

// Of everything that the library follows from.
static std::uint64_t hash_of(const std::vector<attune::SourceFile>& files, bool emulated) {
  std::string all = compiler() + fmt::format("{}", fmt::join(flags_for(emulated), " "));
  for (const attune::SourceFile& f : files) all += f.name + "\n" + f.text;
  std::uint64_t h = 0xcbf29ce484222325ull;  // FNV-1a
  for (unsigned char c : all) h = (h ^ c) * 0x100000001b3ull;
  return h;
}

std::string library_path(const std::vector<attune::SourceFile>& files, const std::string& name, bool emulated) {
  return fmt::format("{}/numerics/{}.{:016x}.so", ATTUNE_BINARY_DIR, name, hash_of(files, emulated));
}

// GCC reads the intrinsics' header in a tenth of the time if it finds it compiled: most of what a small
// kernel costs. Empty where that is of no use.
static std::vector<std::string> precompiled_intrinsics(bool emulated) {
#if defined(__x86_64__)
  if (compiler().find("Free Software Foundation") == std::string::npos) return {};
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  const fs::path folder = fmt::format("{}/numerics/{:016x}.include", ATTUNE_BINARY_DIR, hash_of({}, emulated));
  if (!fs::exists(folder)) {
    const host::TemporaryFolder made;
    host::write_whole(made.path() / "intrinsics.h", "#include <immintrin.h>\n");
    std::vector<std::string> argv = host::compiler(), flags = flags_for(emulated);
    argv.insert(argv.end(), flags.begin(), flags.end());
    argv.insert(argv.end(), {"-fPIC", "-x", "c++-header", (made.path() / "intrinsics.h").string(), "-o", (made.path() / "intrinsics.h.gch").string()});
    host::run(argv);  // the header alone does too
    const fs::path unfinished = folder.string() + fmt::format(".{}", made.path().filename().string());
    fs::create_directories(folder.parent_path());
    fs::copy(made.path(), unfinished);
    std::error_code made_by_another;
    fs::rename(unfinished, folder, made_by_another);
    if (made_by_another) fs::remove_all(unfinished);
  }
  return {"-include", (folder / "intrinsics.h").string()};
#else
  return {};
#endif
}

static void build(const std::vector<attune::SourceFile>& files, const std::string& name, bool emulated) {
  const fs::path cached = library_path(files, name, emulated);
  if (fs::exists(cached)) return;
  fs::create_directories(cached.parent_path());
  const host::TemporaryFolder folder;
  std::string all;  // one run of the compiler for a library
  for (const attune::SourceFile& f : files) {
    host::write_whole(folder.path() / f.name, f.text);
    if (fs::path(f.name).extension() == ".cpp") all += fmt::format("#include \"{}\"\n", f.name);
  }
  host::write_whole(folder.path() / "all.cpp", all);
  const fs::path unfinished = cached.string() + fmt::format(".{}", folder.path().filename().string());  // beside its place: another test may want it now
  std::vector<std::string> flags = flags_for(emulated);
  flags.insert(flags.end(), {"-Wall", "-Wextra", "-Werror"});
  if (all.find("_portable.cpp") == std::string::npos) {
    const std::vector<std::string> more = precompiled_intrinsics(emulated);
    flags.insert(flags.end(), more.begin(), more.end());
  }
  const host::Built built = host::build_shared({folder.path() / "all.cpp"}, unfinished, flags);
  if (!built.ok) throw attune::Error(fmt::format("{} does not compile: {}", name, built.output.substr(0, 2000)));
  for (const fs::directory_entry& e : fs::directory_iterator(cached.parent_path())) {  // of an older compiler
    const std::string file = e.path().filename().string();
    std::error_code ignored;
    if (file.starts_with(name + ".") && file.ends_with(".so")) fs::remove(e.path(), ignored);
  }
  fs::rename(unfinished, cached);
}

std::shared_ptr<const host::Library> library_of(const std::vector<attune::SourceFile>& files, const std::string& name, bool emulated) {
  build(files, name, emulated);
  return std::make_shared<const host::Library>(library_path(files, name, emulated));
}

Functions functions_of(const host::Library& library, const std::string& name) {
  Functions f;
  const auto find = [&](auto& to, const std::string& symbol) { to = reinterpret_cast<std::decay_t<decltype(to)>>(library.find(symbol)); };
  find(f.workspace_bytes, name + "_workspace_bytes");
  find(f.packed_bytes, name + "_packed_bytes");
  find(f.pack_weights, name + "_pack_weights");
  find(f.checked, name + "_checked");
  find(f.plain, name);
  if (!f.workspace_bytes || !f.packed_bytes || !f.checked || !f.plain) throw attune::Error(name + " lacks a function of its interface");
  return f;
}

// ---- calls ----------------------------------------------------------------------------------------

static std::size_t floats(std::size_t bytes) { return (bytes + 63) / 64 * 16; }

Memory::Memory(const attune::Interface& interface, const Functions& f, const Bindings& b, int n, bool unaligned)
    : arguments(interface, b, host::Place::before_guard),
      packed(floats(f.packed_bytes()), host::Place::before_guard),
      workspace(floats(f.workspace_bytes(n)), host::Place::before_guard),
      workspace_bytes(f.workspace_bytes(n)),
      workers(n) {
  std::fill_n(workspace.data(), workspace.size(), std::nanf(""));  // what an earlier call left there must not matter
  std::fill_n(packed.data(), packed.size(), std::nanf(""));
  if (f.pack_weights) f.pack_weights(arguments.weight_pointers.data(), packed.data());
  packed.make_read_only();
  if (!unaligned) return;
  for (std::size_t i = 0; i < arguments.args.size(); ++i) {  // each ends one, two or three floats before its guard
    const bool input = i < arguments.inputs.size();
    const host::Buffer& from = input ? arguments.inputs[i] : arguments.outputs[i - arguments.inputs.size()];
    host::Buffer& to = shifted_.emplace_back(from.size() + 1 + i % 3, host::Place::before_guard);
    std::copy_n(from.data(), from.size(), to.data());
    if (input) to.make_read_only();
    arguments.args[i] = to.data();
  }
}

Outputs Memory::outputs() const {
  Outputs r;
  for (std::size_t i = 0; i < arguments.outputs.size(); ++i) {
    const float* p = static_cast<const float*>(arguments.args[arguments.inputs.size() + i]);
    r.emplace_back(p, p + arguments.outputs[i].size());
  }
  return r;
}

Subject::Subject(const Spec& s, const Target& t) : spec_(s), target_(t), interface_(attune::interface_of(s.graph)) {
  library_ = library_of(files(), library_name(), t.emulated);
  functions_ = functions_of(*library_, s.name);
}

std::vector<attune::SourceFile> Subject::files() const {
  attune::GenerateOptions o;
  o.name = o.spec = spec_.name;
  o.command = "tests/numerics";
  o.isas = {target_.isa};
  o.emulate = target_.emulated;
  return attune::generate(spec_.graph, o);
}
std::string Subject::library_name() const { return spec_.name + "_" + target_.isa + (target_.emulated ? "_emulated" : ""); }
std::string Subject::path() const { return library_path(files(), library_name(), target_.emulated); }

Outputs Subject::call(Memory& m, ParallelFor parallel_for, void* ctx) const {
  REQUIRE(functions_.checked(m.arguments.args.data(), m.packed.data(), m.workspace.data(), m.workspace_bytes, m.workers, parallel_for, ctx) == ok);
  return m.outputs();
}
Outputs Subject::operator()(const Bindings& b, int workers, ParallelFor parallel_for, void* ctx) const {
  Memory m = memory(b, workers);
  return call(m, parallel_for, ctx);
}
Outputs Subject::unaligned(const Bindings& b) const {
  Memory m(interface_, functions_, b, 1, true);
  return call(m);
}

void for_each_subject(const std::vector<Spec>& specs, const std::function<void(const Subject&)>& f) { for_each_subject(specs, targets(), f); }

void for_each_subject(const std::vector<Spec>& specs, const std::vector<Target>& on, const std::function<void(const Subject&)>& f) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> builders;
  for (unsigned n = std::max(1u, std::thread::hardware_concurrency()); n-- > 0;)
    builders.emplace_back([&] {
      for (std::size_t i; (i = next++) < specs.size() * on.size();) try {
          Subject(specs[i / on.size()], on[i % on.size()]);
        } catch (const std::exception&) {  // seen again below, by name
        }
    });
  for (std::thread& t : builders) t.join();
  for (const Spec& s : specs)
    for (const Target& t : on) {
      INFO(s.name << " on " << t.label());
      f(Subject(s, t));
    }
}

// ---- results --------------------------------------------------------------------------------------

void check_close(const Subject& s, const Outputs& got, const Expected& expected, bool finite_inputs) {
  std::vector<const float*> outputs;
  for (const Floats& o : got) outputs.push_back(o.data());
  const host::Deviation d = host::compare(s.interface(), outputs, expected, finite_inputs);
  INFO("worst element " << d.where << ": error / bound " << d.over_bound << "; largest error " << d.max_error);
  CHECK(d.ok());
}

bool same_bits(const Floats& a, const Floats& b) { return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0); }
bool same_bits(const Outputs& a, const Outputs& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same_bits(a[i], b[i])) return false;
  return true;
}

long not_finite(const Floats& x) {
  return std::count_if(x.begin(), x.end(), [](float f) { return !std::isfinite(f); });
}

}  // namespace numerics
