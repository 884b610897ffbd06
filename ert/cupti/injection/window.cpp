#include "ert/cupti/injection/window.hpp"

namespace roof::cupti {

Window::Action Window::next(Seconds now, bool is_busy)
{
    if (options_.is_whole) return Action::none;
    if (!first_work_ && is_busy) first_work_ = now;
    if (!first_work_) return Action::none;
    if (!begin_ && now - *first_work_ >= options_.after) {
        begin_ = now;
        return Action::restart;
    }
    return begin_ && now - *begin_ >= options_.length ? Action::finish : Action::none;
}

}  // namespace roof::cupti
