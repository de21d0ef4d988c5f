#include "loops/element.h"

#include <cmath>
#include <stdexcept>

namespace attune::loops {

Expr Memory::pointer(int buffer) const {
  const Buffer& b = program->buffers[std::size_t(buffer)];
  const bool written = b.kind == Buffer::Kind::output || b.kind == Buffer::Kind::scratch;
  return name("m." + b.name, b.integers ? Type::whole_in : written ? Type::out : Type::in);
}

Expr offset_along(const Axes& axes, const Expr& at) {
  Expr offset = 0;
  long below = extent_of(axes);
  if (below == 0) return offset;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Axis& a = axes[i];
    below /= a.extent;
    if (a.stride == 0) continue;
    Expr c = at / below;
    if (i > 0) c = c % a.extent;
    offset = offset + Expr(a.stride) * c;
  }
  return offset;
}

Expr address(const Memory& m, const View& v, const std::array<Expr, region_rank>& at) {
  Expr p = m.pointer(v.buffer) + Expr(v.offset);
  for (std::size_t d = 0; d < v.dims.size(); ++d) p = p + offset_along(v.dims[d], at[d]);
  return p;
}

static bool is_exp_of_nonpositive(const Expression& e, const Term& t) {
  const Term& d = e.terms[std::size_t(t.in[0])];
  if (d.fn != Fn::sub) return false;
  const Fn a = e.terms[std::size_t(d.in[0])].fn, b = e.terms[std::size_t(d.in[1])].fn;
  return b == Fn::peak && (a == Fn::acc || a == Fn::old_peak);  // the peak is the greatest there is
}

Expr ElementCode::widened(const Value& v, Kind k) const {
  if (v.varying || lane_axis < 0) return v.e;
  if (k == Kind::real) return call("splat", Type::vec, {v.e});
  if (k == Kind::integer) return call("isplat", Type::ivec, {v.e});
  return call("all_lanes", Type::lanes, {v.e});
}

ElementCode::Value ElementCode::as_real(Value v, Kind k) const {
  if (k == Kind::real) return v;
  if (v.varying) return {call("to_real", Type::vec, {v.e}), true};
  if (v.e.constant()) return {real(double(v.e->integer)), false};
  return {call("float", Type::real, {v.e}), false};
}

Expr ElementCode::real_value(int t) const { return widened(as_real(value(t), term(t).kind), Kind::real); }
Expr ElementCode::truth(int t) const { return widened(value(t), Kind::predicate); }

ElementCode::Value ElementCode::tensor(const Term& t) const {
  const View& v = expression->tensors[std::size_t(t.index)];
  const Expr p = address(*memory, v, at);
  if (lane_axis < 0) return {element(p, 0), false};
  const std::optional<long> stride = stride_of(v.dims[std::size_t(lane_axis)]);
  if (!stride) throw std::logic_error("element: a vector runs over an axis that has no one stride");
  if (*stride == 0) return {element(p, 0), false};
  const bool integer = t.kind == Kind::integer;
  const auto load = [&](const char* reals, const char* integers, std::vector<Expr> args) { return Value{call(integer ? integers : reals, integer ? Type::ivec : Type::vec, std::move(args)), true}; };
  if (*stride != 1 && at_hand)
    if (const Expr e = at_hand(v, *this, integer)) return {e, true};
  if (*stride != 1 && part >= 0) return load("load_strided_part", "iload_strided_part", {p, *stride, part});
  if (*stride != 1) return load("load_strided", "iload_strided", {p, *stride});
  if (part >= 0) return load("load_part", "iload_part", {p, part});
  return load("load", "iload", {p});
}

ElementCode::Value ElementCode::arithmetic(const Term& t) const {
  Value a = value(t.in[0]), b = value(t.in[1]);
  const Kind ka = term(t.in[0]).kind, kb = term(t.in[1]).kind;
  if (t.kind == Kind::real) {
    a = as_real(a, ka);
    b = as_real(b, kb);
  }
  const bool varying = a.varying || b.varying;
  const bool integer = t.kind == Kind::integer;
  if (t.fn == Fn::floor_div || t.fn == Fn::floor_mod) return {call(t.fn == Fn::floor_div ? "floor_div" : "floor_mod", varying ? Type::ivec : Type::index, {a.e, b.e}), varying};
  if (varying) {
    a.e = widened(a, t.kind);
    b.e = widened(b, t.kind);
  }
  const Type type = varying ? (integer ? Type::ivec : Type::vec) : integer ? Type::index : Type::real;
  switch (t.fn) {
    case Fn::add: return {a.e + b.e, varying};
    case Fn::sub: return {a.e - b.e, varying};
    case Fn::mul: return {a.e * b.e, varying};
    case Fn::div: return {a.e / b.e, varying};
    default: break;
  }
  const bool low = t.fn == Fn::min;
  if (integer && !varying) return {low ? least(a.e, b.e) : greatest(a.e, b.e), false};
  return {call(integer ? (low ? "imin" : "imax") : low ? "min" : "max", type, {b.e, a.e}), varying};  // a NaN in the first operand survives
}

