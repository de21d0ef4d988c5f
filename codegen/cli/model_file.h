// Files of named tensors, as models come in, by one interface: .safetensors and .npz.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace attune::cli {

class ModelFile {
 public:
  struct Tensor {
    std::string type;  // F32, BF16 ..
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0;  // bytes: of the file, or of the archive's member
    bool columns_first = false;        // Fortran's order
  };

  virtual ~ModelFile() = default;
  const std::string& path() const { return path_; }
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  // Its elements as f32, dense and row-major; F16 and BF16 are converted up, which is exact. Throws Error for other types
  // and where the data can't be read.
  std::vector<float> floats(const std::string& name) const;

 protected:
  explicit ModelFile(std::string path) : path_(std::move(path)) {}
  // Adds a tensor whose data take bytes [begin, end) of `size`; what contradicts that is an std::invalid_argument.
  void add(const std::string& name, Tensor, std::uint64_t size);
  // Bytes [begin, end) of the tensor; throws Error.
  virtual void read(const std::string& name, const Tensor&, char* to) const = 0;

 private:
  std::string path_;
  std::map<std::string, Tensor> tensors_;
};

// By its name: what ends in .npz is NumPy's. Throws Error where the file contradicts itself or ends too early.
std::unique_ptr<ModelFile> open_model_file(const std::string& path);

}  // namespace attune::cli
