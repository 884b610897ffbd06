#include "analysis/report/page_script.hpp"

// Defined by the generated page_script.S, which includes the bundle's bytes.
extern "C" const char roof_page_script_begin[];
extern "C" const char roof_page_script_end[];
extern "C" const char roof_page_hash_begin[];
extern "C" const char roof_page_hash_end[];

namespace roof::analysis {

std::string_view page_script()
{
    return {roof_page_script_begin, static_cast<std::size_t>(roof_page_script_end - roof_page_script_begin)};
}

std::string_view page_script_hash()
{
    return {roof_page_hash_begin, static_cast<std::size_t>(roof_page_hash_end - roof_page_hash_begin)};
}

}  // namespace roof::analysis
