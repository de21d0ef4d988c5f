// Nodes as a spec makes them: a DAG of shared, immutable declarations that works in constant
// evaluation, and `reify`, which flattens it into a Graph.
#pragma once
#include <bit>
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
};

constexpr std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15ull;
  return h ^ (h >> 29);
}

constexpr std::uint64_t hash_of(const Declared& d) {
  std::uint64_t h = mix(std::uint64_t(d.op) + 1, std::uint64_t(d.attr.count));
  h = mix(h, std::bit_cast<std::uint64_t>(d.attr.value));
  h = mix(h, std::bit_cast<std::uint64_t>(d.attr.rotation.base) + std::uint64_t(d.attr.rotation.pairs));
  h = mix(h, std::uint64_t(d.attr.rotation.dims * 1000003 + d.attr.rotation.offset));
  for (char c : d.attr.name) h = mix(h, std::uint64_t(c));
  h = mix(h, std::uint64_t(d.type.kind));
  for (int i = 0; i < d.type.dims.rank; ++i) h = mix(h, std::uint64_t(d.type.dims[i]));
  for (const Declared* i : d.in) h = mix(h, i ? i->hash : 0);
  return h;
}

// Shared ownership of a declaration.
class ref {
  Declared* p_;
  constexpr void drop() {  // iterative: a stack of layers is deeper than constant evaluation may recurse
    std::vector<Declared*> dead;
    if (p_ && --p_->users == 0) dead.push_back(p_);
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
    for (Declared* i : p_->in)
      if (i) ++i->users;
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
  constexpr const Declared* get() const { return p_; }
};

// Flattens the DAGs under `roots`, visiting each declaration once: linear time, no recursion.
// Equal nodes become one.
class Reifier {
  struct Slot {
    const Declared* declared = nullptr;
    int id = -1;
  };
  Graph g_;
  std::vector<Slot> table_ = std::vector<Slot>(128);  // open addressing by hash; a pointer has no constexpr hash
  std::size_t used_ = 0;

  static constexpr std::size_t slot(const std::vector<Slot>& t, const Declared* d) {  // of d, else the free one for it
    std::size_t i = d->hash & (t.size() - 1);
    while (t[i].declared && t[i].declared != d) i = (i + 1) & (t.size() - 1);
    return i;
  }

 public:
  constexpr int add(const Declared* root) {
    std::vector<const Declared*> work{root};
    while (!work.empty()) {
      const Declared* d = work.back();
      Node n{d->op, d->type, d->attr, {-1, -1, -1, -1}, d->line};
      bool ready = true;
      for (std::size_t k = max_operands; k-- > 0;) {
        if (!d->in[k]) continue;
        const Slot& s = table_[slot(table_, d->in[k])];
        n.in[k] = s.id;
        if (!s.declared) {
          work.push_back(d->in[k]);
          ready = false;
        }
      }
      if (!ready) continue;
      work.pop_back();
      const std::size_t i = slot(table_, d);
      if (table_[i].declared) continue;
      int id = -1;  // an equal node has the same hash, so it is on this probe path
      for (std::size_t j = d->hash & (table_.size() - 1); j != i; j = (j + 1) & (table_.size() - 1))
        if (g_[table_[j].id].same(n)) id = table_[j].id;
      if (id < 0) {
        id = int(g_.size());
        g_.nodes.push_back(n);
      }
      table_[i] = {d, id};
      if (2 * ++used_ > table_.size()) {
        std::vector<Slot> more(4 * table_.size());
        for (const Slot& s : table_)
          if (s.declared) more[slot(more, s.declared)] = s;
        table_ = more;
      }
    }
    return table_[slot(table_, root)].id;
  }
  constexpr void output(std::string_view name, const Declared* root) { g_.outputs.push_back({name, add(root)}); }
  constexpr Graph graph() const { return g_; }
};

}  // namespace attune
