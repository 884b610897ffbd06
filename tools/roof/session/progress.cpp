#include "tools/roof/session/session.hpp"

#include "ert/base/text.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/console/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>
#include <vector>

namespace roof {
namespace {

constexpr Seconds redraw_every{0.1};
constexpr std::size_t long_list = 100;  ///< rows; longer lists get fewer lines

class Progress {
  public:
    explicit Progress(const Context& context) : context_(context), started_(context.clock()), drawn_(started_) {}

    void begins(const Item& item, std::size_t index, std::size_t total)
    {
        if (total_ == 0) left_ = total - index;
        id_ = printable(item.id());
        short_id_ = item.bench_name + " " + item.device;
        for (const auto& [axis, value] : item.point.values())  // a word says of which axis it is
            short_id_ += " " + (std::isdigit(static_cast<unsigned char>(value[0])) ? axis + "=" : "") + value;
        short_id_ = printable(short_id_);
        index_ = index;
        total_ = total;
        draw(0);
    }

    void sample(int launches)
    {
        if (context_.clock() - drawn_ > redraw_every) draw(launches);
    }

    void row(const Measurement& row)
    {
        ++finished_;
        const bool ok = row.status == Status::ok;
        if (row.status == Status::unsupported || row.status == Status::skipped) {
            ++unmeasured_[row.status][row.reason];
            return;
        }
        if (ok && (context_.messages.live || !worth_a_line())) return;
        erase();
        context_.err << in_window(fmt::format("[{}/{}] {} {}  {}\n", index_ + 1, total_, name(row.status), id_,
                                              ok ? format_duration(row.seconds.median.value) : printable(row.reason)),
                                  context_.messages);
        context_.err.flush();
    }

    void ends()
    {
        erase();
        sum_up_unmeasured();
    }

  private:
    void erase() const
    {
        if (context_.messages.live) context_.err << erase_line << std::flush;
    }

    /// In a long list, one row per tenth has a line. The list may grow during the measurement.
    bool worth_a_line()
    {
        constexpr std::size_t lines = 10;
        if (total_ > long_list && finished_ - finished_at_line_ < total_ / lines) return false;
        finished_at_line_ = finished_;
        return true;
    }

    /// Prints the rows that were not measured and have no line of their own, by status and reason, most frequent first.
    void sum_up_unmeasured()
    {
        for (const auto& [status, by_reason] : unmeasured_) {
            std::vector<std::pair<std::string, std::size_t>> reasons(by_reason.begin(), by_reason.end());
            std::ranges::stable_sort(reasons, std::ranges::greater{}, &std::pair<std::string, std::size_t>::second);
            std::size_t rows = 0;
            std::string lines;
            for (const auto& [reason, count] : reasons) {
                rows += count;
                lines += fmt::format("  {:>4}  {}\n", count, printable(reason));
            }
            context_.err << in_window(fmt::format("{}: {} of {} rows\n{}", name(status), rows, finished_, lines),
                                      context_.messages)
                         << std::flush;
        }
        unmeasured_.clear();
    }

    void draw(int launches)
    {
        if (!context_.messages.live) return;
        drawn_ = context_.clock();
        const double elapsed = (drawn_ - started_).value;
        std::string times =
            fmt::format("{} sample{}, {}", launches, launches == 1 ? "" : "s", format_duration(elapsed));
        if (finished_ > 0) {
            const double each = elapsed / static_cast<double>(finished_);
            times += ", ETA " + format_duration(each * static_cast<double>(left_ - finished_));
        }
        std::string line = fmt::format("[{}/{}] {}  {}", index_ + 1, total_, times, short_id_);
        const auto columns = static_cast<std::size_t>(context_.messages.columns - 1);
        if (line.size() > columns) line.resize(columns);
        context_.err << erase_line << line << std::flush;
    }

    const Context& context_;
    Seconds started_;
    Seconds drawn_;
    std::string id_, short_id_;
    std::size_t index_ = 0;
    std::size_t total_ = 0;
    std::size_t left_ = 0;  ///< items without a row when the session began
    std::size_t finished_ = 0;
    std::size_t finished_at_line_ = 0;
    /// Rows without a line of their own, by status and reason.
    std::map<Status, std::map<std::string, std::size_t>> unmeasured_;
};

/// The last value and the mean so far, like AverageMeter of PyTorch's example.
struct Meter {
    double last = 0, sum = 0;
    int count = 0;

    void add(double value) { last = value, sum += value, ++count; }
    double mean() const { return sum / count; }
};

struct Meters {
    Meter time, data, loss;
};

std::string line(const Meters& meters, int step, int steps)
{
    const std::string total = steps > 0 ? std::to_string(steps) : "?";
    std::string text =
        fmt::format("Epoch: [0][{:>{}}/{}]  Time {:.3f} ({:6.3f})  Data {:.3f} ({:6.3f})", step, total.size(), total,
                    meters.time.last, meters.time.mean(), meters.data.last, meters.data.mean());
    return text + fmt::format("  Loss {:.4e} ({:.4e})\n", meters.loss.last, meters.loss.mean());
}

}  // namespace

Listener progress(const Context& context)
{
    const auto state = std::make_shared<Progress>(context);
    return {.begins = [=](const Item& item, std::size_t i, std::size_t total) { state->begins(item, i, total); },
            .sample = [=](const Sample&, int launches) { state->sample(launches); },
            .row = [=](const Measurement& row) { state->row(row); },
            .ends = [=] { state->ends(); }};
}

Listener training_log(std::ostream& err, int steps, const Terminal& terminal)
{
    const auto meters = std::make_shared<Meters>();
    Listener listener;
    listener.begins = [&err, meters, terminal](const Item& item, std::size_t, std::size_t) {
        *meters = {};
        err << in_window("=> " + printable(item.id()) + "\n", terminal) << std::flush;
    };
    listener.sample = [&err, meters, steps, terminal](const Sample& sample, int step) {
        if (!sample.window.empty()) {
            const std::string each = format_duration(sample.seconds.value);
            const auto text =
                fmt::format("sustained, {}: window {}, {} x {}\n", sample.window, step, sample.launches, each);
            err << in_window(text, terminal) << std::flush;
            return;
        }
        meters->time.add((sample.seconds + sample.data).value);
        meters->data.add(sample.data.value);
        if (sample.loss) meters->loss.add(*sample.loss);
        if (step <= 20 || step % 10 == 0 || step == steps)
            err << in_window(line(*meters, step, steps), terminal) << std::flush;
    };
    listener.row = [&err, terminal](const Measurement& row) {
        if (row.status == Status::ok) return;
        err << in_window(fmt::format("{}: {}\n", name(row.status), printable(row.reason)), terminal) << std::flush;
    };
    return listener;
}

}  // namespace roof
