#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/picture.h"

namespace attune::cli {

// FILE.png of the first mask, FILE_2.png of the second ..
static void draw_masks(const Graph& graph, const std::filesystem::path& file) {
  constexpr long most_blocks = 128;
  if (file.extension() != ".png") throw Error(fmt::format("'{}': the picture is a PNG; name it so", file.string()));
  const std::vector<MaskMap> masks = mask_maps(graph, most_blocks);
  if (masks.empty()) throw Error("this spec has no mask of which a picture could be made");
  for (std::size_t i = 0; i < masks.size(); ++i) {
    std::filesystem::path one = file;
    if (i > 0) one.replace_filename(fmt::format("{}_{}.png", file.stem().string(), i + 1));
    write_picture(one, masks[i].map);
    fmt::print("{}: what {} keeps, {} x {} scores a block\n", one.string(), masks[i].title, masks[i].map.q_step, masks[i].map.kv_step);
  }
}

int explain(const Common& common, const std::string& map) {
  const Spec spec = one_spec(common.wanted);
  const std::string text = attune::explain(spec.graph, options_for(spec, common));
  if (!map.empty()) draw_masks(spec.graph, map);
  fmt::print("{}{}", text, text.empty() || text.back() == '\n' ? "" : "\n");
  return 0;
}

}  // namespace attune::cli
