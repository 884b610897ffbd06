#include "tools/roof/session/training_log.hpp"

#include "ert/base/text.hpp"
#include "tools/roof/console/output.hpp"

#include <fmt/format.h>

#include <memory>

namespace roof {
namespace {

/// The last value and the mean so far, like AverageMeter of PyTorch's example.
class Meter {
  public:
    void add(double value)
    {
        last_ = value;
        sum_ += value;
        ++count_;
    }
    double last() const { return last_; }
    double mean() const { return sum_ / count_; }

  private:
    double last_ = 0;
    double sum_ = 0;
    int count_ = 0;
};

struct Meters {
    Meter time;
    Meter data;
    Meter loss;
};

/// Whether the step has a line: the first 20 steps, then every tenth, and the last.
bool is_printed(int step, int steps)
{
    return step <= 20 || step % 10 == 0 || step == steps;
}

std::string line(const Meters& meters, int step, int steps)
{
    const std::string total = steps > 0 ? std::to_string(steps) : "?";
    std::string text =
        fmt::format("Epoch: [0][{:>{}}/{}]  Time {:.3f} ({:6.3f})  Data {:.3f} ({:6.3f})", step, total.size(), total,
                    meters.time.last(), meters.time.mean(), meters.data.last(), meters.data.mean());
    return text + fmt::format("  Loss {:.4e} ({:.4e})\n", meters.loss.last(), meters.loss.mean());
}

}  // namespace

Listener training_log(std::ostream& err, int steps, const Terminal& terminal)
{
    const auto meters = std::make_shared<Meters>();
    Listener listener;
    listener.begins = [&err, meters, terminal](const Item& item, std::size_t, std::size_t) {
        *meters = {};
        err << in_window("=> " + printable(item.id()) + "\n", terminal) << std::flush;
    };
    listener.sample = [&err, meters, steps, terminal](const Sample& sample, int step) {
        meters->time.add((sample.seconds + sample.data).value);
        meters->data.add(sample.data.value);
        if (sample.loss) meters->loss.add(*sample.loss);
        if (is_printed(step, steps)) err << in_window(line(*meters, step, steps), terminal) << std::flush;
    };
    listener.row = [&err, terminal](const Measurement& row) {
        if (row.status == Status::ok) return;
        err << in_window(fmt::format("{}: {}\n", name(row.status), printable(row.reason)), terminal) << std::flush;
    };
    return listener;
}

}  // namespace roof
