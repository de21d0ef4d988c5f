// Fusion of one graph; see fuse.h. A node is computed where its reader wants it, with what stands below it as far as one
// region covers that.
#pragma once
#include <map>

#include "passes/below.h"
#include "passes/region_builder.h"

namespace attune {

class Fuser {
 public:
  explicit Fuser(const Graph&);
  Program run();

 private:
  const Graph& g_;
  RegionBuilder b_;
  std::vector<std::optional<View>> views_;
  std::vector<std::vector<int>> users_;
  std::map<int, View> wanted_;  // where what comes out of another node's region belongs
  int norm_ = -1;               // the node that stands for the rows' norms while a region's expressions are built

  // fuse.cpp
  bool private_to_user(int n) const;
  View materialise(int id, std::optional<View> target = {});
  View compute(int id, std::optional<View> target);
  View copied(View v, const std::optional<View>& target);
  template <class Inverse, class Forward>
  View view(int id, const std::optional<View>& target, Inverse inverse, Forward forward);
  View packed(const View& v);
  View in_heads(const View& v, long heads);
  View place(int id, const std::optional<View>& target, std::string name = "t");
  View simple(View v, std::initializer_list<int> dims, bool unit, const Dims& shape);
  int term(ExpressionBuilder& e, int id, int acc, int root, long heads);
  int leaf(ExpressionBuilder& e, int id, long heads, int lanes = -1);
  View pointwise(int id, std::optional<View> target);
  View product(int id, std::optional<View> target);
  // fuse_projections.cpp
  int projection_below(int id) const;
  int projection_below(int id, int root, bool split) const;
  bool finishes(int id, int norm) const;
  View contract(int id, int linear, std::optional<View> target, int norm = -1);
  int biased(ExpressionBuilder& e, int root, const Node& l, long heads);
  // fuse_streams.cpp
  bool stream_at(int id) const;
  int scores_term(ExpressionBuilder& e, int id, int acc);
  int factored_term(ExpressionBuilder& e, int id, int weights);
  bool comes_with(int value, int reduce) const;
  View row_value(int id, std::optional<View> target);
  void add_row_values(Stream& s, int reduce, int user);
  Stream stream_of(int reduce);
  View stream_of_values(int id, std::optional<View> target);
  int stream_below(int id, int root) const;
  View stream(int id, std::optional<View> target, int end = -1);
};

}  // namespace attune
