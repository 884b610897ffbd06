#include "tools/roof/commands/study_estimate.hpp"

#include "analysis/estimate/facts.hpp"
#include "analysis/report/published_page.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/reading/machines.hpp"
#include "tools/roof/reading/studies.hpp"

namespace roof {
namespace {

using analysis::Answered;
using analysis::Assessment;
using analysis::Target;

nlohmann::json study_json(const std::vector<Assessment>& assessments, const std::vector<Answered>& answers)
{
    nlohmann::json published = nlohmann::json::array();
    for (const Assessment& a : assessments) {
        published.push_back({{"model", a.published.of.model},
                             {"batch", a.published.of.batch},
                             {"machine", a.published.machine},
                             {"quantity", a.published.quantity},
                             {"published", analysis::json_number(a.published.value)},
                             {"unit", a.published.unit},
                             {"published_si", analysis::json_number(a.published.si)},
                             {"estimated_si", analysis::json_number(a.estimated)},
                             {"assessment", name(a.verdict)},
                             {"remark", a.remark},
                             {"source", a.published.source}});
    }
    nlohmann::json hypotheses = nlohmann::json::array();
    for (const Answered& one : answers)
        hypotheses.push_back({{"hypothesis", one.hypothesis}, {"answer", name(one.answer)}, {"numbers", one.numbers}});
    return {{"published", published}, {"hypotheses", hypotheses}};
}

}  // namespace

int estimate_study(const StudyOptions& options, bool json, Context& context)
{
    const PublishedStudy study = find_study(options.name);
    const std::vector<Target> targets = all_targets(context);
    const std::vector<Assessment> assessments = analysis::assess(study.numbers, targets);
    Results measured;
    if (!options.measured.empty()) measured = read_results(options.measured);
    const auto knowledge = analysis::knowledge_of({.targets = targets, .rows = measured.rows, .usual = {}});
    const std::vector<Answered> answers = analysis::answer_all(study.hypotheses, knowledge);
    if (!options.page.empty())
        write_file(options.page, analysis::published_page(study.name, assessments, answers, targets));
    if (json) {
        print_json(context.out, study_json(assessments, answers));
        return 0;
    }
    context.out << analysis::to_text(analysis::published_table(assessments), context.terminal.width) << '\n'
                << in_window(analysis::to_text(answers), context.terminal);
    if (!options.page.empty()) context.out << '\n' << options.page << '\n';
    return 0;
}

}  // namespace roof
