#include "tools/roof/commands/run_summary.hpp"

#include "analysis/estimate/estimate.hpp"
#include "analysis/roofline/roofs.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/busy.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof {
namespace {

std::string line(std::string_view key, const std::string& text)
{
    return fmt::format("    {:<11}{}\n", key, text);
}

std::string step_text(const Measurement& row)
{
    const auto warmup = std::count_if(row.samples.begin(), row.samples.end(), [](const Sample& s) { return !s.used; });
    return fmt::format("{}  median and 95% interval of {} steps, {} warm-up left out ({})",
                       analysis::with_interval(row.seconds, "s"), row.seconds.n, warmup,
                       analysis::timed(row.description));
}

std::string images_text(const Measurement& row)
{
    return fmt::format("{:.4g} total images over total time, data wait included; {:.4g} of the median step ({})",
                       row.images_per_second(), row.images_per_second_of_median_step(),
                       analysis::timed(row.description));
}

std::string phases_text(const Measurement& row)
{
    return fmt::format("forward {}, backward {}, update {}; wait for data {} (medians, {})",
                       format_duration(row.forward.median.value), format_duration(row.backward.median.value),
                       format_duration(row.update.median.value), format_duration(row.data.median.value),
                       analysis::timed(row.description));
}

/// Multiply-adds are known for the models of this project. A row of another model shows only its declared values.
std::string per_image_text(const Measurement& row)
{
    const double images = std::max(1.0, row.images());
    const std::string flops = format_si(row.work.flops.value / images, "FLOP") + " per training step";
    std::string multiply_adds;
    try {
        const auto model = analysis::estimate_model(analysis::model_of(row), 1, row.point.precision());
        multiply_adds = format_si(static_cast<double>(model.multiply_adds), "MAC") + " forward, ";
    } catch (const InputError&) {
    }
    return fmt::format("{}{}; 2 FLOPs per multiply-add ({})", multiply_adds, flops, name(row.work.known));
}

std::string rate_text(const Measurement& row, const Ceilings& ceilings)
{
    const auto rate = row.work.flops / row.seconds;
    const std::string text = analysis::with_interval(rate, "FLOP/s");
    const auto roofs = analysis::roofs_of(ceilings, row.device, analysis::threads_of(row));
    const Ceiling* ceiling = roofs.precision(analysis::precision_of(row));
    if (ceiling == nullptr) return text + "; there is no measured roof to compare with: 'roof calibrate' measures one";
    return fmt::format("{}, {} of the measured {} roof {} ({} threads)", text,
                       analysis::percent(rate.median.value / ceiling->rate.median.value), ceiling->precision,
                       format_si(ceiling->rate.median.value, "FLOP/s"), ceiling->threads);
}

/// A line about the ranks; empty with one rank.
std::string ranks_line(const Measurement& row)
{
    if (row.ranks() < 2) return "";
    const Seconds both = row.exposed.median + row.hidden.median;
    return line("ranks",
                fmt::format("{}; communication {} exposed, {} hidden beside the backward pass (medians, measured); "
                            "{} of messages, {} over the links by the ring's count (analytic)",
                            row.ranks(), format_duration(row.exposed.median.value),
                            format_duration(row.hidden.median.value), format_si(row.messages.value, "B"),
                            both.value > 0 ? format_si(analysis::bus_bandwidth(row).value, "B/s") : "0 B/s"));
}

std::string remarks_line(const Measurement& row)
{
    return row.remarks.empty() ? "" : line("remarks", printable(row.remarks));
}

/// Empty on a quiet machine.
std::string busy_line(const Measurement& row)
{
    const std::string text = analysis::busy_text(row);
    return text.empty() ? "" : line("busy", text);
}

std::string losses_text(const Measurement& row)
{
    std::string text;
    for (const double loss : row.losses()) text += fmt::format("{:.6g} ", loss);
    return std::string(trim(text));
}

}  // namespace

std::string run_summary(const Measurement& row, const analysis::Study& study)
{
    const std::string title = printable(analysis::step_title(row, study.results.rows)) + '\n';
    if (row.status != Status::ok) {
        return title + line("status", fmt::format("{}: {}", name(row.status), printable(row.reason)));
    }
    return title + line("step", step_text(row)) + busy_line(row) + line("images/s", images_text(row)) +
           line("phases", phases_text(row)) + ranks_line(row) + line("per image", per_image_text(row)) +
           line("rate", rate_text(row, study.ceilings)) + line("losses", losses_text(row)) + remarks_line(row);
}

}  // namespace roof
