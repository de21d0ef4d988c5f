// Names in the type system: "lse"_a = x names an argument, "lse"_out = x an output of a spec.
#pragma once
#include <boost/hana/pair.hpp>
#include <boost/hana/string.hpp>
#include <type_traits>

namespace attune {

namespace hana = boost::hana;

template <class String>
struct argument_name {
  template <class T> constexpr auto operator=(T&& value) const { return hana::make_pair(String{}, static_cast<T&&>(value)); }
};
namespace literals {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wgnu-string-literal-operator-template"
#pragma GCC diagnostic ignored "-Wpedantic"
template <class C, C... c> constexpr argument_name<hana::string<c...>> operator""_a() { return {}; }
template <class C, C... c> constexpr argument_name<hana::string<c...>> operator""_out() { return {}; }
#pragma GCC diagnostic pop
}  // namespace literals
using namespace literals;

template <class P> struct named_value;  // P: what "name"_a = value makes
template <class P> inline constexpr bool is_named = false;
template <char... C, class T> struct named_value<hana::pair<hana::string<C...>, T>> {
  using key = hana::string<C...>;
  using type = T;
};
template <char... C, class T> inline constexpr bool is_named<hana::pair<hana::string<C...>, T>> = true;
template <class K, class... Ks> inline constexpr int times_in = (int(std::is_same_v<K, Ks>) + ...);

}  // namespace attune
