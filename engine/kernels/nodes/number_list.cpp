// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/nodes/number_list.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>

namespace engine {

namespace {

/// More cannot be numbers of processors or nodes.
constexpr int kNumbersEnd = 1 << 20;

/// Takes the number at the beginning of a text away; none if there is none.
std::optional<int> takeNumber(std::string_view& text) {
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number < 0 || number >= kNumbersEnd)
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

} // namespace

std::vector<int> numberList(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
    std::vector<int> numbers;
    while (!text.empty()) {
        const std::optional<int> first = takeNumber(text);
        std::optional<int> last = first;
        if (text.starts_with('-')) {
            text.remove_prefix(1);
            last = takeNumber(text);
        }
        if (!first || !last || *last < *first || !(text.empty() || text.starts_with(',')))
            return {};
        if (!numbers.empty() && *first <= numbers.back()) // so no list is longer than kNumbersEnd
            return {};
        text.remove_prefix(text.empty() ? 0 : 1);
        for (int number = *first; number <= *last; ++number)
            numbers.push_back(number);
    }
    return numbers;
}

std::vector<int> numberListIn(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return numberList(line);
}

} // namespace engine
