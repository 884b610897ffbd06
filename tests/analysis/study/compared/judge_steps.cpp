// Asks the rules about times of steps that another program made (tools/bench_comparisons). A line of standard input has two sides, separated
// by ';', each of processes separated by '|', each of the seconds of its steps. The answer is a line: low and high end of the first side's
// interval, and the verdict on the second.
#include "analysis/study/compared/compare.hpp"
#include "ert/base/text.hpp"
#include "ert/method/plan/processes.hpp"

#include <fmt/format.h>

#include <iostream>
#include <sstream>

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

}  // namespace

int main()
{
    for (std::string line; std::getline(std::cin, line);) {
        const std::vector<std::string> sides = split(line, ';');
        const Measurement a = side_of(sides.at(0));
        const Measurement b = side_of(sides.at(1));
        const auto change = analysis::step_change({}, "s", analysis::step_side(a), analysis::step_side(b));
        fmt::print("{} {} {}\n", a.seconds.low.value, a.seconds.high.value, analysis::verdict_of(change));
    }
}
