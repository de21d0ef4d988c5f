// Inputs and shapes that other implementations got wrong.
#include <zoo/textbook.h>

#include <catch2/catch.hpp>

#include "graph/reference.h"

using namespace attune;
using namespace reference;

namespace {

template <long Batch, long Heads, long QLen, long KvLen, long KeyDim, long ValueDim = KeyDim, class Score>
constexpr auto attend(Score modify) {
  auto q = input<Batch, Heads, QLen, KeyDim>("q");
  auto k = input<Batch, Heads, KvLen, KeyDim>("k");
  auto v = input<Batch, Heads, KvLen, ValueDim>("v");
  return matmul(softmax(modify(matmul(q, transpose(k)))), v);
}

// Each key's value is one-hot, so that row q of the result shows which keys query q keeps.
template <long QLen, long KvLen, class Predicate>
std::vector<long> kept_keys(Predicate keep) {
  const Graph g = graph_of([=] { return attend<1, 1, QLen, KvLen, 1, KvLen>([=](auto s) { return mask(s, keep); }); });
  Bindings b{{"q", Floats(QLen)}, {"k", Floats(KvLen)}, {"v", Floats(KvLen * KvLen)}};
  for (long i = 0; i < KvLen; ++i) b["v"][std::size_t(i * KvLen + i)] = 1;
  const Array y = only_output(g, b);
  std::vector<long> r;
  for (long i = 0; i < QLen; ++i) {
    r.push_back(0);
    for (long j = 0; j < KvLen; ++j) r.back() += y.v[std::size_t(i * KvLen + j)] > 0;
  }
  return r;
}

}  // namespace

TEST_CASE("a window of w tokens includes the current one") {
  CHECK(kept_keys<6, 6>(kv_index <= q_index && q_index - kv_index < 3) == std::vector<long>{1, 2, 3, 3, 3, 3});
  CHECK(kept_keys<3, 3>(kv_index <= q_index && q_index - kv_index < 0) == std::vector<long>{0, 0, 0});
}

TEST_CASE("the spec says which corner a causal mask is aligned with") {
  CHECK(kept_keys<2, 6>(kv_index <= q_index) == std::vector<long>{1, 2});
  CHECK(kept_keys<2, 6>(kv_index <= q_index + (6 - 2)) == std::vector<long>{5, 6});
  CHECK(kept_keys<1, 9>(kv_index <= q_index + 8) == std::vector<long>{9});
  CHECK(kept_keys<5, 2>(kv_index <= q_index + (2 - 5)) == std::vector<long>{0, 0, 0, 1, 2});
}

TEST_CASE("integer division and remainder floor") {
  CHECK(kept_keys<1, 7>((kv_index - 5) / 3 == -1) == std::vector<long>{3});  // -3, -2, -1
  CHECK(kept_keys<1, 7>((kv_index - 5) % 3 == 1) == std::vector<long>{3});   // -5, -2, 1
  CHECK(kept_keys<6, 6>(q_index / 2 == kv_index / 2) == std::vector<long>{2, 2, 2, 2, 2, 2});
}

TEST_CASE("sequences of a right-padded batch stand alone, padding filled with NaN") {
  const auto keep = (kv_index < 4 && batch_index == 0) || (kv_index < 2 && batch_index == 1) || batch_index == 2;
  const Graph g = graph_of([=] { return attend<3, 1, 6, 6, 4>([=](auto s) { return mask(s, keep); }); });
  Bindings b = standard_inputs(g, 3);
  const long lengths[] = {4, 2, 6};
  for (long sequence = 0; sequence < 3; ++sequence)
    for (long i = lengths[sequence] * 4; i < 24; ++i) b["k"][std::size_t(sequence * 24 + i)] = b["v"][std::size_t(sequence * 24 + i)] = quiet_nan;
  const Array y = only_output(g, b);
  for (long sequence = 0; sequence < 3; ++sequence) {
    const long kept = lengths[sequence];
    const auto part = [&](const char* name, long rows) { return Floats(b[name].begin() + sequence * 24, b[name].begin() + sequence * 24 + rows * 4); };
    const auto plain = [](long, long, long, long, double dot) { return dot; };
    const auto alone = attention({1, 1, 6, kept, 4, 4}, part("q", 6), part("k", kept), part("v", kept), plain);
    CHECK(distance({y.v.begin() + sequence * 24, y.v.begin() + (sequence + 1) * 24}, alone.y) < 1e-14);
  }
}

