#include "tools/roof/reading/calibration.hpp"

#include "ert/method/results/results.hpp"
#include "tools/roof/reading/expectations.hpp"

namespace roof {

analysis::Study open_with_calibration(const std::filesystem::path& folder, const std::filesystem::path& calibration,
                                      const Context& context)
{
    analysis::Study study = analysis::open_study(folder, calibration);
    if (calibration.empty() && study.ceilings.all.empty()) {
        const auto here = find_calibration(context.results / study.results.machine.name);
        if (!here.empty()) study = analysis::make_study(std::move(study.results), read_results(here));
    }
    answer_expectations(study);
    return study;
}

}  // namespace roof
