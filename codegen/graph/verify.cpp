#include "graph/verify.h"

#include <attune/range.h>
#include <attune/rules.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "graph/print.h"
#include "graph/rotary.h"

namespace attune {

namespace {

struct Arity {
  int least, most;
};

Arity arity_of(Op op) {
  switch (op) {
    case Op::input:
    case Op::weight: return {0, 0};
    case Op::linear: return {2, 3};
    case Op::split_heads:
    case Op::merge_heads:
    case Op::repeat_heads:
    case Op::transpose:
    case Op::unsqueeze:
    case Op::features:
    case Op::inverse_norm:
    case Op::tanh:
    case Op::exp:
    case Op::log:
    case Op::negation: return {1, 1};
    case Op::reduce_rows:
    case Op::row_value: return {4, 4};
    case Op::rope: return {3, 4};
    case Op::look_up: return {2, 5};
    default: return op >= Op::constant ? Arity{0, 0} : Arity{2, 2};
  }
}

// The numbers are a and b of the rule.
std::string complaint(const Inferred& r) {
  const auto text = [&](std::string_view format) { return fmt::format(fmt::runtime(format), r.a, r.b); };
  switch (r.rule) {
    case Rule::tensor_wanted: return "an index expression stands where a tensor belongs; put a predicate on scores with mask(s, keep)";
    case Rule::rank_wanted: return text("the operand has rank {1}, not {0}; split_heads makes rank 4 of 3, merge_heads rank 3 of 4");
    case Rule::rank_at_least_two: return text("the operand has rank {1}, not at least {0}; declare the input with a batch or sequence dim");
    case Rule::zero_extent: return text("heads, head_dim or features are {0}; only batch and seq_len may be 0");
    case Rule::count_not_positive: return text("the count in <> is {0}; give 1 or more");
    case Rule::inner_dims_differ: return text("the left operand has {0} columns, the right one {1} rows; is a transpose missing?");
    case Rule::batch_dims_differ: return text("the batch sizes are {0} and {1}; give both operands the same batch");
    case Rule::head_dims_differ: return text("the head counts are {0} and {1}; is a repeat_heads missing?");
    case Rule::heads_do_not_divide: return text("{0} heads do not divide {1} features; choose heads that do");
    case Rule::odd_head_dim: return text("head_dim is {0}, but pairs of features are rotated; rotate an even number of dims only");
    case Rule::rank_full: return text("the operand has {0} dims already, as many as a tensor may have");
    case Rule::place_outside: return text("the new dim would stand at {0}, but the last place is {1}");
    case Rule::features_outside: return text("the features would reach to {0}, but there are {1}");
    case Rule::position_not_integer: return "its position is no integer";
    case Rule::frequency_not_number: return "its frequency is no number";
    case Rule::mask_needs_scores: return "what is masked is no score matrix; mask the result of matmul(q, transpose(k))";
    case Rule::mask_needs_predicate: return "what to keep is no predicate; compare indices, as in kv_index <= q_index";
    case Rule::reduction_needs_scores: return "what is reduced is no score matrix; reduce the result of matmul(q, transpose(k))";
    case Rule::dims_do_not_broadcast: return text("the extents {0} and {1} are neither equal nor 1; give both operands the same shape");
    case Rule::predicate_in_arithmetic: return "a predicate is no number; put it on scores with mask(s, keep)";
    case Rule::tensor_not_comparable: return "an operand is a tensor; only index expressions are compared";
    default: return "its operands break a rule of the op";
  }
}

using Leaves = unsigned;
constexpr Leaves leaf(Op op) { return 1u << (unsigned(op) - unsigned(Op::constant)); }
constexpr Leaves constant = leaf(Op::constant);
constexpr Leaves coordinates = leaf(Op::look_up) | leaf(Op::batch_index) | leaf(Op::head_index) | leaf(Op::q_index) | leaf(Op::kv_index);
constexpr Leaves of_angles = leaf(Op::seq_index) | leaf(Op::pair_index);
constexpr Leaves row_state = leaf(Op::score) | leaf(Op::row_max) | leaf(Op::old_max) | leaf(Op::row_sum);

class Verifier {
  const Graph& g_;
  std::vector<Leaves> leaves_;  // of the index expression below each node

