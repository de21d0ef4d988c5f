// The text of a spec, for the comment at the head of its kernels.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "cli/places.h"
#include "cli/specs.h"

namespace attune::cli {

namespace {

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Where `auto NAME = [` begins its line, or npos.
std::size_t definition_of(const std::string& text, const std::string& name) {
  const std::string head = "auto " + name;
  for (std::size_t at = text.find(head); at != std::string::npos; at = text.find(head, at + 1)) {
    const std::size_t next = text.find_first_not_of(" \n", at + head.size());
    if (next == std::string::npos || text[next] != '=') continue;
    const std::size_t value = text.find_first_not_of(" \n", next + 1);
    if (value != std::string::npos && text[value] == '[') return text.rfind('\n', at) + 1;  // npos + 1 is 0
  }
  return std::string::npos;
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
    const std::size_t at = definition_of(text, name);
    if (at != std::string::npos) return definition_at(text, at);
  }
  return {};
}

}  // namespace attune::cli
