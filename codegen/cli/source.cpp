// The text of a spec, for the comment at the head of its kernels.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <utility>
#include <vector>

#include "cli/places.h"
#include "cli/specs.h"

namespace attune::cli {

namespace {

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Every `auto NAME = [`: the name, and where its line begins.
std::vector<std::pair<std::string, std::size_t>> definitions(const std::string& text) {
  static const std::regex definition("\\bauto[ \n]+([A-Za-z_][A-Za-z_0-9]*)[ \n]*=[ \n]*\\[");
  std::vector<std::pair<std::string, std::size_t>> all;
  for (std::sregex_iterator i(text.begin(), text.end(), definition), end; i != end; ++i)
    all.emplace_back((*i)[1], text.rfind('\n', std::size_t(i->position())) + 1);  // npos + 1 is 0
  return all;
}

// With the comment and the template parameters before it, up to the brace that closes it.
std::string definition_at(const std::string& text, std::size_t begin) {
  while (begin > 1) {
    const std::size_t before = text.rfind('\n', begin - 2) + 1;
    const std::string line = text.substr(before, begin - 1 - before);
    if (line.rfind("template", 0) != 0 && line.rfind("//", 0) != 0) break;
    begin = before;
  }
  long depth = 0;
  for (std::size_t i = text.find('{', begin); i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] != '}' || --depth > 0) continue;
    const std::size_t end = text.find('\n', i);
    return text.substr(begin, end == std::string::npos ? end : end - begin);
  }
  return {};
}

}  // namespace

std::string spec_source(const std::string& header, const std::string& expression) {
  std::string name = expression.substr(0, expression.find('<'));
  const std::size_t colons = name.rfind("::");
  if (colons != std::string::npos) name.erase(0, colons + 2);
  std::vector<std::filesystem::path> files;
  if (!header.empty()) {
    files.push_back(header);
  } else {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(places().zoo, none)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
  }
  for (const auto& file : files) {
    const std::string text = text_of_file(file);
    for (const auto& [defined, at] : definitions(text))
      if (defined == name) return definition_at(text, at);
  }
  return {};
}

std::vector<std::string> specs_in(const std::string& header) {
  const std::string text = text_of_file(header);
  std::vector<std::string> names;
  for (const auto& [name, at] : definitions(text))
    if (text[at] != ' ' && text[at] != '\t') names.push_back(name);  // no lambda inside of a spec
  return names;
}

}  // namespace attune::cli
