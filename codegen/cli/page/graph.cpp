// A graph in layers, from top to bottom: longest path first, few crossings by barycentres (Sugiyama, Tagawa and
// Toda 1981), then places by the means of neighbours. Edges over several layers pass through places of their own.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "cli/page/html.h"
#include "cli/page/page.h"
#include "graph/print.h"

namespace attune::cli::page {
namespace {

constexpr double letter = 6.7, line = 15, gap = 18, between = 44, margin = 8;  // pixels

struct Box {
  std::string first, second, tip, kind;  // two lines; what a mouse is told; none of a bend
  int layer = 0;
  double width = 0, x = 0;  // of its middle
  std::vector<int> above, below;
};

// The tensors that a node reads: its operands, and tables inside its index expressions.
void tensors_read(const Graph& g, int node, std::set<int>& seen, std::set<int>& tensors) {
  for (int k = 0; k < g[node].operands(); ++k) {
    const int in = g[node].in[std::size_t(k)];
    if (!is_index(g[in].type.kind)) tensors.insert(in);
    else if (seen.insert(in).second) tensors_read(g, in, seen, tensors);
  }
}

std::string shortened(const std::string& s) {
  constexpr std::size_t most = 36;
  return s.size() <= most ? s : s.substr(0, most - 2) + "..";
}

class Picture {
 public:
  explicit Picture(const Graph& g) {
    std::map<int, int> box_of;
    std::map<int, std::set<int>> reads;
    for (int i = 0; i < int(g.size()); ++i) {
      if (is_index(g[i].type.kind)) continue;
      std::set<int> seen;
      tensors_read(g, i, seen, reads[i]);
      const bool stored = g[i].op == Op::input || g[i].op == Op::weight;
      const std::string text = fmt::format("%{} = {}", i, node_text(g, i));
      box_of[i] = add(shortened(text), type_text(g[i].type), text, stored ? std::string(name_of(g[i].op)) : g[i].type.kind == Kind::scores ? "scores" : "op");
      for (int in : reads[i]) boxes_[std::size_t(box_of[i])].layer = std::max(boxes_[std::size_t(box_of[i])].layer, boxes_[std::size_t(box_of.at(in))].layer + 1);
    }
    for (const Output& o : g.outputs) {
      const int b = add(std::string(o.name), "output", {}, "output");
      boxes_[std::size_t(b)].layer = boxes_[std::size_t(box_of.at(o.node))].layer + 1;
      edges_.emplace_back(box_of.at(o.node), b);
    }
    for (const auto& [node, operands] : reads)
      for (int in : operands) edges_.emplace_back(box_of.at(in), box_of.at(node));
    sink_sources();
    bend_edges();
    order();
    place();
  }

  std::string svg() const {
    double width = 0;
    for (const Box& b : boxes_) width = std::max(width, b.x + b.width / 2 + margin);
    std::string r = fmt::format("<svg class=\"graph\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"The graph of the spec\">\n", width, top(int(layers_.size())) - between + margin);
    for (const Box& b : boxes_)
      for (int to : b.below) {
        const Box& t = boxes_[std::size_t(to)];
        const double y0 = top(b.layer) + height, y1 = top(t.layer), half = between / 2;
        r += fmt::format("<path class=\"edge\" d=\"M{0:.1f} {1:.1f}C{0:.1f} {2:.1f} {3:.1f} {2:.1f} {3:.1f} {4:.1f}{5}\"/>\n", b.x, y0, y0 + half, t.x, y1, t.kind.empty() ? fmt::format("v{:.0f}", height) : "");
      }
    for (const Box& b : boxes_) {
      if (b.kind.empty()) continue;
      r += fmt::format("<g class=\"{}\">{}<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" rx=\"{}\"/>", b.kind, b.tip.empty() ? "" : element("title", b.tip), b.x - b.width / 2, top(b.layer), b.width, height, b.kind == "op" || b.kind == "scores" ? 3 : 12);
      r += fmt::format("<text x=\"{0:.1f}\" y=\"{1:.1f}\">{3}</text><text class=\"type\" x=\"{0:.1f}\" y=\"{2:.1f}\">{4}</text></g>\n", b.x, top(b.layer) + line, top(b.layer) + 2 * line, escaped(b.first), escaped(b.second));
    }
    return r + "</svg>\n";
  }

 private:
  static constexpr double height = 2 * line + 8;
  std::vector<Box> boxes_;
  std::vector<std::pair<int, int>> edges_;
  std::vector<std::vector<int>> layers_;

  static double top(int layer) { return margin + layer * (height + between); }

