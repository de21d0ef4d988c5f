// What a careful author would have written: one pointer for a place that is used over and over, and
// const where nothing is written.
#include <algorithm>
#include <map>
#include <set>

#include "loops/ir.h"

namespace attune::loops {
namespace {

bool sums(const Expr& e) { return e->form == Expr::Form::binary && (e->text == "+" || e->text == "-"); }
bool pointer(const Expr& e) { return e.type() == Type::in || e.type() == Type::out || e.type() == Type::whole_in; }

Expr root_of(Expr e) {
  while (e->form == Expr::Form::binary || e->form == Expr::Form::element) {
    const Expr inner = e->args[0];
    e = inner;
  }
  return e;
}

// Only for telling one place from another.
std::string text_of_place(const Expr& e) {
  switch (e->form) {
    case Expr::Form::integer: return std::to_string(e->integer);
    case Expr::Form::real: return std::to_string(e->number);
    case Expr::Form::name: return e->text;
    default: break;
  }
  std::string s = e->text + "(";
  for (const Expr& a : e->args) s += text_of_place(a) + ",";
  return s + ")";
}

// A place in a tensor of the kernel, without its constant part; null if `e` is none.
Expr place_of(const Expr& e) {
  if (!sums(e) || !pointer(e)) return {};
  Expr place = e;
  if (e->args[1].constant()) place = e->args[0];
  if (!sums(place)) return {};  // a tensor and a constant
  const Expr root = root_of(place);
  return root->form == Expr::Form::name && root->text.rfind("m.", 0) == 0 ? place : Expr();
}

template <class F>
void each_place(const Expr& e, const F& f) {
  if (!e) return;
  if (const Expr place = place_of(e)) return f(e, place);
  for (const Expr& a : e->args) each_place(a, f);
}
template <class F>
void each_place(const Stmt& s, const F& f) {
  for (const auto& [n, e] : s.names) each_place(e, f);
  each_place(s.target, f);
  each_place(s.value, f);
}

Expr with_pointers(const Expr& e, const std::map<std::string, Expr>& pointers) {
  if (!e) return e;
  if (const Expr place = place_of(e)) {
    const auto found = pointers.find(text_of_place(place));
    if (found != pointers.end()) return e->args[1].constant() ? binary(e->text, found->second, e->args[1], e.type()) : found->second;
  }
  if (e->args.empty()) return e;
  Expr::Tree t = *e;
  for (Expr& a : t.args) a = with_pointers(a, pointers);
  return Expr(std::make_shared<const Expr::Tree>(std::move(t)));
}

bool straight(const Stmt& s) { return s.form == Stmt::Form::declare || s.form == Stmt::Form::assign || s.form == Stmt::Form::expression; }

// Places that the statements of one body use three times or more get a pointer, before the first.
void share(Body& body, std::set<std::string>& taken) {
  for (Stmt& s : body) {
    share(s.body, taken);
    share(s.other, taken);
  }
  std::map<std::string, int> uses;
  for (const Stmt& s : body)
    if (straight(s)) each_place(s, [&](const Expr&, const Expr& place) { ++uses[text_of_place(place)]; });
  std::map<std::string, Expr> pointers;
  for (auto s = body.begin(); s != body.end(); ++s) {
    if (!straight(*s)) continue;
    std::vector<Stmt> before;
    each_place(*s, [&](const Expr&, const Expr& place) {
      const std::string text = text_of_place(place);
      if (uses[text] < 3 || pointers.contains(text)) return;
      const std::string base = root_of(place)->text.substr(2) + "_at";
      std::string n = base;
      for (int i = 1; !taken.insert(n).second; ++i) n = base + std::to_string(i);
      Stmt d;
      d.form = Stmt::Form::declare;
      d.type = place.type();
      d.text = "const";
      d.names = {{n, place}};
      before.push_back(std::move(d));
      pointers[text] = name(n, place.type());
    });
    for (Stmt& d : before) body.insert(s, std::move(d));
    for (auto& [n, e] : s->names) e = with_pointers(e, pointers);
    s->target = with_pointers(s->target, pointers);
    s->value = with_pointers(s->value, pointers);
  }
}

// ---- const ------------------------------------------------------------------------------------

using Names = std::set<std::string>;

// Names that are assigned to, or through which something is stored.
class Writes {
 public:
  explicit Writes(const std::vector<Function>& functions) {
    for (const Function& f : functions) functions_[f.name] = &f;
  }
  Names of(const Body& body) const {
    Names written;
    for (std::size_t before = 1, after = 0; before != after;) {  // a pointer derived from another may be written through
      before = written.size();
      visit(body, written);
      after = written.size();
    }
    return written;
  }

 private:
  std::map<std::string, const Function*> functions_;

  void through(const Expr& e, Names& written) const {
    const std::string& n = root_of(e)->text;
    written.insert(n.substr(0, n.find('.')));
  }
  void visit(const Expr& e, Names& written) const {
    if (!e) return;
    if (e->form == Expr::Form::call) {
      const auto f = functions_.find(e->text.substr(0, e->text.find('<')));
      for (std::size_t i = 0; i < e->args.size(); ++i) {
        const bool stores = (i == 0 && (e->text == "store" || e->text == "store_part")) || (i == 2 && e->text == "transpose_block") || (i >= 2 && (e->text == "load_four_columns" || e->text == "iload_four_columns")) || (i < 2 && e->text.rfind("turn<", 0) == 0);
        const bool passed = f != functions_.end() && i < f->second->parameters.size() && (f->second->parameters[i].type == Type::out || f->second->parameters[i].of == "vec");
        if (stores || passed) through(e->args[i], written);
      }
    }
    for (const Expr& a : e->args) visit(a, written);
  }
  void visit(const Body& body, Names& written) const {
    for (const Stmt& s : body) {
      for (const auto& [n, e] : s.names) {
        visit(e, written);
        if (e && s.type == Type::out && written.contains(n)) through(e, written);
      }
      for (const Expr* e : {&s.value, &s.limit, &s.step}) visit(*e, written);
      if (s.form == Stmt::Form::assign) through(s.target, written);
      visit(s.body, written);
      visit(s.other, written);
    }
  }
};

void mark(Body& body, const Names& written) {
  for (Stmt& s : body) {
    if (s.form == Stmt::Form::declare && std::none_of(s.names.begin(), s.names.end(), [&](const auto& d) { return written.contains(d.first); })) {
      s.text = "const";
      if (s.type == Type::out) s.type = Type::in;
    }
    mark(s.body, written);
    mark(s.other, written);
  }
}

void names_of(const Body& body, Names& names) {
  for (const Stmt& s : body) {
    for (const auto& [n, e] : s.names) names.insert(n);
    names_of(s.body, names);
    names_of(s.other, names);
  }
}

}  // namespace

void tidy(std::vector<Function>& functions) {
  for (Function& f : functions) {
    Names taken;
    names_of(f.body, taken);
    for (const Parameter& p : f.parameters) taken.insert(p.name);
    share(f.body, taken);
  }
  const Writes writes(functions);
  for (Function& f : functions) mark(f.body, writes.of(f.body));
}

}  // namespace attune::loops