  void check(bool holds, int node, const std::string& what) const {
    if (!holds) reject(g_, node, what);
  }
  Kind kind(int node) const { return g_[node].type.kind; }

  void check_operands(int node) const {
    const Node& n = g_[node];
    check(n.op <= Op::row_sum, node, "there is no such op");
    const Arity arity = arity_of(n.op);
    for (int i = 0; i < max_operands; ++i) {
      const int in = n.in[std::size_t(i)];
      check(in >= -1 && in < int(g_.size()), node, fmt::format("operand {} is node {}, which does not exist", i, in));
      check(in < node, node, fmt::format("operand {} is %{}, which does not stand before it", i, in));
      check((in >= 0) || i >= arity.least, node, fmt::format("{} takes {} operands, but operand {} is missing", name_of(n.op), arity.least, i));
      check(in < 0 || i < arity.most, node, fmt::format("{} takes {} operands, but there is an operand {}", name_of(n.op), arity.most, i));
    }
  }

  void check_index_expression(int node) const {
    const Node& n = g_[node];
    const auto operand = [&](int i) { return kind(n.in[std::size_t(i)]); };
    check(n.type.dims == Dims{}, node, "an index expression has no dims");
    if (n.op == Op::look_up) return check_look_up(node);
    for (int i = 0; i < n.operands(); ++i) check(is_index(operand(i)), node, "a tensor stands inside an index expression");
    Kind wanted = Kind::predicate;
    if (n.op == Op::constant) {
      wanted = kind(node) == Kind::real ? Kind::real : Kind::integer;
    } else if (n.op > Op::constant) {
      wanted = n.op < Op::score ? Kind::integer : Kind::real;
    } else if (n.op >= Op::both) {
      for (int i = 0; i < n.operands(); ++i) check(operand(i) == Kind::predicate, node, "an operand of a logical op is a number; compare it first, as in kv_index <= q_index");
    } else {
      bool real = n.op == Op::tanh || n.op == Op::exp || n.op == Op::log;
      for (int i = 0; i < n.operands(); ++i) {
        check(operand(i) != Kind::predicate, node, "a predicate is no number; combine predicates with &&, || and !");
        real = real || operand(i) == Kind::real;
      }
      if (n.op < Op::lt) wanted = real ? Kind::real : Kind::integer;
      check(n.op != Op::mod || !real, node, "% takes integers, but an operand is real");
      if ((n.op == Op::div || n.op == Op::mod) && !real) {
        const Node& divisor = g_[n.in[1]];
        check(divisor.op == Op::constant && divisor.attr.count > 0, node, "integers are divided by a positive literal only");
      }
    }
    check(kind(node) == wanted, node, fmt::format("its kind is {}, but {} of its operands is {}", type_text(n.type), name_of(n.op), type_text({wanted, {}})));
  }

  void check_look_up(int node) const {
    const Node &n = g_[node], &table = g_[n.in[0]];
    check(table.op == Op::input || table.op == Op::weight, node, "what it reads is neither an argument of the kernel nor a weight");
    check(n.operands() - 1 == table.type.dims.rank, node, fmt::format("it has {} indices, but the table {} dims", n.operands() - 1, table.type.dims.rank));
    for (int i = 1; i < n.operands(); ++i) check(kind(n.in[std::size_t(i)]) == Kind::integer, node, "an index is no integer");
    const Kind wanted = table.type.kind == Kind::integers ? Kind::integer : Kind::real;
    check(kind(node) == wanted, node, fmt::format("its kind is {}, but that of what it reads is {}", type_text(n.type), type_text({wanted, {}})));
  }

  // Look-ups below the index expressions that a node takes stay inside of their tables.
  void check_tables(int node, const Dims& coordinates_of) const {
    for (int k : g_[node].in) {
      if (k < 0 || !is_index(kind(k))) continue;
      const Outside o = outside(g_, k, coordinates_of);
      check(o.node < 0, node, o.node < 0 ? "" : fmt::format("{} leaves its table: index {} of dim {}", expression_text(g_, o.node), o.index, o.dim));
    }
  }

