// The script of the page, bundled from this folder at build time and embedded into the binary.
#pragma once

#include <string_view>

namespace roof::analysis {

/// The script; empty if the build had no npm or no network. The page is then static.
std::string_view page_script();

/// SHA-256 of the script in base64, for the page's content security policy. Empty if the script is empty.
std::string_view page_script_hash();

}  // namespace roof::analysis
