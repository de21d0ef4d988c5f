// Takes a kernel's weights from the files of a model, by name, to one file that lies as NAME_weights does.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "cli/commands.h"
#include "cli/host/process.h"
#include "cli/model_file.h"
#include "cli/safetensors.h"

namespace attune::cli {

namespace {

// wq=layers.0.q_proj.weight: by the kernel's names the file's.
std::map<std::string, std::string> parsed(const std::vector<std::string>& map, const Interface& interface, const std::string& spec) {
  std::map<std::string, std::string> r;
  for (const std::string& one : map) {
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos || equals + 1 == one.size()) throw Error(fmt::format("--map {}: write kernel's name=file's name, as in wq=layers.0.self_attn.q_proj.weight", one));
    const std::string name = one.substr(0, equals);
    if (std::none_of(interface.weights.begin(), interface.weights.end(), [&](const Argument& a) { return a.name == name; })) throw Error(fmt::format("--map {}: {} has no weight of this name; it has {}", one, spec, text_of(interface.weights)));
    if (!r.emplace(name, one.substr(equals + 1)).second) throw Error(fmt::format("--map {}: {} is mapped twice", one, name));
  }
  return r;
}

std::vector<std::unique_ptr<ModelFile>> opened(const std::vector<std::string>& paths) {
  std::vector<std::unique_ptr<ModelFile>> files;
  for (const std::string& path : paths) {
    std::unique_ptr<ModelFile> file = open_model_file(path);
    for (const auto& other : files)
      for (const auto& [name, tensor] : file->tensors())
        if (other->tensors().contains(name)) throw Error(fmt::format("{} is in {} and in {}", name, other->path(), path));
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

int pack(const Common& common, const std::vector<std::string>& paths, const std::vector<std::string>& map, const std::string& out) {
  const Spec spec = one_spec(common.wanted);
  const Interface interface = interface_of(spec.graph);
  if (interface.weights.empty()) throw Error(fmt::format("{} has no weights", spec.expression));
  const std::map<std::string, std::string> theirs = parsed(map, interface, spec.expression);
  const auto files = opened(paths);
  std::vector<Named> packed;
  std::string wrong;  // all of it: one run says what a map lacks
  for (const Argument& a : interface.weights) {
    const auto mapped = theirs.find(a.name);
    const std::string name = mapped == theirs.end() ? a.name : mapped->second;
    const auto file = std::find_if(files.begin(), files.end(), [&](const auto& f) { return f->tensors().contains(name); });
    if (file == files.end()) {
      wrong += fmt::format("\n  {} {}: there is no {} in {}{}", a.name, text_of(a.dims), name, fmt::join(paths, ", "), mapped == theirs.end() ? fmt::format("; say which it is, --map {}=..", a.name) : "");
      continue;
    }
    const std::vector<std::int64_t>& shape = (*file)->tensors().at(name).shape;
    if (!std::equal(shape.begin(), shape.end(), a.dims.d.begin(), a.dims.d.begin() + a.dims.rank)) {
      wrong += fmt::format("\n  {} {}: {} has shape [{}]", a.name, text_of(a.dims), name, fmt::join(shape, ", "));
      continue;
    }
    packed.push_back({a.name, a.dims, wrong.empty() ? (*file)->floats(name) : std::vector<float>{}});
  }
  if (!wrong.empty()) throw Error(fmt::format("{} does not get its weights:{}", spec.expression, wrong));
  const std::string to = out.empty() ? options_for(spec, common).name + ".safetensors" : out;
  host::write_whole(to, safetensors(packed));
  fmt::print("{}\n", to);
  return 0;
}

}  // namespace attune::cli
