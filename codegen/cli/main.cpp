// attune list | gen | pack | check | bench | explain | tune | verdict
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>

#include "cli/commands.h"

using namespace attune;

namespace {
const char* const spec_help = "a spec of the zoo, as in 'textbook_mha<1,512,512,8>', or a header of yours with --spec";

void spec_target(CLI::App* sub, cli::Common& c, bool needed) {
  auto* target = sub->add_option("spec", c.wanted.target, spec_help);
  if (needed) target->required();
  sub->add_option("--spec", c.wanted.expression, "the spec in that header, as in 'my_attention<512>'");
  sub->add_flag("--verbose", c.wanted.compiling.verbose, "all that the compiler says about a spec");
}

void spec_options(CLI::App* sub, cli::Common& c, bool needed, bool named, bool wisdom = true) {
  spec_target(sub, c, needed);
  sub->add_option("--isa", c.isas, fmt::format("instruction sets, separated by commas (default: all of {})", fmt::join(isa_names(), ",")))->delimiter(',');
  if (named) sub->add_option("--name", c.name, "name of the kernel (default: from the spec)");
  if (wisdom) sub->add_option("--wisdom", c.wisdom, "machine and schedules that tune measured, from this file")->check(CLI::ExistingFile);
}
}  // namespace

int main(int argc, char** argv) {
  setenv("LC_ALL", "C", 1);  // compilers are to say in English what is read from them
  CLI::App app{"Attune: fast attention kernels from ten lines of C++"};
  app.set_version_flag("--version", "attune " ATTUNE_VERSION);
  app.require_subcommand(1);
  app.fallthrough(false);
  cli::Common common;
  std::string folder = ".", json;
  bool python = false, quiet = false, emulate = false;

  const auto json_option = [&](CLI::App* sub, const char* what) { sub->add_option("--json", json, what); };
  const char* const same_as_json = "also write what the table says to this file, as JSON; - for stdout, without the table";

  auto* list = app.add_subcommand("list", "the named specs");
  json_option(list, same_as_json);
  auto* gen = app.add_subcommand("gen", "write the C++ of a kernel");
  spec_options(gen, common, true, true);
  gen->add_option("-o,--out", folder, "folder for the files (default: here)");
  gen->add_flag("--python", python, "also write NAME.py, which compiles the kernel and calls it with NumPy's arrays");
  gen->add_flag("--quiet", quiet, "don't print the names of the files");
  gen->add_option("--precompiled", common.wanted.compiling.precompiled, "folder that keeps the language's headers compiled, from one run to the next");
  gen->add_option("--depfile", common.wanted.compiling.depfile, "also write a Makefile's rule of which headers the kernel was made from, for the build tool")->needs("--spec");
  auto* pack = app.add_subcommand("pack", "take a kernel's weights, by name, from the files of a model");
  spec_target(pack, common, true);
  std::vector<std::string> weights, map;
  std::string packed;
  pack->add_option("--weights", weights, "the model's .safetensors or .npz; once for each if there are several")->required()->allow_extra_args(false);
  pack->add_option("--map", map, "which tensor is which weight, as in wq=layers.0.self_attn.q_proj.weight, separated by commas (default: the weight's own name)")->allow_extra_args(false)->delimiter(',');
  pack->add_option("-o,--out", packed, "the file (default: NAME.safetensors)");
  auto* check = app.add_subcommand("check", "compare kernels with the interpreter");
  spec_options(check, common, false, true);
  check->add_flag("--emulate", emulate, "run every instruction set in portable C++, as if this CPU had none of them");
  json_option(check, same_as_json);
  auto* bench = app.add_subcommand("bench", "time kernels against naive code and the machine's peak");
  spec_options(bench, common, false, false);
  int workers = 1;
  bench->add_option("--workers", workers, "also time the fastest kernel on so many cores, and so many copies of it at once")->check(CLI::Range(1, 1 << 16))->capture_default_str();
  json_option(bench, "also write Google Benchmark's JSON to this file; - for stdout, without the table");
  auto* explain = app.add_subcommand("explain", "what was decided for a kernel, and why");
  spec_options(explain, common, true, true);
  std::string picture, html;
  explain->add_option("--map", picture, "also draw which blocks of scores the mask keeps, to this file (PNG)");
  explain->add_option("--html", html, "also write all of it as one page for people to this file, with the hottest loop's machine code");
  bool measure = false;
  explain->add_flag("--measure", measure, "also build the kernels, check and time them as bench does, and compare with what the model predicts");
  json_option(explain, same_as_json);
  auto* tune = app.add_subcommand("tune", "measure the machine and schedules, and keep the best in a wisdom file");
  spec_options(tune, common, false, false, false);
  std::string wisdom = "attune-wisdom.json";
  int candidates = 24;
  bool again = false;
  tune->add_option("--wisdom", wisdom, "the file; what it holds is kept unless something better is found")->capture_default_str();
  tune->add_option("--candidates", candidates, "schedules to measure for each region")->check(CLI::Range(1, 10000))->capture_default_str();
  tune->add_flag("--again", again, "measure what the file already knows, too");
  auto* verdict = app.add_subcommand("verdict", "hold the cost model to measurement, over configurations drawn by a seed");
  unsigned seed = 1;
  int configurations = 6, drawn = 100;
  verdict->add_option("--seed", seed)->capture_default_str();
  verdict->add_option("--configurations", configurations)->check(CLI::Range(1, 1000))->capture_default_str();
  verdict->add_option("--candidates", drawn, "schedules of each")->check(CLI::Range(2, 10000))->capture_default_str();
  verdict->add_option("--isa", common.isas, "instruction sets, taken in turns (default: the fastest)")->delimiter(',');
  verdict->add_option("--wisdom", common.wisdom, "rank by the machine that tune measured, from this file")->check(CLI::ExistingFile);
  json_option(verdict, same_as_json);

  const std::pair<CLI::App*, const char*> examples[]{
      {list, "attune list"},
      {gen, "attune gen 'textbook_mha<1,512,512,8>' --isa avx2,avx512 -o kernels"},
      {pack, "attune pack 'bert<1,256,384,12>' --weights model.safetensors --map wq=layers.0.query.weight,wk=layers.0.key.weight"},
      {check, "attune check my_attention.h --spec 'my_attention<512>'"},
      {bench, "attune bench 'sdpa<1,8,512,64,true>' --workers 2"},
      {explain, "attune explain 'sdpa<1,8,512,64,true>' --isa avx2"},
      {tune, "attune tune 'sdpa<1,8,512,64,true>' --isa avx2 --wisdom wisdom.json"},
      {verdict, "attune verdict --seed 2 --isa avx512"}};
  for (const auto& [sub, line] : examples) sub->footer(fmt::format("Example:\n  {}", line));
  app.footer("attune COMMAND --help says more of a command. Exit codes: 0 well, 1 something to mend, 2 wrong command line, 70 a fault of attune.");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  try {
    cli::JsonOutput to(json);
    if (*list) return cli::list(to);
    if (*gen) return cli::gen(common, folder, python, quiet);
    if (*pack) return cli::pack(common, weights, map, packed);
    if (*check) return cli::check(common, emulate, to);
    if (*bench) return cli::bench(common, workers, to);
    if (*explain) return cli::explain(common, picture, html, measure, to);
    if (*verdict) return cli::verdict(common, seed, configurations, drawn, to);
    if (*tune) return cli::tune(common, wisdom, candidates, again);
  } catch (const Error& e) {
    cli::progress("");
    fmt::print(stderr, "{} {}\n", host::in(host::Colour::red, "attune:", 2), e.what());
    return 1;
  } catch (const std::exception& e) {
    cli::progress("");
    fmt::print(stderr, "{} internal error: {}\n", host::in(host::Colour::red, "attune:", 2), e.what());
    return 70;
  }
  return 2;
}
