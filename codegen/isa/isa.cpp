// Look-up of ISAs and the text of a prelude.
#include "isa/isa.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>

#include "isa/tables.h"

namespace attune {
namespace {

const std::vector<Isa>& all() {
  static const std::vector<Isa> isas{portable_isa(), avx2_isa(), avx512_isa()};
  return isas;
}

// The identifiers of a text, without those in its // comments.
std::set<std::string> identifiers(const std::string& text) {
  std::set<std::string> found;
  for (size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
    } else if (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_') {
      size_t begin = i;
      while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_')) ++i;
      found.insert(text.substr(begin, i - begin));
    } else {
      ++i;
    }
  }
  return found;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::vector<OpText> table(std::initializer_list<std::vector<OpText>> parts) {
  std::vector<OpText> ops;
  for (const auto& part : parts) ops.insert(ops.end(), part.begin(), part.end());
  for (OpText& op : ops) {
    std::set<std::string> words = identifiers(op.text);
    for (const OpText& other : ops)
      if (other.name != op.name && words.count(other.name)) op.needs.push_back(other.name);
  }
  return ops;
}

std::vector<std::string> isa_names() {
  std::vector<std::string> names;
  for (const Isa& isa : all()) names.push_back(isa.name);
  return names;
}

const Isa& isa(std::string_view name) {
  for (const Isa& isa : all())
    if (isa.name == name) return isa;
  throw std::out_of_range("there is no ISA '" + std::string(name) + "'; there are " + joined(isa_names()));
}

std::string prelude(const Isa& isa, const std::set<std::string>& used) {
  std::map<std::string, const OpText*> by_name;
  for (const OpText& op : isa.ops) by_name[op.name] = &op;
  std::set<std::string> wanted;
  std::vector<std::string> open(used.begin(), used.end());
  while (!open.empty()) {
    std::string name = open.back();
    open.pop_back();
    if (!wanted.insert(name).second) continue;
    auto found = by_name.find(name);
    if (found == by_name.end()) throw std::out_of_range("ISA " + isa.name + " has no op \"" + name + "\"");
    open.insert(open.end(), found->second->needs.begin(), found->second->needs.end());
  }
  // Ops of one line stand together, the others apart.
  std::string text;
  bool line_before = false;
  for (const OpText& op : isa.ops) {
    if (!wanted.count(op.name) || op.text.empty()) continue;
    const bool line = std::count(op.text.begin(), op.text.end(), '\n') == 1;
    if (!text.empty() && !(line && line_before)) text += "\n";
    text += op.text;
    line_before = line;
  }
  return text;
}

bool host_supports(std::string_view name) {
  return std::any_of(all().begin(), all().end(), [&](const Isa& isa) { return isa.name == name && isa.cpu_test.here(); });
}

std::string fastest_isa() {
  std::string fastest;
  for (const Isa& isa : all())
    if (isa.cpu_test.here()) fastest = isa.name;
  return fastest;
}

}  // namespace attune
