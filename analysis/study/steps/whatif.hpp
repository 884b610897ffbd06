// The time of a measured step with a faster memory, a faster core or another batch. Each layer keeps the share of its
// roof that it reached; time outside the layers does not change:
//   predicted = step + sum over layers of time * (attainable' / attainable - 1)
//   least    = sum over layers of attainable'
// attainable' is the time that the roofs allow (analysis/roofline/place.hpp) after each is multiplied by its factor
// or set to its rate. FLOPs and compulsory bytes are linear in the batch, so two measured batches give them at any
// other. The page has the same formula in analysis/report/page/whatif.js; a test compares the two.
#pragma once

#include "analysis/study/study.hpp"
#include "analysis/table/table.hpp"

#include <map>
#include <string>
#include <vector>

namespace roof::analysis {

struct WhatIf {
    std::map<std::string, double> factors;  ///< by memory level or precision; 1 where it is not named
    long long batch = 0;                    ///< 0: as measured
    std::map<std::string, double> rates{};  ///< B/s or FLOP/s by the same names; replace measured rates
};

/// Parses "DRAM=1.5x,fp32=2TFLOP/s,batch=512". The last value for a roof counts. Throws InputError for a name that is
/// neither a level nor a precision of the study's roofs, for a batch that is not a positive integer, and for any other
/// value: legal are a positive factor followed by x, and a positive rate in the roof's unit (B/s or FLOP/s, with k, M,
/// G, T or P).
WhatIf parse_what_if(const std::vector<std::string>& words, const Study& study);

/// Every memory level, or every precision, of all devices twice as fast.
WhatIf all_doubled(const Study& study, Role kind);

struct Predicted {
    const Measurement* row = nullptr;
    long long batch = 0;
    Seconds seconds{};           ///< 0 with a reason
    Seconds least{};             ///< time that the changed roofs allow
    std::string binds_before{};  ///< the roof with most of the attainable time of the layers
    std::string binds{};         ///< the same after the change
    std::string reason{};        ///< reason for a missing answer
};

Predicted what_if(const Study& study, const Measurement& row, const WhatIf& change);
/// One prediction for each measured step, in the rows' order. Rows and study must outlive it.
std::vector<Predicted> what_if(const Study& study, const WhatIf& change);

DataTable what_if_table(const std::vector<Predicted>& answers, const std::string& change = "");
/// The table in at most `columns`; 0: unlimited.
std::string to_text(const std::vector<Predicted>& answers, int columns = 0);

}  // namespace roof::analysis
