// What is shown to people at a terminal, and to nobody else.
#pragma once
#include <string>

namespace attune::host {

// One line on stderr that says what is being done; "" takes it away. It appears when the program has
// been at work for two seconds, and only if stderr is a terminal.
void progress(const std::string& what);

enum class Colour { red = 31,
                    green = 32 };
// The text in that colour where it goes to a terminal and the environment has no NO_COLOR
// (https://no-color.org); else as it is. `file`: 1 or 2, stdout or stderr.
std::string in(Colour, const std::string& text, int file = 1);

}  // namespace attune::host
