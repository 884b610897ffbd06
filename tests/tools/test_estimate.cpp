// `roof estimate` on sheets and on this machine's calibration.
#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "tests/tools/workbench.hpp"
#include "tools/roof/reading/study.hpp"
#include "tools/roof/session/plans.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace roof;
using Catch::Contains;
using nlohmann::json;
using tests::Said;
using tests::Workbench;

namespace {

json document(const Said& said)
{
    INFO(said.err);
    REQUIRE(said.status == 0);
    return json::parse(said.out);
}

}  // namespace

TEST_CASE("an estimate without a machine shows what is counted and what is allocated")
{
    const Said said = Workbench{}.roof({"estimate", "resnet18", "--batch", "8"});
    CHECK(said.status == 0);
    CHECK_THAT(said.out, Contains("layer4.1.conv2") && Contains("memory for") && Contains("inference"));
}

TEST_CASE("an estimate on sheets has a column for each machine")
{
    const Said said = Workbench{}.roof({"estimate", "resnet18", "--batch", "10", "--on", "v100,t4"});
    CHECK(said.status == 0);
    CHECK_THAT(said.out, Contains("v100 (spec)") && Contains("t4 (spec)") && Contains("15.7 TFLOP/s"));
    const json both =
        document(Workbench{}.roof({"estimate", "resnet18", "--batch", "10", "--on", "v100,a100", "--json"}));
    REQUIRE(both["machines"].size() == 2);
    CHECK(both["machines"][0]["machine"] == "v100");
    CHECK(both["machines"][1]["roofs_known"] == "spec");
}

TEST_CASE("a rate is said to be layer by layer, since a step that fuses layers may be faster")
{
    const std::string images = Workbench{}.roof({"estimate", "resnet18", "--batch", "10", "--on", "v100"}).out;
    CHECK_THAT(images, Contains("images/s, layer by layer") && !Contains("at most") && !Contains("best"));
    const std::string tokens =
        Workbench{}.roof({"estimate", "gpt2", "--batch", "1", "--tokens", "128", "--on", "v100"}).out;
    CHECK_THAT(tokens, Contains("tokens/s, layer by layer") && !Contains("at most"));
}

TEST_CASE("a decoder is estimated by its config.json, of 1,024 tokens unless told, and what it lacks is said")
{
    ::setenv("ROOF_PYTHON", "/nonexistent/python3",
             1);  // without the package a network that trains here is read by the program
    const Workbench bench;
    const std::string config = bench.path("config.json");
    std::ofstream(config) << R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,
                                 "vocab_size": 50257})";
    CHECK_THAT(bench.roof({"estimate", config, "--batch", "1", "--tokens", "1025"}).err,
               Contains("has 1024 positions"));
    CHECK_THAT(bench.roof({"estimate", config, "--batch", "1", "--size", "tokens"}).err, Contains("is not NAME=N"));
    CHECK_THAT(bench.roof({"estimate", "resnet18", "--batch", "1", "--size", "width=3"}).err,
               Contains("--size width: resnet18 leaves no such extent open"));
    CHECK(bench.roof({"estimate", "resnet18", "--batch", "1,x"}).out.empty());
    CHECK_THAT(bench.roof({"estimate", "gpt2", "--batch", "1", "--tokens", "5000"}).err,
               Contains("tokens: gpt2 has 1024 positions, fewer than 5000 tokens"));
    const Said said = bench.roof({"estimate", config, "--batch", "4"});
    CHECK(said.status == 0);
    CHECK_THAT(said.out, Contains("124439808 parameters") && Contains("a mask or a window leaves out") &&
                             Contains("h.11.mlp.c_proj"));
    const json on =
        document(bench.roof({"estimate", config, "--batch", "4", "--tokens", "1024", "--on", "a100", "--json"}));
    CHECK(on["flops"]["forward"] ==
          4 * (12LL * (24LL * 1024 * 768 * 768 + 4LL * 1024 * 1024 * 768) + 2LL * 1024 * 768 * 50257));
    CHECK(on["machines"][0]["layer_by_layer_s"] > 0);
}

