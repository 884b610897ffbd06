// Randomly damaged files are read or refused with InputError. A truncated file never gives wrong numbers.
#include "analysis/recordings/import.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/import/fixtures.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <optional>
#include <random>

using namespace roof;
using namespace roof::analysis;

namespace {

/// The imported file; nullopt if it is refused. Any other error fails the test.
std::optional<Imported> attempt(const std::filesystem::path& file, const std::string& content)
{
    write_file(file, content);
    try {
        return import_file(file);
    } catch (const InputError&) {
        return {};
    }
}

void check_sound(const Imported& imported)
{
    for (const ImportedRow& row : imported.rows) {
        const Measurement& m = row.measurement;
        for (const double value : {m.seconds.median.value, m.work.flops.value, m.work.compulsory.value}) {
            CHECK(std::isfinite(value));
            CHECK(value >= 0);
        }
        for (const KernelRecord& kernel : row.kernels) {
            CHECK(std::isfinite(kernel.duration.value));
            CHECK(kernel.duration.value >= 0);
        }
    }
}

class Damage {
  public:
    explicit Damage(unsigned seed) : random_(seed) {}

    std::string mutated(std::string text)
    {
        for (std::size_t i = up_to(4) + 1; i > 0 && !text.empty(); --i) change(text);
        return text;
    }

  private:
    std::size_t up_to(std::size_t most) { return std::uniform_int_distribution<std::size_t>(0, most)(random_); }

    void change(std::string& text)
    {
        const std::size_t at = up_to(text.size() - 1);
        const std::size_t length = up_to(20);
        switch (up_to(4)) {
            case 0:
                text[at] = static_cast<char>(up_to(255));
                break;
            case 1:
                text.erase(at, length);
                break;
            case 2:
                text.insert(at, text.substr(up_to(text.size() - 1), length));
                break;
            case 3:
                text.resize(at);
                break;
            default:
                text.insert(at, std::string(1, "\",{}[]-.9e\n"[up_to(10)]));
        }
    }

    std::mt19937 random_;
};

}  // namespace

TEST_CASE("a damaged text is read or refused with an InputError")
{
    const fakes::TemporaryFolder folder;
    Damage damage(20260131);
    for (const std::string& name : tests::text_fixtures()) {
        const std::string text = tests::fixture_text(name);
        for (int round = 0; round < 150; ++round) {
            const std::string content = damage.mutated(text);
            INFO(name << ", round " << round << ":\n" << content);
            if (const auto imported = attempt(folder / "x", content)) check_sound(*imported);
        }
    }
}

TEST_CASE("a truncated text gives the numbers of the whole file or is refused")
{
    const fakes::TemporaryFolder folder;
    for (const std::string& name : tests::text_fixtures()) {
        const std::string text = tests::fixture_text(name);
        for (std::size_t length = 0; length < text.size(); length += 1 + text.size() / 120) {
            INFO(name << ", " << length << " bytes");
            const auto part = attempt(folder / "x", text.substr(0, length));
            if (!part) continue;
            const bool whole_lines = length == 0 || text[length - 1] == '\n';
            CHECK(whole_lines);
            check_sound(*part);
        }
    }
}

TEST_CASE("a damaged database is read or refused with an InputError")
{
    const fakes::TemporaryFolder folder;
    tests::make_database(folder / "whole", tests::fixture_text("nsys.sql"));
    const std::string whole = read_file(folder / "whole");
    Damage damage(7);
    for (int round = 0; round < 150; ++round) {
        INFO("round " << round);
        if (const auto imported = attempt(folder / "x", damage.mutated(whole))) check_sound(*imported);
    }
}

TEST_CASE("a number that is too large for a double is refused")
{
    const fakes::TemporaryFolder folder;
    const std::string text =
        R"({"empirical": {"metadata": {}, "gbytes": {"data": [["DRAM", 1e308864]]}, "gflops": {"data": [["fp64", 1]]}}})";
    CHECK_FALSE(attempt(folder / "roofline.json", text));
}
