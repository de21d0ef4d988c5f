// HTML as text.
#pragma once
#include <string>
#include <string_view>

namespace attune::cli::page {

// With &, <, > and quotes as entities: for elements and attributes alike.
std::string escaped(std::string_view);

// "22.1 kB"; kB and MB are 1024 and 1024 * 1024 bytes.
std::string bytes_text(long bytes);

// <NAME CLASS..>TEXT</NAME>, the text escaped; without a class none is written.
std::string element(std::string_view name, std::string_view text, std::string_view of_class = {});

// What stands folded up until someone asks for it. `inside` is HTML.
std::string folded(std::string_view title, const std::string& inside, bool open = false);

}  // namespace attune::cli::page
