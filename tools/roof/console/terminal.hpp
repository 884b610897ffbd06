// What the terminal at hand can show.
#pragma once

namespace roof {

struct Terminal {
    bool live = false;  ///< standard error is a terminal whose lines can be drawn again
    int columns = 80;
    int width = 0;      ///< columns of the window at hand; 0 if there is none, as in a pipe
    bool plain = true;  ///< ASCII only: the locale does not promise UTF-8
};

/// As the environment says: isatty, the window's size, LC_ALL, LC_CTYPE, LANG and TERM.
Terminal detect_terminal();

}  // namespace roof
