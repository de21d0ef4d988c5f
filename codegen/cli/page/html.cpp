#include "cli/page/html.h"

#include <fmt/format.h>

namespace attune::cli::page {

std::string escaped(std::string_view text) {
  std::string r;
  for (const char c : text) switch (c) {
      case '&': r += "&amp;"; break;
      case '<': r += "&lt;"; break;
      case '>': r += "&gt;"; break;
      case '"': r += "&quot;"; break;
      case '\'': r += "&#39;"; break;
      default: r += c;
    }
  return r;
}

std::string bytes_text(long bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  return bytes < 1L << 20 ? fmt::format("{:.3g} kB", double(bytes) / 1024) : fmt::format("{:.4g} MB", double(bytes) / (1L << 20));
}

std::string element(std::string_view name, std::string_view text, std::string_view of_class) {
  return fmt::format("<{}{}>{}</{}>", name, of_class.empty() ? "" : fmt::format(" class=\"{}\"", of_class), escaped(text), name);
}

std::string folded(std::string_view title, const std::string& inside, bool open) {
  return fmt::format("<details{}><summary>{}</summary>\n{}</details>\n", open ? " open" : "", escaped(title), inside);
}

}  // namespace attune::cli::page
