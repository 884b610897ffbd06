// The parts of a row's point that every table, picture and file shows.
#pragma once

#include "analysis/table/table.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/measurement.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// The name of the model, also of one whose layers a plan has; or of the bench if the point has no model.
std::string model_of(const Measurement& row);
std::string id_without(const std::string& id, std::string_view axis);
/// Images per step; 0 if the point has no batch. Throws InputError if it is not a whole number.
long long batch_of(const Measurement& row);
/// Length of the sequences, 0 if the inputs are none; and the tokens of one that a step works on: of a decoded sequence
/// one.
long long tokens_of(const Measurement& row);
long long tokens_each(const Measurement& row);
/// What a step does of its network: "train", "decode".
std::string phase_of(const Measurement& row);
/// "8"; for several ranks "8 per rank" under weak scaling and "8 in all" under strong scaling; "-" if the point has no
/// batch.
std::string batch_text(const Measurement& row);
/// "weak" or "strong"; empty for one rank.
std::string scaling_name(const Measurement& row);
/// What a batch of these steps has: "images", "sequences" of tokens, or "inputs" if it is both or one of them is of
/// another program.
std::string batch_items(std::span<const Measurement> rows);
/// "cpu, 2 ranks, weak scaling, 2 threads", and the value of every other axis, but for the batch, in which the steps of
/// `among` differ.
std::string where_text(const Measurement& row, std::span<const Measurement> among);
/// "resnet50, batch 32, fp32 on cpu, 2 threads": no two steps of `among` have the same.
std::string step_title(const Measurement& row, std::span<const Measurement> among);
/// "resnet50 b32", and every other key in which the steps of `among` with this model and batch differ: "alexnet b8 per
/// rank, 2 ranks".
std::string step_name(const Measurement& row, std::span<const Measurement* const> among);
/// Threads of the row; 0 if the point has none. Throws InputError if it is not a whole number.
int threads_of(const Measurement& row);
/// Source of the images: "synthetic", "hashed", or the last name of a folder's path; "-" if the point has none.
std::string data_of(const Measurement& row);
/// Whether the ends of the interval of a measured row are more than a factor of two apart.
bool is_unstable(const Measurement& row);
/// The status; "unstable" for such a row.
std::string status_text(const Measurement& row);
/// How many samples of the rows were taken, and how many of them were disturbed, by reason.
struct Disturbed {
    int taken = 0;
    int number = 0;
    std::map<std::string, int> reasons{};
};
Disturbed disturbed_of(std::span<const Measurement> rows);
/// "2 of 9 samples disturbed: steal"; without such samples "the machine was busy" or "no disturbance was recorded in 9
/// samples".
std::string disturbances(const Measurement& row);
/// Whose rates they are: the model of a GPU, "2 x MODEL" of a group, and for a CPU the name of the machine, which is
/// its CPU's.
std::string owner_of(const Machine& machine, const std::string& device);
/// The precision; empty if the point has none.
std::string precision_of(const Measurement& row);
/// How the times of these rows are known, by the first of them.
std::string_view time_known(std::span<const Measurement> rows);

/// The rows of training steps, grouped by model, otherwise in their order.
std::vector<const Measurement*> step_rows(std::span<const Measurement> rows);
std::vector<const Measurement*> measured_steps(std::span<const Measurement> rows);
/// Of measured rows that differ in nothing but batch and data, the one with the largest batch.
std::vector<const Measurement*> largest_batches(std::span<const Measurement> rows);

struct StepKey {
    std::string title;
    std::string key;  ///< for programs; empty where the column "row" is enough
    std::function<Cell(const Measurement&)> read;
};
/// Model, batch, precision, device, data, ranks, scaling, threads, and every other axis.
const std::vector<StepKey>& step_keys();
/// Hides the keys with the same text in every row, but for the first five. No two rows of a table with all keys read
/// alike.
void tell_steps_apart(DataTable& table);

/// The id of the row, its keys and `rest` as one table; `row_of` maps an entry of the table to its row.
template <class Row, class RowOf>
DataTable table_of_steps(const RowOf& row_of, const std::vector<ColumnOf<Row>>& rest, const std::vector<Row>& rows,
                         DataTable about = {})
{
    std::vector<ColumnOf<Row>> columns{{"", "row", [&](const Row& row) { return word(row_of(row).id()); }}};
    for (const StepKey& key : step_keys())
        columns.push_back({key.title, key.key, [&](const Row& row) { return key.read(row_of(row)); }});
    columns.insert(columns.end(), rest.begin(), rest.end());
    DataTable table = table_of(columns, rows, std::move(about));
    tell_steps_apart(table);
    return table;
}

// Measured steps of which no verdict is given, and why.

/// Whether the ranks of a row took turns on one device, so that its time is not one of ranks side by side.
bool took_turns(const Measurement& row);
/// Whether the clocks of a row's ranks differ (measurement.hpp).
bool differ_in_clock(const Measurement& row);
/// Whether the bytes of a step on a GPU are those of its layers one by one, although our kernels of batch norms ran
/// fused and moved fewer: a row of before its bench said that it counts operations.
bool has_bytes_of_others(const Measurement& row);

// What else used the machine beside a training step, and what that probably cost.

struct BusyCost {
    double share = 0;  ///< of the step's time
    /// measured: beside the launches of the same row during which nothing else ran. counter: the time that the kernel
    /// counted as waited and stolen.
    Known known = Known::counter;
};

/// Empty if the machine was not busy, or if what it cost is not known.
std::optional<BusyCost> busy_cost(const Measurement& row);

/// "other processes used 1.9 processors, a thread waited 45% of the time for one; about 40% of the step's time
/// (counter)". Empty if the machine was not busy.
std::string busy_text(const Measurement& row);

}  // namespace roof::analysis
