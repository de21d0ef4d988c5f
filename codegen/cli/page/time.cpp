#include <fmt/format.h>

#include <algorithm>

#include "cli/page/html.h"
#include "cli/page/page.h"
#include "schedule/plan.h"

namespace attune::cli::page {
namespace {

struct Part {
  const char *name, *says;
  long Account::*time;
};
constexpr Part parts[]{
    {"products", "multiply-adds of the products", &Account::products},
    {"weights", "exponentials and what else becomes of single elements", &Account::weights},
    {"loads", "what loads from L1 add", &Account::loads},
    {"L2", "what traffic from L2 adds", &Account::l2},
    {"memory", "what traffic from beyond L2 adds", &Account::memory},
    {"latency", "sums that wait for themselves", &Account::latency},
    {"tiles", "entering and leaving tiles", &Account::tiles},
    {"rows", "rows turned, results scaled", &Account::rows}};

double kilocycles(long thousandths) { return double(thousandths) / 1e6; }

std::string bar(const std::string& title, const Account& a, long longest) {
  std::string r;
  double x = 0;
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    const double width = 100.0 * double(a.*parts[i].time) / double(longest);
    if (width > 0) r += fmt::format("<rect class=\"p{}\" x=\"{:.3f}%\" width=\"{:.3f}%\" height=\"22\"><title>{} {:.1f}</title></rect>", i, x, width, parts[i].name, kilocycles(a.*parts[i].time));
    x += width;
  }
  return fmt::format("<div class=\"bar\">{}<svg width=\"100%\" height=\"22\" role=\"img\" aria-label=\"Parts of the time\">{}</svg></div>\n", element("code", title), r);
}

std::string row(const std::string& title, const Account& a, double flops, double flops_a_cycle) {
  std::string r = fmt::format("<tr><th>{}</th><td>{:.1f}</td><td>{:.1f}</td>", escaped(title), kilocycles(a.total()), percent_of_peak(a, flops, flops_a_cycle));
  for (const Part& p : parts) r += fmt::format("<td>{:.1f}</td>", kilocycles(a.*p.time));
  return r + element("td", bound(a), "words") + "</tr>\n";
}

}  // namespace

std::string time_by_the_model(const Decided& d) {
  std::string bars, rows, key;
  long longest = 1;
  for (const Decided::Region& r : d.regions)
    if (r.account) longest = std::max(longest, r.account->total());
  Account all;
  double flops = 0;
  int known = 0;
  for (const Decided::Region& r : d.regions) {
    if (!r.account) {
      rows += fmt::format("<tr><th>{}</th><td>not known</td><td colspan=\"{}\"></td></tr>\n", escaped(r.title), std::size(parts) + 2);
      continue;
    }
    if (r.account->total() == 0) continue;  // no part of a call
    bars += bar(r.title, *r.account, longest);
    rows += row(r.title, *r.account, r.flops, d.flops_a_cycle);
    all += *r.account;
    flops += r.flops;
    ++known;
  }
  if (known > 1) rows += row("together", all, flops, d.flops_a_cycle);
  std::string head = "<tr><th>thousands of cycles</th><th>all</th><th>% of peak</th>";
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    head += element("th", parts[i].name);
    if (all.*parts[i].time > 0) key += fmt::format("<li><i class=\"p{}\"></i><b>{}</b> {}</li>", i, parts[i].name, parts[i].says);
  }
  if (known > 0) bars += "<ul class=\"key\">" + key + "</ul>\n";
  return fmt::format("{}<div class=\"wide\"><table class=\"figures\"><thead>{}<th class=\"words\">busiest</th></tr></thead><tbody>\n{}</tbody></table></div>\n", bars, head, rows);
}

std::string time_measured(const Measured& m) {
  std::string rows;
  for (const auto& [what, f] : m.rows()) rows += fmt::format("<tr><th>{}</th><td>{:.1f}</td><td>{:.1f}</td><td>{:.1f}</td></tr>\n", what, f.cycles / 1e3, f.seconds * 1e6, f.percent);
  return fmt::format("<p>A call on one core of this machine, {} repetitions. Cycles are counted by the clock at which its FMA peak, measured beside each repetition, is the model's.</p>\n<div class=\"wide\"><table class=\"figures\"><thead><tr><th></th><th>thousands of cycles</th><th>microseconds</th><th>% of peak</th></tr></thead><tbody>\n{}</tbody></table></div>\n", m.repetitions, rows);
}

}  // namespace attune::cli::page
