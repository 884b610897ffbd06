// The values to try. What won where: plain loads, 4 per iteration, in L1 and L2 of Emerald Rapids (125.6 and 50.8 bytes
// per clock, joined 97 and 47); 1 to 4 vectors per iteration with a lag of one for the triad in L1 of Zen 5;
// prefetching in its L3; 2 and 4 parts in its memory.
#include "cpu/kernels/forms.hpp"

#include <algorithm>
#include <span>

namespace roof::cpu {
namespace {

using Kind = StreamStep::Kind;
using Operand = StreamStep::Operand;
using Term = ArrayOperation::Term;

/// What an operation does to one vector. Its steps come one directly after another.
using Stage = std::vector<StreamStep>;

/// Computes the product of the term's factors but the last `left_out` in a register.
Stage product_of(const Term& term, std::size_t left_out, bool to_scratch)
{
    const std::span factors(term.factors.data(), term.factors.size() - left_out);
    Stage steps;
    const bool scales = term.has_scalar();
    steps.push_back({scales ? Kind::product : Kind::load, factors[scales ? 1 : 0], to_scratch});
    for (const int array : factors.subspan(scales ? 2 : 1)) steps.push_back({Kind::multiply, array, to_scratch});
    return steps;
}

/// Adds a term to the value, or subtracts it.
Stage addition_of(const Term& term, bool fused)
{
    const Kind kind = term.is_subtracted ? Kind::subtract : Kind::add;
    const int last = term.factors.back();
    if (term.is_scalar()) return {{kind, -1, false, Operand::constant}};
    if (term.is_array()) return {{kind, last}};
    const bool is_fused = fused && !term.is_subtracted;
    if (is_fused && term.has_scalar() && term.factors.size() == 2)
        return {{Kind::add_product, last, false, Operand::constant}};
    Stage steps = product_of(term, is_fused ? 1 : 0, true);
    if (is_fused)
        steps.push_back({Kind::add_product, last, false, Operand::scratch});
    else
        steps.push_back({kind, -1, false, Operand::scratch});
    return steps;
}

/// The stages of one vector. The first two terms are one where an instruction adds the constant to what it loads, or
/// multiplies and adds.
std::vector<Stage> stages_of(const ArrayOperation& operation, const Form& form)
{
    std::span terms(operation.terms);
    const auto pair_is = [&](auto first, auto second) {
        return terms.size() > 1 && first(terms[0]) && second(terms[1]) && !terms[1].is_subtracted;
    };
    const auto scales_array = [](const Term& term) { return term.has_scalar() && term.factors.size() == 2; };
    const auto is_array = [](const Term& term) { return term.is_array(); };
    const auto is_scalar = [](const Term& term) { return term.is_scalar(); };
    if (operation.only_loads()) return {{{form.join == Join::none ? Kind::load : Kind::join, 0}}};
    std::vector<Stage> all;
    std::size_t done = 1;
    if (operation.sums()) {
        done = 0;
    } else if (pair_is(is_array, is_scalar)) {
        all.push_back({{Kind::constant_sum, terms[0].factors.front()}});
        done = 2;
    } else if (form.fused && pair_is(scales_array, is_array)) {
        all.push_back({{Kind::load, terms[0].factors.back()}});
        all.push_back({{Kind::multiply_add, terms[1].factors.front()}});
        done = 2;
    } else if (!is_scalar(terms[0])) {
        all.push_back(product_of(terms[0], 0, false));
    }
    for (const Term& term : terms.subspan(done)) all.push_back(addition_of(term, form.fused));
    if (operation.stores > 0) all.push_back({{Kind::store, operation.sources}});
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

bool multiplies_and_adds(const ArrayOperation& operation)
{
    const bool adds = operation.sums() || operation.terms.size() > 1;
    return adds && std::ranges::any_of(operation.terms,
                                       [](const Term& term) { return term.factors.size() > 1 && !term.is_subtracted; });
}

/// The forms that differ in what the instructions are; all other fields as by default.
std::vector<Form> instructions_of(const ArrayOperation& operation, bool can_fuse)
{
    std::vector<Form> forms;
    if (operation.only_loads()) {
        for (const Join join : all_joins) forms.push_back({.join = join});
        return forms;
    }
    forms.emplace_back();
    if (multiplies_and_adds(operation) && can_fuse) forms.push_back({.fused = true});
    return forms;
}

void add_beyond_l1(const ArrayOperation& operation, Form form, std::vector<Form>& forms)
{
    for (const int vectors : usual_lengths) {
        form.vectors = vectors;
        for (const int distance : distances) {
            form.ahead = operation.loads() > 0 ? distance : 0;
            if (form.ahead > 0) forms.push_back(form);
        }
        form.ahead = 0;
        for (const int parts : {2, 4}) {
            form.parts = parts;
            if (operation.arrays() == 1) forms.push_back(form);
        }
        form.parts = 1;
    }
}

}  // namespace

std::string Form::text(const ArrayOperation& operation) const
{
    std::string words;
    if (operation.only_loads()) words = std::string(name(join)) + ", ";
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
std::vector<StreamStep> iteration(const ArrayOperation& operation, const Form& form)
{
    const std::vector<Stage> stages = stages_of(operation, form);
    const int last = static_cast<int>(stages.size()) - 1;
    std::vector<StreamStep> steps;
    const auto add_all_parts = [&](int stage, int vector) {
        if (vector < 0 || vector >= form.vectors) return;
        for (int part = 0; part < form.parts; ++part) {
            for (StreamStep step : stages[stage]) {
                step.part = part;
                step.vector = vector;
                step.value = value_of(form, vector, part);
                steps.push_back(step);
            }
        }
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

std::vector<Form> forms_of(const ArrayOperation& operation, bool beyond_l1, bool can_fuse)
{
    std::vector<Form> forms;
    for (Form form : instructions_of(operation, can_fuse)) {
        for (const int vectors : all_lengths) {
            for (const Addressing addressing : both_ways) {
                for (const int lag : lags) {
                    const bool has_turns = vectors > 1 && operation.moves() > 1 && !operation.sums();
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
        const bool is_joined_otherwise = operation.only_reads() && form.join > Join::sum;
        if (beyond_l1 && !is_joined_otherwise) add_beyond_l1(operation, form, forms);
    }
    return forms;
}

}  // namespace roof::cpu
