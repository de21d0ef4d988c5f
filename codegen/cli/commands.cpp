// What the subcommands share.
#include "cli/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "cli/wisdom.h"

namespace attune::cli {

GenerateOptions options_for(const Spec& spec, const Common& common) {
  GenerateOptions o;
  const std::string usual = kernel_name(spec.expression);
  o.name = common.name.empty() ? usual : common.name;
  const bool identifier = !o.name.empty() && !std::isdigit(static_cast<unsigned char>(o.name[0])) &&
                          std::all_of(o.name.begin(), o.name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (!identifier) throw Error(fmt::format("'{}' is no name for a C function; give one with --name", o.name));
  o.spec = spec.expression;
  o.source = spec.source;
  if (!common.isas.empty()) o.isas = common.isas;
  for (const std::string& isa : o.isas) require_isa(isa);
  // The order in which they were named means nothing: the kernel prefers the later at run time.
  std::vector<std::string> ordered;
  for (const std::string& isa : isa_names())
    if (std::find(o.isas.begin(), o.isas.end(), isa) != o.isas.end()) ordered.push_back(isa);
  o.isas = ordered;
  o.command = spec.header.empty() ? fmt::format("attune gen '{}'", spec.expression) : fmt::format("attune gen {} --spec '{}'", spec.header, spec.expression);
  if (o.name != usual) o.command += fmt::format(" --name {}", o.name);
  o.command += fmt::format(" --isa {}", fmt::join(o.isas, ","));
  if (!common.wisdom.empty()) {
    const Wisdom wisdom(common.wisdom);
    o.schedules = wisdom.schedules(spec.graph, o.isas);
    o.machines = wisdom.machines(o.isas);
    o.command += fmt::format(" --wisdom {}", common.wisdom);
  }
  return o;
}

std::string text_of(const Dims& d) { return fmt::format("[{}]", fmt::join(d.d.begin(), d.d.begin() + d.rank, ", ")); }

std::string text_of(const std::vector<Argument>& arguments) {
  std::string s;
  for (const Argument& a : arguments) s += fmt::format("{}{} {}", s.empty() ? "" : ", ", a.name, text_of(a.dims));
  return s;
}

}  // namespace attune::cli
