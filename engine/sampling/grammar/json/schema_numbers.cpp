// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/grammar/json/schema_numbers.h"

#include "engine/sampling/grammar/json/decimal_range.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

namespace engine {

namespace {

constexpr std::int64_t kMostListed = 10'000; // most multiples that are listed one by one
constexpr std::int64_t kMostRemainders = 100;
constexpr int kMostDigits = 16;

Result<std::optional<double>> numberOf(const SchemaPlace& place, std::string_view word) {
    if (!place.value.contains(word))
        return std::optional<double>();
    const auto number = place.value[word].asNumber();
    if (!number)
        return refuseSchema(place.pointer, fmt::format("\"{}\" is not a number", word));
    return number;
}

/// The tighter of two bounds, each of which may be missing. `sign`: 1 for lower bounds.
std::optional<DecimalBound>
tighter(std::optional<double> inclusive, std::optional<double> exclusive, int sign) {
    if (!inclusive && !exclusive)
        return std::nullopt;
    if (!inclusive || !exclusive)
        return inclusive ? DecimalBound{decimalOf(*inclusive), false}
                         : DecimalBound{decimalOf(*exclusive), true};
    const DecimalBound open{decimalOf(*exclusive), true};
    const DecimalBound closed{decimalOf(*inclusive), false};
    return sign * compare(open.value, closed.value) >= 0 ? open : closed;
}

/// The decimal places for 1, 0.1, 0.01 and so on; none for another number.
std::optional<int> placesOf(double multiple) {
    const Decimal unit = decimalOf(multiple);
    if (unit.isNegative || unit.whole > 1)
        return std::nullopt;
    const std::string& digits = unit.fraction;
    if (unit.whole == 1)
        return digits.empty() ? std::optional(0) : std::nullopt;
    const bool isUnit = !digits.empty() && digits.back() == '1' &&
                        digits.find_first_not_of('0') == digits.size() - 1 &&
                        digits.size() <= DecimalRange::kMostPlaces;
    return isUnit ? std::optional(static_cast<int>(digits.size())) : std::nullopt;
}

/// The nearest integer that a bound allows.
std::int64_t wholeBound(JsonValue value, bool isLeast, bool isExclusive) {
    constexpr double kFar = 1e17; // beyond every number that can be written
    if (const auto integer = value.asInteger()) {
        const std::int64_t bound =
            std::clamp(*integer, static_cast<std::int64_t>(-kFar), static_cast<std::int64_t>(kFar));
        return isExclusive ? bound + (isLeast ? 1 : -1) : bound;
    }
    const double bound = std::clamp(*value.asNumber(), -kFar, kFar);
    const double whole = isLeast ? std::ceil(bound) : std::floor(bound);
    const bool isMoved = isExclusive && whole == bound;
    return static_cast<std::int64_t>(whole) + (isMoved ? (isLeast ? 1 : -1) : 0);
}

/// Positive multiples: one node for each remainder and number of digits.
GrammarPart multiples(GrammarBuilder& builder, std::int64_t multiple) {
    const GrammarPart whole{builder.nothing().first, builder.nothing().first};
    std::vector<int> nodes(static_cast<std::size_t>(multiple), -1); // by remainder
    for (int place = 0; place < kMostDigits && !builder.isFull(); ++place) {
        std::vector<int> behind(nodes.size());
        for (int& node : behind)
            node = builder.nothing().first;
        for (std::int64_t remainder = 0; remainder < multiple; ++remainder) {
            const int from = place == 0 ? whole.first : nodes[static_cast<std::size_t>(remainder)];
            for (int digit = place == 0 ? 1 : 0; digit <= 9; ++digit) {
                const auto byte = static_cast<std::uint8_t>('0' + digit);
                const GrammarPart step = builder.byteRange(byte, byte);
                const std::int64_t next = ((place == 0 ? 0 : remainder) * 10 + digit) % multiple;
                builder.connect(from, step.first);
                builder.connect(step.last, behind[static_cast<std::size_t>(next)]);
            }
            if (place == 0)
                break;
        }
        builder.connect(behind.front(), whole.last);
        nodes = std::move(behind);
    }
    return whole;
}

Result<GrammarPart> multiplesBetween(GrammarBuilder& builder,
                                     const SchemaPlace& place,
                                     std::int64_t least,
                                     std::int64_t most,
                                     std::int64_t multiple) {
    const auto below = [&](std::int64_t number) { // the greatest multiple that is not larger
        return number / multiple - (number % multiple < 0 ? 1 : 0);
    };
    least = std::clamp(least, -JsonParts::kMostInteger, JsonParts::kMostInteger + 1);
    most = std::clamp(most, -JsonParts::kMostInteger - 1, JsonParts::kMostInteger);
    if (least > most)
        return builder.choice({});
    if (below(most) - below(least - 1) <= kMostListed) {
        std::vector<std::string> texts;
        for (std::int64_t factor = below(least - 1) + 1; factor <= below(most); ++factor)
            texts.push_back(std::to_string(factor * multiple));
        return builder.anyOfTexts(std::move(texts));
    }
    const bool isBelowFree = least == -JsonParts::kMostInteger;
    const bool isAboveFree = most == JsonParts::kMostInteger;
    if (multiple > kMostRemainders || !isAboveFree || !(isBelowFree || least == 0 || least == 1))
        return refuseSchema(place.pointer,
                            fmt::format("\"multipleOf\" is supported up to {}, or between bounds "
                                        "with at most {} multiples",
                                        kMostRemainders,
                                        kMostListed));
    std::vector<GrammarPart> parts;
    const GrammarPart some = multiples(builder, multiple);
    if (isBelowFree) {
        const std::array signs = {builder.text("-"), builder.nothing()};
        const std::array both = {builder.choice(signs), some};
        parts.push_back(builder.sequence(both));
    } else {
        parts.push_back(some);
    }
    if (least <= 0)
        parts.push_back(builder.text("0"));
    return builder.choice(parts);
}

} // namespace

Result<GrammarPart>
numberPart(GrammarBuilder& builder, JsonParts& parts, const SchemaPlace& place) {
    ENGINE_TRY(const auto minimum, numberOf(place, "minimum"));
    ENGINE_TRY(const auto maximum, numberOf(place, "maximum"));
    ENGINE_TRY(const auto above, numberOf(place, "exclusiveMinimum"));
    ENGINE_TRY(const auto below, numberOf(place, "exclusiveMaximum"));
    ENGINE_TRY(const auto multiple, numberOf(place, "multipleOf"));
    const bool hasOthers = maximum || above || below || multiple;
    if (!hasOthers && minimum.value_or(0.0) == 0.0)
        return parts.number(!minimum.has_value());
    int places = DecimalRange::kMostPlaces;
    if (multiple) {
        const auto found = placesOf(*multiple);
        if (!found)
            return refuseSchema(place.pointer,
                                "for numbers that need not be whole, only \"multipleOf\" 1, 0.1, "
                                "0.01 and so on is supported");
        places = *found;
    }
    return DecimalRange(builder, parts, places)
        .between(tighter(minimum, above, 1), tighter(maximum, below, -1));
}

Result<GrammarPart>
integerPart(GrammarBuilder& builder, JsonParts& parts, const SchemaPlace& place) {
    std::int64_t least = -JsonParts::kMostInteger;
    std::int64_t most = JsonParts::kMostInteger;
    for (const std::string_view word :
         {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"}) {
        ENGINE_TRY(const auto bound, numberOf(place, word));
        if (!bound)
            continue;
        const bool isLeast = word.ends_with("inimum");
        const std::int64_t whole =
            wholeBound(place.value[word], isLeast, word.starts_with("exclusive"));
        if (isLeast)
            least = std::max(least, whole);
        else
            most = std::min(most, whole);
    }
    ENGINE_TRY(const auto multiple, numberOf(place, "multipleOf"));
    if (!multiple || placesOf(*multiple))
        return parts.integer(least, most);
    if (*multiple < 1.0 || *multiple != std::floor(*multiple) || *multiple > 1e15)
        return refuseSchema(place.pointer,
                            "for whole numbers, \"multipleOf\" is supported when it is whole, or "
                            "0.1, 0.01 and so on");
    return multiplesBetween(builder, place, least, most, static_cast<std::int64_t>(*multiple));
}

} // namespace engine
