// PyTorch's operators on a CPU: layers, phases and work of a real trace, and the table of operators.
#include "analysis/recordings/import.hpp"
#include "analysis/recordings/operators.hpp"
#include "ert/base/compressed.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/import/fixtures.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace roof;
using namespace roof::analysis;
using tests::fixture;

namespace {

constexpr const char* trace = "kineto_modules_2.13.json.gz";

Imported imported_bytes(const std::string& bytes)
{
    const fakes::TemporaryFolder folder;
    write_file(folder / "x", bytes);
    return import_file(folder / "x");
}

nlohmann::json trace_json()
{
    return nlohmann::json::parse(decompressed(tests::fixture_text(trace), "trace", largest_text));
}

const PartMeasurement& part_of(const Measurement& row, const std::string& layer, Phase phase)
{
    const auto found = std::ranges::find_if(
        row.parts, [&](const PartMeasurement& part) { return part.part.layer == layer && part.part.phase == phase; });
    INFO(layer);
    REQUIRE(found != row.parts.end());
    return *found;
}

double flops_of(const OperatorCall& call)
{
    const auto work = work_of(call);
    return work ? work->flops.value : -1;
}

}  // namespace

TEST_CASE("a compressed trace of a CPU has modules as layers, gradients by their flow, and FLOPs from shapes")
{
    const Imported file = import_file(fixture(trace));
    const Measurement& row = file.rows.at(0).measurement;
    CHECK(row.device == "cpu");
    CHECK(row.point.text("precision") == "fp32");
    CHECK(row.seconds.n == 2);
    CHECK(row.seconds.high.value == Approx(0.027115363));
    struct Expected {
        const char* layer;
        const char* kind;
        double forward, backward;
    };
    const double stem = 2.0 * 4 * 8 * 64 * 27, deep = 2.0 * 4 * 8 * 64 * 9, attention = 2.0 * 4 * 16 * 16 * 32;
    for (const auto& [layer, kind, forward, backward] :
         {Expected{"Conv2d_0", "convolution", stem, stem}, Expected{"Conv2d_1", "convolution", deep, 2 * deep},
          Expected{"BatchNorm2d_0", "batch_norm", 8.0 * 2048, 11.0 * 2048},
          Expected{"MaxPool2d_0", "max_pool", 3.0 * 512, 512}, Expected{"Linear_0", "linear", 16384, 32768},
          Expected{"Linear_1", "linear", 1280, 2560}, Expected{"Net_0", "attention", attention, 2.5 * attention},
          Expected{"ReLU_0", "relu", 0, 0}}) {
        for (const Phase phase : {Phase::forward, Phase::backward}) {
            const PartMeasurement& part = part_of(row, layer, phase);
            INFO(layer << " " << name(phase));
            CHECK(part.part.kind == kind);
            CHECK(part.part.work.flops.value == (phase == Phase::forward ? forward : backward));
            CHECK(part.seconds.n == 2);
        }
    }
    CHECK(row.work.flops.value == 2 * stem + 3 * deep + 16384 * 3 + 1280 * 3 + 3.5 * attention);
    CHECK(part_of(row, "optimizer", Phase::update).seconds.median == row.update.median);
    CHECK(part_of(row, "Conv2d_1", Phase::forward).part.work.compulsory.value == 4 * (2048 + 72 + 8 + 2048));
    CHECK(row.work.compulsory.value == 0);  // a partial sum is not shown
}

TEST_CASE("a trace of a GPU with shapes has the FLOPs of the operators that its host ran in a step")
{
    const std::string text = tests::fixture_text("kineto.json");  // aten::mm of 1x2 and 2x3
    const Imported file = imported_bytes(text);
    const Work& work = file.rows.at(0).measurement.work;
    CHECK(file.rows.at(0).measurement.device == "gpu:0");
    CHECK(work.flops == Flops{2.0 * 1 * 2 * 3});
    CHECK(work.known == Known::analytic);
    CHECK(std::ranges::any_of(file.missing, [](const std::string& one) { return one.starts_with("bytes: "); }));
    std::string bare = text;
    for (std::size_t at = 0; (at = bare.find("Input Dims", at)) != bare.npos; ++at) bare[at] = 'i';
    const Imported without = imported_bytes(bare);
    CHECK(without.rows.at(0).measurement.work.flops == Flops{});
    CHECK(std::ranges::any_of(without.missing,
                              [](const std::string& one) { return one.starts_with("FLOPs and bytes: "); }));
}

