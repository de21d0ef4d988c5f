// Rotary position embedding (RoFormer, arXiv:2104.09864): pair i of the features of a row at position m
// turns by m * frequency(i). A scaling says what the frequencies are, a position expression where a row
// stands; both are index expressions, so a model's own are written like those here.
#pragma once
#include <concepts>
#include <string_view>

#include "attune/constants.h"
#include "attune/ops.h"

namespace attune {

inline constexpr Pairs interleaved = Pairs::interleaved;
inline constexpr Pairs half_split = Pairs::half_split;

// Pair i of the first `dims` features of row m turns by (m + offset) * base^(-2i / dims).
struct Rotation {
  double base = 10000;
  Pairs pairs = Pairs::interleaved;
  long dims = 0;  // 0: all of head_dim
  long offset = 0;
};

// base^(-2i / dims), by logarithms: powers are no op of index expressions.
constexpr auto frequency_of(double base, long dims) { return exp(pair_index * (-2.0 / double(dims)) * log(lift(base))); }

// ---- scalings ---------------------------------------------------------------------------------------
// frequency(base, dims): radians per position of pair_index. amplitude(): what rotated features are
// multiplied by; 0 says that a parameter is out of range. divisors, if it has them: the name of a weight
// [dims / 2] by which pack_weights divides the frequencies.

struct unscaled {
  constexpr auto frequency(double base, long dims) const { return frequency_of(base, dims); }
  constexpr double amplitude() const { return 1; }
};

// Position interpolation (arXiv:2306.15595): positions are divided by the factor.
struct linear_scaling {
  double factor = 1;
  constexpr auto frequency(double base, long dims) const { return frequency_of(base, dims) / factor; }
  constexpr double amplitude() const { return factor > 0 ? 1 : 0; }
};

// NTK-aware: base * factor^(dims / (dims - 2)), so that the last pair turns slower by the factor and the
// first one as ever.
struct ntk_scaling {
  double factor = 1;
  constexpr auto frequency(double base, long dims) const {
    return exp(pair_index * (-2.0 / double(dims)) * (log(lift(base)) + double(dims) * inverse_of(double(dims - 2)) * log(lift(factor))));
  }
  constexpr double amplitude() const { return factor > 0 ? 1 : 0; }
};

// NTK-aware by the length at hand, which a kernel has fixed: with factor * at / length - (factor - 1)
// beyond the trained length, unscaled up to it.
struct dynamic_ntk_scaling {
  double factor = 1;
  long length = 0, at = 0;  // trained; of this kernel
  constexpr auto frequency(double base, long dims) const {
    return ntk_scaling{at > length ? factor * double(at) * inverse_of(double(length)) - (factor - 1) : 1}.frequency(base, dims);
  }
  constexpr double amplitude() const { return factor >= 1 && length > 0 && at > 0 ? 1 : 0; }
};

// Llama 3.1: pairs that turn less than `low` times over the trained length are slowed by the factor, those
// that turn more than `high` times are not, those between in part.
struct llama3_scaling {
  double factor = 8, low = 1, high = 4;
  long length = 8192;  // trained
  constexpr auto frequency(double base, long dims) const {
    const auto turns = frequency_of(base, dims) * (double(length) / 6.283185307179586);
    const auto fast = min(max((turns - low) * inverse_of(high - low), 0.0), 1.0);
    return frequency_of(base, dims) * (fast * (1 - inverse_of(factor)) + inverse_of(factor));
  }
  constexpr double amplitude() const { return factor > 0 && length > 0 && high > low ? 1 : 0; }
};

// YaRN (arXiv:2309.00071, as its authors' code and transformers have it): slowed by the factor from the
// pair that turns `slow` times over the trained length on, not at all up to the one that turns `fast`
// times; the amplitude is 0.1 ln(factor) + 1 unless given.
struct yarn_scaling {
  double factor = 1;
  long length = 0;  // trained
  double fast = 32, slow = 1, attention_factor = 0;
  bool truncate = true;  // the two pairs are whole numbers
  constexpr auto frequency(double base, long dims) const {
    double first = pair_that_turns(fast, base, dims), last = pair_that_turns(slow, base, dims);
    if (truncate) {
      first = double(floored_to_long(first));
      last = -double(floored_to_long(-last));
    }
    if (first < 0) first = 0;
    if (last > double(dims - 1)) last = double(dims - 1);
    if (first == last) last += 0.001;
    const auto slowed = min(max((pair_index - first) / (last - first), 0.0), 1.0);
    return frequency_of(base, dims) * (1.0 - slowed * (1 - inverse_of(factor)));
  }
  constexpr double amplitude() const {
    if (!(factor >= 1 && length > 0 && fast > 0 && slow > 0)) return 0;
    return attention_factor != 0 ? attention_factor : 0.1 * natural_log(factor) + 1;
  }

