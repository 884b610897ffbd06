// digest.csv: what it keeps, and what is refused.
#include "analysis/fleet/digest.hpp"

#include "analysis/study/compared/compare.hpp"
#include "ert/base/checksum.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/plan/measure.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace roof;
using namespace roof::analysis;
using Catch::Contains;

namespace {

Digest made_digest()
{
    Digest digest{
        .node = "n17", .kind = "xeon-26cpu", .plan = "0123", .revision = "abc", .time = "2026-11-22T18:02:16Z"};
    digest.facts = {{"BIOS", "2.1, \"beta\""}};
    digest.ceilings = {{"cpu bandwidth DRAM load threads=26", "B/s", "steady", 1e11, 0.99e11, 1.01e11, 0, 30, 5},
                       {"cpu compute fp32 fma", "FLOP/s", "at least", 2e12, 1.9e12, HUGE_VAL, 2.1e12, 4}};
    digest.links = {{"n17 n18", "B/s", "steady", 1.2e9, 1.1e9, 1.3e9, 0, 9}};
    return digest;
}

/// The text with one replacement, and checksums that match it.
std::string forged(const std::string& from, const std::string& to)
{
    std::string text = to_csv(made_digest());
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
    return with_checksums(text);
}

}  // namespace

TEST_CASE("a digest reads back as it was written")
{
    const std::string text = to_csv(made_digest());
    CHECK(text.substr(0, text.rfind(',') + 1) ==
          "what,name,value,low,high,unit,state,n,spec,rounds,block_checksum\n"
          "fact,node,n17,,,,,,,,\nfact,kind,xeon-26cpu,,,,,,,,\nfact,plan,0123,,,,,,,,\nfact,revision,abc,,,,,,,,\n"
          "fact,time,2026-11-22T18:02:16Z,,,,,,,,\nfact,BIOS,\"2.1, \"\"beta\"\"\",,,,,,,,\n"
          "ceiling,cpu bandwidth DRAM load threads=26,1e+11,9.9e+10,1.01e+11,B/s,steady,30,,5,\n"
          "ceiling,cpu compute fp32 fma,2e+12,1.9e+12,,FLOP/s,at least,4,2.1e+12,0,\n"
          "link,n17 n18,1.2e+09,1.1e+09,1.3e+09,B/s,steady,9,,0,\nend,,9,,,,,,,,");
    const Digest digest = parse_digest(text, "digest.csv");
    CHECK(to_csv(digest) == text);
    CHECK_FALSE(digest.facts.contains("node"));
    CHECK(digest.ceilings.at(1).is_lower_bound());
}

TEST_CASE("a digest of an older version lacks the rounds of its intervals")
{
    std::string text = "what,name,value,low,high,unit,state,n,spec\n";
    for (const char* const fact : {"node,n17", "kind,xeon", "plan,0123", "revision,abc", "time,2026-11-22T18:02:16Z"})
        text += std::string("fact,") + fact + ",,,,,,\n";
    text += "ceiling,cpu L1 load,1e+11,9.9e+10,1.01e+11,B/s,steady,30,\nend,,6,,,,,,\n";
    const Digest digest = parse_digest(with_checksums(text), "d");
    REQUIRE(digest.ceilings.size() == 1);
    CHECK(digest.ceilings[0].n == 30);
    CHECK(digest.ceilings[0].rounds == 0);
}

TEST_CASE("messages between nodes are links, not ceilings of a node")
{
    Results results;
    for (const auto& [bench, path] : {std::pair{"network_pair", "0-1"}, {"network", "2x1"}, {"network", "1x2"}}) {
        Measurement row;
        row.bench = bench;
        row.role = Role::bandwidth;
        row.device = "cpu";
        if (row.bench == "network") row.point.set("operation", "ring");
        row.point.set("path", path);
        row.point.set("size", "1048576");
        row.work.compulsory = row.work.no_reuse = Bytes{1 << 20};
        row.samples.resize(9, Sample{.seconds = Seconds{1e-3}});
        row.seconds = {Seconds{1e-3}, Seconds{1e-3}, Seconds{1e-3}, 9, 0};
        row.variant = "n1 n2, made";
        results.rows.push_back(row);
    }
    const Digest digest = make_digest(results);
    REQUIRE(digest.ceilings.size() == 1);
    CHECK_THAT(digest.ceilings[0].name, Contains("1x2"));
    REQUIRE(digest.links.size() == 1);
    CHECK(digest.links[0].name == "n1 n2");
    CHECK(digest.links[0].spec == 0);
    const fakes::TemporaryFolder folder;
    results.folder = folder.path();
    results.machine.name = "epyc-26cpu";
    results.rows.front().started = "2026-11-22T18:02:16Z";
    std::erase_if(results.rows, [](const Measurement& row) { return row.bench == "network"; });
    keep_digest(results);
    CHECK(parse_digest(read_file(folder / "digest.csv"), "d").links.size() == 1);
}

