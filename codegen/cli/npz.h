// Files of numpy.savez and savez_compressed: a zip archive of .npy files,
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
#pragma once
#include <memory>
#include <string>

#include "cli/model_file.h"

struct zip;

namespace attune::cli {

class Npz : public ModelFile {
 public:
  // Reads the headers of all arrays. Throws Error where one can't be read.
  explicit Npz(const std::string& path);

 private:
  std::unique_ptr<zip, void (*)(zip*)> archive_;
  void read(const std::string& name, const Tensor&, char* to) const override;
};

}  // namespace attune::cli
