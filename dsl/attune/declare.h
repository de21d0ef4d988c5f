// Nodes as a spec makes them: a DAG of shared, immutable declarations that works in constant
// evaluation, and `reify`, which flattens it into a Graph.
#pragma once
#include <bit>
#include <utility>

#include "attune/graph.h"

namespace attune {

struct Declared {
  Op op{};
  Type type{};
  Attr attr{};
  int line = 0;
  std::array<Declared*, max_operands> in{};
  std::uint64_t hash = 0;  // of the whole tree below: equal trees have equal hashes
  int users = 0;
  int id = -1;               // while a Reifier is at work: its node,
  Declared* last = nullptr;  // and what got its node before it
};

constexpr std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15ull;
  return h ^ (h >> 29);
}

constexpr std::uint64_t hash_of(const Declared& d) {
  std::uint64_t h = mix(std::uint64_t(d.op) << 8 | std::uint64_t(d.type.kind), std::uint64_t(d.attr.count));
  if (d.op == Op::constant || d.op == Op::inverse_norm) h = mix(h, std::bit_cast<std::uint64_t>(d.attr.value));
  if (d.op == Op::features) h = mix(h, std::uint64_t(d.attr.from));
  if (d.op == Op::rope) {
    const PairRotation& r = d.attr.rotation;
    h = mix(h, std::bit_cast<std::uint64_t>(r.amplitude) + std::uint64_t(r.pairs));
    h = mix(h, std::uint64_t(r.dims));
  }
  for (char c : d.attr.name) h = mix(h, std::uint64_t(c));
  for (int i = 0; i < d.type.dims.rank; ++i) h = mix(h, std::uint64_t(d.type.dims.d[std::size_t(i)]));
  for (const Declared* i : d.in) {
    if (!i) break;
    h = mix(h, i->hash);
  }
  return h;
}

// Shared ownership of a declaration.
class ref {
  Declared* p_;
  constexpr void drop() {  // iterative: a stack of layers is deeper than constant evaluation may recurse
    if (!p_ || --p_->users) return;
    std::vector<Declared*> dead{p_};
    while (!dead.empty()) {
      Declared* d = dead.back();
      dead.pop_back();
      for (Declared* i : d->in)
        if (i && --i->users == 0) dead.push_back(i);
      delete d;
    }
  }

 public:
  constexpr ref() : p_(nullptr) {}
  template <class... In>  // In: ref, the operands
  constexpr ref(Op op, Type type, Attr attr, int line, const In&... in) : p_(new Declared{op, type, attr, line, {in.p_...}}) {
    static_assert(sizeof...(In) <= std::size_t(max_operands));
    ((in.p_ ? ++in.p_->users : 0), ...);
    p_->hash = hash_of(*p_);
    p_->users = 1;
  }
  constexpr ref(const ref& o) : p_(o.p_) {
    if (p_) ++p_->users;
  }
  constexpr ref& operator=(const ref& o) {
    if (o.p_) ++o.p_->users;
    drop();
    p_ = o.p_;
    return *this;
  }
  constexpr ~ref() { drop(); }
  constexpr Declared* get() const { return p_; }
};

// Flattens the DAGs under its roots, visiting each declaration once: linear time, no recursion.
// Equal nodes become one.
class Reifier {
  Graph g_;
  std::vector<std::uint64_t> hashes_;                  // of each node
  std::vector<int> table_ = std::vector<int>(64, -1);  // node ids, open addressing by hash
  Declared* last_ = nullptr;

  constexpr void place(int id) {
    std::size_t i = hashes_[std::size_t(id)] & (table_.size() - 1);
    while (table_[i] >= 0) i = (i + 1) & (table_.size() - 1);
    table_[i] = id;
  }
  constexpr int intern(const Node& n, std::uint64_t hash) {
    for (std::size_t i = hash & (table_.size() - 1); table_[i] >= 0; i = (i + 1) & (table_.size() - 1))
      if (hashes_[std::size_t(table_[i])] == hash && g_[table_[i]].same(n)) return table_[i];
    const int id = int(g_.size());
    g_.nodes.push_back(n);
    hashes_.push_back(hash);
    if (2 * g_.size() > table_.size()) {
      table_ = std::vector<int>(2 * table_.size(), -1);
      for (int k = 0; k < id; ++k) place(k);
    }
    place(id);
    return id;
  }

 public:
  constexpr int add(Declared* root) {
    std::vector<Declared*> work(64, nullptr);  // a stack by hand: push_back is slow in constant evaluation
    std::size_t top = 0;
    work[top++] = root;
    while (top) {
      Declared* d = work[top - 1];
      const std::size_t before = top;
      Operands in = operand_list({});
      if (d->id < 0) {
        if (top + max_operands > work.size()) work.resize(2 * work.size(), nullptr);
        for (std::size_t k = max_operands; k-- > 0;) {
          if (!d->in[k]) continue;
          in[k] = d->in[k]->id;
          if (in[k] < 0) work[top++] = d->in[k];
        }
        if (top != before) continue;
        d->id = intern({d->op, d->type, d->attr, in, d->line}, d->hash);
        d->last = last_;
        last_ = d;
      }
      --top;
    }
    return root->id;
  }
  constexpr void output(std::string_view name, Declared* root) {
    if (root) g_.outputs.push_back({name, add(root)});
  }
  constexpr Graph graph() && { return std::move(g_); }
  constexpr ~Reifier() {
    for (Declared* d = last_; d; d = d->last) d->id = -1;
  }
};

}  // namespace attune
