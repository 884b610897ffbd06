#include "ert/base/error.hpp"
#include "ert/method/bench/machine.hpp"
#include "tests/fakes/fake_registry.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <yaml-cpp/yaml.h>
#include <catch2/catch.hpp>

#include <fstream>

using namespace roof;
using namespace roof::fakes;

TEST_CASE("a machine document is unchanged after writing and reading")
{
    Machine machine = fake_machine();
    machine.hypervisor = "KVM";
    machine.features = {"fma", "avx512_bf16"};
    machine.clock_reported = Hertz{2.596e9};
    machine.capabilities.push_back({"hardware counters", false, "no such file: \"perf\"", "ask the host"});
    machine.inconsistencies = {"L3: 32 MiB by one road, 320 MiB by another"};
    machine.devices[0].facts["note"] = "a: b # c";
    const TemporaryFolder folder;
    std::ofstream(folder / "machine.yaml") << YAML::Dump(to_yaml(machine));
    const Machine back = read_machine(folder / "machine.yaml");
    REQUIRE(YAML::Dump(to_yaml(back)) == YAML::Dump(to_yaml(machine)));
    REQUIRE(back.capabilities[0].reason == machine.capabilities[0].reason);
    REQUIRE(back.devices[0].levels[2].capacity.value == 33554432);
    REQUIRE(back.device("cpu").facts.at("note") == "a: b # c");
}

TEST_CASE("a damaged or missing machine document is an input error with the file's name")
{
    const TemporaryFolder folder;
    REQUIRE_THROWS_WITH(read_machine(folder / "machine.yaml"), Catch::Contains("machine.yaml"));
    std::ofstream(folder / "machine.yaml") << "";
    REQUIRE_THROWS_WITH(read_machine(folder / "machine.yaml"), Catch::Contains("machine.yaml"));
    std::ofstream(folder / "machine.yaml") << "name: x\nsockets: [1\n";
    REQUIRE_THROWS_AS(read_machine(folder / "machine.yaml"), InputError);
    std::ofstream(folder / "machine.yaml") << "name: x\nsockets: many\n";
    REQUIRE_THROWS_WITH(read_machine(folder / "machine.yaml"), Catch::Contains("machine.yaml:2"));
}

TEST_CASE("the message for an unknown device lists the existing ones")
{
    REQUIRE_THROWS_WITH(fake_machine().device("gpu:0"), Catch::Contains("cpu"));
}
