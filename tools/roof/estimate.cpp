// `roof estimate`: what a training step costs by arithmetic alone; nothing is run.
#include "analysis/estimate.hpp"

#include "ert/base/precision.hpp"
#include "tools/roof/arguments.hpp"
#include "tools/roof/commands.hpp"
#include "tools/roof/output.hpp"

#include <memory>

namespace roof {
namespace {

constexpr int largest_batch = 65536;

struct Options {
    std::string model;
    std::string batch;
    std::string precision = "fp32";
    bool json = false;
};

int estimate_step(const Options& options, Context& context)
{
    const int batch = whole_number("--batch", options.batch, 1, largest_batch);
    const auto result = analysis::estimate_model(options.model, batch, parse_precision(options.precision));
    if (options.json)
        print_json(context.out, analysis::to_json(result));
    else
        context.out << analysis::to_text(result);
    return 0;
}

}  // namespace

Action estimate(Grammar& grammar)
{
    const auto options = std::make_shared<Options>();
    grammar.word("MODEL", options->model);
    grammar.required("--batch", options->batch);
    grammar.value("--precision", options->precision);
    grammar.flag("--json", options->json);
    return [options](Context& context) { return estimate_step(*options, context); };
}

}  // namespace roof
