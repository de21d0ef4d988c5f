#include "loops/ir.h"

#include <algorithm>

namespace attune::loops {

static Expr make(Expr::Tree t) { return Expr(std::make_shared<const Expr::Tree>(std::move(t))); }

Expr::Expr(long v) : tree_(std::make_shared<const Tree>(Tree{Form::integer, Type::index, v, 0, {}, {}})) {}
Expr real(double v) { return make({Expr::Form::real, Type::real, 0, v, {}, {}}); }
Expr name(std::string text, Type type) { return make({Expr::Form::name, type, 0, 0, std::move(text), {}}); }
Expr call(std::string function, Type type, std::vector<Expr> args) { return make({Expr::Form::call, type, 0, 0, std::move(function), std::move(args)}); }
Expr binary(std::string_view op, Expr a, Expr b, Type type) { return make({Expr::Form::binary, type, 0, 0, std::string(op), {std::move(a), std::move(b)}}); }
Expr element(Expr pointer, Expr index) {
  // (p + i)[j] reads as p[i + j]
  if (pointer->form == Expr::Form::binary) return element(pointer->args[0], pointer->args[1] + index);
  const Type t = pointer.type() == Type::index || pointer.type() == Type::whole_in ? Type::index : Type::real;  // a table of bounds, or floats
  return make({Expr::Form::element, t, 0, 0, {}, {std::move(pointer), std::move(index)}});
}
Expr choose(Expr flag, Expr a, Expr b) {
  const Type t = a.type();
  return make({Expr::Form::conditional, t, 0, 0, {}, {std::move(flag), std::move(a), std::move(b)}});
}

static bool is_binary(const Expr& e, std::string_view op) { return e->form == Expr::Form::binary && e->text == op; }
static Type result(const Expr& a, const Expr& b) {
  if (a.type() == Type::in || a.type() == Type::out || a.type() == Type::whole_in) return a.type();
  return a.type() == Type::index ? b.type() : a.type();
}
static bool address(const Expr& e) { return e.type() == Type::index || e.type() == Type::in || e.type() == Type::out || e.type() == Type::whole_in; }

Expr operator+(Expr a, Expr b) {
  if (address(a) && address(b)) {
    if (a.is(0)) return b;
    if (b.is(0)) return a;
    if (a.constant() && b.constant()) return Expr(a->integer + b->integer);
    if (a.constant()) return b + a;
    if (is_binary(b, "+")) return (a + b->args[0]) + b->args[1];
    if (is_binary(b, "-") && b->args[1].constant()) return (a + b->args[0]) + Expr(-b->args[1]->integer);
    if (b.constant() && is_binary(a, "+") && a->args[1].constant()) return a->args[0] + Expr(a->args[1]->integer + b->integer);
    if (b.constant() && is_binary(a, "-") && a->args[1].constant()) return a->args[0] + Expr(b->integer - a->args[1]->integer);
    if (b.constant() && b->integer < 0) return binary("-", a, Expr(-b->integer), a.type());
    if (!b.constant() && is_binary(a, "+") && a->args[1].constant()) return (a->args[0] + b) + a->args[1];
  }
  const Type t = result(a, b);
  return binary("+", std::move(a), std::move(b), t);
}
Expr operator-(Expr a, Expr b) {
  if (address(a) && address(b) && b.constant()) return a + Expr(-b->integer);
  const Type t = result(a, b);
  return binary("-", std::move(a), std::move(b), t);
}
Expr operator*(Expr a, Expr b) {
  if (a.type() == Type::index && b.type() == Type::index) {
    if (a.is(0) || b.is(0)) return 0;
    if (a.is(1)) return b;
    if (b.is(1)) return a;
    if (a.constant() && b.constant()) return Expr(a->integer * b->integer);
    if (b.constant()) return b * a;  // the constant stands first: 64 * row
    if (a.constant() && is_binary(b, "*") && b->args[0].constant()) return Expr(a->integer * b->args[0]->integer) * b->args[1];
    if (a.constant() && is_binary(b, "+") && b->args[1].constant()) return a * b->args[0] + a * b->args[1];
    if (a.constant() && is_binary(b, "-") && b->args[1].constant()) return a * b->args[0] - a * b->args[1];
  }
  const Type t = result(a, b);
  return binary("*", std::move(a), std::move(b), t);
}
Expr operator/(Expr a, Expr b) {
  if (a.type() == Type::index && b.constant()) {
    if (b.is(1)) return a;
    if (a.constant() && a->integer >= 0) return Expr(a->integer / b->integer);
  }
  const Type t = result(a, b);
  return binary("/", std::move(a), std::move(b), t);
}
Expr operator%(Expr a, Expr b) {
  if (b.is(1)) return 0;
  if (a.constant() && b.constant() && a->integer >= 0) return Expr(a->integer % b->integer);
  return binary("%", std::move(a), std::move(b), Type::index);
}
bool same(const Expr& a, const Expr& b) {
  return a->form == b->form && a->type == b->type && a->integer == b->integer && a->number == b->number && a->text == b->text &&
         std::equal(a->args.begin(), a->args.end(), b->args.begin(), b->args.end(), same);
}
Expr least(Expr a, Expr b) {
  if (same(a, b)) return a;
  if (a.constant() && b.constant()) return std::min(a->integer, b->integer);
  return call("smaller", Type::index, {std::move(a), std::move(b)});
}
Expr greatest(Expr a, Expr b) {
  if (same(a, b)) return a;
  if (a.constant() && b.constant()) return std::max(a->integer, b->integer);
  return call("larger", Type::index, {std::move(a), std::move(b)});
}

// ---- statements ---------------------------------------------------------------------------------

Expr Block::let(std::string n, Expr value) {
  const bool local = value->form == Expr::Form::name && value->text.find('.') == std::string::npos;  // m.x is a place in memory
  if (value->form == Expr::Form::integer || local) return value;
  const Type t = value.type();
  Stmt s;
  s.form = Stmt::Form::declare;
  s.type = t;
  s.text = "const";
  s.names = {{n, std::move(value)}};
  body_->push_back(std::move(s));
  return name(std::move(n), t);
}
Expr Block::var(std::string n, Expr value) {
  const Type t = value.type();
  declare(t, {{n, std::move(value)}});
  return name(std::move(n), t);
}
void Block::declare(Type t, std::vector<std::pair<std::string, Expr>> names) {
  Stmt s;
  s.form = Stmt::Form::declare;
  s.type = t;
  s.names = std::move(names);
  body_->push_back(std::move(s));
}
void Block::assign(Expr target, Expr value, std::string op) {
  Stmt s;
  s.form = Stmt::Form::assign;
  s.target = std::move(target);
  s.value = std::move(value);
  s.text = std::move(op);
  body_->push_back(std::move(s));
}
void Block::run(Expr value) {
  Stmt s;
  s.form = Stmt::Form::expression;
  s.value = std::move(value);
  body_->push_back(std::move(s));
}
Block Block::loop(std::string variable, Expr from, Expr to, Expr step, int unroll) {
  Stmt s;
  s.form = Stmt::Form::loop;
  s.text = std::move(variable);
  s.value = std::move(from);
  s.limit = std::move(to);
  s.step = std::move(step);
  s.unroll = unroll;
  body_->push_back(std::move(s));
  return Block(body_->back().body);
}
Block Block::when(Expr flag) {
  Stmt s;
  s.form = Stmt::Form::branch;
  s.value = std::move(flag);
  body_->push_back(std::move(s));
  return Block(body_->back().body);
}
Block Block::otherwise() { return Block(body_->back().other); }
Block Block::scope() {
  Stmt s;
  s.form = Stmt::Form::scope;
  body_->push_back(std::move(s));
  return Block(body_->back().body);
}
void Block::comment(std::string t) {
  Stmt s;
  s.form = Stmt::Form::comment;
  s.text = std::move(t);
  body_->push_back(std::move(s));
}
void Block::blank() { body_->push_back({}); }
void Block::array(Type t, std::string n, std::vector<long> values) {
  for (const Stmt& s : *body_)
    if (s.form == Stmt::Form::array && s.text == n) return;
  Stmt s;
  s.form = Stmt::Form::array;
  s.type = t;
  s.text = std::move(n);
  for (long v : values) s.names.push_back({"", Expr(v)});
  body_->push_back(std::move(s));
}
void Block::text(std::string line) {
  Stmt s;
  s.form = Stmt::Form::text;
  s.text = std::move(line);
  body_->push_back(std::move(s));
}

static void collect(const Expr& e, std::vector<std::string>& calls) {
  if (!e) return;
  if (e->form == Expr::Form::call) calls.push_back(e->text);
  for (const Expr& a : e->args) collect(a, calls);
}
void collect_calls(const Body& body, std::vector<std::string>& calls) {
  for (const Stmt& s : body) {
    if (s.form == Stmt::Form::declare && s.type == Type::lanes) calls.push_back("lanes_t");
    for (const auto& [n, e] : s.names) collect(e, calls);
    for (const Expr* e : {&s.target, &s.value, &s.limit, &s.step}) collect(*e, calls);
    collect_calls(s.body, calls);
    collect_calls(s.other, calls);
  }
}

}  // namespace attune::loops
