// One product with constant weights by oneDNN: y [m, n] = x [m, k] w^T with w [n, k], weights reordered once.
#include <dnnl.hpp>
#include <memory>
#include <string>
#include <unordered_map>

namespace {
using dnnl::memory;

struct Product {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::matmul primitive;
  std::string implementation;
  memory weights;
  std::unordered_map<int, memory> arguments;
};

std::string message;
}  // namespace

extern "C" {

const char* onednn_error() { return message.c_str(); }
const char* onednn_version() {
  const dnnl_version_t* v = dnnl_version();
  message = std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  return message.c_str();
}

// Null on failure; onednn_error then says why.
Product* onednn_new(long m, long k, long n, float* x, float* w, float* y) try {
  auto p = std::make_unique<Product>();
  const auto f32 = memory::data_type::f32;
  const auto row_major = memory::format_tag::ab;
  const memory::desc x_desc({m, k}, f32, row_major), y_desc({m, n}, f32, row_major), any({k, n}, f32, memory::format_tag::any);
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul::primitive_desc desc(p->engine, x_desc, any, y_desc);
#else
  const dnnl::matmul::primitive_desc desc(dnnl::matmul::desc(x_desc, any, y_desc), p->engine);
#endif
  p->primitive = dnnl::matmul(desc);
  p->implementation = desc.impl_info_str();
  p->weights = memory(desc.weights_desc(), p->engine);
  memory plain(memory::desc({k, n}, f32, memory::format_tag::ba), p->engine, w);
  dnnl::reorder(plain, p->weights).execute(p->stream, plain, p->weights);
  p->stream.wait();
  p->arguments = {{DNNL_ARG_SRC, memory(x_desc, p->engine, x)}, {DNNL_ARG_WEIGHTS, p->weights}, {DNNL_ARG_DST, memory(y_desc, p->engine, y)}};
  return p.release();
} catch (const std::exception& e) {
  message = e.what();
  return nullptr;
}

const char* onednn_implementation(const Product* p) { return p->implementation.c_str(); }

void onednn_run(Product* p) {
  p->primitive.execute(p->stream, p->arguments);
  p->stream.wait();
}
}
