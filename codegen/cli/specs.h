// Which specs a command line means.
#pragma once
#include <attune/graph.h>

#include <string>
#include <vector>

namespace attune::cli {

struct Spec {
  std::string expression;  // canonical: no blanks that C++ doesn't need
  std::string note;        // of the named ones
  std::string header;      // file name of the user's header; empty: the zoo
  Graph graph;
  std::string source = {};  // its text, if that was found
};

// The named configurations (zoo/zoo.h): of the textbook, and layers of well-known models.
const std::vector<Spec>& named_specs();
const std::vector<Spec>& model_specs();
const std::vector<Spec>& variant_specs();

// How a spec that is not a named one is compiled.
struct Compiling {
  bool verbose = false;                 // all that the compiler says, not its first error alone
  std::string precompiled;              // folder that keeps the DSL compiled; empty: none
  std::string depfile, depfile_target;  // a Makefile's rule of what the target depends on; empty: none
};

// What the user wrote: a zoo expression, or a header and --spec EXPR.
struct Wanted {
  std::string target;
  std::string expression;
  Compiling compiling;
};

// Exactly one spec: a named one, another instance of a zoo template, or one of the user's header.
// Throws Error, with the nearest names, if there is none, or if several begin so.
Spec one_spec(const Wanted&);
// The same, but a prefix may mean several named ones; no target means all of them, of the textbook alone.
std::vector<Spec> some_specs(const Wanted&);

std::string canonical(const std::string& expression);
// The default name of a kernel: textbook_mha<1,512,512,8> -> textbook_mha_1_512_512_8.
std::string kernel_name(const std::string& expression);

// The definition of the expression's template in that header, or in the zoo if it is empty; "" if it
// is not found.
std::string spec_source(const std::string& header, const std::string& expression);

bool is_file(const std::string& path);

// Names of the specs that a header defines, without those of the headers that it includes.
std::vector<std::string> specs_in(const std::string& header);

// Compiles the header's expression with the host compiler and runs it. Throws Error with the
// compiler's first error. An empty header means the zoo.
Graph compile_spec(const std::string& header, const std::string& expression, const Compiling&);

}  // namespace attune::cli
