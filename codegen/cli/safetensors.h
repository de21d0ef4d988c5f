// Files of named tensors, as models come in: https://github.com/huggingface/safetensors.
// 8 bytes of length, so much JSON that says of each tensor its type, shape and place, and the data.
#pragma once
#include <attune/graph.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace attune::cli {

class Safetensors {
 public:
  struct Tensor {
    std::string type;  // as the file names it: F32, BF16 ..
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0;  // bytes of the file
  };

  // Reads the header. Throws Error where the file contradicts itself or ends too early.
  explicit Safetensors(std::string path);
  const std::string& path() const { return path_; }
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  // Its elements as f32, dense and row-major; F16 and BF16 are converted up, which is exact. Throws Error for other types.
  std::vector<float> floats(const std::string& name) const;

 private:
  std::string path_;
  std::map<std::string, Tensor> tensors_;
};

struct Named {
  std::string name;
  Dims dims;
  std::vector<float> values;
};
// The bytes of a file with these tensors, F32, one behind the other in this order; data begin at a multiple of 64 bytes.
std::string safetensors(const std::vector<Named>&);

}  // namespace attune::cli