TEST_CASE("a trace of 2021 calls operators and steps both Operator, and what is not read is named")
{
    nlohmann::json json = trace_json();
    for (auto& event : json["traceEvents"]) {
        const std::string category = event.value("cat", "");
        if (category == "cpu_op" || category == "user_annotation") event["cat"] = "Operator";
    }
    const Imported now = imported_bytes(trace_json().dump()), then = imported_bytes(json.dump());
    const Measurement &left = now.rows.at(0).measurement, &right = then.rows.at(0).measurement;
    CHECK(right.seconds.n == 2);
    CHECK(right.seconds.median == left.seconds.median);
    CHECK(right.work.flops == left.work.flops);
    CHECK(right.parts.size() == left.parts.size());
    CHECK(right.update.median == left.update.median);
    for (int k = 0; k < 3; ++k)
        json["traceEvents"].push_back({{"ph", "X"}, {"cat", "mtia_ccp_events"}, {"name", "k"}, {"ts", 1}, {"dur", 1}});
    CHECK(std::ranges::count(imported_bytes(json.dump()).remarks, "not read, of 'mtia_ccp_events': 3 events") == 1);
    CHECK(std::ranges::none_of(now.remarks, [](const std::string& text) { return text.starts_with("not read"); }));
}

TEST_CASE("a step that was cut off is left out")
{
    nlohmann::json json = trace_json();
    auto& events = json["traceEvents"];
    const auto last = std::ranges::find(events, "ProfilerStep#2", [](const auto& event) { return event["name"]; });
    REQUIRE(last != events.end());
    const double begin = (*last)["ts"].get<double>();
    int kept = 0;
    nlohmann::json shortened = nlohmann::json::array();
    for (const auto& event : events) {
        const bool is_late = event.value("cat", "") == "cpu_op" && event["ts"].get<double>() >= begin;
        if (!is_late || ++kept < 20) shortened.push_back(event);
    }
    events = shortened;
    const Measurement row = imported_bytes(json.dump()).rows.at(0).measurement;
    CHECK(row.seconds.n == 1);
    CHECK(part_of(row, "Conv2d_0", Phase::forward).seconds.n == 1);
}

TEST_CASE("without modules a layer is an operator with its place, and without shapes the FLOPs are missing")
{
    nlohmann::json json = trace_json();
    nlohmann::json bare = nlohmann::json::array();
    for (auto event : json["traceEvents"]) {
        if (event.value("cat", "") == "python_function") continue;
        if (event.contains("args")) event["args"].erase("Input Dims");
        bare.push_back(event);
    }
    json["traceEvents"] = bare;
    const Imported file = imported_bytes(json.dump());
    const Measurement& row = file.rows.at(0).measurement;
    CHECK(part_of(row, "conv2d 0", Phase::forward).part.work.flops.value == 0);
    CHECK(part_of(row, "conv2d 1", Phase::backward).seconds.median.value > 0);
    CHECK(row.work.flops.value == 0);
    CHECK(std::ranges::any_of(file.missing,
                              [](const std::string& text) { return text.find("record_shapes") != text.npos; }));
    CHECK(std::ranges::any_of(file.remarks,
                              [](const std::string& text) { return text.find("with_stack") != text.npos; }));
}

