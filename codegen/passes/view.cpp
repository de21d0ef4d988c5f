#include "passes/view.h"

#include <utility>

namespace attune {

View dense(int buffer, const Dims& dims) {
  View v{buffer, 0, {}};
  v.dims.resize(std::size_t(dims.rank));
  long stride = 1;
  for (int i = dims.rank - 1; i >= 0; --i) {
    v.dims[std::size_t(i)] = normalised({{dims[i], stride}});
    stride *= dims[i];
  }
  return v;
}

long extent_of(const Axes& axes) {
  long n = 1;
  for (const Axis& a : axes) n *= a.extent;
  return n;
}

std::optional<long> stride_of(const Axes& axes) {
  if (axes.empty()) return 0;
  if (axes.size() == 1) return axes[0].stride;
  return std::nullopt;
}

Axes normalised(Axes axes) {
  Axes r;
  for (const Axis& a : axes) {
    if (a.extent == 1) continue;
    if (!r.empty() && r.back().stride == a.extent * a.stride) r.back() = {r.back().extent * a.extent, a.stride};
    else r.push_back(a);
  }
  return r;
}

View unsqueezed(View v, long at) {
  v.dims.insert(v.dims.begin() + at, Axes{});
  return v;
}

View squeezed(View v, long at) {
  v.dims.erase(v.dims.begin() + at);
  return v;
}

std::optional<View> features_of(View v, long from, long count) {
  Axes& axes = v.dims.back();
  if (axes.empty()) return v;
  const long inner = extent_of(axes) / axes[0].extent;  // what lies inside of the outermost axis
  if (from / inner == (from + count - 1) / inner && axes.size() > 1) {  // within one of its elements
    v.offset += from / inner * axes[0].stride;
    axes.erase(axes.begin());
    return features_of(v, from % inner, count);
  }
  if (from % inner || count % inner) return std::nullopt;
  v.offset += from / inner * axes[0].stride;
  axes[0].extent = count / inner;
  axes = normalised(axes);
  return v;
}

View transposed(View v) {
  std::swap(v.dims[v.dims.size() - 1], v.dims[v.dims.size() - 2]);
  return v;
}

// The outer `extent` of a dim and what is left inside of it.
static std::optional<std::pair<Axes, Axes>> split(const Axes& axes, long outer) {
  if (extent_of(axes) == 1) return std::pair<Axes, Axes>{};
  if (extent_of(axes) == 0) return std::pair<Axes, Axes>{{{outer, 0}}, {{0, 1}}};  // of nothing there is nothing to place
  const long inner = extent_of(axes) / outer;
  Axes left, right;
  long below = extent_of(axes);
  for (const Axis& a : axes) {
    below /= a.extent;  // what lies inside of this axis
    if (below >= inner) left.push_back(a);
    else if (below * a.extent <= inner) right.push_back(a);
    else {  // the cut goes through this axis
      const long within = inner / below;
      if (inner % below || a.extent % within) return std::nullopt;
      left.push_back({a.extent / within, a.stride * within});
      right.push_back({within, a.stride});
    }
  }
  return std::pair{normalised(left), normalised(right)};
}

std::optional<View> heads_split(View v, long heads) {
  const auto parts = split(v.dims[2], heads);
  if (!parts) return std::nullopt;
  v.dims = {v.dims[0], parts->first, v.dims[1], parts->second};
  return v;
}

View heads_merged(View v) {
  Axes merged = v.dims[1];
  merged.insert(merged.end(), v.dims[3].begin(), v.dims[3].end());
  v.dims = {v.dims[0], v.dims[2], normalised(merged)};
  return v;
}

View heads_repeated(View v, long times) {
  v.dims[1].push_back({times, 0});
  v.dims[1] = normalised(v.dims[1]);
  return v;
}

View aligned(View v, int rank) {
  while (int(v.dims.size()) < rank) v.dims.insert(v.dims.begin(), Axes{});
  return v;
}

}  // namespace attune
