// What NAME_checked returns, for each way of calling it wrongly: nothing is written then.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "numerics/specs.h"

using namespace numerics;

namespace {

// Two inputs, two outputs, weights and a table.
Spec block() {
  return spec("contract_block", [] {
    auto x = input<1, 12, 32>("x");
    auto memory = input<1, 20, 32>("memory");
    auto q = rope(split_heads<2>(linear<32>(x, "wq", "bq")));
    auto k = rope(split_heads<2>(linear<32>(memory, "wk")));
    auto v = split_heads<2>(linear<32>(memory, "wv"));
    auto y = matmul(softmax(mask(matmul(q, transpose(k)) / sqrt_of<16>, kv_index <= q_index + 8)), v);
    return outputs("y"_out = linear<32>(merge_heads(y), "wo"), "values"_out = merge_heads(v));
  });
}

// A call whose arguments can be put wrong one by one.
struct Call {
  const Functions& f;
  std::vector<const void*> args;
  const void* packed;
  void* workspace;
  std::size_t bytes;
  Call(const Subject& s, Memory& m) : f(s.functions()), args(m.arguments.args), packed(m.packed.data()), workspace(m.workspace.data()), bytes(m.workspace_bytes) {}
  int operator()(int workers = 1) const { return f.checked(args.data(), packed, workspace, bytes, workers, nullptr, nullptr); }
};

bool untouched(const Memory& m) {
  for (const Floats& o : m.outputs())
    for (float x : o)
      if (!std::isnan(x)) return false;
  return true;
}

}  // namespace

TEST_CASE("Every wrong call is refused with its code, and writes nothing", "[numerics]") {
  for_each_subject({block()}, [](const Subject& s) {
    const Bindings b = host::standard_inputs(s.interface());
    Memory m = s.memory(b);
    Memory spare = s.memory(b);  // 64-byte aligned and writable
    const auto expect = [&](int code, const char* what, auto change) {
      Call call(s, m);
      change(call);
      INFO(what);
      CHECK(call() == code);
      CHECK(untouched(m));
    };
    for (std::size_t i = 0; i < m.arguments.args.size(); ++i) expect(null, "null input or output", [&](Call& c) { c.args[i] = nullptr; });
    expect(null, "null packed", [](Call& c) { c.packed = nullptr; });
    expect(null, "null workspace", [](Call& c) { c.workspace = nullptr; });
    CHECK(s.functions().checked(nullptr, m.packed.data(), m.workspace.data(), m.workspace_bytes, 1, nullptr, nullptr) == null);
    expect(workspace_small, "one byte less", [](Call& c) { --c.bytes; });
    expect(workspace_small, "no bytes", [](Call& c) { c.bytes = 0; });
    CHECK(s.functions().workspace_bytes(4) > m.workspace_bytes);
    CHECK(Call(s, m)(4) == workspace_small);
    CHECK(untouched(m));
    for (long by : {4l, 16l, 32l}) {
      expect(workspace_misaligned, "misaligned workspace", [&](Call& c) { c.workspace = static_cast<char*>(c.workspace) - by; });
      expect(workspace_misaligned, "misaligned packed", [&](Call& c) { c.packed = static_cast<const char*>(c.packed) - by; });
    }

    // Outputs over anything, down to one shared element at either end.
    const auto& in = m.arguments.inputs;
    const auto& out = m.arguments.outputs;
    const std::size_t first_output = in.size();
    for (std::size_t o = 0; o < out.size(); ++o) {
      const long size = long(out[o].size());
      const auto over = [&](const char* what, const float* from, long floats) {
        for (long at : {0l, 1 - size, floats - 1}) expect(alias, what, [&](Call& c) { c.args[first_output + o] = from + at; });
      };
      for (const host::Buffer& i : in) over("output over input", i.data(), long(i.size()));
      over("output over packed", m.packed.data(), long(s.functions().packed_bytes() / 4));
      over("output over workspace", m.workspace.data(), long(m.workspace_bytes / 4));
      const host::Buffer& other = out[1 - o];
      over("output over the other", other.data(), long(other.size()));
    }
    expect(alias, "workspace over packed", [](Call& c) { c.workspace = const_cast<void*>(c.packed); });

    // Inputs may share memory; an output right behind an input does not overlap it.
    Call whole(s, m);
    CHECK(whole() == ok);
    CHECK_FALSE(untouched(m));
    check_close(s, m.outputs(), interpret_outputs(s.graph(), b));
    Floats near(spare.arguments.inputs[0].size() + spare.arguments.outputs[0].size());
    std::memcpy(near.data(), m.arguments.inputs[0].data(), m.arguments.inputs[0].size() * sizeof(float));
    Call touching(s, m);
    touching.args[0] = near.data();
    touching.args[first_output] = near.data() + m.arguments.inputs[0].size();
    CHECK(touching() == ok);
    CHECK(std::memcmp(touching.args[first_output], m.arguments.outputs[0].data(), m.arguments.outputs[0].size() * sizeof(float)) == 0);
    CHECK(whole(0) == ok);  // fewer than one worker is one
    CHECK(whole(-3) == ok);
  });
}

