// As most models come: https://github.com/huggingface/safetensors.
// 8 bytes of length, so much JSON that says of each tensor its type, shape and place, and the data.
#pragma once
#include <attune/graph.h>

#include <string>
#include <vector>

#include "cli/model_file.h"

namespace attune::cli {

class Safetensors : public ModelFile {
 public:
  // Reads the header. Throws Error where the file contradicts itself or ends too early.
  explicit Safetensors(const std::string& path);

 private:
  void read(const std::string& name, const Tensor&, char* to) const override;
};

struct Named {
  std::string name;
  Dims dims;
  std::vector<float> values;
};
// The bytes of a file with these tensors, F32, one behind the other in this order; data begin at a multiple of 64 bytes.
std::string safetensors(const std::vector<Named>&);

}  // namespace attune::cli
