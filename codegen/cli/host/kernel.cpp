#include "cli/host/kernel.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "cli/host/process.h"

namespace attune::host {

namespace {
constexpr std::size_t huge_page = std::size_t(2) << 20;
}  // namespace

Buffer::Buffer(std::size_t floats, Place place) : p_(nullptr, Free{nullptr, 0}), size_(floats) {
  const std::size_t page = place == Place::on_huge_page ? huge_page : std::size_t(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = std::max(page, (floats * sizeof(float) + page - 1) / page * page);
  if (place == Place::on_page) {
    p_.reset(static_cast<float*>(std::aligned_alloc(page, bytes)));
    if (!p_) throw Error(fmt::format("out of memory: {} bytes wanted", bytes));
    std::memset(p_.get(), 0, bytes);
    return;
  }
  // Memory that nobody had before: what was touched once keeps its small pages.
  void* mapping = mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw Error(fmt::format("out of memory: {} bytes wanted", bytes + page));
  p_.get_deleter() = {mapping, bytes + page};
  char* const begin = static_cast<char*>(mapping);
  if (place == Place::on_huge_page) {
    p_.reset(reinterpret_cast<float*>(begin + (page - reinterpret_cast<std::uintptr_t>(begin) % page) % page));
    madvise(p_.get(), bytes, MADV_HUGEPAGE);  // a wish
    std::memset(p_.get(), 0, bytes);
    return;
  }
  p_.reset(reinterpret_cast<float*>(begin + bytes) - floats);
  if (mprotect(begin + bytes, page, PROT_NONE)) throw Error("a page can't be guarded");
}

void Buffer::make_read_only() {
  const Free& f = p_.get_deleter();
  const std::size_t page = std::size_t(sysconf(_SC_PAGESIZE));
  if (!f.mapping || mprotect(f.mapping, f.bytes - page, PROT_READ)) throw Error("a buffer can't be made read-only");
}

void Buffer::Free::operator()(float* p) const {
  if (mapping) munmap(mapping, bytes);
  else std::free(p);
}

Arguments::Arguments(const Interface& interface, const Bindings& values, Place place) {
  const auto fill = [&](const std::vector<Argument>& from, std::vector<Buffer>& to) {
    for (const Argument& a : from) {
      const std::vector<float>& v = values.at(a.name);
      to.emplace_back(v.size(), place);
      if (a.integers) std::transform(v.begin(), v.end(), to.back().data(), [](float x) { return std::bit_cast<float>(std::int32_t(x)); });
      else std::copy(v.begin(), v.end(), to.back().data());
      if (place == Place::before_guard) to.back().make_read_only();
    }
  };
  fill(interface.inputs, inputs);
  fill(interface.weights, weights);
  for (const Argument& a : interface.outputs) outputs.emplace_back(std::size_t(a.dims.size()), place);
  forget_outputs();
  for (const Buffer& b : inputs) args.push_back(b.data());
  for (const Buffer& b : outputs) args.push_back(b.data());
  for (const Buffer& b : weights) weight_pointers.push_back(b.data());
}

void Arguments::forget_outputs() const {
  for (const Buffer& b : outputs) std::fill_n(b.data(), b.size(), std::numeric_limits<float>::quiet_NaN());
}

Library::Library(const std::vector<SourceFile>& files, const std::filesystem::path& folder, const std::vector<std::string>& flags) {
  std::filesystem::create_directories(folder);
  std::vector<std::filesystem::path> sources;
  for (const SourceFile& f : files) {
    write_whole(folder / f.name, f.text);
    if ((folder / f.name).extension() == ".cpp") sources.push_back(folder / f.name);
  }
  const std::filesystem::path library = folder / "kernel.so";
  std::vector<std::string> all{"-std=c++17"};
  all.insert(all.end(), flags.begin(), flags.end());
  const Built built = build_shared(sources, library, all);
  if (!built.ok) throw Error(fmt::format("the generated code does not compile: {}", built.first_error()));
  load(library);
}
Library::Library(const std::filesystem::path& shared_library) { load(shared_library); }
void Library::load(const std::filesystem::path& library) {
  handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) throw Error(fmt::format("the compiled kernel does not load: {}", dlerror()));
}
Library::~Library() { dlclose(handle_); }
void* Library::find(const std::string& symbol) const { return dlsym(handle_, symbol.c_str()); }

struct Kernel::Symbols {
  std::shared_ptr<const Library> library;
  std::size_t (*workspace_bytes)(int workers) = nullptr;
  std::size_t (*packed_bytes)() = nullptr;  // null: no weights; likewise the next
  void (*pack_weights)(const void* weights, void* packed) = nullptr;
  int (*checked)(const void* args, const void* packed, void* workspace, std::size_t bytes, int workers, ParallelFor, void* ctx) = nullptr;
  void (*plain)(const void* args, const void* packed, void* workspace, int workers, ParallelFor, void* ctx) = nullptr;