TEST_CASE("what another program counted is placed as it stands: products apart, memory by what holds it")
{
    // A linear layer of 64 to 32 channels for 8 tokens in bf16, an activation behind it, and a mask that keeps 36 of 64
    // pairs.
    const Workbench bench;
    const auto file = [&](const std::string& name, const std::string& text) {
        std::ofstream(bench.path("counted/" + name)) << text;
    };
    std::filesystem::create_directories(bench.path("counted"));
    file("plan.yaml", "name: \"counted\"\n");
    file("machine.yaml", "format: 3\nname: \"none\"\ndevices: []\n");
    file("samples.csv", "");
    const std::string id = "estimate cpu model=made batch=2 precision=bf16 optimizer=adamw tokens=4 phase=train";
    file("measurements.csv",
         "id,bench,role,device,model,batch,precision,optimizer,tokens,phase,status,flops,work_known,remarks\n" + id +
             ",estimate,step,cpu,made,2,bf16,adamw,4,train,ok,98304,analytic,one remark\n");
    std::string layers =
        "id,layer,kind,phase,flops,executed_flops,compulsory_bytes,no_reuse_bytes,work_known,implementation\n";
    for (const char* line :
         {"up,linear,forward,32768,,5632,66048,analytic,2x4x32", "up,GELU,forward,1280,,1024,1024,analytic,",
          "at,attention,forward,16384,9216,2048,33792,analytic,2x4x32",
          "up,linear,backward,65536,,12288,140000,analytic,2x4x32"})
        layers += id + "," + line + "\n";
    file("layers.csv", layers);
    std::string held = "id,layer,phase,action,bytes\n";
    for (const char* line :
         {"up,parameters,allocate,4096", ",weights,allocate,1088", ",inputs,allocate,64", ",activations,allocate,3000",
          ",caches,allocate,0", ",train,allocate,500", ",forward,allocate,200", ",inference,allocate,150"})
        held += id + "," + line + "\n";
    file("memory.csv", held);
    const json counted = document(bench.roof({"estimate", "--from", bench.path("counted"), "--on", "h100", "--json"}));
    CHECK(counted["parameters"] == 2048);
    CHECK(counted["flops"]["forward"] == 32768 + 16384);
    CHECK(counted["flops"]["executed_forward"] == 32768 + 9216);
    CHECK(counted["flops"]["backward"] == 65536);
    CHECK(counted["flops"]["backward_data"].is_null());
    CHECK(counted["flops"]["elementwise"] == 1280);
    CHECK(counted["memory"]["activations"] == 3000);
    CHECK(counted["memory"]["inference"] == 1088 + 64 + 150);
    // bf16 with masters: 4 + 2 bytes of a parameter, 4 of its gradient, 8 of AdamW's averages.
    CHECK(counted["memory"]["step"] == 2048 * (6 + 4 + 8) + 64 + 3000 + 500);
    CHECK(counted["remarks"] == "one remark");
    const json& layer = counted["layers"][0];
    CHECK(layer["parameters"] == 2048);
    CHECK(layer["output_shape"] == json{2, 4, 32});
    const json& on = counted["machines"][0];
    CHECK(on["tokens_per_s"].get<double>() == Approx(8 / on["layer_by_layer_s"].get<double>()));
    CHECK(on["memory"]["total_bytes"] == counted["memory"]["step"]);
    CHECK_THAT(bench.roof({"estimate", "--from", bench.path("counted")}).out,
               Contains("one remark") && Contains("backward") && !Contains("padding") && Contains("GELU, all 1") &&
                   Contains("1.09 kB"));
    CHECK_THAT(bench.roof({"estimate", "--from", bench.path("")}).err, Contains("roof:"));
}

