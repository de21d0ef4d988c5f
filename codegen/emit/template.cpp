#include "emit/template.h"

namespace attune::emit {

std::string filled(std::string_view text, const std::map<std::string_view, std::string>& values) {
  std::string r;
  while (!text.empty()) {
    const std::size_t at = text.find('@'), end = at == text.npos ? text.npos : text.find('@', at + 1);
    r += text.substr(0, at);
    if (end == text.npos) return r += at == text.npos ? "" : text.substr(at);
    const auto value = values.find(text.substr(at + 1, end - at - 1));
    r += value == values.end() ? text.substr(at, end - at) : value->second;
    text.remove_prefix(value == values.end() ? end : end + 1);
  }
  return r;
}

}  // namespace attune::emit
