#include <fmt/format.h>

#include <algorithm>

#include "cli/page/html.h"
#include "cli/page/page.h"

namespace attune::cli::page {

std::string mask_picture(const MaskMap& m) {
  const BlockMap& map = m.map;
  std::string all, mixed;  // a rectangle a run
  for (std::size_t q = 0; q < map.rows.size(); ++q) {
    const long top = long(q) * map.q_step, height = std::min(map.q_step, map.q_len - top);
    for (const Run& r : map.rows[q]) (r.kept == Kept::all ? all : mixed) += fmt::format("M{} {}h{}v{}h{}z", r.begin, top, r.end - r.begin, height, r.begin - r.end);
  }
  // Long and flat maps are stretched, so that neither side gets lost.
  const double aspect = std::clamp(double(map.kv_len) / double(map.q_len), 0.25, 4.0);
  std::string r = fmt::format("<figure class=\"mask\">\n<svg viewBox=\"0 0 {0} {1}\" preserveAspectRatio=\"none\" style=\"aspect-ratio:{2:.3f}\" role=\"img\" aria-label=\"Blocks of scores that are kept\">", map.kv_len, map.q_len, aspect);
  r += fmt::format("<rect class=\"none\" width=\"{}\" height=\"{}\"/><path class=\"all\" d=\"{}\"/><path class=\"mixed\" d=\"{}\"/></svg>\n", map.kv_len, map.q_len, all, mixed);
  const BlockCounts n = count_blocks(map);
  const auto key = [&](const char* of, const char* says, long some) { return fmt::format("<li><i class=\"{}\"></i>{} <b>{:.1f}&nbsp;%</b></li>", of, says, 100.0 * double(some) / double(n.blocks())); };
  r += fmt::format("<figcaption><p><code>{}</code> keeps <code>{}</code></p>\n<ul class=\"key\">{}{}{}</ul>\n", escaped(m.title), escaped(m.predicate), key("all", "kept whole", n.all), key("mixed", "kept in part", n.mixed), key("none", "skipped", n.none));
  r += fmt::format("<p>{:.1f}&nbsp;% of {} x {} blocks of {} x {} scores are computed. Queries go down, keys to the right.</p>\n", 100.0 * double(n.computed()) / double(n.blocks()), map.rows.size(), n.blocks() / long(map.rows.size()), map.q_step, map.kv_step);
  if (!m.empty_rows.empty()) r += fmt::format("<p>{} rows keep nothing and are 0, the first of them row {}.</p>\n", m.empty_rows.size(), m.empty_rows[0]);
  return r + "</figcaption></figure>\n";
}

}  // namespace attune::cli::page