ElementCode::Value ElementCode::comparison(const Term& t) const {
  Value a = value(t.in[0]), b = value(t.in[1]);
  const Kind ka = term(t.in[0]).kind, kb = term(t.in[1]).kind;
  const bool real = ka == Kind::real || kb == Kind::real;
  if (!real && (t.in[0] == t.in[1] || same(a.e, b.e))) return {name(t.fn == Fn::less ? "false" : "true", Type::flag), false};  // compilers warn of x == x
  if (real) {
    a = as_real(a, ka);
    b = as_real(b, kb);
  }
  if (!a.varying && !b.varying) return {binary(t.fn == Fn::less ? "<" : t.fn == Fn::less_equal ? "<=" : "==", a.e, b.e, Type::flag), false};
  const std::string op = t.fn == Fn::less ? "less" : t.fn == Fn::less_equal ? "less_equal" : "equal";
  const Kind k = real ? Kind::real : Kind::integer;
  return {call((real ? "" : "i") + op, Type::lanes, {widened(a, k), widened(b, k)}), true};
}

ElementCode::Value ElementCode::value(int id) const {
  const Term& t = term(id);
  const auto state = [&](const Expr& e) { return Value{e, e.type() == Type::vec}; };
  switch (t.fn) {
    case Fn::constant: return {t.kind == Kind::integer ? Expr(long(t.value)) : real(t.value), false};
    case Fn::coordinate:
      if (t.index != lane_axis) return {at[std::size_t(t.index)], false};
      if (lanes_at) return {lanes_at, true};
      return {call("isplat", Type::ivec, {at[std::size_t(t.index)]}) + call("iota", Type::ivec, {}), true};
    case Fn::tensor: return tensor(t);
    case Fn::acc: return state(acc);
    case Fn::peak: return state(peak);
    case Fn::old_peak: return state(old_peak);
    case Fn::total: return state(total);
    case Fn::less:
    case Fn::less_equal:
    case Fn::equal: return comparison(t);
    case Fn::both:
    case Fn::either: {
      const Value a = value(t.in[0]), b = value(t.in[1]);
      if (!a.varying && !b.varying) return {binary(t.fn == Fn::both ? "&&" : "||", a.e, b.e, Type::flag), false};
      return {call(t.fn == Fn::both ? "both" : "either", Type::lanes, {widened(a, Kind::predicate), widened(b, Kind::predicate)}), true};
    }
    case Fn::negation: {
      const Value a = value(t.in[0]);
      return {call(a.varying ? "negation" : "!", a.varying ? Type::lanes : Type::flag, {a.e}), a.varying};
    }
    case Fn::select: {
      const Value c = value(t.in[0]);
      Value a = as_real(value(t.in[1]), term(t.in[1]).kind), b = as_real(value(t.in[2]), term(t.in[2]).kind);
      const bool varying = c.varying || a.varying || b.varying;
      if (varying) {
        a.e = widened(a, Kind::real);
        b.e = widened(b, Kind::real);
      }
      if (c.varying) return {call("select", Type::vec, {c.e, a.e, b.e}), true};
      return {choose(c.e, a.e, b.e), varying};
    }
    case Fn::exp:
    case Fn::log:
    case Fn::tanh: {
      if (t.fn == Fn::exp && shift && is_exp_of_nonpositive(*expression, t) && term(term(t.in[0]).in[0]).fn == Fn::acc) return {call("exp_shifted", Type::vec, {acc, shift}), true};
      const Value a = as_real(value(t.in[0]), term(t.in[0]).kind);
      const std::string f = t.fn == Fn::tanh ? "tanh" : t.fn == Fn::log ? "log" : a.varying && is_exp_of_nonpositive(*expression, t) ? "exp_nonpositive" : "exp";
      return {call(f, a.varying ? Type::vec : Type::real, {a.e}), a.varying};
    }
    case Fn::partner: {
      if (lane_axis >= 0) {
        if (t.index == 0) return {call("swap_pairs", Type::vec, {real_value(t.in[0])}), true};
        return {partner(t), true};
      }
      ElementCode other = *this;
      const Expr d = at[3];
      other.at[3] = t.index == 0 ? binary("^", d, 1, Type::index) : choose(binary("<", d, t.index, Type::flag), d + Expr(t.index), d - Expr(t.index));
      return other.value(t.in[0]);
    }
    default: return arithmetic(t);
  }
}

}  // namespace attune::loops
