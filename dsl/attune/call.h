// Named arguments of a generated kernel, checked by the compiler. NAME.hpp, which `attune gen` writes
// beside NAME.h, says what the names are:
//
//   #include "my_attention.hpp"
//   using namespace attune::literals;
//   attune::pack(my_attention_pack_weights, packed, "wq"_a = wq, "wk"_a = wk, ..);
//   attune::call(my_attention, {packed, workspace}, "x"_a = x, "out"_a = out);
//
// C++17. Nothing happens at run time but the assignment of the pointers.
#pragma once
#include <boost/hana/at_key.hpp>
#include <boost/hana/contains.hpp>
#include <boost/hana/keys.hpp>
#include <boost/hana/map.hpp>
#include <boost/hana/tuple.hpp>
#include <cstddef>
#include <utility>
#include "attune/name.h"

namespace attune {

// The members of NAME_args or NAME_weights by their names: a hana::map of pointers to members.
template <class Struct> inline constexpr auto fields = nullptr;

enum class Naming { ok, unnamed, unknown, twice, missing, wrong_pointer };

// The error of one name: Name is its characters.
template <Naming N, class Struct, class Name>
constexpr auto report_name() {
  constexpr bool ok = N == Naming::ok;
  if constexpr (N == Naming::unnamed) static_assert(ok, "attune::call or attune::pack: an argument has no name; write \"x\"_a = x");
  if constexpr (N == Naming::unknown) static_assert(ok, "attune::call or attune::pack: the kernel has no argument of this name; its header lists them");
  if constexpr (N == Naming::twice) static_assert(ok, "attune::call or attune::pack: an argument is given twice; drop one");
  if constexpr (N == Naming::missing) static_assert(ok, "attune::call or attune::pack: an argument is missing; give every tensor that the kernel's header lists");
  if constexpr (N == Naming::wrong_pointer) static_assert(ok, "attune::call or attune::pack: an argument is no pointer of the right kind; inputs are const float* or, of tables of integers, const int32_t*, outputs float*");
}

template <class Struct, class Key>
inline constexpr bool has_field = decltype(hana::contains(fields<Struct>, Key{}))::value;

// Whether a value can be the member of that name.
template <class Struct, class Key, class Value>
constexpr bool fits_field() {
  using Pointer = std::decay_t<decltype(hana::at_key(fields<Struct>, Key{}))>;
  return std::is_convertible_v<Value, std::decay_t<decltype(std::declval<Struct&>().*std::declval<Pointer>())>>;
}

// Whether one given argument is right by itself; if not, that is reported.
template <class Struct, class Given>
constexpr bool check_given() {
  if constexpr (!is_named<Given>) {
    report_name<Naming::unnamed, Struct, Given>();
    return false;
  } else if constexpr (!has_field<Struct, typename named_value<Given>::key>) {
    report_name<Naming::unknown, Struct, typename named_value<Given>::key>();
    return false;
  } else if constexpr (!fits_field<Struct, typename named_value<Given>::key, typename named_value<Given>::type>()) {
    report_name<Naming::wrong_pointer, Struct, typename named_value<Given>::key>();
    return false;
  } else {
    return true;
  }
}

// Whether a member is given exactly once; if not, that is reported.
template <class Struct, class Key, class... Given>
constexpr bool check_member() {
  constexpr int times = (int(std::is_same_v<Key, Given>) + ... + 0);
  if constexpr (times == 0) report_name<Naming::missing, Struct, Key>();
  if constexpr (times > 1) report_name<Naming::twice, Struct, Key>();
  return times == 1;
}
template <class Struct, class... Given, class... Keys>
constexpr bool check_members(const hana::tuple<Keys...>*) {
  return (check_member<Struct, Keys, Given...>() && ...);
}
template <class Struct, class... Named>
constexpr Struct assigned(const Named&... named) {
  using Keys = decltype(hana::to_tuple(hana::keys(fields<Struct>)));
  Struct s{};
  if constexpr (check_members<Struct, typename named_value<Named>::key...>(static_cast<Keys*>(nullptr)))
    ((s.*hana::at_key(fields<Struct>, typename named_value<Named>::key{}) = hana::second(named)), ...);
  return s;
}

// NAME_args or NAME_weights of named pointers, in any order.
template <class Struct, class... Named>
constexpr Struct arguments(const Named&... named) {
  if constexpr ((check_given<Struct, Named>() && ...)) return assigned<Struct>(named...);
  else return {};
}

// What a call needs beside its tensors; see NAME.h.
template <class ParallelFor>
struct Run {
  const void* packed;
  void* workspace;
  int workers = 1;
  ParallelFor parallel_for = nullptr;  // null: serial
  void* ctx = nullptr;
};
template <class ParallelFor>
struct CheckedRun {
  const void* packed;
  void* workspace;
  std::size_t workspace_bytes;
  int workers = 1;
  ParallelFor parallel_for = nullptr;
  void* ctx = nullptr;
};

// call(NAME, {packed, workspace}, "x"_a = x, ..)
template <class Args, class ParallelFor, class... Named>
void call(void (*kernel)(const Args*, const void*, void*, int, ParallelFor, void*), const Run<ParallelFor>& run, const Named&... named) {
  const Args args = arguments<Args>(named...);
  kernel(&args, run.packed, run.workspace, run.workers, run.parallel_for, run.ctx);
}

// call(NAME_checked, {packed, workspace, workspace_bytes}, "x"_a = x, ..): the kernel's return code.
template <class Args, class ParallelFor, class... Named>
int call(int (*kernel)(const Args*, const void*, void*, std::size_t, int, ParallelFor, void*), const CheckedRun<ParallelFor>& run, const Named&... named) {
  const Args args = arguments<Args>(named...);
  return kernel(&args, run.packed, run.workspace, run.workspace_bytes, run.workers, run.parallel_for, run.ctx);
}

// pack(NAME_pack_weights, packed, "wq"_a = wq, ..)
template <class Weights, class... Named>
void pack(void (*pack_weights)(const Weights*, void*), void* packed, const Named&... named) {
  const Weights weights = arguments<Weights>(named...);
  pack_weights(&weights, packed);
}

}  // namespace attune
