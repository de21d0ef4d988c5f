#include "cli/specs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <numeric>
#include <utility>

#include "graph/verify.h"
#include "lower.h"

namespace attune::cli {

namespace {
bool in_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string base_of(const std::string& expression) { return expression.substr(0, expression.find('<')); }

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t(0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t least = std::min({row[j] + 1, row[j + 1] + 1, diagonal + (a[i] != b[j])});
      diagonal = std::exchange(row[j + 1], least);
    }
  }
  return row.back();
}

bool is_header(const std::string& target) {
  const std::string extension = std::filesystem::path(target).extension().string();
  return extension == ".h" || extension == ".hpp" || extension == ".hh" || extension == ".hxx";
}

std::vector<Spec> all_specs() {
  std::vector<Spec> all = named_specs();
  for (const auto* some : {&model_specs(), &variant_specs()}) all.insert(all.end(), some->begin(), some->end());
  return all;
}

[[noreturn]] void unknown(const std::string& expression) {
  const std::vector<Spec> all = all_specs();
  const Spec* nearest = nullptr;
  std::size_t least = 0;
  std::string list;
  for (const Spec& s : all) {
    // The template's name says more than its sizes, and a part of the name is no typing mistake.
    const std::string base = base_of(expression), other = base_of(s.expression);
    const std::size_t d = (other.find(base) == std::string::npos ? 1000 * edit_distance(base, other) : 0) + edit_distance(expression, s.expression);
    if (!nearest || d < least) {
      nearest = &s;
      least = d;
    }
    list += "\n  " + s.expression;
  }
  throw Error(fmt::format("there is no spec '{}'{} There are{}\nor an instance of their templates with other sizes, or a header of yours: attune gen my.h --spec 'my_attention<512>'",
                          expression, nearest ? fmt::format("; did you mean '{}'?", nearest->expression) : ".", list));
}

// Compiled, and sound where the compiler can't tell, as in a reduction's algebra.
Graph graph_of(const std::string& header, const std::string& expression, const Compiling& how) {
  Graph g = compile_spec(header, expression, how);
  try {
    verify(g);
  } catch (const InvalidGraph& e) {
    throw Error(fmt::format("{}: {}", expression, e.what()));
  }
  return g;
}

// A name that a header does not know is answered with those that it defines.
Graph graph_in(const std::string& header, const std::string& expression, const Compiling& how) try {
  return graph_of(header, expression, how);
} catch (const Error& e) {
  const std::string base = base_of(expression), said = e.what();
  const bool unknown_name = said.find("'" + base + "' was not declared") != std::string::npos || said.find("undeclared identifier '" + base + "'") != std::string::npos;
  const std::vector<std::string> defined = unknown_name ? specs_in(header) : std::vector<std::string>();
  if (defined.empty()) throw;
  const std::string& nearest = *std::min_element(defined.begin(), defined.end(), [&](const std::string& a, const std::string& b) { return edit_distance(base, a) < edit_distance(base, b); });
  throw Error(fmt::format("there is no spec '{}' in {}; did you mean '{}{}'? It defines {}", base, header, nearest, expression.substr(base.size()), fmt::join(defined, ", ")));
}

// No named spec is meant: another instance of a zoo template, or a mistake.
Spec instance(const std::string& expression, const Compiling& how) {
  if (expression.find('<') == std::string::npos) unknown(expression);
  const std::string base = base_of(expression);
  const std::vector<Spec> all = all_specs();
  const bool known = std::any_of(all.begin(), all.end(), [&](const Spec& s) { return base_of(s.expression) == base; });
  try {
    return {expression, "", "", graph_of("", expression, how), spec_source("", expression)};
  } catch (const Error&) {
    if (!known) unknown(expression);
    throw;
  }
}

std::vector<Spec> resolve(const Wanted& w, bool several) {
  if (!w.expression.empty()) {
    if (!is_header(w.target) && !std::filesystem::exists(w.target)) throw Error(fmt::format("--spec '{}' needs the header that defines it: attune gen my.h --spec '{}'", w.expression, w.expression));
    const std::string expression = canonical(w.expression);
    return {{expression, "", std::filesystem::path(w.target).filename().string(), graph_in(w.target, expression, w.compiling), spec_source(w.target, expression)}};
  }
  if (is_header(w.target)) {
    if (!is_file(w.target)) throw Error(fmt::format("there is no file {}", w.target));
    const std::vector<std::string> defined = specs_in(w.target);
    throw Error(fmt::format("which spec of {}? Say --spec '{}', with its sizes in <> if it has any{}", w.target, defined.empty() ? "my_attention<512>" : defined[0], defined.size() < 2 ? "" : fmt::format("; it defines {}", fmt::join(defined, ", "))));
  }
  std::string expression = canonical(w.target);
  if (expression.rfind("zoo::", 0) == 0) expression.erase(0, 5);

  const std::vector<Spec> all = expression.empty() ? named_specs() : all_specs();
  std::vector<Spec> begin_so;
  for (const Spec& s : all) {
    if (s.expression == expression) return {s};
    if (s.expression.rfind(expression, 0) == 0) begin_so.push_back(s);
  }
  if (expression.empty() && !several) unknown(expression);
  if (begin_so.empty()) return {instance(expression, w.compiling)};
  if (begin_so.size() > 1 && !several) {
    std::string list;
    for (const Spec& s : begin_so) list += "\n  " + s.expression;
    throw Error(fmt::format("'{}' could be any of{}", expression, list));
  }
  return begin_so;
}
}  // namespace

bool is_file(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path, none) && !std::filesystem::is_directory(path, none);
}

Spec one_spec(const Wanted& w) { return resolve(w, false).front(); }
std::vector<Spec> some_specs(const Wanted& w) { return resolve(w, true); }

std::string canonical(const std::string& expression) {
  std::string c;
  bool blank = false;
  for (char x : expression) {
    if (std::isspace(static_cast<unsigned char>(x))) {
      blank = true;
      continue;
    }
    if (blank && !c.empty() && in_identifier(c.back()) && in_identifier(x)) c += ' ';
    blank = false;
    c += x;
  }
  return c;
}

std::string kernel_name(const std::string& expression) {
  const std::string base = base_of(expression);
  const std::size_t colons = base.rfind("::");
  std::string name;
  for (char c : expression.substr(colons == std::string::npos ? 0 : colons + 2)) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

}  // namespace attune::cli