TEST_CASE("a digest names the machine's kind, what may explain a difference, and the time of the newest row")
{
    Results results;
    results.machine.name = "epyc-26cpu";
    results.machine.versions = {{"BIOS", "2.1"}, {"kernel", std::string(300, 'k')}};
    results.machine.governor = "performance";
    for (const auto& [name, kind, model] : {std::tuple{"cpu", "cpu", "EPYC"},
                                            {"gpu:0", "gpu", "H100"},
                                            {"gpu:1", "gpu", "H100"},
                                            {"gpu:2", "gpu", "A100"}})
        results.machine.devices.push_back(
            {.name = name, .kind = kind, .model = model, .memory = Bytes{std::uint64_t{64} << 30}});
    CHECK(kind_of(results.machine, {"cpu", "gpu:0", "gpu:1"}) == "epyc-26cpu, 2 x H100");
    for (const char* time : {"2026-11-22T18:02:16Z", "2026-11-23T18:02:16Z", "2026-11-21T18:02:16Z"})
        results.rows.emplace_back().started = time;
    const Digest digest = make_digest(results);
    CHECK(digest.time == "2026-11-23T18:02:16Z");
    using Facts = std::map<std::string, std::string>;
    CHECK(digest.facts == Facts{{"BIOS", "2.1"},
                                {"governor", "performance"},
                                {"kernel", shortened(std::string(300, 'k'), 200)},
                                {"memory", "64 GiB"}});
}

TEST_CASE("a digest with numbers that no measurement has is refused")
{
    for (const char* number : {"nan", "inf", "-1e11", "0", "1e999", "x", ""})
        CHECK_THROWS_WITH(parse_digest(forged(",1e+11,", std::string(",") + number + ","), "d"),
                          Contains("no number above 0"));
    for (const char* number : {"5e+11", "1.0101e+11", "9.8999e+10"})
        CHECK_THROWS_WITH(parse_digest(forged(",1e+11,", std::string(",") + number + ","), "d"),
                          "d:8: the value lies outside its interval");
    for (const char* number : {"1.01e+11", "9.9e+10"})
        CHECK_NOTHROW(parse_digest(forged(",1e+11,", std::string(",") + number + ","), "d"));
    for (const std::string number : {"-1", "x", "2.5"})
        CHECK_THROWS_WITH(parse_digest(forged("steady,30", "steady," + number), "d"),
                          "d:8: '" + number + "' is no number of samples");
    CHECK_THROWS_WITH(parse_digest(forged("steady,30,,5", "steady,30,,-5"), "d"), Contains("number of rounds"));
}

TEST_CASE("a digest with a foreign name, time or line is refused")
{
    CHECK_THROWS_WITH(parse_digest(forged(",n17,", ",../n17,"), "d"), Contains("no node's name"));
    CHECK_THROWS_WITH(parse_digest(forged(",2026-11-22T", ",yesterday-22T"), "d"), Contains("no time"));
    CHECK_THROWS_WITH(parse_digest(forged(",2026-11-22T", ",2026-13-22T"), "d"), Contains("no time"));
    CHECK_THROWS_WITH(parse_digest(forged(",2026-11-22T", ",2026-1-22T"), "d"), Contains("no time"));
    CHECK_THROWS_WITH(parse_digest(forged("fact,plan", "fact,plain"), "d"), "d: it names no plan");
    CHECK_THROWS_WITH(parse_digest(forged("plan,0123", "plan,"), "d"), "d: it names no plan");
    for (const char* ends : {"n18", "n17 ../n18", " n18", "n17 n18 n19"})
        CHECK_THROWS_WITH(parse_digest(forged("link,n17 n18", std::string("link,") + ends), "d"),
                          Contains("not the names of two nodes"));
    CHECK_THROWS_WITH(parse_digest(forged("fact,revision", "fact,node"), "d"), Contains("stands twice"));
    CHECK_THROWS_WITH(parse_digest(forged("link,n17 n18,1.2e+09", "script,n17,8"), "d"),
                      "d:10: it is no fact, ceiling, link or end");
    CHECK_THROWS_WITH(parse_digest(forged("end,,9", "end,,8"), "d"), "d:11: it is no fact, ceiling, link or end");
    CHECK_THROWS_WITH(parse_digest(forged("end,,9", "end,,9,,,,,,,,\nend,,10"), "d"), "d:12: it stands after the end");
    CHECK_NOTHROW(parse_digest(forged("xeon-26cpu", std::string(200, 'x')), "d"));
    CHECK_THROWS_WITH(parse_digest(forged("xeon-26cpu", std::string(201, 'x')), "d"), "d:3: a cell is too long");
    CHECK_THROWS_WITH(parse_digest("id,seconds\n", "d"), Contains("columns"));
}