TEST_CASE("The kernel without checks gives the same bits", "[numerics]") {
  for_each_subject({block()}, [](const Subject& s) {
    const Bindings b = host::standard_inputs(s.interface());
    Memory m = s.memory(b);
    s.functions().plain(m.arguments.args.data(), m.packed.data(), m.workspace.data(), 1, nullptr, nullptr);
    CHECK(same_bits(m.outputs(), s(b)));
  });
}

TEST_CASE("A kernel without weights needs no packed memory", "[numerics]") {
  for_each_subject({attention<1, 2, 2, 17, 33, 24, 24>("full", full)}, [](const Subject& s) {
    CHECK(s.functions().packed_bytes() == 0);
    CHECK(s.functions().pack_weights == nullptr);
    const Bindings b = host::standard_inputs(s.interface());
    Memory m = s.memory(b);
    CHECK(s.functions().checked(m.arguments.args.data(), nullptr, m.workspace.data(), m.workspace_bytes, 1, nullptr, nullptr) == ok);
  });
}

TEST_CASE("A CPU without any of a kernel's ISAs is told so", "[numerics]") {
  const Spec one = attention<1, 1, 1, 5, 5, 8, 8>("no_isa", causal);
  GenerateOptions o;
  o.name = o.spec = one.name;
  o.isas = {"avx2"};
  std::vector<SourceFile> files = generate(one.graph, o);
  const std::string& dispatcher = files[1].text;
  REQUIRE(files[1].name == "no_isa.cpp");
  REQUIRE(dispatcher.find("__builtin_cpu_supports(\"avx2\")") != std::string::npos);
  for (std::size_t at; (at = files[1].text.find("__builtin_cpu_supports(\"avx2\")")) != std::string::npos;) files[1].text.replace(at, std::strlen("__builtin_cpu_supports(\"avx2\")"), "false");
  const auto library = library_of(files, "no_isa", false);
  const Functions f = functions_of(*library, "no_isa");
  Memory m(interface_of(one.graph), f, host::standard_inputs(interface_of(one.graph)));
  CHECK(f.checked(m.arguments.args.data(), m.packed.data(), m.workspace.data(), m.workspace_bytes, 1, nullptr, nullptr) == no_isa);
  CHECK(f.checked(nullptr, nullptr, nullptr, 0, 1, nullptr, nullptr) == no_isa);
  CHECK(f.workspace_bytes(1) == 0);
  CHECK(untouched(m));
}

TEST_CASE("The dispatcher takes the best ISA that the CPU has", "[numerics]") {
  const Spec one = attention<1, 1, 1, 5, 70, 8, 8>("dispatched", full);
  GenerateOptions o;
  o.name = o.spec = one.name;
  const auto library = library_of(generate(one.graph, o), "dispatched", false);
  const Functions f = functions_of(*library, "dispatched");
  const Bindings b = host::standard_inputs(interface_of(one.graph));
  Memory m(interface_of(one.graph), f, b);
  CHECK(f.checked(m.arguments.args.data(), nullptr, m.workspace.data(), m.workspace_bytes, 1, nullptr, nullptr) == ok);
  CHECK(same_bits(m.outputs(), Subject(one, {attune::fastest_isa(), false})(b)));
}