  void check_stored(int node) const {
    const Node& n = g_[node];
    check(!n.attr.name.empty(), node, fmt::format("this {} has no name", name_of(n.op)));
    check(kind(node) == Kind::tensor || (n.op == Op::input && kind(node) == Kind::integers), node, fmt::format("a stored tensor can not be of kind {}", type_text(n.type)));
    check(n.type.dims.rank >= 1 && n.type.dims.rank <= max_rank, node, fmt::format("a tensor has one to four dims, not {}", n.type.dims.rank));
    for (int i = 0; i < n.type.dims.rank; ++i) check(n.type.dims[i] >= 0, node, fmt::format("extent {} is negative", n.type.dims[i]));
  }

  void check_linear(int node) const {
    const Node& n = g_[node];
    const Dims x = g_[n.in[0]].type.dims, want_weight{2, {n.attr.count, x[-1]}}, want_bias{1, {n.attr.count}};
    const Type weight = g_[n.in[1]].type;
    check(weight == Type{Kind::tensor, want_weight}, node,
          fmt::format("the weight is {}, but these features need {}, as [out, in]", type_text(weight), type_text({Kind::tensor, want_weight})));
    if (n.in[2] < 0) return;
    const Type bias = g_[n.in[2]].type;
    check(bias == Type{Kind::tensor, want_bias}, node, fmt::format("the bias is {}, but these features need {}", type_text(bias), type_text({Kind::tensor, want_bias})));
  }

  void check_rope(int node) const {
    const Node& n = g_[node];
    const PairRotation& r = n.attr.rotation;
    check(r.dims >= 0 && r.dims % 2 == 0 && r.dims <= n.type.dims[-1], node,
          fmt::format("{} of {} dims are rotated; it must be an even number from 2 to head_dim", r.dims, n.type.dims[-1]));
    check(r.amplitude > 0 && r.amplitude < 1e300, node, fmt::format("its amplitude is {}; it must be positive and finite", r.amplitude));
    check(!(leaves_[std::size_t(n.in[1])] & ~(constant | leaf(Op::pair_index))), node, "its frequency uses what it can not know; it takes pair_index");
    check(!(leaves_[std::size_t(n.in[2])] & ~(constant | of_angles | leaf(Op::batch_index) | leaf(Op::look_up))), node, "its position uses what it can not know; it takes seq_index, batch_index, pair_index and tables");
    for (double f : frequencies_of(g_, node)) check(std::isfinite(f), node, fmt::format("a frequency is {}; is the base positive and finite?", f));
    check_tables(node, angles_of(n));
    if (n.in[3] < 0) return;
    const Type wanted{Kind::tensor, {1, {r.count(n.type.dims[-1])}}}, given = g_[n.in[3]].type;
    check(g_[n.in[3]].op == Op::weight && given == wanted, node, fmt::format("the divisors are {} {}, but these pairs need a weight {}", name_of(g_[n.in[3]].op), type_text(given), type_text(wanted)));
  }

  void check_algebra_leaves(int node) const {
    struct Part {
      std::string_view name, takes;
      Leaves known;
    };
    const std::array<Part, 3> parts{{{"weight", "score and row_max", leaf(Op::score) | leaf(Op::row_max)},
                                     {"rescale", "old_max and row_max", leaf(Op::old_max) | leaf(Op::row_max)},
                                     {last_part(g_[node].op), "row_sum, row_max and where the row is", leaf(Op::row_sum) | leaf(Op::row_max) | leaf(Op::batch_index) | leaf(Op::head_index) | leaf(Op::q_index) | leaf(Op::look_up)}}};
    for (std::size_t i = 0; i < 3; ++i) {
      const int part = g_[node].in[i + 1];
      check(kind(part) == Kind::real || kind(part) == Kind::integer, node, fmt::format("its {} is no number", parts[i].name));
      check(!(leaves_[std::size_t(part)] & ~(parts[i].known | constant)), node,
            fmt::format("its {} is {}, which uses what it can not know; it takes {}", parts[i].name, expression_text(g_, part), parts[i].takes));
    }
  }

