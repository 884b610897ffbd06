// The built-in rules against kernel names of cuDNN, cuBLAS, CUTLASS, PyTorch and NCCL, and the grammar of rules.
#include "analysis/recordings/kernel_rules.hpp"
#include "ert/base/error.hpp"
#include "tests/fakes/read_csv.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace roof;
using namespace roof::analysis;

TEST_CASE("kernels of known libraries are sorted by the built-in rules")
{
    const CsvTable table = read_csv(std::filesystem::path(ROOF_TEST_DATA) / "data/kernel_names.csv");
    CHECK(table.rows.size() >= 60);
    for (const std::vector<std::string>& row : table.rows) {
        INFO(row[4] << " in " << row[2] << ", " << row[3]);
        const KernelKind kind = built_in_kernel_rules().kind_of({row[4], row[2], "", row[3]});
        CHECK(kind.category == row[0]);
        CHECK(kind.algorithm == row[1]);
    }
}

TEST_CASE("the kind of a layer decides where the name of a kernel does not")
{
    const NamedKernel product{"ampere_sgemm_128x64_nn", "features.3", "convolution", "forward"};
    CHECK(built_in_kernel_rules().kind_of(product).category == "convolution forward");
    CHECK(built_in_kernel_rules().kind_of({product.name, "features.3", "linear", "forward"}).category == "GEMM");
    const std::string normalise_and_add = "NormaliseBody<__nv_bfloat16, 8, true>";
    const auto category_in = [&](const char* kind) {
        return built_in_kernel_rules().kind_of({normalise_and_add, "block.2", kind, "forward"}).category;
    };
    CHECK(category_in("batch_norm") == "batch norm");
    CHECK(category_in("add") == "element-wise");
}

TEST_CASE("the first rule that fits decides, and a star is any run of characters")
{
    const KernelRules rules = parse_kernel_rules(
        "categories:\n"
        "  - {category: first, names: [a*c], without: [z]}\n"
        "  - {category: second, names: [A, 'b']}\n",
        "rules.yaml");
    CHECK(rules.kind_of({"xAbbCx", "", "", ""}).category == "first");
    CHECK(rules.kind_of({"acz", "", "", ""}).category == "second");
    CHECK(rules.kind_of({"ca", "", "", ""}).category == "second");
    CHECK(rules.kind_of({"cq", "", "", ""}).category == no_category);
    CHECK(rules.kind_of({"", "", "", ""}).category == no_category);
}

TEST_CASE("a file without rules is an error with its line")
{
    const auto fails = [](const std::string& yaml, const std::string& message) {
        CHECK_THROWS_WITH(parse_kernel_rules(yaml, "rules.yaml"), Catch::Contains(message));
    };
    fails("categories:\n  - {names: [a]}\n", "rules.yaml:2: a rule without category");
    fails("categories:\n  - {category: c}\n", "rules.yaml:2: a rule without names");
    fails("categories:\n  - {category: c, names: [a], phase: [b]}\n", "rules.yaml:2: unknown key 'phase'");
    fails("categories:\n  - {category: c, names: a}\n", "rules.yaml:2: expected a list");
    fails("categories:\n  - {category: c, names: ['']}\n", "rules.yaml:2: an empty name");
    fails("catgories: []\n", "rules.yaml:1: unknown key 'catgories'");
    fails("[\n", "rules.yaml:");
    CHECK_THROWS_AS(parse_kernel_rules("just words", "rules.yaml"), InputError);
}
