#include "cli/page/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/page/html.h"
#include "emit/template.h"
#include "graph/print.h"

namespace attune::cli::page {

extern const char* const page_text;  // page.html.in

static std::string arguments(const Interface& i) {
  std::string rows;
  const auto add = [&](const char* kind, const std::vector<Argument>& some) {
    for (const Argument& a : some) rows += fmt::format("<tr><th>{}</th><td class=\"words\">{}</td><td class=\"words\">{} {}</td></tr>\n", element("code", a.name), kind, a.integers ? "int32" : "float32", text_of(a.dims));
  };
  add("input", i.inputs);
  add("weight", i.weights);
  add("output", i.outputs);
  return "<div class=\"wide\"><table><tbody>\n" + rows + "</tbody></table></div>\n";
}

static std::string decided_on(const Decided& d, const Interface& i, const Measured* timed) {
  std::string schedule;
  for (const Decided::Region& r : d.regions)
    if (r.schedule != r.title + ": ") schedule += element("li", r.schedule) + "\n";  // else there was nothing to decide
  std::string r = fmt::format("<h3>Loops, tiles and registers</h3>\n<ol>\n{}</ol>\n<h3>Time by the model</h3>\n<p>On one core with {}.</p>\n{}", schedule, escaped(text_of(d.machine)), time_by_the_model(d));
  if (timed) r += "<h3>Predicted and measured</h3>\n" + time_measured(*timed);
  if (const std::string roof = roofline(d, timed); !roof.empty()) r += "<h3>What bounds it</h3>\n" + roof;
  return r + "<h3>Memory</h3>\n" + memory(i, d);
}

std::string page(const Spec& spec, const GenerateOptions& options, const std::vector<Decided>& all, const std::vector<Measured>& timed) {
  const Interface interface = interface_of(spec.graph);
  std::string masks, isas;
  for (const MaskMap& m : mask_maps(spec.graph, 64)) masks += mask_picture(m);
  if (masks.empty()) masks = "<p>Every score counts: this spec has no mask.</p>\n";
  for (auto d = all.rbegin(); d != all.rend(); ++d) {
    const auto m = std::find_if(timed.begin(), timed.end(), [&](const Measured& one) { return one.isa == d->isa; });
    isas += folded(d->isa, decided_on(*d, interface, m == timed.end() ? nullptr : &*m), d == all.rbegin());
  }
  const std::string source = spec.source.empty() ? "" : folded("The spec as it is written", element("pre", spec.source), true);
  return emit::filled(page_text, {{"spec", escaped(spec.expression)},
                                  {"flops", fmt::format("{:.4g}", flops_of(spec.graph) / 1e6)},
                                  {"command", escaped(options.command)},
                                  {"version", ATTUNE_VERSION},
                                  {"arguments", arguments(interface)},
                                  {"source", source},
                                  {"graph", graph_picture(spec.graph)},
                                  {"listing", folded("The same as text", element("pre", to_text(spec.graph)))},
                                  {"masks", masks},
                                  {"isas", isas},
                                  {"code", code(spec.graph, options, all)}});
}

}  // namespace attune::cli::page