TEST_CASE("a compressed file that is damaged, cut off or too long is refused")
{
    const std::string bytes = tests::fixture_text(trace);
    for (const std::size_t length : {std::size_t{3}, std::size_t{12}, bytes.size() / 2, bytes.size() - 1})
        CHECK_THROWS_WITH(imported_bytes(bytes.substr(0, length)), Catch::Contains("damaged or cut off"));
    std::string wrong = bytes;
    wrong[wrong.size() - 6] ^= 1;  // in the checksum
    CHECK_THROWS_WITH(imported_bytes(wrong), Catch::Contains("damaged or cut off"));
    CHECK_THROWS_WITH(decompressed(bytes, "x", 1000), Catch::Contains("holds more than"));
    const std::string text = decompressed(bytes, "x", largest_text);
    CHECK(decompressed(bytes, "x", text.size()) == text);
    CHECK_THROWS_WITH(decompressed(bytes, "x", text.size() - 1), Catch::Contains("holds more than"));
    CHECK(decompressed(bytes + bytes, "x", largest_text) == text + text);
}

TEST_CASE("operators count as PyTorch's flop counter counts them")
{
    CHECK(flops_of(
              {"aten::conv2d", {{2, 6, 9, 9}, {8, 3, 3, 3}, {8}}, {"", "", "", "[2, 2]", "[1, 1]", "[2, 2]", "2"}}) ==
          2.0 * 2 * 8 * 16 * 27);
    CHECK(flops_of({"aten::convolution",
                    {{2, 6, 4, 4}, {6, 5, 3, 3}},
                    {"", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[0, 0]", "1"}}) == 2.0 * 2 * 6 * 16 * 45);
    CHECK(flops_of({"aten::matmul", {{3, 1, 4, 5}, {7, 5, 6}}}) == 2.0 * 3 * 7 * 4 * 5 * 6);
    CHECK(flops_of({"aten::addmm", {{6}, {4, 5}, {5, 6}}}) == 240);
    CHECK(flops_of({"aten::baddbmm", {{3, 4, 6}, {3, 4, 5}, {3, 5, 6}}}) == 720);
    CHECK(flops_of({"aten::linear", {{2, 3, 5}, {6, 5}}}) == 360);
    CHECK(flops_of({"aten::avg_pool2d", {{2, 3, 4, 4}}, {"", "[2, 2]"}}) == 96);
    CHECK(flops_of({"aten::_adaptive_avg_pool2d_backward", {{2, 3, 1, 1}, {2, 3, 4, 4}}}) == 96);
    CHECK(flops_of({"aten::native_layer_norm_backward", {{2, 8}}}) == 176);
    CHECK(flops_of({"aten::conv2d", {{2, 6, 9, 9}, {8, 3, 3, 3}}, {}}) == -1);
    CHECK(flops_of({"aten::mm", {{2, 3}, {4, 5}}}) == -1);
    CHECK(flops_of({"aten::relu", {{2, 3}}}) == -1);
}

TEST_CASE("bytes of operators are those of docs/method.md")
{
    const auto values = [](const OperatorCall& call) {
        const auto work = work_of(call);
        return work ? work->bytes.value / 4 : -1;
    };
    const std::vector<std::string> plain{"", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"};
    const std::vector<std::vector<long long>> map{{2, 3, 9, 9}, {5, 3, 1, 1}, {5}};
    CHECK(values({"aten::convolution", map, plain}) == 2 * 3 * 81 + 15 + 5 + 2 * 5 * 81);
    std::vector<std::string> strided = plain;
    strided[3] = "[2, 2]";  // a window of 1 x 1 reads 5 x 5 of 9 x 9 positions
    CHECK(values({"aten::convolution", map, strided}) == 2 * 3 * 25 + 15 + 5 + 2 * 5 * 25);
    strided[3] = "[4, 4]";
    CHECK(values({"aten::convolution", {{2, 3, 11, 11}, {5, 3, 2, 2}}, strided}) == 2 * 3 * 36 + 60 + 2 * 5 * 9);
    std::vector<std::string> turned = plain;
    turned[3] = "[2, 2]", turned[6] = "True", turned[7] = "[1, 1]", turned[8] = "2";
    CHECK(values({"aten::convolution", {{2, 6, 4, 4}, {6, 5, 3, 3}}, turned}) ==
          2 * 6 * 16 + 6 * 5 * 9 + 2 * 10 * (3 * 2 + 3 + 1) * (3 * 2 + 3 + 1));
    CHECK(values({"aten::linear", {{2, 3, 5}, {6, 5}, {6}}}) == 30 + 30 + 6 + 36);
    CHECK(values({"aten::addmm", {{6}, {4, 5}, {5, 6}}}) == 6 + 20 + 30 + 24);
    const std::vector<std::string> of_gradient{
        "", "", "", "[5]", "[2, 2]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, True]"};
    CHECK(values({"aten::convolution_backward", {{2, 5, 5, 5}, {2, 3, 9, 9}, {5, 3, 1, 1}}, of_gradient}) ==
          (250 + 15 + 2 * 3 * 81) + (250 + 2 * 3 * 25 + 15 + 5));
    const std::string attention = "aten::_scaled_dot_product_flash_attention_for_cpu";
    const std::vector<long long> q{2, 4, 6, 8}, v{2, 4, 6, 10};
    CHECK(values({attention, {q, q, v}}) == 2 * 384 + 480 + 480);
    const std::string backward = attention + "_backward";
    CHECK(values({backward, {v, q, q, v, v}}) == 2 * (2 * 384 + 480 + 480));
}

TEST_CASE("a recurrent layer counts its weights for each token, or is named where the trace has no shapes of them")
{
    const std::vector<std::vector<long long>> layer{{26, 4, 156}, {80, 156}, {80, 20}, {80}, {80}, {4, 20}, {4, 20}};
    CHECK(flops_of({"aten::mkldnn_rnn_layer", layer}) == 2.0 * 26 * 4 * (80 * 156 + 80 * 20));
    CHECK(flops_of({"aten::mkldnn_rnn_layer_backward", layer}) == 2 * 2.0 * 26 * 4 * (80 * 156 + 80 * 20));
    CHECK(flops_of({"aten::_grouped_mm", {{32, 64}, {2, 64, 16}}}) == 2.0 * 32 * 64 * 16);
    nlohmann::json document = trace_json();
    for (nlohmann::json& event : document["traceEvents"])
        if (event.value("name", "") == "aten::max_pool2d") event["name"] = "aten::_cudnn_rnn";
    const Imported file = imported_bytes(document.dump());
    CHECK(file.rows.at(0).measurement.work.flops == Flops{});  // a partial sum is not shown
    CHECK(join(file.missing, "; ").find("have no formula: aten::_cudnn_rnn") != std::string::npos);
}

TEST_CASE("attention counts all pairs of query and key, and executed are those that a causal mask keeps")
{
    const auto attention = [](const std::string& name, OperatorCall call, std::size_t causal,
                              const std::string& value) {
        const std::string full = "aten::_scaled_dot_product_" + name;
        call.name = full;
        call.dims.resize(15);
        call.values.resize(15);
        call.values[causal] = value;
        const auto work = work_of(call);
        REQUIRE(work);
        CHECK(work->kind == "attention");
        return *work;
    };
    const OperatorCall forward{{}, {{2, 8, 6, 16}, {2, 2, 6, 16}, {2, 2, 6, 32}}};
    const OperatorCall backward{{}, {{2, 8, 6, 32}, {2, 8, 6, 16}, {2, 2, 6, 16}, {2, 2, 6, 32}}};
    const double once = 2.0 * 8 * 2 * (16 + 32), five = 2.0 * 8 * 2 * (3 * 16 + 2 * 32);
    for (const auto& [name, causal] : {std::pair{"flash_attention_for_cpu", 4},
                                       {"flash_attention", 4},
                                       {"efficient_attention", 6},
                                       {"cudnn_attention", 6}}) {
        const auto at = static_cast<std::size_t>(causal);
        CHECK(attention(name, forward, at, "False").flops.value == 36 * once);
        CHECK(attention(name, forward, at, "False").masked.value == 0);
        CHECK(attention(name, forward, at, "True").flops.value == 36 * once);
        CHECK(attention(name, forward, at, "True").masked.value == (1 + 2 + 3 + 4 + 5) * once);
        CHECK_FALSE(attention(name, forward, at, "True").mask_is_unknown);
    }
    for (const auto& [name, causal] : {std::pair{"flash_attention_for_cpu_backward", 7},
                                       {"flash_attention_backward", 11},
                                       {"efficient_attention_backward", 11},
                                       {"cudnn_attention_backward", 14}}) {
        const OperatorWork work = attention(name, backward, static_cast<std::size_t>(causal), "True");
        CHECK(work.flops.value == 36 * five);
        CHECK(work.masked.value == 15 * five);
    }
    const OperatorCall more_keys{{}, {{1, 1, 4, 8}, {1, 1, 6, 8}, {1, 1, 6, 8}}};
    CHECK(attention("flash_attention", more_keys, 4, "True").masked.value == (4 * 6 - (1 + 2 + 3 + 4)) * 32);
    const OperatorCall more_queries{{}, {{1, 1, 4, 8}, {1, 1, 2, 8}, {1, 1, 2, 8}}};
    CHECK(attention("flash_attention", more_queries, 4, "True").masked.value == (4 * 2 - (1 + 2 + 2 + 2)) * 32);
    OperatorCall biased = forward;
    biased.dims.push_back({6, 6});
    CHECK(attention("efficient_attention", biased, 6, "False").mask_is_unknown);
    CHECK(attention("flash_attention", forward, 4, "").mask_is_unknown);
    CHECK_FALSE(work_of({"aten::scaled_dot_product_attention", forward.dims}));  // its kernel tells what is executed
}

TEST_CASE("a causal step has its executed FLOPs beside the model's")
{
    std::string json = decompressed(tests::fixture_text(trace), "trace", largest_text);
    const Imported before = imported_bytes(json);
    for (const std::string kernel : {"flash_attention_for_cpu\"", "flash_attention_for_cpu_backward\""}) {
        for (std::size_t at = 0; (at = json.find(kernel, at)) != json.npos; ++at) {
            const std::size_t values = json.find("\"Concrete Inputs\"", at);
            json.replace(json.find("\"False\"", values), 7, "\"True\"");
        }
    }
    const Imported causal = imported_bytes(json);
    const Work &whole = before.rows.at(0).measurement.work, &masked = causal.rows.at(0).measurement.work;
    CHECK(whole.executed.value == 0);
    CHECK(masked.flops == whole.flops);
    const double per_pair = 2.0 * 4 * 32;  // four sequences of 16 tokens, one head of 16
    CHECK(masked.executed.value == masked.flops.value - 3.5 * per_pair * (16 * 15 / 2));
    const Work& layer = part_of(causal.rows.at(0).measurement, "Net_0", Phase::forward).part.work;
    CHECK(layer.executed.value == layer.flops.value - per_pair * (16 * 15 / 2));
    CHECK(before.remarks == causal.remarks);
    std::string without = json;
    for (std::size_t at = 0; (at = without.find("Concrete Inputs", at)) != without.npos; ++at) without[at] = 'c';
    const Imported unknown = imported_bytes(without);
    CHECK(std::ranges::count(unknown.remarks, "attention is counted in full where the trace does not tell its mask") ==
          1);
}

TEST_CASE("PyTorch's table of operators gives each operator's own time and PyTorch's FLOPs")
{
    const Imported file = import_file(fixture("key_averages.txt"));
    const Measurement& row = file.rows.at(0).measurement;
    REQUIRE(row.parts.size() == 15);
    CHECK(row.seconds.median.value == Approx(0.707486));
    CHECK(row.parts[0].part.phase == Phase::backward);
    CHECK(row.parts[0].seconds.median.value == Approx(0.14394));
    CHECK(row.parts[3].part.layer == "aten::mm [[64, 8], [8, 16]]");
    CHECK(row.parts[3].part.work.flops.value == Approx(32768));
    CHECK(row.work.flops.value == Approx(3 * 32768));
    const std::string text = tests::fixture_text("key_averages.txt");
    CHECK_THROWS_WITH(imported_bytes(text.substr(0, text.rfind("\n----") + 1)), Catch::Contains("cut off"));
    std::string wrong = text;
    wrong.replace(wrong.find("143.940ms"), 9, "143.940 m");
    CHECK_THROWS_WITH(imported_bytes(wrong), Catch::Contains("is not a time"));
}
