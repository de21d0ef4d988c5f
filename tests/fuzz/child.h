// Work that may crash or hang, in a process of its own.
#pragma once
#include <functional>
#include <string>

namespace attune::fuzz {

// What `work` returns. If it throws, what the exception says; if it crashes or takes longer than
// that many seconds of CPU time, a sentence that says so. `failed` is set for all but the first.
std::string in_child(const std::function<std::string()>& work, int seconds, bool& failed);

}  // namespace attune::fuzz
