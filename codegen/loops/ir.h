// A small language of loops, vectors and pointers: what the lowering builds and the emitter prints.
// Expressions are immutable trees; building one folds constants, so that generated address
// arithmetic reads as a person would write it.
#pragma once
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/isa.h"

namespace attune::loops {

enum class Type { none, index, real, flag, vec, ivec, lanes, in, out, memory, whole_in };  // in, out, whole_in: const float*, float*, const int*

class Expr {
 public:
  enum class Form { integer, real, name, binary, call, element, conditional };
  struct Tree {
    Form form;
    Type type;
    long integer = 0;
    double number = 0;
    std::string text;  // a name, an operator, a function
    std::vector<Expr> args;
  };
  Expr() = default;
  Expr(long v);  // an index constant
  Expr(int v) : Expr(long(v)) {}
  explicit Expr(std::shared_ptr<const Tree> t) : tree_(std::move(t)) {}

  const Tree& operator*() const { return *tree_; }
  const Tree* operator->() const { return tree_.get(); }
  explicit operator bool() const { return bool(tree_); }
  Type type() const { return tree_->type; }
  bool is(long v) const { return tree_ && tree_->form == Form::integer && tree_->integer == v; }
  bool constant() const { return tree_->form == Form::integer; }

 private:
  std::shared_ptr<const Tree> tree_;
};

Expr real(double v);
Expr name(std::string text, Type);
Expr call(std::string function, Type, std::vector<Expr> args);
Expr binary(std::string_view op, Expr a, Expr b, Type);
Expr element(Expr pointer, Expr index);  // pointer[index], of type real
Expr choose(Expr flag, Expr a, Expr b);  // flag ? a : b

// On index, real, vec and ivec; a pointer plus an index is a pointer. Index arithmetic folds.
Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator%(Expr a, Expr b);
bool same(const Expr&, const Expr&);  // the same tree
Expr least(Expr a, Expr b);     // of indices
Expr greatest(Expr a, Expr b);

struct Stmt;
using Body = std::list<Stmt>;  // a list: a Block points into it while it grows

struct Stmt {
  enum class Form { declare, assign, expression, loop, branch, scope, comment, blank, array, text };
  Form form = Form::blank;
  Type type = Type::none;
  std::vector<std::pair<std::string, Expr>> names;  // declare: in one line
  Expr target, value, limit, step;                  // assign; loop: from value to below limit by step
  int unroll = 1;                                   // loop: steps in a row, a wish to the compiler
  std::string text;                                 // comment; loop variable; assign's operator; array's extent and values
  Body body, other;
};

// Appends statements; the way all lowering code is written.
class Block {
 public:
  explicit Block(Body& b) : body_(&b) {}
  Expr let(std::string name, Expr value);  // const, of the value's type
  Expr var(std::string name, Expr value);  // may be assigned to
  void declare(Type, std::vector<std::pair<std::string, Expr>>);
  void assign(Expr target, Expr value, std::string op = "=");
  void run(Expr call);
  Block loop(std::string variable, Expr from, Expr to, Expr step = 1, int unroll = 1);
  Block when(Expr flag);
  Block otherwise();  // of the `when` just before
  Block scope();      // braces alone
  void comment(std::string);
  void blank();
  void array(Type, std::string name, std::vector<long> values);  // static const; once in a body
  void text(std::string line);                                   // a statement as it stands

 private:
  Body* body_;
};

struct Parameter {
  Type type;
  std::string name;
  std::string of = {};  // a reference to this type instead
};
struct Function {
  std::string name;
  std::string comment;
  std::vector<Parameter> parameters;
  Body body;
  Type result = Type::none;
  bool fixed = false;  // called from outside: its parameters stay
  std::optional<TileStep> step = {};  // a template over the constant k, inlined; what `body` says in the language of ops
};

// Every function that is called anywhere below, for the prelude.
void collect_calls(const Body&, std::vector<std::string>& calls);

// Drops what no statement reads: constants, and parameters with their arguments at every call.
void prune(std::vector<Function>&);

// Pointers to places that are used over and over; const where nothing is written.
void tidy(std::vector<Function>&);

}  // namespace attune::loops
