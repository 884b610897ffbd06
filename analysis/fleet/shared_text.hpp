// A text that many digests hold: 10,000 digests of one kind have 132 names of ceilings, and not 1,320,000.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace roof::analysis {

/// Read like a std::string; copies share it.
class SharedText {
  public:
    SharedText() = default;
    SharedText(std::string text) : text_(std::make_shared<const std::string>(std::move(text))) {}
    SharedText(const char* text) : SharedText(std::string(text)) {}

    const std::string& str() const
    {
        static const std::string empty;
        return text_ ? *text_ : empty;
    }
    operator const std::string&() const { return str(); }
    operator std::string_view() const { return str(); }

    friend bool operator==(const SharedText& a, const SharedText& b)
    {
        return a.text_ == b.text_ || a.str() == b.str();
    }

  private:
    std::shared_ptr<const std::string> text_{};
};

/// Gives equal texts one place. For one thread.
class SharedTexts {
  public:
    SharedText shared(std::string_view text)
    {
        const auto found = texts_.find(text);
        return found != texts_.end() ? found->second : texts_.emplace(text, std::string(text)).first->second;
    }

  private:
    std::map<std::string, SharedText, std::less<>> texts_{};
};

}  // namespace roof::analysis