TEST_CASE("networks of tokens are estimated with AdamW, and of as many tokens as asked for")
{
    const Workbench bench;
    const json gpt = document(bench.roof({"estimate", "gpt2", "--batch", "1", "--tokens", "128", "--json"}));
    CHECK(gpt["optimizer"] == "adamw");
    // By hand: products of a block 24 n c^2, attention 4 n^2 c, the scores of all tokens 2 n c v.
    CHECK(gpt["flops"]["forward"] == 12 * (24LL * 128 * 768 * 768 + 4LL * 128 * 128 * 768) + 2LL * 128 * 768 * 50257);
    // Of attention 129 of 256 pairs; backward five products for two, and two gradients of each of the other products.
    const long long attention = 12 * 4LL * 128 * 128 * 768,
                    products = gpt["flops"]["forward"].get<long long>() - attention;
    CHECK(gpt["flops"]["executed_forward"] == products + attention / 256 * 129);
    CHECK(gpt["flops"]["executed_step"] == 3 * products + attention / 2 * 7 / 256 * 129);
    CHECK(document(bench.roof({"estimate", "alexnet", "--batch", "1", "--json"}))["optimizer"] == "sgd");
    CHECK(bench.roof({"estimate", "alexnet", "--batch", "1", "--tokens", "128"}).status == 2);
}

TEST_CASE("an estimate of a phase has the work and the memory of that phase alone")
{
    const Workbench bench;
    const std::vector<std::string> asked{"estimate", "gpt2", "--batch", "8", "--tokens", "128", "--phase"};
    const auto of = [&](const std::string& phase) {
        std::vector<std::string> words = asked;
        words.insert(words.end(), {phase, "--json"});
        return document(bench.roof(words));
    };
    CHECK(of("train")["flops"]["step"] > of("forward")["flops"]["step"]);
    const json decode = of("decode");
    CHECK(decode["flops"]["step"] == decode["flops"]["forward"]);
    CHECK(decode["bytes"]["compulsory_update"] == 0);
    // Weights, and keys and values of 8 sequences, 128 positions, 12 blocks and 768 channels; what is alive beside them
    // is small.
    const double kept = 4.0 * (124439808 + 2.0 * 8 * 128 * 12 * 768);
    CHECK(decode["memory"]["inference"] > kept);
    CHECK(decode["memory"]["inference"] < 1.02 * kept);
    std::vector<std::string> words = asked;
    words.push_back("decode");
    CHECK_THAT(bench.roof(words).out, !Contains("backward") && !Contains("training step"));
}

TEST_CASE("an estimate by an algorithm that none is for is refused")
{
    const Workbench bench;
    CHECK(bench.roof({"estimate", "vgg11", "--batch", "1", "--algorithm", "auto"}).status == 0);
    CHECK_THAT(bench.roof({"estimate", "vgg11", "--batch", "1", "--algorithm", "winograd"}).err,
               Contains("legal values: direct, auto"));
}

TEST_CASE("VGG-16 at batch 256 exceeds the memory of a T4, not of an A100")
{
    const json vgg = document(Workbench{}.roof(
        {"estimate", "vgg16", "--batch", "256", "--phase", "forward", "--on", "t4,a100", "--json"}))["machines"];
    CHECK(vgg[0]["memory"]["fits"] == false);
    CHECK(vgg[1]["memory"]["fits"] == true);
    CHECK(vgg[0]["largest_batch"] < 256);
    CHECK(vgg[1]["largest_batch"] > 256);
}

TEST_CASE("estimate --on takes `here` for this machine's calibration, and the path of a results folder")
{
    const Workbench bench;
    CHECK(bench.roof({"estimate", "resnet18", "--batch", "4", "--on", "here"}).status == 2);
    std::ofstream(bench.folder / "ceilings.yaml") << "run: [{bench: bandwidth}, {bench: flops}]\n";
    REQUIRE(bench.roof({"sweep", bench.path("ceilings.yaml")}).status == 0);
    const json here =
        document(bench.roof({"estimate", "resnet18", "--batch", "4", "--on", "here", "--json"}))["machines"];
    REQUIRE(here.size() == 1);
    CHECK(here[0]["roofs_known"] == "measured");
    CHECK(here[0]["peak_flop_per_s"] == Approx(100e9));
    const std::string folder = bench.path("results/fake-2cpu");
    const json same =
        document(bench.roof({"estimate", "resnet18", "--batch", "4", "--on", folder, "--json"}))["machines"];
    CHECK(same[0]["layer_by_layer_s"] == here[0]["layer_by_layer_s"]);
}

