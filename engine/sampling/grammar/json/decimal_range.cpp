// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/grammar/json/decimal_range.h"

#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace engine {

namespace {

GrammarPart joined(GrammarBuilder& builder, std::initializer_list<GrammarPart> parts) {
    return builder.sequence(std::span(parts.begin(), parts.size()));
}

/// Compares numbers without their signs.
int compareSizes(const Decimal& a, const Decimal& b) {
    if (a.whole != b.whole)
        return a.whole < b.whole ? -1 : 1;
    return a.fraction.compare(b.fraction);
}

} // namespace

Decimal decimalOf(double number) {
    Decimal decimal;
    decimal.isNegative = number < 0.0;
    if (std::abs(number) > static_cast<double>(JsonParts::kMostInteger)) {
        decimal.whole = JsonParts::kMostInteger + 1;
        return decimal;
    }
    std::array<char, 400> text{}; // the smallest double has 324 zeros after its point
    const auto written = std::to_chars(
        text.data(), text.data() + text.size(), std::abs(number), std::chars_format::fixed);
    const std::string_view digits(text.data(), static_cast<std::size_t>(written.ptr - text.data()));
    const std::size_t point = std::min(digits.find('.'), digits.size());
    std::from_chars(digits.data(), digits.data() + point, decimal.whole);
    if (point < digits.size())
        decimal.fraction = digits.substr(point + 1);
    decimal.fraction.resize(decimal.fraction.find_last_not_of('0') + 1);
    return decimal;
}

int compare(const Decimal& a, const Decimal& b) {
    const bool areBothZero = compareSizes(a, {}) == 0 && compareSizes(b, {}) == 0;
    if (areBothZero)
        return 0;
    if (a.isNegative != b.isNegative)
        return a.isNegative ? -1 : 1;
    return a.isNegative ? compareSizes(b, a) : compareSizes(a, b);
}

GrammarPart DecimalRange::between(const std::optional<DecimalBound>& least,
                                  const std::optional<DecimalBound>& most) {
    const DecimalBound zero;
    const DecimalBound farthest{{.whole = JsonParts::kMostInteger + 1}, true};
    const auto sizeOf = [](DecimalBound bound) {
        bound.value.isNegative = false;
        return bound;
    };
    std::vector<GrammarPart> parts;
    const bool canBeNegative = !least || compare(least->value, {}) < 0;
    const bool mustBeNegative = most && compare(most->value, {}) < 0;
    if (canBeNegative)
        parts.push_back(
            joined(m_builder,
                   {m_builder.text("-"),
                    unsignedBetween(mustBeNegative ? sizeOf(*most) : DecimalBound{{}, true},
                                    least ? sizeOf(*least) : farthest)}));
    if (!mustBeNegative)
        parts.push_back(unsignedBetween(canBeNegative ? zero : *least, most ? *most : farthest));
    return m_builder.choice(parts);
}

/// Three cases by the integer part: that of the lower bound, that of the upper one, and those
/// between.
GrammarPart DecimalRange::unsignedBetween(const DecimalBound& least, const DecimalBound& most) {
    const Edge low{least.value.fraction, least.isExclusive};
    const Edge high{most.value.fraction, most.isExclusive};
    const std::int64_t first = least.value.whole;
    const std::int64_t last = most.value.whole;
    std::vector<GrammarPart> parts;
    if (first == last)
        parts.push_back(withWhole(first, low, high));
    if (first < last) {
        parts.push_back(withWhole(first, low, {}));
        if (first + 1 < last)
            parts.push_back(joined(
                m_builder,
                {m_parts.integer(first + 1, last - 1), // none is negative
                 m_builder.choice(std::array{
                     m_builder.nothing(),
                     joined(m_builder, {m_builder.text("."), digits({}, {}, m_places, false)})})}));
        parts.push_back(withWhole(last, {}, high));
    }
    return m_builder.choice(parts);
}

GrammarPart DecimalRange::withWhole(std::int64_t whole, MaybeEdge least, MaybeEdge most) {
    if (whole > JsonParts::kMostInteger)
        return m_builder.choice({});
    const auto point = [&] {
        return joined(m_builder, {m_builder.text("."), digits(least, most, m_places, false)});
    };
    const std::array parts = {digits(least, most, 0, true), point()};
    return joined(m_builder, {m_parts.integer(whole, whole), m_builder.choice(parts)});
}

DecimalRange::MaybeEdge DecimalRange::behind(const MaybeEdge& edge) {
    if (!edge || edge->digits.empty())
        return edge;
    return Edge{edge->digits.substr(1), edge->isExclusive};
}

/// At most `left` digits that are no less than `least` and no more than `most`, both taken as
/// fractions. After a digit that differs from a bound's own, this bound no longer restricts the
/// rest.
GrammarPart DecimalRange::digits(MaybeEdge least, MaybeEdge most, int left, bool mayEnd) {
    if (least && least->digits.empty() && !least->isExclusive)
        least.reset(); // nothing is less than zeros
    std::vector<GrammarPart> parts;
    const bool isAboveLeast = !least;
    const bool isBelowMost = !most || !most->digits.empty() || !most->isExclusive;
    if (mayEnd && isAboveLeast && isBelowMost)
        parts.push_back(m_builder.nothing());
    if (left == 0)
        return m_builder.choice(parts);
    const auto digit = [this](char from, char to) {
        return m_builder.byteRange(static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to));
    };
    const auto firstOf = [](const Edge& edge) {
        return edge.digits.empty() ? '0' : edge.digits.front();
    };
    char low = least ? firstOf(*least) : '0';
    char high = most ? firstOf(*most) : '9';
    const auto along = [&](char at, const MaybeEdge& lower, const MaybeEdge& upper) {
        parts.push_back(joined(
            m_builder, {digit(at, at), digits(behind(lower), behind(upper), left - 1, true)}));
    };
    if (least && most && low == high) {
        along(low, least, most);
        return m_builder.choice(parts);
    }
    if (low > high)
        return m_builder.choice(parts);
    if (least)
        along(low++, least, {});
    if (most)
        along(high--, {}, most);
    if (low <= high)
        parts.push_back(
            joined(m_builder, {digit(low, high), m_builder.repeat(digit('0', '9'), 0, left - 1)}));
    return m_builder.choice(parts);
}

} // namespace engine
