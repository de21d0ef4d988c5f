#include "emit/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace attune::emit {

using namespace loops;

namespace {

std::string float_text(double v) {
  if (std::isnan(v)) return "__builtin_nanf(\"\")";
  if (std::isinf(float(v))) return v > 0 ? "__builtin_inff()" : "-__builtin_inff()";
  int exponent = 0;
  if (std::frexp(std::abs(v), &exponent) == 0.5 && std::abs(exponent) > 20) return fmt::format("{:a}f", v);  // a limit, 0x1p+40f
  std::string s = fmt::format("{}", float(v));
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  return s + "f";
}

int precedence(const Expr& e) {
  if (e->form == Expr::Form::conditional) return 16;
  if (e->form != Expr::Form::binary) return 0;
  const std::string& op = e->text;
  if (op == "*" || op == "/" || op == "%") return 5;
  if (op == "+" || op == "-") return 6;
  if (op == "<" || op == "<=" || op == ">" || op == ">=") return 9;
  if (op == "==" || op == "!=") return 10;
  if (op == "^") return 12;
  return op == "&&" ? 14 : 15;
}

std::string operand(const Expr& e, int outer, bool right) {
  const int p = precedence(e);
  // Compilers ask for parentheses around && in || and around sums in ^.
  const bool mixed = p == 14 && outer == 15;
  const bool bits = outer == 12 && p > 0;
  if (p > outer || (right && p == outer && p > 0) || mixed || bits) return "(" + text(e) + ")";
  return text(e);
}

// !(a < b) of indices reads as a >= b; of floats it does not, for NaN.
std::string negation(const Expr& e) {
  static const std::map<std::string, std::string> opposite{{"<", ">="}, {"<=", ">"}, {">", "<="}, {">=", "<"}, {"==", "!="}, {"!=", "=="}};
  if (e->form == Expr::Form::call && e->text == "!") return text(e->args[0]);
  const auto o = e->form == Expr::Form::binary ? opposite.find(e->text) : opposite.end();
  if (o != opposite.end() && e->args[0].type() == Type::index && e->args[1].type() == Type::index) return text(binary(o->second, e->args[0], e->args[1], Type::flag));
  return "!" + (precedence(e) ? "(" + text(e) + ")" : text(e));
}

const char* type_text(Type t) {
  switch (t) {
    case Type::index: return "long";
    case Type::real: return "float";
    case Type::flag: return "bool";
    case Type::vec: return "vec";
    case Type::ivec: return "ivec";
    case Type::lanes: return "lanes_t";
    case Type::in: return "const float*";
    case Type::whole_in: return "const int*";
    case Type::out: return "float*";
    case Type::memory: return "const Memory&";
    case Type::none: break;
  }
  return "void";
}

std::string list(const std::vector<Expr>& args) {
  std::string s;
  for (const Expr& a : args) s += (s.empty() ? "" : ", ") + text(a);
  return s;
}

std::string line(std::string s, int indent) { return wrapped(s, indent) + "\n"; }

std::string array_text(const Stmt& s, int indent) {
  long greatest = 0;
  std::string values;
  for (const auto& [n, e] : s.names) {
    greatest = std::max(greatest, e->integer);
    values += (values.empty() ? "" : ", ") + text(e);
  }
  return line(fmt::format("static const {} {}[] = {{{}}};", greatest < 65536 ? "unsigned short" : "int", s.text, values), indent);
}

std::string declaration(const Stmt& s, int indent) {
  const bool pointer = s.type == Type::in || s.type == Type::out || s.type == Type::whole_in;
  std::string r = s.text == "const" && !pointer ? "const " : "";
  r += type_text(s.type);
  bool first = true;
  for (const auto& [n, e] : s.names) {
    r += (first ? " " : ", ") + n + (e ? " = " + text(e) : "");
    first = false;
  }
  return line(r + ";", indent);
}

std::string loop_text(const Stmt& s, int indent) {
  const std::string step = s.step.is(1) ? "++" + s.text : s.text + " += " + text(s.step);
  const std::string limit = operand(s.limit, 9, true);
  const std::string wish = s.unroll > 1 ? fmt::format("#pragma GCC unroll {}\n", s.unroll) : "";  // Clang knows it too
  return wish + line(fmt::format("for (long {0} = {1}; {0} < {2}; {3}) {{", s.text, text(s.value), limit, step), indent) + text(s.body, indent + 2) + std::string(std::size_t(indent), ' ') + "}\n";
}

std::string branch_text(const Stmt& s, int indent) {
  const std::string pad(std::size_t(indent), ' ');
  std::string r, head = "if (";
  for (const Stmt* at = &s; at;) {
    r += wrapped(head + text(at->value) + ") {", indent) + "\n" + text(at->body, indent + 2);
    const Body& other = at->other;
    at = other.size() == 1 && other.front().form == Stmt::Form::branch ? &other.front() : nullptr;
    if (at) head = "} else if (";
    else if (!other.empty()) r += pad + "} else {\n" + text(other, indent + 2);
  }
  return r + pad + "}\n";
}

void names_in(const Expr& e, std::set<std::string>& names) {
  if (!e) return;
  if (e->form == Expr::Form::name) names.insert(e->text.substr(0, e->text.find('.')));
  for (const Expr& a : e->args) names_in(a, names);
}
void words_in(const std::string& s, std::set<std::string>& names) {
  std::string word;
  for (char c : s + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') word += c;
    else if (!word.empty()) names.insert(std::exchange(word, {}));
  }
}
void names_in(const Body& body, std::set<std::string>& names) {
  for (const Stmt& s : body) {
    for (const auto& [n, e] : s.names) names_in(e, names);
    for (const Expr* e : {&s.target, &s.value, &s.limit, &s.step}) names_in(*e, names);
    names_in(s.body, names);
    names_in(s.other, names);
    if (s.form == Stmt::Form::text) words_in(s.text, names);
  }
}

}  // namespace