TEST_CASE("a digest that is cut off, changed or too long is refused")
{
    const std::string text = to_csv(made_digest());
    CHECK_THROWS_WITH(parse_digest(text.substr(0, text.rfind("end,")), "d"), Contains("cut off"));
    CHECK_THROWS_WITH(parse_digest(with_checksums(text.substr(0, text.rfind("end,"))), "d"), "d: it is cut off");
    std::string changed = text;
    changed.replace(changed.find("1.01e+11"), 8, "1.02e+11");
    CHECK_THROWS_WITH(parse_digest(changed, "d"), Contains("checksum"));
    const std::string longest(largest_digest, 'x');
    CHECK_THROWS_WITH(parse_digest(longest + "x", "d"), "d: it is longer than 1 MiB");
    CHECK_THROWS_WITH(parse_digest(longest, "d"), "d: its columns are not those of a digest, or have no checksums");
}

TEST_CASE("a digest of eight GPUs has all of their ceilings, and is compressed")
{
    Digest digest = made_digest();
    for (int i = 0; i < 8 * 63; ++i) {
        digest.ceilings.push_back(digest.ceilings.front());
        digest.ceilings.back().name += " " + std::to_string(i);
    }
    const std::string text = to_csv(digest);
    const std::string file = compressed(text);
    CHECK(file.size() < text.size() / 4);
    const Digest read = parse_digest(file, "d");
    CHECK(read.ceilings.size() == digest.ceilings.size());
    CHECK_FALSE(read.facts.contains("left out"));
    CHECK_THROWS_AS(parse_digest(file.substr(0, file.size() / 2), "d"), InputError);
    CHECK_THROWS_WITH(parse_digest(compressed(std::string(2 * largest_digest, 'x')), "d"), Contains("more than 1 MiB"));
    CHECK_THROWS_WITH(parse_digest(compressed(file), "d"), Contains("d:1: "));
}