 private:
  constexpr double pair_that_turns(double times, double base, long dims) const {
    return double(dims) * natural_log(double(length) * inverse_of(times) / 6.283185307179586) * inverse_of(2 * natural_log(base));
  }
  static constexpr long floored_to_long(double x) {
    if (!(x > -1e9 && x < 1e9)) return 0;  // of parameters that amplitude() or the base's rule rejects
    return double(long(x)) > x ? long(x) - 1 : long(x);
  }
};

// LongRoPE (arXiv:2402.13753), as in Phi-3: each pair has a divisor of its own, in the model's config.json
// (short_factor up to the trained length, long_factor beyond), which the caller gives with the weights.
// `factor` is the longest length over the trained one; the amplitude sqrt(1 + ln(factor) / ln(length))
// unless given.
struct longrope_scaling {
  std::string_view divisors{};
  double factor = 1;
  long length = 0;  // trained
  double attention_factor = 0;
  constexpr auto frequency(double base, long dims) const { return frequency_of(base, dims); }
  constexpr double amplitude() const {
    if (!(factor > 0 && length > 1)) return 0;
    if (attention_factor != 0) return attention_factor;
    return factor > 1 ? square_root(1 + natural_log(factor) / natural_log(double(length))) : 1;
  }
};

template <class S>
concept scaling = requires(const S& s) {
  s.frequency(1.0, 2l);
  { s.amplitude() } -> std::convertible_to<double>;
};

// ---- sections ---------------------------------------------------------------------------------------

// Which section a pair belongs to, if the first Size pairs are section 0, and so on: with M-RoPE
// (Qwen2-VL, arXiv:2409.12191) each section has positions of its own, positions(section_of<16, 24, 24>, ..).
template <long Size, long... More>
constexpr auto sections_from(auto before, long begin) {
  if constexpr (sizeof...(More) == 0)
    return before;
  else
    return sections_from<More...>(before + min(pair_index / (begin + Size), 1), begin + Size);
}
template <long... Sizes>
inline constexpr auto section_of = sections_from<Sizes...>(lift(0), 0);

// ---- rope -------------------------------------------------------------------------------------------

template <class Frequency, class Position>
constexpr Rule angle_rule() {
  if (leaves<Frequency> & ~leaf(Op::pair_index) || reads_table<Frequency>) return Rule::frequency_leaf_misplaced;
  if (Position::kind != Kind::integer) return Rule::position_not_integer;
  return leaves<Position> & ~(of_angles | leaf(Op::batch_index)) ? Rule::position_leaf_misplaced : Rule::ok;
}

// x [batch, heads, seq, head_dim] with rotated pairs. What `how` and the scaling ask for are values, so
// they are checked where the whole graph is, by graph_of.
template <long RotatedDims, operand X, scaling S, class P>
constexpr auto make_rope(const X& x, const Rotation& how, const S& by, const P& position, int line) {
  constexpr long head_dim = type_of<X>().dims.rank ? type_of<X>().dims[-1] : 0;
  const long dims = how.dims > 0 ? how.dims : head_dim;
  const auto frequency = by.frequency(how.base, dims > 0 ? dims : 2);
  using F = std::remove_cvref_t<decltype(frequency)>;
  if constexpr (is_poison<X> || is_poison<P> || is_poison<F>) {
    return poison{};
  } else if constexpr (!index_operand<P>) {
    report<Rule::scaling_wanted, Op::rope, 0, 0, P>();
    return poison{};
  } else if constexpr (!index_operand<F>) {
    report<Rule::frequency_not_number, Op::rope, 0, 0, F>();
    return poison{};
  } else if constexpr (constexpr Rule rule = angle_rule<lifted<F>, lifted<P>>(); rule != Rule::ok) {
    report<rule, Op::rope, 0, 0, P>();
    return poison{};
  } else {
    const auto shifted = position + how.offset;
    const PairRotation turned{how.pairs, how.dims, by.amplitude()};
    const auto plain = make<Op::rope, 0, RotatedDims>({.rotation = turned}, line, x, frequency, shifted);
    if constexpr (requires { by.divisors; } && !is_poison<decltype(plain)>) {
      const ref divisors(Op::weight, {Kind::tensor, {1, {turned.count(head_dim)}}}, {.name = by.divisors}, line);
      return std::remove_cvref_t<decltype(plain)>{ref(Op::rope, plain.type, {.rotation = turned}, line, x.r, fold(lift(frequency), line), fold(lift(shifted), line), divisors)};
    } else {
      return plain;
    }
  }
}

template <operand X>
constexpr auto rope(const X& x, ATTUNE_HERE) { return make_rope<0>(x, {}, unscaled{}, seq_index, here.line); }
template <operand X>
constexpr auto rope(const X& x, Rotation how, ATTUNE_HERE) { return make_rope<2>(x, how, unscaled{}, seq_index, here.line); }
// `s`: a scaling, or the position of a row where that is not seq_index.
template <operand X, class S>
constexpr auto rope(const X& x, Rotation how, const S& s, ATTUNE_HERE) {
  if constexpr (scaling<S>)
    return make_rope<2>(x, how, s, seq_index, here.line);
  else
    return make_rope<2>(x, how, unscaled{}, s, here.line);
}
template <operand X, scaling S, class P>
constexpr auto rope(const X& x, Rotation how, const S& s, const P& position, ATTUNE_HERE) { return make_rope<2>(x, how, s, position, here.line); }

}  // namespace attune
