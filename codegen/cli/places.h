// Where the headers are that specs are compiled with.
#pragma once
#include <filesystem>
#include <vector>

namespace attune::cli {

struct Places {
  std::filesystem::path driver;                  // the source that hands over a spec's graph
  std::filesystem::path zoo;                     // folder of the zoo's headers
  std::vector<std::filesystem::path> includes;   // folders of <attune.h> and of <zoo/zoo.h>
};

// Beside the program, wherever the installed files were moved together; else the source tree that it
// was built from. Throws Error if neither is there.
const Places& places();

}  // namespace attune::cli
