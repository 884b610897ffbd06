// The values to try. What won where: plain loads, 4 per iteration, in L1 and L2 of Emerald Rapids (125.6 and 50.8 bytes
// per clock, joined 97 and 47); 1 to 4 vectors per iteration with a lag of one for the triad in L1 of Zen 5;
// prefetching in its L3; 2 and 4 parts in its memory.
#include "cpu/kernels/forms.hpp"

#include <algorithm>

namespace roof::cpu {
namespace {

using Kind = StreamStep::Kind;

struct Stage {
    Kind kind;
    int array;
};

/// The steps of one vector.
std::vector<Stage> stages_of(const Stream& stream, const Form& form)
{
    const int destination = stream.sources;
    if (stream.only_reads()) return {{form.join == Join::none ? Kind::load : Kind::join, 0}};
    const bool scales = stream.flops > 0;
    const int first = scales ? stream.sources - 1 : 0;
    std::vector<Stage> all;
    if (stream.sources > 0) all.push_back({scales ? Kind::product : Kind::load, first});
    if (stream.sources > 1) all.push_back({scales ? Kind::sum : Kind::add, 1 - first});
    if (stream.in_place) all.push_back({stream.sources > 0 ? Kind::add : Kind::add_constant, destination});
    all.push_back({Kind::store, destination});
    return all;
}

/// The first is that of the first form, whose time plans the trials.
constexpr int all_lengths[] = {4, 8, 16, 32, 2, 1};
constexpr int usual_lengths[] = {2, 4, 8};
constexpr int distances[] = {1024, 2048, 4096};
constexpr Join all_joins[] = {Join::none, Join::sum, Join::bits, Join::maximum};
constexpr Addressing both_ways[] = {Addressing::pointers, Addressing::counter};
constexpr int lags[] = {0, 1};
constexpr int most_values = 8;

/// The forms that differ in what the instructions are; all other fields as by default.
std::vector<Form> instructions_of(const Stream& stream, bool can_fuse)
{
    std::vector<Form> forms;
    if (stream.only_reads()) {
        for (const Join join : all_joins) forms.push_back({.join = join});
        return forms;
    }
    forms.emplace_back();
    if (stream.flops > 1 && can_fuse) forms.push_back({.fused = true});
    return forms;
}

void add_beyond_l1(const Stream& stream, Form form, std::vector<Form>& forms)
{
    for (const int vectors : usual_lengths) {
        form.vectors = vectors;
        for (const int distance : distances) {
            form.ahead = stream.loads() > 0 ? distance : 0;
            if (form.ahead > 0) forms.push_back(form);
        }
        form.ahead = 0;
        for (const int parts : {2, 4}) {
            form.parts = parts;
            if (stream.arrays() == 1) forms.push_back(form);
        }
        form.parts = 1;
    }
}

}  // namespace

const Stream& parse_stream(std::string_view name)
{
    return row_in(stream_table, "operation", name);
}

std::string Form::text(const Stream& stream) const
{
    std::string words;
    if (stream.only_reads()) words = std::string(name(join)) + ", ";
    words += std::to_string(vectors) + " per iteration";
    if (addressing == Addressing::counter) words += ", counter";
    if (parts > 1) words += ", " + std::to_string(parts) + " parts";
    if (fused) words += ", fused";
    if (lag > 0) words += ", lag " + std::to_string(lag);
    if (ahead > 0) words += ", prefetch " + std::to_string(ahead) + " bytes ahead";
    return words;
}

/// With a lag, a turn begins with the first step of its vector; later steps follow, of ever earlier vectors, the oldest
/// vector first.
std::vector<StreamStep> iteration(const Stream& stream, const Form& form)
{
    const std::vector<Stage> stages = stages_of(stream, form);
    const int last = static_cast<int>(stages.size()) - 1;
    std::vector<StreamStep> steps;
    const auto add_all_parts = [&](int stage, int vector) {
        if (vector < 0 || vector >= form.vectors) return;
        for (int part = 0; part < form.parts; ++part)
            steps.push_back({stages[stage].kind, stages[stage].array, part, vector, value_of(form, vector, part)});
    };
    for (int turn = 0; turn < form.vectors + form.lag * last; ++turn) {
        add_all_parts(0, turn);
        for (int i = 1; i <= last; ++i) {
            const int stage = form.lag == 0 ? i : last + 1 - i;
            add_all_parts(stage, turn - form.lag * stage);
        }
    }
    return steps;
}

int values_of(const Form& form)
{
    return std::min(most_values, form.vectors * form.parts);
}

int value_of(const Form& form, int vector, int part)
{
    return (vector * form.parts + part) % most_values;
}

std::vector<Form> forms_of(const Stream& stream, bool beyond_l1, bool can_fuse)
{
    std::vector<Form> forms;
    for (Form form : instructions_of(stream, can_fuse)) {
        for (const int vectors : all_lengths) {
            for (const Addressing addressing : both_ways) {
                for (const int lag : lags) {
                    const bool has_turns = vectors > 1 && stream.moves() > 1;
                    if (lag > 0 && !has_turns) continue;
                    form.vectors = vectors;
                    form.addressing = addressing;
                    form.lag = lag;
                    forms.push_back(form);
                }
            }
        }
        form.addressing = Addressing::pointers;
        form.lag = 0;
        const bool is_joined_otherwise = stream.only_reads() && form.join > Join::sum;
        if (beyond_l1 && !is_joined_otherwise) add_beyond_l1(stream, form, forms);
    }
    return forms;
}

}  // namespace roof::cpu
