// Properties of the terminal.
#pragma once

#include <string>

namespace roof {

/// Empty if the variable is not set.
std::string environment_variable(const char* name);

struct Terminal {
    bool live = false;  ///< standard error is a terminal whose lines can be redrawn
    int columns = 80;
    int width = 0;      ///< columns of the window; 0 without one, as in a pipe
    bool plain = true;  ///< ASCII only: the locale is not UTF-8
};

/// Uses isatty, the window's size, LC_ALL, LC_CTYPE, LANG and TERM.
Terminal detect_terminal();

}  // namespace roof