std::string text(const Expr& e) {
  switch (e->form) {
    case Expr::Form::integer: return std::to_string(e->integer);
    case Expr::Form::real: return float_text(e->number);
    case Expr::Form::name: return e->text;
    case Expr::Form::call:
      if (e->text == "!") return negation(e->args[0]);
      return e->text + "(" + list(e->args) + ")";
    case Expr::Form::element: return (precedence(e->args[0]) ? "(" + text(e->args[0]) + ")" : text(e->args[0])) + "[" + text(e->args[1]) + "]";
    case Expr::Form::conditional: return operand(e->args[0], 15, false) + " ? " + operand(e->args[1], 15, false) + " : " + operand(e->args[2], 15, false);
    case Expr::Form::binary: {
      const int p = precedence(e);
      return operand(e->args[0], p, false) + " " + e->text + " " + operand(e->args[1], p, true);
    }
  }
  return {};
}

std::string text(const Body& body, int indent) {
  std::string r;
  const std::string pad(std::size_t(indent), ' ');
  bool paragraph = false;  // a blank line is due before what comes next
  for (const Stmt& s : body) {
    if (s.form == Stmt::Form::blank) {
      paragraph = !r.empty();
      continue;
    }
    if (paragraph) r += "\n";
    paragraph = false;
    switch (s.form) {
      case Stmt::Form::declare: r += declaration(s, indent); break;
      case Stmt::Form::assign: r += line(text(s.target) + " " + s.text + " " + text(s.value) + ";", indent); break;
      case Stmt::Form::expression: r += line(text(s.value) + ";", indent); break;
      case Stmt::Form::loop: r += loop_text(s, indent); break;
      case Stmt::Form::branch: r += branch_text(s, indent); break;
      case Stmt::Form::comment: r += comment(s.text, indent); break;
      case Stmt::Form::array: r += array_text(s, indent); break;
      case Stmt::Form::scope: r += pad + "{\n" + text(s.body, indent + 2) + pad + "}\n"; break;
      case Stmt::Form::text: r += line(s.text, indent); break;
      case Stmt::Form::blank: break;
    }
  }
  return r;
}

bool reads(const Function& f, const std::string& name) {
  std::set<std::string> used;
  names_in(f.body, used);
  return used.contains(name);
}

std::string text(const Function& f, const std::string& assembly, const std::string& plain) {
  std::set<std::string> used;
  names_in(f.body, used);
  std::string parameters;
  for (const Parameter& p : f.parameters) parameters += (parameters.empty() ? "" : ", ") + (p.of.empty() ? type_text(p.type) : p.of + "&") + (used.contains(p.name) ? " " + p.name : "");
  std::string r = f.comment.empty() ? "" : comment(f.comment);
  // Out of line: a caller's variables must not compete for the registers of a tile.
  const char* inlined = f.step ? "template <int k>\n[[gnu::always_inline]] static inline" : "[[gnu::noinline]]";
  r += wrapped(fmt::format("{} {} {}({}) {{", inlined, type_text(f.result), f.name, parameters), 0) + "\n";
  if (assembly.empty()) return r + text(f.body, 2) + "}\n";
  return r + fmt::format("#if defined({}) || !defined(__x86_64__)\n{}#else\n{}#endif\n}}\n", plain, text(f.body, 2), assembly);
}

}  // namespace attune::emit