  void check_tensor(int node) const {
    const Node& n = g_[node];
    std::array<Type, max_operands> types{};
    for (int i = 0; i < n.operands(); ++i) types[std::size_t(i)] = g_[n.in[std::size_t(i)]].type;
    for (int i = 0; i < n.operands(); ++i) check(kind(n.in[std::size_t(i)]) != Kind::integers, node, "a table of integers is read by index expressions only");
    const Inferred inferred = infer(n.op, n.attr, types.data(), n.operands());
    check(inferred.rule == Rule::ok, node, complaint(inferred));
    check(n.type == inferred.type, node, fmt::format("its type is {}, but {} of these operands is {}", type_text(n.type), name_of(n.op), type_text(inferred.type)));
    if (n.op == Op::linear) check_linear(node);
    if (n.op == Op::inverse_norm) {
      check(n.attr.count == long(Norm::rms) || n.attr.count == long(Norm::l2), node, "there is no such norm");
      check(n.attr.value >= 0 && n.attr.value < 1e300, node, fmt::format("its eps is {}; it must be finite and not negative", n.attr.value));
    }
    if (n.op == Op::rope) return check_rope(node);
    if (const Dims* scores = scores_below(g_, n)) check_tables(node, *scores);
    if (n.op == Op::reduce_rows || n.op == Op::row_value) return check_algebra_leaves(node);
    for (int i = 0; i < n.operands(); ++i) {
      const Leaves below = leaves_[std::size_t(n.in[std::size_t(i)])];
      check(!(below & row_state), node, "score, row_max, old_max and row_sum are known inside an algebra only; elsewhere use the scores themselves");
      check(!(below & of_angles), node, "seq_index and pair_index are known inside rope only; a score has q_index and kv_index");
      check(!(below & coordinates) || kind(node) == Kind::scores, node,
            "an index expression meets a tensor that is no score matrix; use it on the result of matmul(q, transpose(k))");
    }
  }

  void check_names() const {
    std::map<std::string_view, int> owner;
    for (int i = 0; i < int(g_.size()); ++i)
      if (g_[i].op == Op::input || g_[i].op == Op::weight) {
        const auto [it, fresh] = owner.emplace(g_[i].attr.name, i);
        check(fresh, i, fmt::format("the name '{}' belongs to %{} already, {}; give each tensor a name of its own", g_[i].attr.name, it->second, type_text(g_[it->second].type)));
      }
    if (g_.outputs.empty()) throw InvalidGraph(-1, "the graph has no outputs");
    std::map<std::string_view, int> outputs;
    for (const Output& o : g_.outputs) {
      if (o.node < 0 || o.node >= int(g_.size())) throw InvalidGraph(-1, fmt::format("output '{}' is node {}, which does not exist", o.name, o.node));
      check(!o.name.empty(), o.node, "it is an output without a name");
      check(!is_index(kind(o.node)), o.node, fmt::format("output '{}' is an index expression; it becomes a tensor by s + e or mask(s, e)", o.name));
      check(kind(o.node) != Kind::integers, o.node, fmt::format("output '{}' is a table of integers, which index expressions alone read", o.name));
      check(outputs.emplace(o.name, o.node).second, o.node, fmt::format("there are two outputs '{}'; rename one", o.name));
      const auto it = owner.find(o.name);
      check(it == owner.end(), o.node, fmt::format("output '{}' has the name of an input or a weight; rename one", o.name));
    }
  }

 public:
  explicit Verifier(const Graph& g) : g_(g), leaves_(g.size()) {}

  void run() {
    for (int i = 0; i < int(g_.size()); ++i) {
      const Node& n = g_[i];
      check_operands(i);
      const bool index_op = n.op >= Op::lt, arithmetic = is_arithmetic(n.op);
      bool index = index_op;
      if (arithmetic) {
        index = true;
        for (int k = 0; k < n.operands(); ++k) index = index && is_index(kind(n.in[std::size_t(k)]));
      }
      if (index) {
        check_index_expression(i);
        if (n.op >= Op::constant) leaves_[std::size_t(i)] = leaf(n.op);
        for (int k = 0; k < n.operands(); ++k) leaves_[std::size_t(i)] |= leaves_[std::size_t(n.in[std::size_t(k)])];
      } else if (n.op == Op::input || n.op == Op::weight) {
        check_stored(i);
      } else {
        check_tensor(i);
      }
    }
    check_names();
  }
};

}  // namespace

void reject(const Graph& g, int node, const std::string& what) {
  const int line = g[node].line;
  throw InvalidGraph(node, fmt::format("{}%{} = {}: {}", line > 0 ? fmt::format("line {}: ", line) : "", node, node_text(g, node), what));
}

void verify(const Graph& g) {
  Verifier(g).run();
  verify_algebra(g);
}

}  // namespace attune
