#include <fmt/format.h>

#include "cli/page/html.h"
#include "cli/page/page.h"

namespace attune::cli::page {

static long bytes_of(const std::vector<Argument>& arguments) {
  long bytes = 0;
  for (const Argument& a : arguments) bytes += 4 * a.dims.size();
  return bytes;
}

// The nearest level that holds so much.
static const char* level(long bytes, const Machine& m) { return bytes <= m.l1_bytes ? "L1" : bytes <= m.l2_bytes ? "L2" : "beyond L2"; }

std::string memory(const Interface& i, const Decided& d) {
  std::string r = "<div class=\"wide\"><table><thead><tr><th>what there is</th><th>bytes</th><th></th><th class=\"words\">fits</th><th></th></tr></thead><tbody>\n";
  const auto row = [&](const char* what, long bytes, const char* note) {
    if (bytes > 0) r += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td><td class=\"words\">{}</td><td class=\"words\">{}</td></tr>\n", what, bytes, bytes < 1024 ? "" : bytes_text(bytes), level(bytes, d.machine), note);
  };
  row("inputs", bytes_of(i.inputs), "read where they lie");
  row("outputs", bytes_of(i.outputs), "written where they lie");
  row("weights", bytes_of(i.weights), "read by pack_weights alone");
  row("packed weights", d.packed_bytes, "in the order in which tiles read them");
  row("workspace", d.workspace_bytes, "what one region hands to another");
  row("and for each worker", d.worker_bytes, "scores and the state of rows, which lie nowhere else");
  r += "</tbody></table></div>\n";
  std::string traffic;
  for (const Decided::Region& g : d.regions) {
    if (!g.account || g.account->total() == 0) continue;  // not known, or no part of a call
    const auto a_byte = [&](long bytes) { return bytes > 0 && g.flops > 0 ? fmt::format("{:.3g}", g.flops / double(bytes)) : std::string(); };
    traffic += fmt::format("<tr><th>{}</th><td>{:.4g}</td>", escaped(g.title), g.flops / 1e6);
    for (const long bytes : {g.account->traffic.l2, g.account->traffic.memory}) traffic += fmt::format("<td>{}</td><td>{}</td>", bytes ? bytes_text(bytes) : "none", a_byte(bytes));
    traffic += "</tr>\n";
  }
  if (traffic.empty()) return r;
  return r + "<div class=\"wide\"><table><thead><tr><th>what moves in a call, by the model</th><th>MFLOP</th><th>from L2</th><th>FLOP a byte</th><th>from beyond L2</th><th>FLOP a byte</th></tr></thead><tbody>\n" + traffic + "</tbody></table></div>\n";
}

}  // namespace attune::cli::page
