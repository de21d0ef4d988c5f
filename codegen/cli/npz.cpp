#include "cli/npz.h"

#include <fmt/format.h>
#include <zip.h>

#include <cstring>
#include <regex>
#include <stdexcept>

#include "lower.h"

namespace attune::cli {

namespace {

// One file of the archive, read from its begin to its end; what goes wrong is an std::invalid_argument.
class Member {
 public:
  Member(zip_t* archive, zip_uint64_t index) : file_(zip_fopen_index(archive, index, 0), zip_fclose) {
    if (!file_) throw std::invalid_argument(zip_strerror(archive));
  }
  void read(char* to, std::uint64_t bytes) {
    const zip_int64_t got = zip_fread(file_.get(), to, bytes);
    if (got < 0) throw std::invalid_argument(zip_file_strerror(file_.get()));
    if (std::uint64_t(got) != bytes) throw std::invalid_argument("it ends too early");
  }
  void skip(std::uint64_t bytes) {
    std::string some(bytes, '\0');
    read(some.data(), bytes);
  }
  // Only past the last byte is the checksum compared.
  void end() {
    char more;
    if (zip_fread(file_.get(), &more, 1) < 0) throw std::invalid_argument(zip_file_strerror(file_.get()));
  }

 private:
  std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file_;
};

std::string value_of(const char* key, const char* value, const std::string& header) {
  std::smatch found;
  if (!std::regex_search(header, found, std::regex(fmt::format("['\"]{}['\"]\\s*:\\s*{}", key, value)))) throw std::invalid_argument(fmt::format("its header has no {}", key));
  return found[1];
}

// As safetensors names it, or else as NumPy does; empty: a list of fields.
std::string type_named(const std::string& descr) { return descr == "<f4" ? "F32" : descr == "<f2" ? "F16" : descr == "<f8" ? "F64" : descr.empty() ? "structures" : descr; }

// Leaves the member behind its header.
ModelFile::Tensor tensor_of(Member& member) {
  unsigned char start[8], length[4] = {};
  member.read(reinterpret_cast<char*>(start), sizeof start);
  if (std::memcmp(start, "\x93NUMPY", 6) != 0) throw std::invalid_argument("it does not begin as an array of NumPy does");
  const std::uint64_t bytes = start[6] == 1 ? 2 : 4;  // of the length, by the version
  member.read(reinterpret_cast<char*>(length), bytes);
  const std::uint64_t most = 65535, header_bytes = length[0] | length[1] << 8 | length[2] << 16 | std::uint64_t(length[3]) << 24;
  if (header_bytes > most) throw std::invalid_argument(fmt::format("its header has {} bytes", header_bytes));
  std::string header(header_bytes, '\0');
  member.read(header.data(), header_bytes);
  ModelFile::Tensor t;
  t.type = type_named(value_of("descr", "(?:['\"]([^'\"]*)['\"]|\\[)", header));
  t.columns_first = value_of("fortran_order", "(True|False)", header) == "True";
  t.begin = sizeof start + bytes + header_bytes;
  const std::string shape = value_of("shape", "\\(([0-9, ]*)\\)", header);
  const std::regex number("[0-9]+");
  for (std::sregex_iterator n(shape.begin(), shape.end(), number); n != std::sregex_iterator(); ++n) t.shape.push_back(std::stoll(n->str()));
  return t;
}

}  // namespace

Npz::Npz(const std::string& path) : ModelFile(path), archive_(nullptr, zip_discard) {
  const auto wrong = [&](const std::string& why) { return Error(fmt::format("{} is no .npz file: {}", path, why)); };
  int code = 0;
  archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive_) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string why = zip_error_strerror(&error);
    zip_error_fini(&error);
    if (code == ZIP_ER_NOENT || code == ZIP_ER_OPEN || code == ZIP_ER_READ) throw Error(fmt::format("cannot read {}: {}", path, why));
    throw wrong(why + ": is it whole?");
  }
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive_.get(), 0); ++i) {
    zip_stat_t stat;
    if (zip_stat_index(archive_.get(), zip_uint64_t(i), 0, &stat) != 0) throw wrong(zip_strerror(archive_.get()));
    std::string name = stat.name;
    if (!name.ends_with(".npy")) continue;
    name.resize(name.size() - 4);
    try {
      Member member(archive_.get(), zip_uint64_t(i));
      Tensor t = tensor_of(member);
      t.end = stat.size;
      if (t.end < t.begin) throw std::invalid_argument("it ends too early");
      add(name, std::move(t), stat.size);
    } catch (const std::logic_error& e) {
      throw wrong(fmt::format("{}: {}", stat.name, e.what()));
    }
  }
}

void Npz::read(const std::string& name, const Tensor& t, char* to) const {
  try {
    const zip_int64_t index = zip_name_locate(archive_.get(), (name + ".npy").c_str(), 0);
    Member member(archive_.get(), zip_uint64_t(index));
    member.skip(t.begin);
    member.read(to, t.end - t.begin);
    member.end();
  } catch (const std::invalid_argument& e) {
    throw Error(fmt::format("cannot read {} of {}: {}", name, path(), e.what()));
  }
}

}  // namespace attune::cli
