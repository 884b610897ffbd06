// The efficiency of data-parallel training on more nodes, as a bracket:
//   T1 / (T1 + t + sigma sqrt(2 ln n))  <=  efficiency  <=  T1 / max(T1, T_forward + t)
// T1 and T_forward are the times of a step and of its forward pass on one rank, t that of the all-reduce of all
// gradients, and sigma the scatter of T1 from step to step, of which a step over n ranks waits for the slowest. Below:
// nothing overlaps. Above: the all-reduce runs beside the backward pass, and no rank is late. Ranks of one node reduce
// first, then one ring runs over the nodes: t = ring(within) + ring(between). Measured runs lie below this bracket: the
// low end of a prediction is `reach` times the bracket's.
#pragma once

#include "analysis/estimate/network_fit.hpp"
#include "analysis/estimate/target.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/names.hpp"
#include "ert/method/results/results.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace roof::analysis {

struct OneRank {
    Seconds step;
    Seconds forward;
    Seconds sigma;  ///< standard deviation of the step; NaN if it is not known, of a single step
};

struct Bracket {
    double low = 0;
    double high = 0;
};

/// Time of the all-reduce. `within`: the link between the ranks of a node; not used with one rank on each.
Seconds all_reduce_time(Bytes gradients, int nodes, int per_node, const Link& between, const Link& within);

/// A scatter that is not known counts as none.
Bracket efficiency_bracket(const OneRank& one, Seconds all_reduce, int ranks);

/// Of the low end of the bracket, as far as runs fell in the half of the record that made it: the published rows and
/// our own, every second series (tests/analysis/estimate/data/scaling_record.csv). 27 of the 28 rows of the other half
/// lie above, and 115 of the 123 of a whole report (docs/network.md).
inline constexpr double published_reach = 0.59;

/// below, above: the model lacks something that the measurement has.
enum class InBracket { inside, below, above };
constexpr EnumNames<InBracket::above> names_of(InBracket)
{
    return {"finding", {"inside", "below: something unmodelled", "above: something unmodelled"}};
}
/// An efficiency up to a percent above 1 is not above.
InBracket judge_bracket(const Bracket& bracket, double efficiency);

struct PredictedScaling {
    int nodes = 1;
    int ranks = 1;
    Seconds all_reduce;
    Bracket bracket;        ///< at the best fit
    Bracket interval;       ///< the bracket's ends with their 95% intervals, the low end times `reach`
    double images_low = 0;  ///< per second, by `interval`
    double images_high = 0;
    std::string remark{};
};

/// A measured row, predicted from the other rows: its own and larger numbers of ranks are left out of the fit.
struct HeldOut {
    std::string row;
    bool is_strong = false;  ///< the batch is divided among the ranks
    int ranks = 2;
    double images = 0;      ///< per second, measured
    Seconds exposed;        ///< communication that the step waited for
    Seconds work;           ///< the rest of the step
    Seconds alone;          ///< the step of that one rank
    std::string fitted_on;  ///< "2 ranks"
    Bracket interval;
    double measured = 0;  ///< efficiency, to one rank with as many images as each of these has
};

struct ScalingPrediction {
    std::string model;
    std::string one_rank;  ///< the row that T1 is of
    OneRank one;
    Bytes gradients;
    NetworkFit between;
    std::optional<NetworkFit> within;  ///< several ranks on each node
    std::vector<PredictedScaling> rows;
    std::vector<HeldOut> held_out;
    double reach = published_reach;  ///< less where a held-out row lies lower
    std::vector<std::string> notes;
};

struct ScalingRequest {
    std::string model;
    int batch = 0;  ///< 0: the largest that was measured on one rank
    int per_node = 1;
    std::vector<int> nodes;
};

/// Predicts from measured rows: steps of the model on one rank, and messages. Throws InputError where one is missing.
ScalingPrediction predict_scaling(const ScalingRequest& request, std::span<const Results> measured);

/// The fit, the predictions, the held-out rows and the notes, in at most `columns`; 0: unlimited.
std::string to_text(const ScalingPrediction& prediction, int columns = 0);
/// Keys model, one_rank, alpha_s, beta_bytes_per_s, misfit, gradients_bytes, reach, nodes, held_out, notes.
nlohmann::json to_json(const ScalingPrediction& prediction);

/// A row for each operation and path: alpha, beta and plateau.
DataTable network_table(std::span<const MessagePoint> points);
/// The table of a folder's messages; empty without messages.
std::string network_text(std::span<const Measurement> rows, int columns = 0);

}  // namespace roof::analysis
