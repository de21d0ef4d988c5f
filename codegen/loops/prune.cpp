#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "loops/ir.h"

namespace attune::loops {
namespace {

using Names = std::set<std::string, std::less<>>;

void read_names(const Expr& e, Names& names) {
  if (!e) return;
  if (e->form == Expr::Form::name) names.insert(e->text.substr(0, e->text.find('.')));  // m.x reads m
  for (const Expr& a : e->args) read_names(a, names);
}

void words_of(const std::string& text, Names& names) {
  std::string word;
  for (char c : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') word += c;
    else if (!word.empty()) names.insert(std::exchange(word, {}));
  }
}

void read_names(const Body& body, Names& names);
void read_names(const Stmt& s, Names& names) {
  for (const auto& [n, e] : s.names) read_names(e, names);
  for (const Expr* e : {&s.target, &s.value, &s.limit, &s.step}) read_names(*e, names);
  if (s.form == Stmt::Form::text) words_of(s.text, names);
  read_names(s.body, names);
  read_names(s.other, names);
}
void read_names(const Body& body, Names& names) {
  for (const Stmt& s : body) read_names(s, names);
}

// From the last statement up: a name is read only by what follows in the same body. Another body
// may hold the same name.
bool drop_unread(Body& body) {
  bool changed = false;
  Names read;
  for (auto at = body.end(); at != body.begin();) {
    Stmt& s = *--at;
    changed |= drop_unread(s.body) | drop_unread(s.other);
    const bool variable = s.form == Stmt::Form::declare && std::none_of(s.names.begin(), s.names.end(), [&](const auto& n) { return read.contains(n.first); });
    const bool table = s.form == Stmt::Form::array && !read.contains(s.text);
    const bool empty = (s.form == Stmt::Form::loop || s.form == Stmt::Form::branch) && s.body.empty() && s.other.empty();
    if (variable || table || empty) {
      at = body.erase(at);
      changed = true;
    } else {
      read_names(s, read);
    }
  }
  return changed;
}

using Dropped = std::map<std::string, std::vector<char>, std::less<>>;  // function -> which arguments go

Expr without(const Expr& e, const Dropped& dropped) {
  if (!e || e->args.empty()) return e;
  Expr::Tree t = *e;
  const auto it = e->form == Expr::Form::call ? dropped.find(e->text) : dropped.end();
  t.args.clear();
  for (std::size_t i = 0; i < e->args.size(); ++i)
    if (it == dropped.end() || !it->second[i]) t.args.push_back(without(e->args[i], dropped));
  return Expr(std::make_shared<const Expr::Tree>(std::move(t)));
}

void drop_arguments(Body& body, const Dropped& dropped) {
  for (Stmt& s : body) {
    for (auto& [n, e] : s.names) e = without(e, dropped);
    for (Expr* e : {&s.target, &s.value, &s.limit, &s.step}) *e = without(*e, dropped);
    drop_arguments(s.body, dropped);
    drop_arguments(s.other, dropped);
  }
}

}  // namespace

void prune(std::vector<Function>& functions) {
  for (bool changed = true; changed;) {
    changed = false;
    Dropped dropped;
    for (Function& f : functions) {
      changed |= drop_unread(f.body);
      if (f.fixed) continue;
      Names read;
      read_names(f.body, read);
      std::vector<char> goes;
      for (const Parameter& p : f.parameters) goes.push_back(!read.contains(p.name));
      if (std::find(goes.begin(), goes.end(), 1) == goes.end()) continue;
      changed = true;
      std::vector<Parameter> kept;
      for (std::size_t i = 0; i < goes.size(); ++i)
        if (!goes[i]) kept.push_back(f.parameters[i]);
      f.parameters = kept;
      dropped[f.name] = goes;
    }
    for (Function& f : functions) drop_arguments(f.body, dropped);
  }
}

}  // namespace attune::loops
