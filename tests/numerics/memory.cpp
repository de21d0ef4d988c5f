// Promise 10: inputs are never written, nothing is read or written beyond what a call was given, and
// inputs and outputs need only the alignment of a float. Every call of these tests has its buffers end
// at a guard page, inputs read-only; here they also begin at one, or lie off any boundary.
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "numerics/specs.h"

using namespace numerics;

namespace {

// Memory right behind a page that can't be touched.
class Behind {
 public:
  Behind(const float* from, std::size_t floats, bool writable) : page_(std::size_t(sysconf(_SC_PAGESIZE))), bytes_(page_ + (floats * sizeof(float) + page_ - 1) / page_ * page_) {
    base_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(base_ != MAP_FAILED);
    std::copy_n(from, floats, data());
    REQUIRE(mprotect(base_, page_, PROT_NONE) == 0);
    if (!writable && bytes_ > page_) REQUIRE(mprotect(data(), bytes_ - page_, PROT_READ) == 0);
  }
  ~Behind() { munmap(base_, bytes_); }
  Behind(const Behind&) = delete;
  float* data() const { return reinterpret_cast<float*>(static_cast<char*>(base_) + page_); }

 private:
  std::size_t page_, bytes_;
  void* base_;
};

std::vector<Spec> several() {
  std::vector<Spec> r = specs_of(masked_specs());
  r.push_back(spec("memory_block", [] {  // odd sizes everywhere
    auto x = input<2, 19, 21>("x");
    auto q = rope(split_heads<3>(linear<30>(x, "wq", "bq")), {.pairs = half_split, .dims = 6});
    auto k = rope(split_heads<1>(linear<10>(x, "wk")), {.pairs = half_split, .dims = 6});
    auto v = split_heads<1>(linear<13>(x, "wv"));
    auto y = matmul(softmax(mask(matmul(q, transpose(repeat_heads<3>(k))) / sqrt_of<10>, kv_index <= q_index)), repeat_heads<3>(v));
    return linear<23>(merge_heads(y), "wo", "bo");
  }));
  return r;
}

}  // namespace

TEST_CASE("Nothing is read or written outside of the buffers, nor inputs written", "[numerics]") {
  for_each_subject(several(), [](const Subject& s) {
    const Bindings b = host::standard_inputs(s.interface());
    const Outputs expected = s(b);  // guards behind each
    check_close(s, expected, interpret_outputs(s.graph(), b));
    Memory m = s.memory(b);
    std::vector<std::unique_ptr<Behind>> behind;
    for (std::size_t i = 0; i < m.arguments.args.size(); ++i) {
      const bool input = i < m.arguments.inputs.size();
      const host::Buffer& from = input ? m.arguments.inputs[i] : m.arguments.outputs[i - m.arguments.inputs.size()];
      behind.push_back(std::make_unique<Behind>(from.data(), from.size(), !input));
      m.arguments.args[i] = behind.back()->data();
    }
    const Behind packed(m.packed.data(), m.packed.size(), false), workspace(m.workspace.data(), m.workspace.size(), true);
    s.functions().plain(m.arguments.args.data(), packed.data(), workspace.data(), 1, nullptr, nullptr);
    CHECK(same_bits(m.outputs(), expected));
    for (std::size_t i = 0; i < m.arguments.inputs.size(); ++i) {
      const Floats& given = b.find(s.interface().inputs[i].name)->second;
      CHECK(same_bits(Floats(behind[i]->data(), behind[i]->data() + given.size()), given));
    }
  });
}

TEST_CASE("Inputs and outputs need only the alignment of a float", "[numerics]") {
  for_each_subject(several(), [](const Subject& s) {
    const Bindings b = host::standard_inputs(s.interface());
    CHECK(same_bits(s.unaligned(b), s(b)));
  });
}

TEST_CASE("The safe path stays inside its buffers too", "[numerics]") {
  for_each_subject(several(), [](const Subject& s) {
    Bindings b = host::standard_inputs(s.interface());
    for (const Argument& a : s.interface().inputs) {
      Floats& x = b.find(a.name)->second;
      x.back() = quiet_nan;
      x.front() = quiet_nan;
    }
    check_close(s, s(b), interpret_outputs(s.graph(), b), false);
  });
}
