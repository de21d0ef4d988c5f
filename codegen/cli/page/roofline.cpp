// The roofline of Williams, Waterman and Patterson (2009): what a core can do at most at so many operations a byte,
// where regions are by the model, and where the whole call was measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/page/html.h"
#include "cli/page/page.h"

namespace attune::cli::page {
namespace {

struct Point {
  std::string title;
  double flops_a_byte = 0, flops_a_cycle = 0;
  bool beyond = false;    // bytes from beyond L2, else those from L2
  bool measured = false;  // else by the model
};

std::vector<Point> points_of(const Decided& d, const Measured* timed) {
  std::vector<Point> points;
  double flops = 0, l2 = 0, memory = 0;
  for (const Decided::Region& r : d.regions) {
    if (!r.account || r.flops <= 0 || r.account->total() <= 0) continue;
    flops += r.flops;
    l2 += double(r.account->traffic.l2);
    memory += double(r.account->traffic.memory);
    const double reached = r.flops / (double(r.account->total()) / 1e3);
    if (r.account->traffic.l2 > 0) points.push_back({r.title, r.flops / double(r.account->traffic.l2), reached, false});
    if (r.account->traffic.memory > 0) points.push_back({r.title, r.flops / double(r.account->traffic.memory), reached, true});
  }
  if (timed && timed->complete) {  // else the bytes are not known
    const double reached = d.flops_a_cycle * timed->median.percent / 100;
    if (l2 > 0) points.push_back({"measured, a whole call", flops / l2, reached, false, true});
    if (memory > 0) points.push_back({"measured, a whole call", flops / memory, reached, true, true});
  }
  return points;
}

}  // namespace

std::string roofline(const Decided& d, const Measured* timed) {
  const std::vector<Point> points = points_of(d, timed);
  if (points.empty()) return {};
  const double peak = d.flops_a_cycle, l2 = double(d.machine.l2_rate) / 100, memory = double(d.machine.memory_rate) / 100;
  // Both axes in powers of two.
  double right = std::log2(peak / memory) + 2, left = std::log2(peak / l2) - 3, bottom = std::log2(peak) - 5;
  for (const Point& p : points) {
    right = std::max(right, std::log2(p.flops_a_byte) + 1);
    left = std::min(left, std::log2(p.flops_a_byte) - 1);
    bottom = std::min(bottom, std::log2(p.flops_a_cycle) - 1);
  }
  left = std::floor(left);
  right = std::ceil(right);
  bottom = std::floor(bottom);
  const double up = std::ceil(std::log2(peak) + 0.6);
  constexpr double x0 = 46, x1 = 620, y0 = 14, y1 = 250;
  const auto x = [&](double v) { return x0 + (std::log2(v) - left) / (right - left) * (x1 - x0); };
  const auto y = [&](double v) { return y1 - (std::log2(v) - bottom) / (up - bottom) * (y1 - y0); };

  std::string r = "<figure><div class=\"wide\"><svg class=\"roofline\" width=\"640\" height=\"300\" viewBox=\"0 0 640 300\" role=\"img\" aria-label=\"Roofline\">\n";
  const double step = right - left > 10 ? 2 : 1;
  for (double e = std::ceil(left / step) * step; e <= right; e += step) r += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/><text class=\"x\" x=\"{0:.1f}\" y=\"{3}\">{4:g}</text>\n", x(std::exp2(e)), y0, y1, y1 + 16, std::exp2(e));
  for (double e = bottom; e <= up; ++e) r += fmt::format("<path class=\"grid\" d=\"M{1} {0:.1f}H{2}\"/><text class=\"y\" x=\"{3}\" y=\"{4:.1f}\">{5:g}</text>\n", y(std::exp2(e)), x0, x1, x0 - 6, y(std::exp2(e)) + 4, std::exp2(e));
  const auto roof = [&](double rate, const char* of_class) {
    const double from = std::max(std::exp2(left), std::exp2(bottom) / rate);
    r += fmt::format("<path class=\"roof {}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", of_class, x(from), y(rate * from), x(peak / rate), y(peak));
  };
  r += fmt::format("<path class=\"roof\" d=\"M{0:.1f} {1:.1f}H{2}\"/><text class=\"roof\" x=\"{2}\" y=\"{3:.1f}\" text-anchor=\"end\">peak {4:.4g} FLOP a cycle</text>\n", x(peak / std::max(l2, memory)), y(peak), x1, y(peak) - 6, peak);
  roof(l2, "near");
  roof(memory, "far");
  int number = 0;
  std::string key, last;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point& p = points[i];
    const double at_x = x(p.flops_a_byte), at_y = y(p.flops_a_cycle);
    // Below the point, and below the numbers of those beside it.
    const long beside = std::count_if(points.begin(), points.begin() + long(i), [&](const Point& o) { return std::abs(x(o.flops_a_byte) - at_x) < 12 && std::abs(y(o.flops_a_cycle) - at_y) < 30; });
    if (p.title != last) {
      ++number;
      key += fmt::format("<li><b>{}</b> {} at {:.3g} FLOP a cycle</li>", number, escaped(p.title), p.flops_a_cycle);
      last = p.title;
    }
    r += fmt::format("<g class=\"{}{}\"><title>{}: {:.3g} FLOP a byte {}, {:.3g} FLOP a cycle</title><circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"/><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n", p.beyond ? "far" : "near", p.measured ? " measured" : "", escaped(p.title), p.flops_a_byte, p.beyond ? "from beyond L2" : "from L2", p.flops_a_cycle, at_x, at_y, at_x, at_y + 18 + 13 * double(beside), number);
  }
  r += fmt::format("<text class=\"x\" x=\"{}\" y=\"{}\">FLOP a byte</text></svg></div>\n", (x0 + x1) / 2, y1 + 36);
  r += "<figcaption><ul class=\"key\">";
  r += fmt::format("<li><i class=\"near\"></i>L2, {:.4g} bytes a cycle</li><li><i class=\"far\"></i>beyond L2, {:.4g} bytes a cycle</li>", l2, memory);
  return r + key + "</ul></figcaption></figure>\n";
}

}  // namespace attune::cli::page
