// Asks the rules about times of steps that another program made (tools/bench_comparisons). A line of standard input has
// three parts, separated by ';': two sides, each of processes separated by '|', each of the seconds of its steps; and
// roofs separated by '|', each of its share of the step's least time and its usual rate at each time. The answer is a
// line: low and high end of the first side's interval, and the verdict on the second.
#include "analysis/study/compared/compare.hpp"
#include "ert/base/text.hpp"
#include "ert/method/ceilings/looks.hpp"
#include "ert/method/plan/measure.hpp"

#include <fmt/format.h>

#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>
#include <vector>

using namespace roof;

namespace {

Measurement process_of(const std::string& text)
{
    Measurement row;
    row.bench = "train";
    row.samples.push_back({.used = false});  // a warm-up
    std::istringstream in(text);
    for (double seconds = 0; in >> seconds;) row.samples.push_back({.seconds = Seconds{seconds}});
    row.seconds = time_of_step(row.samples);
    return row;
}

Measurement side_of(const std::string& text)
{
    std::vector<Measurement> rows;
    for (const std::string& process : split(text, '|')) rows.push_back(process_of(process));
    return over_processes(rows);
}

/// Empty without looks at two times.
std::optional<double> between_times(const std::string& text)
{
    std::vector<double> shares;
    std::vector<std::vector<double>> usual;
    for (const std::string& roof : split(text, '|')) {
        std::istringstream in(roof);
        in >> shares.emplace_back();
        usual.emplace_back(std::istream_iterator<double>(in), std::istream_iterator<double>());
    }
    double between = 0;
    const auto halves = half_widths_between(usual);
    for (std::size_t i = 0; i < halves.size(); ++i) {
        if (!halves[i]) return {};
        between += shares[i] * *halves[i];
    }
    return between;
}

}  // namespace

int main()
{
    for (std::string line; std::getline(std::cin, line);) {
        const std::vector<std::string> sides = split(line, ';');
        const Measurement a = side_of(sides.at(0));
        const Measurement b = side_of(sides.at(1));
        analysis::Side first = analysis::step_side(a), second = analysis::step_side(b);
        first.between = second.between = between_times(sides.at(2));
        const auto change = analysis::step_change({}, "s", first, second);
        fmt::print("{} {} {}\n", a.seconds.low.value, a.seconds.high.value, analysis::verdict_of(change));
    }
}