  int add(std::string first, std::string second, std::string tip, std::string kind) {
    const double width = kind.empty() ? 0 : letter * double(std::max(first.size(), second.size())) + 18;
    boxes_.push_back({std::move(first), std::move(second), std::move(tip), std::move(kind), 0, width, 0, {}, {}});
    return int(boxes_.size()) - 1;
  }

  // What nothing leads to stands just above what reads it first.
  void sink_sources() {
    std::map<int, int> first_reader;
    std::set<int> fed;
    for (const auto& [from, to] : edges_) {
      const int layer = boxes_[std::size_t(to)].layer;
      const auto [at, fresh] = first_reader.try_emplace(from, layer);
      if (!fresh) at->second = std::min(at->second, layer);
      fed.insert(to);
    }
    for (const auto& [box, layer] : first_reader)
      if (!fed.contains(box)) boxes_[std::size_t(box)].layer = layer - 1;
  }

  void bend_edges() {
    for (const auto& [from, to] : edges_) {
      int last = from;
      for (int layer = boxes_[std::size_t(from)].layer + 1; layer < boxes_[std::size_t(to)].layer; ++layer) {
        const int bend = add({}, {}, {}, {});
        boxes_[std::size_t(bend)].layer = layer;
        join(last, bend);
        last = bend;
      }
      join(last, to);
    }
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      if (layers_.size() <= std::size_t(boxes_[i].layer)) layers_.resize(std::size_t(boxes_[i].layer) + 1);
      layers_[std::size_t(boxes_[i].layer)].push_back(int(i));
    }
  }

  void join(int above, int below) {
    boxes_[std::size_t(above)].below.push_back(below);
    boxes_[std::size_t(below)].above.push_back(above);
  }

  double mean_x(const std::vector<int>& some, double otherwise) const {
    double sum = 0;
    for (int i : some) sum += boxes_[std::size_t(i)].x;
    return some.empty() ? otherwise : sum / double(some.size());
  }

  // By turns downwards and upwards; until then a box's x is its number in the layer.
  void order() {
    const auto number = [&](const std::vector<int>& layer) {
      for (std::size_t i = 0; i < layer.size(); ++i) boxes_[std::size_t(layer[i])].x = double(i) - double(layer.size() - 1) / 2;
    };
    for (const auto& layer : layers_) number(layer);
    for (int sweep = 0; sweep < 8; ++sweep)
      for (std::size_t i = 0; i < layers_.size(); ++i) {
        std::vector<int>& layer = layers_[sweep % 2 ? layers_.size() - 1 - i : i];
        std::map<int, double> wish;
        for (int b : layer) wish[b] = mean_x(sweep % 2 ? boxes_[std::size_t(b)].below : boxes_[std::size_t(b)].above, boxes_[std::size_t(b)].x);
        std::stable_sort(layer.begin(), layer.end(), [&](int a, int b) { return wish[a] < wish[b]; });
        number(layer);
      }
  }

  // Each where those above, or by turns those below, are in the mean, as far as the layer's order and widths allow:
  // half way between the leftmost and the rightmost of such places. Downwards last, so that chains are straight.
  void place() {
    for (auto& layer : layers_) spread(layer, std::vector<double>(layer.size(), 0.0));
    for (int sweep = 0; sweep < 13; ++sweep)
      for (std::size_t i = 0; i < layers_.size(); ++i) {
        const std::vector<int>& layer = layers_[sweep % 2 ? layers_.size() - 1 - i : i];
        std::vector<double> wish;
        for (int b : layer) wish.push_back(mean_x(sweep % 2 ? boxes_[std::size_t(b)].below : boxes_[std::size_t(b)].above, boxes_[std::size_t(b)].x));
        spread(layer, wish);
      }
    double left = 0;
    for (const Box& b : boxes_) left = std::min(left, b.x - b.width / 2);
    for (Box& b : boxes_) b.x += margin - left;
  }

  void spread(const std::vector<int>& layer, const std::vector<double>& wish) {
    const auto apart = [&](std::size_t i) { return (boxes_[std::size_t(layer[i])].width + boxes_[std::size_t(layer[i + 1])].width) / 2 + gap; };
    std::vector<double> right = wish, left = wish;
    for (std::size_t i = 1; i < layer.size(); ++i) right[i] = std::max(wish[i], right[i - 1] + apart(i - 1));
    for (std::size_t i = layer.size() - 1; i-- > 0;) left[i] = std::min(wish[i], left[i + 1] - apart(i));
    for (std::size_t i = 0; i < layer.size(); ++i) boxes_[std::size_t(layer[i])].x = (left[i] + right[i]) / 2;
  }
};

}  // namespace

std::string graph_picture(const Graph& g) { return Picture(g).svg(); }

}  // namespace attune::cli::page
