// Values of options: text in, checked values out. Every mistake names the option and what it takes.
#pragma once

#include "ert/method/plan/plan.hpp"

#include <string>
#include <vector>

namespace roof {

/// Throws InputError unless `text` is a whole number from `least` to `most`.
int whole_number(const std::string& option, const std::string& text, int least, int most);

/// "8,16" -> {"8", "16"}. Throws InputError for an empty word.
std::vector<std::string> comma_list(const std::string& option, const std::string& text);

/// {"batch=8,16", "threads=1"} -> settings of axes. Throws InputError for a word that is no axis=values.
Settings parse_settings(const std::vector<std::string>& words);

}  // namespace roof