TEST_CASE("scale, softcap, bias and mask act in the order written") {
  const Graph g = graph_of([] {
    return attend<1, 2, 5, 5, 4>([](auto s) { return mask(20 * tanh(s * 10.0 / 20) + input<1, 2, 5, 5>("bias"), zoo::causal); });
  });
  const Bindings b = standard_inputs(g, 4);
  const auto expected = attention({1, 2, 5, 5, 4, 4}, b.at("q"), b.at("k"), b.at("v"), [&](long, long h, long i, long j, double dot) {
    return j <= i ? 20 * std::tanh(dot * 10 / 20) + double(b.at("bias")[std::size_t((h * 5 + i) * 5 + j)]) : -infinity;
  });
  CHECK(distance(only_output(g, b).v, expected.y) < 1e-13);
}

TEST_CASE("linear biases by head and distance") {
  const Graph g = graph_of([] { return attend<1, 2, 3, 5, 2>([](auto s) { return s + 0.5 * (1.0 + head_index) * (kv_index - q_index); }); });
  const Bindings b = standard_inputs(g, 5);
  const auto expected = attention({1, 2, 3, 5, 2, 2}, b.at("q"), b.at("k"), b.at("v"), [](long, long h, long i, long j, double dot) {
    return dot + 0.5 * double((1 + h) * (j - i));
  });
  CHECK(distance(only_output(g, b).v, expected.y) < 1e-14);
}

TEST_CASE("odd sizes and unequal lengths") {
  const auto check = [](const Graph& g, Shape s, auto formula, unsigned seed) {
    const Bindings b = standard_inputs(g, seed);
    return distance(only_output(g, b).v, attention(s, b.at("q"), b.at("k"), b.at("v"), formula).y);
  };
  const auto bottom_right = [](long shift) { return [shift](long, long, long i, long j, double dot) { return j <= i + shift ? dot : -infinity; }; };
  CHECK(check(graph_of([] { return attend<1, 1, 137, 300, 8>([](auto s) { return mask(s, kv_index <= q_index + 163); }); }), {1, 1, 137, 300, 8, 8}, bottom_right(163), 6) < 1e-13);
  CHECK(check(graph_of([] { return attend<1, 1, 300, 137, 3>([](auto s) { return mask(s, kv_index <= q_index); }); }), {1, 1, 300, 137, 3, 3}, bottom_right(0), 7) < 1e-13);
  CHECK(check(graph_of([] { return attend<1, 1, 1025, 1025, 1>([](auto s) { return mask(s, kv_index <= q_index); }); }), {1, 1, 1025, 1025, 1, 1}, bottom_right(0), 8) < 1e-13);
}

TEST_CASE("values may be narrower or wider than keys") {
  const Graph half = graph_of([] { return attend<2, 1, 3, 4, 6, 3>([](auto s) { return s; }); });
  const Graph twice = graph_of([] { return attend<2, 1, 3, 4, 3, 6>([](auto s) { return s; }); });
  const auto plain = [](long, long, long, long, double dot) { return dot; };
  const Bindings a = standard_inputs(half, 9), b = standard_inputs(twice, 10);
  CHECK(distance(only_output(half, a).v, attention({2, 1, 3, 4, 6, 3}, a.at("q"), a.at("k"), a.at("v"), plain).y) < 1e-14);
  CHECK(distance(only_output(twice, b).v, attention({2, 1, 3, 4, 3, 6}, b.at("q"), b.at("k"), b.at("v"), plain).y) < 1e-14);
}

TEST_CASE("query head h reads kv head h / group") {
  const Graph g = graph_of([] {
    auto k = repeat_heads<6>(input<2, 2, 4, 3>("k"));
    auto v = repeat_heads<6>(input<2, 2, 4, 3>("v"));
    return matmul(softmax(matmul(input<2, 12, 5, 3>("q"), transpose(k))), v);
  });
  const Bindings b = standard_inputs(g, 11);
  const auto repeated = [&](const char* name) {
    Floats r;
    for (long head = 0; head < 24; ++head) {
      const auto from = b.at(name).begin() + (head / 12 * 2 + head % 12 / 6) * 12;
      r.insert(r.end(), from, from + 12);
    }
    return r;
  };
  const auto expected = attention({2, 12, 5, 4, 3, 3}, b.at("q"), repeated("k"), repeated("v"), [](long, long, long, long, double dot) { return dot; });
  CHECK(distance(only_output(g, b).v, expected.y) < 1e-14);
}

