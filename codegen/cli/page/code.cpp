// The micro-kernel that takes the most, as C++ and as what the compiler of this machine makes of it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "cli/host/compiler.h"
#include "cli/host/process.h"
#include "cli/host/terminal.h"
#include "cli/page/html.h"
#include "cli/page/page.h"

namespace attune::cli::page {
namespace {

// A function's machine code, and in it the innermost loop that multiplies and adds most.
struct Assembly {
  std::string name;
  std::vector<std::string> lines;   // without addresses,
  std::vector<long> offsets;        // which are so far behind the first
  std::size_t first = 0, last = 0;  // of the loop
  long products = 0;
  long tile = 0;  // elements of it
};

bool multiplies(const std::string& line) {
  static const std::regex products("^(vfn?m(add|sub)[0-9]+ps|v?mulps|fmla|fmul)\\b");
  return std::regex_search(line, products);
}

// A line as people want it: targets of jumps are offsets in the function, and no comments.
std::string readable(const std::string& line) {
  static const std::regex target("[0-9a-f]+ <.*\\+0x([0-9a-f]+)>"), comment("\\s+#.*");
  return std::regex_replace(std::regex_replace(line, comment, ""), target, "$1");
}

// Where it jumps to, as objdump writes it: "jne    1a40 <name+0x40>"; "" of other lines.
std::string jumps_to(const std::string& line) {
  static const std::regex jump("^(?:j|b\\.|cbn?z|tbn?z)\\S*\\s+(?:.*,\\s*)?([0-9a-f]+) <");
  std::smatch m;
  return std::regex_search(line, m, jump) ? m[1].str() : "";
}

void find_loop(Assembly& a, const std::map<std::string, std::size_t>& at) {
  std::vector<std::pair<std::size_t, std::size_t>> loops;
  for (std::size_t i = 0; i < a.lines.size(); ++i)
    if (const auto to = at.find(jumps_to(a.lines[i])); to != at.end() && to->second <= i) loops.emplace_back(to->second, i);
  for (const auto& [first, last] : loops) {
    const bool inner = std::none_of(loops.begin(), loops.end(), [&, first = first, last = last](const auto& l) { return l.first >= first && l.second <= last && l != std::pair(first, last); });
    const long products = std::count_if(a.lines.begin() + long(first), a.lines.begin() + long(last) + 1, multiplies);
    if (!inner || products <= a.products) continue;
    a.first = first;
    a.last = last;
    a.products = products;
  }
}

// The definition of a function with the comment above it: up to the brace in the first column. "" if there is none.
std::string definition(const std::string& text, const std::string& function) {
  const std::string call = " " + function + "(";
  for (std::size_t found = text.find(call); found != std::string::npos; found = text.find(call, found + 1)) {
    std::size_t begin = text.rfind("\n\n", found);
    const std::size_t brace = text.find("\n}\n", found), semicolon = text.find(';', found), open = text.find("{\n", found), line = text.rfind('\n', found);
    if (begin == std::string::npos || brace == std::string::npos || open > semicolon || text[line + 1] == ' ') continue;
    begin += 2;
    return text.substr(begin, brace + 2 - begin) + "\n";
  }
  return {};
}

// Where the functions of the region are that takes the most by the model: behind those of the region before, up to
// the one that has the region's name. All of the text if the model doesn't know.
std::string hottest_part(const std::string& text, const Decided& d) {
  const auto time = [](const Decided::Region& r) { return r.account ? r.account->total() : 0; };
  const auto hot = std::max_element(d.regions.begin(), d.regions.end(), [&](const auto& a, const auto& b) { return time(a) < time(b); });
  const auto end_of = [&](const Decided::Region& r) {
    const std::string whole = definition(text, r.title);
    return whole.empty() ? 0 : text.find(whole) + whole.size();
  };
  if (hot == d.regions.end() || time(*hot) == 0 || end_of(*hot) == 0) return text;
  std::size_t begin = 0;
  for (const Decided::Region& r : d.regions)
    if (const std::size_t end = end_of(r); end < end_of(*hot)) begin = std::max(begin, end);
  return text.substr(begin, end_of(*hot) - begin);
}

// Of objdump's text the micro-kernel of `part` with the largest tile, of equal ones that with most multiply-adds in its
// loop; those of the safe path, with holes, are not hot.
Assembly hottest_tile(const std::string& text, const std::string& part) {
  static const std::regex micro_kernel("::([A-Za-z0-9_]+_([0-9]+)x([0-9]+))\\(");
  Assembly best, now;
  std::map<std::string, std::size_t> at;
  long start = 0;
  const auto close = [&] {
    find_loop(now, at);
    if (now.products > 0 && std::pair(now.tile, now.products) > std::pair(best.tile, best.products)) best = now;
    now = {};
    at.clear();
  };
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::smatch m;
    if (!line.empty() && line.back() == ':' && line.find('<') != std::string::npos) {
      close();
      if (std::regex_search(line, m, micro_kernel) && !definition(part, m[1]).empty()) {
        now.name = m[1];
        now.tile = std::stol(m[2]) * std::stol(m[3]);
      }
    } else if (const std::size_t colon = line.find(":\t"); !now.name.empty() && colon != std::string::npos) {
      const std::size_t digits = line.find_first_not_of(' ');
      const std::string address = line.substr(digits, colon - digits);
      const long where = std::stol(address, nullptr, 16);
      if (now.lines.empty()) start = where;
      at[address] = now.lines.size();
      now.lines.push_back(line.substr(colon + 2));
      now.offsets.push_back(where - start);
    }
  }
  close();
  return best;
}

// With the step that it calls, where that is a function of its own.
std::string source_of(const std::string& text, const std::string& function) {
  const std::string whole = definition(text, function);
  static const std::regex step("\\b([A-Za-z0-9_]+_step_[0-9]+x[0-9]+)<");
  std::smatch m;
  return std::regex_search(whole, m, step) ? definition(text, m[1]) + "\n" + whole : whole;
}

// Of those that are wanted the one that this CPU prefers; if it runs none, the last: machine code is shown, not run.
std::string isa_to_show(const std::vector<std::string>& isas) {
  std::string r = isas.back();
  for (const std::string& isa : isas)
    if (host_supports(isa)) r = isa;
  return r;
}

std::string missing(const std::string& why) { return element("p", "There is no machine code to show: " + why, "missing"); }

}  // namespace

