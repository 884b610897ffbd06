#include "ert/cupti/injection/window.hpp"

namespace roof::cupti {

Window::Order Window::look(Seconds now, bool is_busy)
{
    if (options_.is_whole) return Order::go_on;
    if (!first_work_ && is_busy) first_work_ = now;
    if (!first_work_) return Order::go_on;
    if (!begin_ && now - *first_work_ >= options_.after) {
        begin_ = now;
        return Order::begin_anew;
    }
    return begin_ && now - *begin_ >= options_.length ? Order::finish : Order::go_on;
}

}  // namespace roof::cupti