TEST_CASE("biases broadcast by the usual rules") {
  const Graph g = graph_of([] { return attend<2, 3, 4, 5, 2>([](auto s) { return s + input<2, 1, 4, 5>("by_batch") + input<1, 3, 1, 5>("by_head") + input<5>("by_key"); }); });
  const Bindings b = standard_inputs(g, 12);
  const auto expected = attention({2, 3, 4, 5, 2, 2}, b.at("q"), b.at("k"), b.at("v"), [&](long batch, long h, long i, long j, double dot) {
    return dot + double(b.at("by_batch")[std::size_t((batch * 4 + i) * 5 + j)]) + double(b.at("by_head")[std::size_t(h * 5 + j)]) + double(b.at("by_key")[std::size_t(j)]);
  });
  CHECK(distance(only_output(g, b).v, expected.y) < 1e-14);
}

TEST_CASE("prefill in chunks equals one prefill") {
  // Chunks of 5, 3 and 8 queries, against the keys so far.
  const auto whole = graph_of([] { return attend<1, 1, 16, 16, 4>([](auto s) { return mask(s, zoo::causal); }); });
  const Bindings b = standard_inputs(whole, 13);
  const std::vector<double> expected = only_output(whole, b).v;
  const auto rows = [&](const char* name, long begin, long end) { return Floats(b.at(name).begin() + 4 * begin, b.at(name).begin() + 4 * end); };
  const auto chunk = [&](const Graph& g, long begin, long end) {
    const Array y = only_output(g, {{"q", rows("q", begin, end)}, {"k", rows("k", 0, end)}, {"v", rows("v", 0, end)}});
    return distance(y.v, {expected.begin() + 4 * begin, expected.begin() + 4 * end});
  };
  CHECK(chunk(graph_of([] { return attend<1, 1, 5, 5, 4>([](auto s) { return mask(s, kv_index <= q_index); }); }), 0, 5) < 1e-14);
  CHECK(chunk(graph_of([] { return attend<1, 1, 3, 8, 4>([](auto s) { return mask(s, kv_index <= q_index + 5); }); }), 5, 8) < 1e-14);
  CHECK(chunk(graph_of([] { return attend<1, 1, 8, 16, 4>([](auto s) { return mask(s, kv_index <= q_index + 8); }); }), 8, 16) < 1e-14);
}

TEST_CASE("lengths of 0") {
  CHECK(only_output(graph_of(zoo::textbook_mha<1, 0, 8, 2>), {{"x", {}}, {"wq", Floats(64)}, {"wk", Floats(64)}, {"wv", Floats(64)}, {"wo", Floats(64)}}).v.empty());
  const Graph g = graph_of([] { return attend<1, 1, 2, 0, 3>([](auto s) { return s; }); });  // no key for two queries
  CHECK(only_output(g, {{"q", Floats(6, 1)}, {"k", {}}, {"v", {}}}).v == std::vector<double>(6));
}

TEST_CASE("interleaved and half-split pairs are one rotation of permuted features") {
  // Row 2i of a head's weights (the first of pair i) becomes row i, row 2i + 1 becomes row i + half.
  constexpr long model = 12, heads = 4, kv_heads = 2, head_dim = 6;
  const auto spec = [](Pairs pairs) {
    return [pairs] {
      auto x = input<1, 5, model>("x");
      auto q = rope(split_heads<heads>(linear<heads * head_dim>(x, "wq")), {.pairs = pairs});
      auto k = rope(split_heads<kv_heads>(linear<kv_heads * head_dim>(x, "wk")), {.pairs = pairs});
      auto v = split_heads<kv_heads>(linear<kv_heads * head_dim>(x, "wv"));
      auto s = matmul(q, transpose(repeat_heads<heads / kv_heads>(k))) / sqrt_of<head_dim>;
      return merge_heads(matmul(softmax(mask(s, zoo::causal)), repeat_heads<heads / kv_heads>(v)));
    };
  };
  const Graph a = graph_of(spec(interleaved)), b = graph_of(spec(half_split));
  const Bindings inputs = standard_inputs(a, 14);
  Bindings permuted = inputs;
  for (const char* name : {"wq", "wk"})
    for (std::size_t row = 0; row < inputs.at(name).size() / model; ++row) {
      const std::size_t head = row / head_dim, feature = row % head_dim, to = head * head_dim + feature / 2 + feature % 2 * (head_dim / 2);
      for (std::size_t i = 0; i < model; ++i) permuted[name][to * model + i] = inputs.at(name)[row * model + i];
    }
  CHECK(distance(only_output(a, inputs).v, only_output(b, permuted).v) < 1e-14);
  CHECK(distance(only_output(a, inputs).v, only_output(b, inputs).v) > 1e-2);
}
