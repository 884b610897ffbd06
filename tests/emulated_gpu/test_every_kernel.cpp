// What the tests of kernels launch. Those of the probes and those of a training step run in one process each, as
// CMakeLists.txt orders it.
#include "tests/emulated_gpu/runtime/machine.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <ctime>
#include <fstream>

using namespace roof::emulated;

namespace {

std::set<std::string>& launched()
{
    static std::set<std::string> all;
    return all;
}

/// Keeps what each test launches, and writes it into the file that ROOF_EMULATED_LAUNCHED names: kernel, seconds of the
/// processor, test.
class Launches : public Catch::TestEventListenerBase {
  public:
    using TestEventListenerBase::TestEventListenerBase;

    void testRunStarting(const Catch::TestRunInfo&) override
    {
        if (file_ != nullptr) std::ofstream{file_};
    }
    void testCaseStarting(const Catch::TestCaseInfo&) override
    {
        machine().launched.clear();
        begin_ = std::clock();
    }
    void testCaseEnded(const Catch::TestCaseStats& stats) override
    {
        const double seconds = static_cast<double>(std::clock() - begin_) / CLOCKS_PER_SEC;
        if (file_ != nullptr) {
            std::ofstream file(file_, std::ios::app);
            for (const std::string& kernel : machine().launched)
                file << kernel << ',' << seconds << ",\"" << stats.testInfo.name << "\"\n";
        }
        launched().merge(machine().launched);
    }

  private:
    const char* file_ = std::getenv("ROOF_EMULATED_LAUNCHED");
    std::clock_t begin_{};
};

CATCH_REGISTER_LISTENER(Launches)

void check_all_of(const char* part)
{
    std::vector<std::string> missing;
    for (const std::string& name : all_kernels()) {
        const auto is_of = [&name](const char* text) { return name.find(text) != std::string::npos; };
        // Those of planted errors; and from fp32 to fp32 and behind a convolution in fp32, which no step asks for.
        const bool is_left_out = is_of("7planted") || is_of("9widen_allIf") || is_of("17finish_statisticsIf");
        if (is_of(part) && !is_left_out && !launched().contains(name)) missing.push_back(name);
    }
    CHECK(missing == std::vector<std::string>{});
    WARN(launched().size() << " kernels have run");
}

}  // namespace

TEST_CASE("the tests before this one have launched every kernel of the probes", "[.every_probe]")
{
    check_all_of("4roof3gpu");
}

TEST_CASE("the tests before this one have launched every kernel of a training step", "[.every_operation]")
{
    check_all_of("4roof5cudnn");
}
