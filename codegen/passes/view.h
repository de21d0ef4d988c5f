// Where a tensor lies: a buffer, an offset, and for each dim a list of axes. A dim of more than
// one axis is a mixed radix, outermost first, so that splitting, merging, transposing and repeating
// heads are changes of the view and never copies.
#pragma once
#include <attune/graph.h>
#include <optional>
#include <vector>

namespace attune {

struct Axis {
  long extent = 1, stride = 0;  // in floats; stride 0 repeats
  bool operator==(const Axis&) const = default;
};
using Axes = std::vector<Axis>;  // empty: extent 1

struct View {
  int buffer = -1;
  long offset = 0;
  std::vector<Axes> dims;
  bool operator==(const View&) const = default;
};

// Row-major, without gaps.
View dense(int buffer, const Dims&);

long extent_of(const Axes&);
// The one stride of a dim, if it has one (0 for extent 1).
std::optional<long> stride_of(const Axes&);
// Joins axes that make one, drops those of extent 1.
Axes normalised(Axes);

View unsqueezed(View, long at);          // a dim of extent 1 more
View squeezed(View, long at);            // and without it
std::optional<View> features_of(View, long from, long count);  // of the last dim, unless an end cuts an axis of several unevenly
View transposed(View);                   // the last two dims change places
std::optional<View> heads_split(View, long heads);  // [b, t, h * d] -> [b, h, t, d], unless heads cut an axis unevenly
View heads_merged(View);                 // [b, h, t, d] -> [b, t, h * d]
View heads_repeated(View, long times);   // [b, h, ..] -> [b, h * times, ..]
View aligned(View, int rank);            // leading dims of extent 1, up to `rank`

}  // namespace attune