TEST_CASE("a digest of more than 1 MiB keeps what fits, and says how many rates it left out")
{
    Digest digest = made_digest();
    for (int i = 0; i < 20'000; ++i) {
        digest.ceilings.push_back(digest.ceilings.front());
        digest.ceilings.back().name += " " + std::to_string(i);
        digest.links.push_back(digest.links.front());
        digest.links.back().name = "n17 m" + std::to_string(i);
    }
    const std::string text = to_csv(digest);
    CHECK(text.size() <= largest_digest);
    CHECK(text.size() > largest_digest - largest_digest / 100);
    const Digest read = parse_digest(text, "d");
    CHECK(read.links.size() > 10'000);
    CHECK(std::stoul(read.facts.at("left out")) + read.links.size() + read.ceilings.size() == 40'003);
}

namespace {

Measurement made_flops(const std::string& operation, const std::string& isa, const std::string& precision, double rate,
                       int threads)
{
    Measurement row;
    row.bench = "flops";
    row.role = Role::compute;
    row.device = "cpu";
    row.point.set("operation", operation);
    row.point.set("isa", isa);
    row.point.set("precision", precision);
    row.point.set("threads", std::to_string(threads));
    row.work.flops = Flops{1e9};
    row.samples.resize(9, Sample{.seconds = Seconds{1e9 / rate}});
    row.seconds = {Seconds{1e9 / rate}, Seconds{1e9 / rate}, Seconds{1e9 / rate}, 9, 0};
    return row;
}

}  // namespace

TEST_CASE("twin rates are one in the digest, their geometric mean, and all others stay")
{
    Results results;
    for (const char* precision : {"fp64", "fp32"})
        for (const char* operation : {"best", "fma", "mul+add", "add"})
            for (const int threads : {1, 4})
                for (const char* isa : {"sse", "avx2"})
                    results.rows.push_back(made_flops(operation, isa, precision,
                                                      threads * (precision == std::string("fp64") ? 1e10 : 4e10),
                                                      threads));
    results.rows.push_back(made_flops("div", "avx2", "fp64", 1e9, 1));
    results.rows.push_back(made_flops("best", "scalar", "fp64", 5e9, 4));
    const Digest digest = make_digest(results);
    std::vector<std::string> names;
    for (const DigestRate& rate : digest.ceilings) names.push_back(rate.name);
    CHECK(names == std::vector<std::string>{
                       "cpu compute core mean of 8 sse threads=4", "cpu compute core mean of 8 avx2 threads=4",
                       "cpu compute core best fp64 scalar threads=4", "cpu compute core mean of 8 sse threads=1",
                       "cpu compute core mean of 8 avx2 threads=1", "cpu compute core div fp64 avx2 threads=1"});
    CHECK(digest.ceilings[0].value == Approx(8e10));  // 4 threads; sqrt(1e10 * 4e10) each
    CHECK(digest.ceilings[3].value == Approx(2e10));
}

TEST_CASE("the rates of a digest stand in the order of their use, the fastest of each name")
{
    const auto digest_of = [](const std::string& folder) {
        const Results results = read_results(ROOF_EXAMPLES "/" + folder);
        std::map<std::string, double> fastest;
        for (const Ceiling& ceiling : fit_ceilings(results.rows, results.machine).all)
            if (ceiling.rate.low.value > 0)
                fastest[id_of(ceiling)] = std::max(fastest[id_of(ceiling)], ceiling.rate.median.value);
        const Digest digest = make_digest(results, Twins::each);
        CHECK(digest.ceilings.size() == fastest.size());
        for (const DigestRate& rate : digest.ceilings) CHECK(rate.value == fastest.at(rate.name));
        return digest;
    };
    digest_of("nvidia-h100-80gb-hbm3/2026-11-23T070018Z-c53771ba9338");
    const Digest digest = digest_of("amd-epyc-family26-2cpu/2026-11-22T063430Z-e998eee9d186");
    std::string order;
    for (const DigestRate& rate : digest.ceilings) {
        const char rank = rate.name.starts_with("cpu latency")       ? '2'
                          : rate.name.find(',') != std::string::npos ? '3'
                          : !rate.name.ends_with("threads=2")        ? '4'
                          : rate.name.starts_with("cpu bandwidth")   ? '0'
                                                                     : '1';
        if (!order.ends_with(rank)) order += rank;
    }
    CHECK(order == "01234");
}

TEST_CASE("a mean is as good as the worst of its twins, and has a spec if each has one")
{
    Results results;
    results.machine.devices = {{.name = "cpu", .kind = "cpu"}};
    std::vector<SpecRate>& specs = results.machine.devices[0].spec_rates;
    for (const auto& [operation, rounds, spec] : {std::tuple{"fma", 4, 8}, {"mul+add", 3, 16}, {"add", 5, 32}}) {
        specs.push_back({"compute", "core", operation, "avx2", "fp64", static_cast<double>(spec), "guide"});
        for (int round = 1; round <= rounds; ++round) {
            results.rows.push_back(made_flops(operation, "avx2", "fp64", spec * (1e8 + 1e5 * round), 1));
            results.rows.back().point.set("round", std::to_string(round));
            for (Sample& sample : results.rows.back().samples) sample.clock = Hertz{1e9};
        }
    }
    const auto mean = [&] { return make_digest(results).ceilings.at(0); };
    const std::vector<DigestRate> each = make_digest(results, Twins::each).ceilings;
    REQUIRE(each.size() == 3);
    for (const auto member : {&DigestRate::value, &DigestRate::low, &DigestRate::high})
        CHECK(mean().*member == Approx(std::cbrt(each[0].*member * each[1].*member * each[2].*member)));
    CHECK(mean().spec == Approx(16e9));
    CHECK((mean().n == 27 && mean().rounds == 3 && mean().state == "steady"));
    std::erase_if(results.rows, [](const Measurement& row) {
        return row.point.text("operation") == "mul+add" && row.point.text("round") != "1";
    });
    specs.pop_back();
    CHECK((mean().rounds == 0 && mean().state == "at least" && mean().spec == 0));
}

TEST_CASE("the file of a long digest is compressed, that of a short one is text")
{
    const fakes::TemporaryFolder folder;
    Results results;
    results.folder = folder.path();
    const auto kept = [&] {
        keep_digest(results);
        return read_file(folder / "digest.csv");
    };
    keep_digest(results);
    CHECK_FALSE(std::filesystem::exists(folder / "digest.csv"));
    for (int i = 0; i < 20; ++i)
        results.rows.push_back(made_flops("operation" + std::to_string(i), "avx2", "fp32", 1e10, 4));
    CHECK_FALSE(is_compressed(kept()));
    for (int i = 20; i < 200; ++i)
        results.rows.push_back(made_flops("operation" + std::to_string(i), "avx2", "fp32", 1e10, 4));
    const std::string file = kept();
    CHECK(is_compressed(file));
    CHECK(decompressed(file, "d", largest_digest) == to_csv(make_digest(results)));
}
