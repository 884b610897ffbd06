#include "tools/roof/programs/measured_anew.hpp"

#include "ert/base/files.hpp"
#include "ert/method/plan/measure.hpp"
#include "ert/method/plan/processes.hpp"
#include "ert/method/results/results.hpp"
#include "tools/roof/programs/child_program.hpp"
#include "tools/roof/programs/scratch.hpp"
#include "tools/roof/session/plans.hpp"

#include <cstdlib>
#include <memory>

namespace roof {
namespace {

/// The file to which the first process writes its choices of algorithms and from which the others take them.
constexpr const char* variable = "ROOF_CHOICES";

class Processes {
  public:
    explicit Processes(Item item)
    {
        item.stopping = of_one_process(item.stopping);
        write_file(plan(), plan_of(item));
        ::setenv(variable, (scratch_.path() / "choices.csv").c_str(), 1);
    }
    ~Processes() { ::unsetenv(variable); }
    Processes(const Processes&) = delete;
    Processes& operator=(const Processes&) = delete;

    std::optional<Measurement> next()
    {
        constexpr int interrupted_status = 130;
        const std::filesystem::path out = scratch_.path() / std::to_string(++started_);
        std::string problem;
        const int status = run_again({program_path().string(), "sweep", plan().string(), "--out", out.string()},
                                     {{"ROOF_RESULTS", scratch_.path().string()}}, problem);
        if (status == interrupted_status) throw Interrupted();
        if (status != 0) return std::nullopt;
        const std::vector<Measurement> rows = read_results(out).rows;
        if (rows.size() != 1 || rows.front().status != Status::ok) return std::nullopt;
        return rows.front();
    }

  private:
    std::filesystem::path plan() const { return scratch_.path() / "plan.yaml"; }

    Scratch scratch_{"roof-process-"};
    int started_ = 0;
};

}  // namespace

std::function<std::optional<Measurement>()> measured_anew(const Item& item)
{
    return [processes = std::make_shared<Processes>(item)] { return processes->next(); };
}

}  // namespace roof
