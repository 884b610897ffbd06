// What `roof doctor` says to a person.
#pragma once

#include "ert/method/lab/lab.hpp"

#include <string>

namespace roof {

/// Four sections: the machine as reported, the doubts about that, what can be measured, what cannot with its remedy.
std::string doctor_text(const Lab& lab);

}  // namespace roof