TEST_CASE("several GPUs need a link, and a forward pass has no communication")
{
    const Workbench bench;
    const std::vector<std::string> words{"estimate", "alexnet", "--batch", "64", "--on", "a100", "--gpus", "2"};
    const auto with = [&](std::vector<std::string> more) {
        std::vector<std::string> all = words;
        all.insert(all.end(), more.begin(), more.end());
        return bench.roof(all);
    };
    CHECK_THAT(with({}).err, Contains("link"));
    CHECK_THAT(with({"--link", "nvlnk"}).err, Contains("did you mean 'nvlink'"));
    CHECK_THAT(with({"--link", "pcie", "--phase", "forward"}).err, Contains("forward"));
    const json scaled = document(with({"--link", "pcie", "--json"}))["machines"][0]["scaling"];
    CHECK(scaled["gradient_bytes"] == 4.0 * 61100840);
    CHECK(scaled["all_reduce_s"] == Approx(2 * 5.7e-6 + 4.0 * 61100840 / 32e9));
}

TEST_CASE("an epoch has the images of ImageNet, or those of --images")
{
    const auto epoch = [](const std::vector<std::string>& more) {
        std::vector<std::string> words{"estimate", "alexnet", "--batch", "100", "--on", "a100", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        return document(Workbench{}.roof(words))["machines"][0];
    };
    CHECK(epoch({})["epoch_images"] == 1281167);
    const json few = epoch({"--images", "250"});
    CHECK(few["epoch_s"] == Approx(3 * few["layer_by_layer_s"].get<double>()));
}

TEST_CASE("an unknown machine or phase gives one line with the legal values")
{
    const auto complaint = [](const std::vector<std::string>& words) {
        const Said said = Workbench{}.roof(words);
        CHECK(said.status == 2);
        CHECK(std::count(said.err.begin(), said.err.end(), '\n') == 1);
        return said.err;
    };
    CHECK_THAT(complaint({"estimate", "alexnet", "--batch", "1", "--on", "v1o0"}), Contains("did you mean 'v100'"));
    CHECK_THAT(complaint({"estimate", "alexnet", "--batch", "1", "--phase", "back"}), Contains("train, forward"));
    CHECK_THAT(complaint({"estimate"}), Contains("MODEL"));
    CHECK_THAT(complaint({"estimate", "alexnet"}), Contains("--batch"));
    CHECK_THAT(complaint({"estimate", "alexnet", "--batch", "1", "--images", "0"}), Contains("--images"));
}

TEST_CASE("every sheet can be read, has a peak in fp32 and a source, and no two share a name")
{
    std::vector<std::string> words;
    for (const analysis::MachineSheet& sheet : built_in_sheets()) {
        INFO(sheet.name);
        CHECK(sheet.peaks.contains(Precision::fp32));
        CHECK_FALSE(sheet.sources.empty());
        CHECK(sheet.levels.back().name == "DRAM");
        for (std::size_t i = 1; i < sheet.levels.size(); ++i)
            CHECK(sheet.levels[i].bandwidth < sheet.levels[i - 1].bandwidth);
        words.push_back(sheet.name);
        words.insert(words.end(), sheet.also.begin(), sheet.also.end());
    }
    std::sort(words.begin(), words.end());
    CHECK(std::adjacent_find(words.begin(), words.end()) == words.end());
    for (const char* name : {"k80",
                             "p40",
                             "v100",
                             "t4",
                             "a100-sxm4-40gb",
                             "a100-sxm4-80gb",
                             "a100-pcie-40gb",
                             "a100-pcie-80gb",
                             "h100",
                             "h100-pcie",
                             "h200",
                             "gh200",
                             "b200",
                             "gb200",
                             "b300",
                             "l4",
                             "l40s",
                             "xeon-8380",
                             "xeon-8480",
                             "epyc-7763",
                             "epyc-9654",
                             "epyc-9755"}) {
        INFO(name);
        CHECK(std::binary_search(words.begin(), words.end(), name));
    }
}

TEST_CASE("spec sheets are not listed as plans")
{
    for (const std::string& name : built_in_plans()) CHECK_FALSE(name.starts_with("machines/"));
    CHECK_THROWS_AS(find_plan("machines/t4"), InputError);
}

TEST_CASE("several models on several machines are one page, one picture and one table")
{
    const Workbench bench;
    const std::vector<std::string> words{"estimate", "alexnet,resnet18", "--batch", "256", "--on", "a100,t4"};
    const auto with = [&](const std::vector<std::string>& more) {
        std::vector<std::string> all = words;
        all.insert(all.end(), more.begin(), more.end());
        return bench.roof(all);
    };
    const Said said = with({"--out", bench.path("page.html"), "--csv", bench.path("steps.csv")});
    INFO(said.err);
    REQUIRE(said.status == 0);
    CHECK_THAT(said.out,
               Contains("alexnet at batch 256 on a100 is compute-bound: ") && Contains("resnet18 at batch 256 on t4"));
    const std::string page = read_file(bench.path("page.html"));
    const auto count = [](const std::string& text, const std::string& part) {
        std::size_t number = 0;
        for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++number;
        return number;
    };
    CHECK(count(page, "<svg ") == 3);                          // all, and each alone
    CHECK(count(page, "class=\"roof mix\"") == 4 + 3 + 2);     // of memory and fp32, and the L2 of the A100 alone
    CHECK(count(page, "class=\"roof\"") == 0);                 // solid roofs are measured
    CHECK(count(page, "class=\"mark hollow s") == 8 + 3 * 2);  // the points, and two models in each legend
    CHECK_THAT(page, !Contains("http://") || Contains("www.w3.org"));
    const CsvTable table = parse_csv(read_file(bench.path("steps.csv")), "steps.csv");
    REQUIRE(table.rows.size() == 4);
    const auto cell = [&](std::size_t row, const char* column) { return table.rows[row][table.column(column)]; };
    CHECK(cell(0, "machine") == "a100");
    CHECK(cell(0, "roofs_known") == "spec");
    CHECK(std::stod(cell(0, "ridge_flop_per_byte")) == Approx(19.5e12 / 1555e9));  // its data sheet
    CHECK(std::stod(cell(1, "ridge_flop_per_byte")) == Approx(8.1e12 / 320e9));
    CHECK(std::stod(cell(0, "intensity_flop_per_byte")) ==
          Approx(std::stod(cell(0, "flops_of_all_layers")) / std::stod(cell(0, "compulsory_bytes"))));
    REQUIRE(with({"--out", bench.path("all.svg")}).status == 0);
    CHECK_THAT(read_file(bench.path("all.svg")),
               Contains("a100 fp32, fma: 19.5 TFLOP/s") && Contains("t4 DRAM, load: 320 GB/s"));
    CHECK_THAT(bench.roof({"estimate", "alexnet", "--batch", "1", "--out", "x.svg"}).err, Contains("need --on"));
}

TEST_CASE("the batch from which on compute binds is the first at which it does")
{
    const Workbench bench;
    const auto said = [&](int batch) {
        return bench.roof({"estimate", "alexnet", "--batch", std::to_string(batch), "--on", "a100"}).out;
    };
    const std::string text = said(4);
    const std::string before = "From batch ";
    REQUIRE_THAT(text, Contains("is memory-bound") && Contains(before));
    const int from = std::stoi(text.substr(text.find(before) + before.size()));
    CHECK(from > 4);
    CHECK_THAT(said(from), Contains("is compute-bound"));
    CHECK_THAT(said(from - 1), Contains("is memory-bound"));
}
