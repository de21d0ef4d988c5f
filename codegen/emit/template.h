// Text with holes.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace attune::emit {

// The text with each @name@ of `values` replaced; what else stands between two @ stays.
std::string filled(std::string_view text, const std::map<std::string_view, std::string>& values);

}  // namespace attune::emit