  template <class F>
  void find(F*& f, const std::string& name, bool optional = false) {
    f = reinterpret_cast<F*>(library->find(name));
    if (!f && !optional) throw Error(fmt::format("the generated kernel has no function {}", name));
  }
};

void Memory::make_room(std::size_t workspace_bytes, std::size_t packed_bytes) {
  const auto grow = [&](std::unique_ptr<Buffer>& b, std::size_t bytes) {
    const std::size_t floats = (bytes + 63) / 64 * 64 / sizeof(float);
    if (!b || b->size() < floats) b = std::make_unique<Buffer>(floats, place_);
  };
  grow(workspace_, workspace_bytes);
  if (packed_bytes > 0) grow(packed_, packed_bytes);
}

Kernel::Kernel(std::shared_ptr<const Library> library, const std::string& name, Place place, Workers workers) : Kernel(std::move(library), name, std::make_shared<Memory>(place), workers) {}

Kernel::Kernel(std::shared_ptr<const Library> library, const std::string& name, std::shared_ptr<Memory> memory, Workers workers) : symbols_(std::make_unique<Symbols>()), memory_(std::move(memory)), workers_(workers) {
  symbols_->library = std::move(library);
  symbols_->find(symbols_->workspace_bytes, name + "_workspace_bytes");
  symbols_->find(symbols_->packed_bytes, name + "_packed_bytes", true);
  symbols_->find(symbols_->pack_weights, name + "_pack_weights", true);
  symbols_->find(symbols_->checked, name + "_checked");
  symbols_->find(symbols_->plain, name);
  workspace_bytes_ = symbols_->workspace_bytes(workers.count);
  memory_->make_room(workspace_bytes_, symbols_->packed_bytes ? symbols_->packed_bytes() : 0);
}
Kernel::~Kernel() = default;
Kernel::Kernel(Kernel&&) noexcept = default;

void Kernel::pack(const Arguments& a) {
  if (symbols_->pack_weights) symbols_->pack_weights(a.weight_pointers.data(), memory_->packed());
}

Deviation Kernel::verify(const Interface& interface, const Arguments& a, const std::vector<Array>& expected, bool finite_inputs) {
  pack(a);
  a.forget_outputs();
  Deviation d;
  d.code = symbols_->checked(a.args.data(), memory_->packed(), memory_->workspace(), workspace_bytes_, workers_.count, workers_.parallel_for, workers_.ctx);
  if (d.code != 0) {
    d.over_bound = std::numeric_limits<double>::infinity();
    return d;
  }
  std::vector<const float*> outputs;
  for (const Buffer& b : a.outputs) outputs.push_back(b.data());
  return compare(interface, outputs, expected, finite_inputs);
}
void Kernel::operator()(const Arguments& a) const {
  symbols_->plain(a.args.data(), memory_->packed(), memory_->workspace(), workers_.count, workers_.parallel_for, workers_.ctx);
}

std::string Deviation::fault() const {
  if (code != 0) return fmt::format("it returned {}", code);
  return fmt::format("{} is {} and not {}: off by {:.3g}, and the bound is {:.3g}", where, got, right, got - right, bound);
}

Deviation compare(const Interface& interface, const std::vector<const float*>& outputs, const std::vector<Array>& expected, bool finite_inputs) {
  constexpr double infinite = std::numeric_limits<double>::infinity(), least_normal = 0x1p-126;
  constexpr double near_overflow = 0x1p120;  // f32 may overflow on the way to such a value
  constexpr double meaningless = 1e6;        // times 1 + |right|: such a bound says that f32 may overflow too
  Deviation worst;
  for (std::size_t o = 0; o < expected.size(); ++o) {
    const Array& e = expected[o];
    for (std::size_t i = 0; i < e.v.size(); ++i) {
      const double right = e.v[i], got = double(outputs[o][i]), bound = e.bound[i];
      if (!(bound <= meaningless * (1 + std::abs(right))) || (std::isfinite(right) && std::abs(right) > near_overflow)) continue;
      double over = 0;
      if (!std::isfinite(right)) {
        const bool promised = finite_inputs && std::isinf(right) ? got == right : !std::isfinite(got);
        if (!promised) over = infinite;
      } else if (!std::isfinite(got)) {
        over = infinite;
      } else {
        const double error = std::abs(got - right);
        worst.max_error = std::max(worst.max_error, error);
        if (error > least_normal) over = bound > 0 ? error / bound : infinite;
        ++worst.compared;
        worst.sharply += bound < 1e-3 * (1 + std::abs(right));
      }
      if (over <= worst.over_bound) continue;
      worst.over_bound = over;
      worst.where = fmt::format("{}[{}]", interface.outputs[o].name, i);
      worst.got = got;
      worst.right = right;
      worst.bound = bound;
    }
  }
  return worst;
}

}  // namespace attune::host
