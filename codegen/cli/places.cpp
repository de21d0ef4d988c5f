#include "cli/places.h"

#include <fmt/format.h>

#include "lower.h"

namespace attune::cli {

namespace fs = std::filesystem;

static Places find_places() {
  std::error_code none;
  const fs::path here = fs::read_symlink("/proc/self/exe", none).parent_path();
  const fs::path share = (here / ATTUNE_SHARE_FROM_BIN).lexically_normal(), include = (here / ATTUNE_INCLUDE_FROM_BIN).lexically_normal();
  if (fs::exists(share / "driver/spec.cpp", none)) return {share / "driver/spec.cpp", share / "zoo", {include, share}};
  const fs::path source = ATTUNE_SOURCE_DIR;
  const fs::path driver = source / "codegen/cli/driver/spec.cpp";
  if (fs::exists(driver, none)) return {driver, source / "dsl/zoo", {source / "dsl"}};
  throw Error(fmt::format("the headers that specs are compiled with are neither in {} nor in {}; install attune again (cmake --install), whole", share.string(), source.string()));
}

const Places& places() {
  static const Places found = find_places();
  return found;
}

}  // namespace attune::cli