std::string code(const Graph& graph, const GenerateOptions& options, const std::vector<Decided>& all) {
  GenerateOptions o = options;
  o.isas = {isa_to_show(options.isas)};
  const std::string& isa = o.isas[0];
  const host::TemporaryFolder folder;
  std::filesystem::path unit;
  std::string text;
  for (const SourceFile& f : generate(graph, o)) {
    host::write_whole(folder.path() / f.name, f.text);
    if (f.name != fmt::format("{}_{}.cpp", o.name, isa)) continue;
    unit = folder.path() / f.name;
    text = f.text;
  }
  const std::filesystem::path library = folder.path() / "kernel.so";
  host::progress(fmt::format("compiling the kernel for {}", isa));
  try {
    if (const host::Built b = host::build_shared({unit}, library, {"-std=c++17", "-O2"}); !b.ok) return missing(fmt::format("the {} kernel does not compile here ({}).", isa, b.first_error()));
  } catch (const host::NoCompiler& e) {
    return missing(e.what());
  }
  const host::Finished dump = host::run({"objdump", "-d", "--no-show-raw-insn", "-C", library.string()});
  host::progress("");
  if (dump.status != 0) return missing(dump.status == 127 ? "there is no objdump; install binutils." : fmt::format("objdump failed ({}).", dump.output.substr(0, dump.output.find('\n'))));
  const auto here = std::find_if(all.begin(), all.end(), [&](const Decided& d) { return d.isa == isa; });
  const Assembly a = hottest_tile(dump.output, hottest_part(text, *here));
  if (a.products == 0) return missing(fmt::format("no loop of the {} kernel multiplies vectors.", isa));
  std::string loop, whole;
  for (std::size_t i = 0; i < a.lines.size(); ++i) {
    const std::string line = fmt::format("{:5x}  {}\n", a.offsets[i], readable(a.lines[i]));
    whole += line;
    if (i >= a.first && i <= a.last) loop += line;
  }
  std::string r = fmt::format("<p>For {}: <code>{}</code>, the largest tile of what takes most of the time by the model, as {} -O2 compiles it. {} of the loop's {} instructions multiply.</p>\n", isa, a.name, escaped(host::compiler()[0]), a.products, a.last - a.first + 1);
  return r + fmt::format("<div class=\"beside\"><div><h3>C++</h3>{}</div><div><h3>Machine code of the loop</h3>{}{}</div></div>\n", element("pre", source_of(text, a.name)), element("pre", loop), folded("The whole function", element("pre", whole)));
}

}  // namespace attune::cli::page
