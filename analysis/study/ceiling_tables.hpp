// The ceilings as tables of text: what the terminal and the report both show.
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <string>
#include <vector>

namespace roof::analysis {

struct TextTable {
    struct Column {
        std::string name;
        bool number = false;  ///< lines up to the right
    };
    std::string title;
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;
};

/// In order: bandwidth and compute of each device, condition and thread count, latencies, the named ceilings, the memory levels. Those
/// without a row are left out, and so are columns in which no row has anything to say.
std::vector<TextTable> ceiling_tables(const Ceilings& ceilings, const Machine& machine);

/// Ceilings by name, as roofline papers draw them below the roof: best mix, multiply-adds only, additions only, without
/// multiply-adds, without SIMD; for each device, precision and thread count.
TextTable named_ceilings(const Ceilings& ceilings);

/// "steady", "bimodal 105 | 118 GB/s", "unsteady", "unsteady clock" or "few samples".
std::string verdict_of(const Ceiling& ceiling);

/// Whether a cell of these tables says that something is wrong.
bool warns(const std::string& cell);

/// A sentence where a line went from core to core at two speeds: the processors move, and share a last cache at times alone. Empty
/// else.
std::string moved_processors(const Ceilings& ceilings);

/// What the column "of spec" is a share of.
std::string spec_footnote(const Ceilings& ceilings, const Machine& machine);

/// Every ceiling with its interval, and the measured levels beside the reported ones. In a window of so many `columns` those of
/// the tables that say least are left out, and lines are broken; 0: no window.
std::string ceilings_table(const Ceilings& ceilings, const Machine& machine, int columns = 0);

}  // namespace roof::analysis
