// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/task_quality.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace engine {

namespace {

constexpr std::size_t kMostWords = 4096;

bool isDigit(char letter) { return letter >= '0' && letter <= '9'; }

char small(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// Bytes above ASCII belong to letters of other scripts.
bool isWordByte(char letter) {
    return isDigit(letter) || (small(letter) >= 'a' && small(letter) <= 'z') ||
           static_cast<unsigned char>(letter) >= 0x80;
}

/// Bytes of the quote, dash, dot or space beyond ASCII that a text begins with; 0 for other texts.
std::size_t signLength(std::string_view text) {
    for (const std::string_view sign : {"\u00A0", "\u00AB", "\u00BB"})
        if (text.starts_with(sign))
            return sign.size();
    // U+2000 to U+203F, U+2040 to U+206F, U+3000 to U+3002
    const bool isSign = text.starts_with("\xE2\x80") ||
                        (text.starts_with("\xE2\x81") && text.substr(2) < "\xB0") ||
                        (text.starts_with("\xE3\x80") && text.substr(2) < "\x83");
    return isSign ? std::min<std::size_t>(text.size(), 3) : 0;
}

std::vector<std::string> wordsOf(std::string_view text) {
    std::vector<std::string> words;
    bool isInside = false;
    while (!text.empty()) {
        const std::size_t sign = signLength(text);
        const bool isPart = sign == 0 && isWordByte(text.front());
        if (isPart && !isInside) {
            if (words.size() == kMostWords)
                break;
            words.emplace_back();
        }
        if (isPart)
            words.back() += small(text.front());
        isInside = isPart;
        text.remove_prefix(std::max<std::size_t>(sign, 1));
    }
    return words;
}

double f1(double common, std::size_t answer, std::size_t reference) {
    return common > 0.0 ? 2.0 * common / static_cast<double>(answer + reference) : 0.0;
}

using Counts = std::map<std::vector<std::string>, int>;

/// How often each run of `length` words occurs.
Counts runsOf(const std::vector<std::string>& words, std::size_t length) {
    Counts counts;
    for (std::size_t i = 0; i + length <= words.size(); ++i)
        ++counts[{words.begin() + static_cast<std::ptrdiff_t>(i),
                  words.begin() + static_cast<std::ptrdiff_t>(i + length)}];
    return counts;
}

double overlap(const std::vector<std::string>& answer,
               const std::vector<std::string>& reference,
               std::size_t length) {
    if (answer.size() < length || reference.size() < length)
        return 0.0;
    const Counts expected = runsOf(reference, length);
    int common = 0;
    for (const auto& [run, count] : runsOf(answer, length))
        if (const auto found = expected.find(run); found != expected.end())
            common += std::min(count, found->second);
    return f1(common, answer.size() - length + 1, reference.size() - length + 1);
}

double longestCommon(const std::vector<std::string>& answer,
                     const std::vector<std::string>& reference) {
    std::vector<int> before(reference.size() + 1);
    std::vector<int> now(reference.size() + 1);
    for (const std::string& word : answer) {
        for (std::size_t i = 0; i < reference.size(); ++i)
            now[i + 1] = word == reference[i] ? before[i] + 1 : std::max(before[i + 1], now[i]);
        std::swap(before, now);
    }
    return f1(before.back(), answer.size(), reference.size());
}

/// Digits with commas between thousands and one decimal point, as a value.
std::optional<double> lastNumber(std::string_view text) {
    std::optional<double> last;
    for (std::size_t i = 0; i < text.size();) {
        if (!isDigit(text[i])) {
            ++i;
            continue;
        }
        const bool isNegative = i > 0 && text[i - 1] == '-' && (i == 1 || !isWordByte(text[i - 2]));
        bool hasPoint = i > 0 && text[i - 1] == '.'; // ".5"
        std::string digits = isNegative ? "-" : hasPoint ? "0." : "";
        for (; i < text.size(); ++i) {
            const bool isFollowed = i + 1 < text.size() && isDigit(text[i + 1]);
            if (isDigit(text[i]))
                digits += text[i];
            else if (text[i] == '.' && !hasPoint && isFollowed) {
                digits += '.';
                hasPoint = true;
            } else if (text[i] != ',' || hasPoint || !isFollowed)
                break;
        }
        double value = 0.0;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (read.ec == std::errc())
            last = value;
    }
    return last;
}

/// The words without articles, unless there are no others, and nothing between them: "U.S." is
/// "US", and 1,000 is 1000.
std::string normalised(std::string_view text) {
    std::string joined;
    std::string articles;
    for (const std::string& word : wordsOf(text))
        (word == "a" || word == "an" || word == "the" ? articles : joined) += word;
    return joined.empty() ? articles : joined;
}

std::string_view firstLine(std::string_view text) {
    const std::size_t start = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    return text.substr(start, text.find('\n', start) - start);
}

} // namespace

RougeScores rouge(std::string_view answer, std::span<const std::string> references) {
    const std::vector<std::string> words = wordsOf(answer);
    RougeScores best;
    for (const std::string& reference : references) {
        const std::vector<std::string> expected = wordsOf(reference);
        best.rouge1 = std::max(best.rouge1, overlap(words, expected, 1));
        best.rouge2 = std::max(best.rouge2, overlap(words, expected, 2));
        best.rougeL = std::max(best.rougeL, longestCommon(words, expected));
    }
    return best;
}

bool hasSameResult(std::string_view answer, std::span<const std::string> references) {
    const auto found = lastNumber(answer);
    return found && std::any_of(references.begin(), references.end(), [&](const auto& reference) {
               const auto expected = lastNumber(reference);
               return expected && std::abs(*expected - *found) <= 1e-9 * std::abs(*expected);
           });
}

bool isExactMatch(std::string_view answer, std::span<const std::string> references) {
    const std::string whole = normalised(answer);
    const std::string first = normalised(firstLine(answer));
    return std::any_of(references.begin(), references.end(), [&](const auto& reference) {
        const std::string expected = normalised(reference);
        return !expected.empty() && (expected == whole || expected == first);
    });
}

} // namespace engine
