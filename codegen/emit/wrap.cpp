// Where a long line is broken: after the comma or operator that lies in the fewest brackets and binds least, so
// that what belongs together stays together, and clang-format has nothing to move.
#include <algorithm>
#include <optional>
#include <vector>

#include "emit/print.h"

namespace attune::emit {

namespace {

struct Break {
  std::size_t at;  // where the next line begins
  int rank;        // by the brackets around it, then by precedence: the least is broken first
  bool assigns;
};

std::vector<Break> breaks_of(const std::string& s) {
  std::vector<Break> r;
  int depth = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    if (c == '"') {
      i = s.find('"', i + 1);
      if (i == std::string::npos) break;
    } else if (c == '/' && s.compare(i, 2, "//") == 0) {
      break;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ' ' && i > 0) {
      const std::size_t word = s.find_last_of(" ([{", i - 1) + 1;
      const std::string before = s.substr(word, i - word);
      const bool assigns = depth == 0 && (before == "=" || before == "+=" || before == "*=");
      const int precedence = assigns || s[i - 1] == ',' || s[i - 1] == ';' ? 0 : before == "||" ? 1 : before == "&&" ? 2 : before == "+" || before == "-" ? 3 : -1;
      if (precedence >= 0) r.push_back({i + 1, 4 * depth + precedence, assigns});
    }
  }
  return r;
}

// Where the second call in f(g(.. begins: what is broken inside of g is indented from there.
std::size_t second_call(const std::string& s) {
  const std::size_t outer = s.find('(');
  return outer == std::string::npos || s.find('(', outer + 1) == std::string::npos ? 0 : outer + 1;
}

// Lines of `s`, the first one at column `at`, the others at `more`.
void wrap(const std::string& s, std::size_t at, std::size_t more, std::size_t columns, std::vector<std::string>& lines) {
  const auto pad = [](std::size_t n) { return std::string(n, ' '); };
  std::vector<Break> breaks = breaks_of(s);
  if (at + s.size() <= columns || breaks.empty()) {
    lines.push_back(pad(at) + s);
    return;
  }
  const auto least = [&] { return std::min_element(breaks.begin(), breaks.end(), [](const Break& a, const Break& b) { return a.rank < b.rank; })->rank; };
  const auto assign = std::find_if(breaks.begin(), breaks.end(), [&](const Break& b) { return b.assigns; });
  if (assign != breaks.end() && assign->rank == least()) {
    // The right side on lines of its own, if that is one line, or if not even its first piece fits here.
    std::vector<Break> right(assign + 1, breaks.end());
    const auto first = std::min_element(right.begin(), right.end(), [](const Break& a, const Break& b) { return a.rank < b.rank; });
    if (more + s.size() - assign->at <= columns || (first != right.end() && at + first->at - 1 > columns)) {
      lines.push_back(pad(at) + s.substr(0, assign->at - 1));
      wrap(s.substr(assign->at), more, more + 4, columns, lines);
      return;
    }
  }
  breaks.erase(std::remove_if(breaks.begin(), breaks.end(), [](const Break& b) { return b.assigns; }), breaks.end());
  if (breaks.empty()) {
    lines.push_back(pad(at) + s);
    return;
  }
  const int rank = least();
  std::string line = pad(at);
  std::size_t begin = 0;
  const auto place = [&](const std::string& piece) {
    const bool fresh = line.find_first_not_of(' ') == std::string::npos;
    if (line.size() + (fresh ? 0 : 1) + piece.size() <= columns) {
      line += (fresh ? "" : " ") + piece;
      return;
    }
    if (!fresh) lines.push_back(line);
    line = pad(fresh ? line.size() : more);
    if (line.size() + piece.size() <= columns) {
      line += piece;
      return;
    }
    wrap(piece, line.size(), line.size() + (begin == 0 ? second_call(piece) : 0) + 4, columns, lines);
    line = pad(more);
  };
  for (const Break& b : breaks) {
    if (b.rank != rank) continue;
    place(s.substr(begin, b.at - 1 - begin));
    begin = b.at;
  }
  place(s.substr(begin));
  if (line.find_first_not_of(' ') != std::string::npos) lines.push_back(line);
}

}  // namespace

std::string wrapped(const std::string& statement, int indent, int columns) {
  std::vector<std::string> lines;
  wrap(statement, std::size_t(indent), std::size_t(indent) + 4, std::size_t(columns), lines);
  std::string r;
  for (const std::string& l : lines) r += (r.empty() ? "" : "\n") + l;
  return r;
}

std::string comment(const std::string& prose, int indent) {
  constexpr std::size_t columns = 100;
  const std::string head = std::string(std::size_t(indent), ' ') + "//";
  const std::string more = prose.rfind("- ", 0) == 0 ? head + "  " : head;
  std::string r, at = head;
  std::size_t i = 0;
  while (i < prose.size()) {
    const std::size_t end = std::min(prose.find(' ', i), prose.size());
    const std::string word = prose.substr(i, end - i);
    if (at.size() + 1 + word.size() > columns && at != head) {
      r += at + "\n";
      at = more;
    }
    at += " " + word;
    i = end + 1;
  }
  return r + at + "\n";
}

std::string with_comments(const std::vector<std::pair<std::string, std::string>>& lines) {
  std::size_t width = 0;
  for (const auto& [code, note] : lines)
    if (!note.empty()) width = std::max(width, code.size());
  std::string r;
  for (const auto& [code, note] : lines) r += note.empty() ? code + "\n" : code + std::string(width - code.size(), ' ') + "  // " + note + "\n";
  return r;
}

}  // namespace attune::emit
