// The commands that read the files and models of other tools are those of the Python package `roof` (tools/python). The two sides share
// files alone.
#pragma once

#include <string>
#include <vector>

namespace roof {

/// Runs `command` of the package with these arguments, on our streams, and returns its exit status; the signal that ended
/// it, or by which it says so with 128 + n, ends this process, too. The package is found from this
/// program's own place: around it in a wheel, in ../python of a build, in ../lib/roof/python of an installation. Its interpreter is the
/// one that ROOF_PYTHON names, else the first python3 in an absolute folder of PATH. Throws InputError that says how to get what is missing.
int run_in_package(const std::string& command, const std::vector<std::string>& arguments);

}  // namespace roof
