// The node's name, and the folders of equal nodes.
#include "ert/base/error.hpp"
#include "ert/method/bench/identity.hpp"
#include "ert/method/results/look_file.hpp"
#include "ert/method/results/results.hpp"
#include "tests/fakes/fake_registry.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/method/measured_rows.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace roof;

TEST_CASE("a node is named by the option, else by Slurm, else by Kubernetes, else by the host")
{
    ::unsetenv("SLURMD_NODENAME");
    ::unsetenv("NODE_NAME");
    CHECK(is_node_name(node_name()));
    ::setenv("NODE_NAME", "k8s/worker 7", 1);
    CHECK(node_name() == "k8s-worker-7");
    ::setenv("SLURMD_NODENAME", "n17", 1);
    CHECK(node_name() == "n17");
    CHECK(node_name("r3.n1") == "r3.n1");
    ::unsetenv("SLURMD_NODENAME");
    ::unsetenv("NODE_NAME");
}

TEST_CASE("a name that could be an option, a path or markup is no node's name")
{
    for (const char* name : {"-n17", "../n17", "n/17", "<b>", "n 17", ".."})
        CHECK_THROWS_AS(node_name(name), InputError);
    CHECK_FALSE(is_node_name(std::string(65, 'n')));
    CHECK(is_node_name(std::string(64, 'n')));
}

TEST_CASE("equal nodes write into different folders, and neither continues the other's")
{
    const fakes::TemporaryFolder folder;
    Machine first = fakes::fake_machine();
    Machine second = first;
    first.node = "n1";
    second.node = "n2";
    const std::filesystem::path root = folder / "results";
    const std::filesystem::path of_first = choose_folder(root, first, "name: p\n", Scheduler({}));
    const std::filesystem::path of_second = choose_folder(root, second, "name: p\n", Scheduler({}));
    CHECK(of_first != of_second);
    CHECK(of_first.filename().string().ends_with("-n1-test"));
    const RunDirectory run(of_first, "name: p\n", first);
    CHECK(read_machine_of(of_first).node == "n1");
    CHECK_THROWS_WITH(RunDirectory(of_first, "name: p\n", second),
                      Catch::Contains("in use") || Catch::Contains("another"));
}

TEST_CASE("a folder holds the rows of one node")
{
    const fakes::TemporaryFolder folder;
    Machine machine = fakes::fake_machine();
    machine.node = "n1";
    const std::filesystem::path run = folder / "run";
    {
        RunDirectory first(run, "name: p\n", machine);
        first.append(tests::measured()[0]);
    }
    machine.node = "n2";
    CHECK_THROWS_WITH(RunDirectory(run, "name: p\n", machine), Catch::Contains("--node n1"));
}

TEST_CASE("a machine names the node of each rank and counts the nodes")
{
    Machine machine;
    CHECK(rank_nodes(machine).empty());
    CHECK(count_nodes(machine) == 0);
    CHECK_THROWS_AS(set_rank_nodes(machine, {"n1"}), InputError);
    machine.devices.emplace_back().name = "cpu";
    set_rank_nodes(machine, {"n1", "n1", "n2"});
    CHECK(rank_nodes(machine) == std::vector<std::string>{"n1", "n1", "n2"});
    CHECK(count_nodes(machine) == 2);
}

TEST_CASE("a container's random name makes no other machine, and another quota does")
{
    Machine first = fakes::fake_machine();
    Machine second = fakes::fake_machine();
    first.host = second.host = in_container;
    first.node = "0123456789ab";
    second.node = "ba9876543210";
    CHECK(looks_file_of("m", first) == looks_file_of("m", second));
    second.quota = "0.5";
    CHECK(looks_file_of("m", first) != looks_file_of("m", second));
    second = fakes::fake_machine();
    second.node = "n2";
    CHECK(looks_file_of("m", fakes::fake_machine()) != looks_file_of("m", second));
}
