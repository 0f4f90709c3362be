// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/grammar/json/json_parts.h"

#include <cstdint>
#include <optional>
#include <string>

namespace engine {

/// A number as JSON writes it without an exponent.
struct Decimal {
    bool isNegative = false;
    std::int64_t whole = 0;    ///< at most JsonParts::kMostInteger + 1, which stands for everything
                               ///< larger
    std::string fraction = {}; ///< the digits after the point; the last one is not 0
};

/// The shortest decimal that is read as this number, which must be finite.
Decimal decimalOf(double number);

/// Below 0 when a < b, 0 when they are equal, above 0 otherwise.
int compare(const Decimal& a, const Decimal& b);

/// One end of a range.
struct DecimalBound {
    Decimal value;
    bool isExclusive = false;
};

/// Decimals between the bounds, with at most 16 digits before the point and `places` after it. A
/// negative zero and exponents are left out. 0 <= places <= kMostPlaces.
class DecimalRange {
public:
    static constexpr int kMostPlaces = 16;

    DecimalRange(GrammarBuilder& builder, JsonParts& parts, int places)
        : m_builder(builder)
        , m_parts(parts)
        , m_places(places) {}

    GrammarPart between(const std::optional<DecimalBound>& least,
                        const std::optional<DecimalBound>& most);

private:
    /// The remaining restriction of one bound on the following digits; empty = none.
    struct Edge {
        std::string digits; ///< of the bound, without zeros at the end
        bool isExclusive;
    };

    using MaybeEdge = std::optional<Edge>;

    GrammarPart unsignedBetween(const DecimalBound& least, const DecimalBound& most);
    GrammarPart withWhole(std::int64_t whole, MaybeEdge least, MaybeEdge most);
    GrammarPart digits(MaybeEdge least, MaybeEdge most, int left, bool mayEnd);
    static MaybeEdge behind(const MaybeEdge& edge);

    GrammarBuilder& m_builder;
    JsonParts& m_parts;
    int m_places;
};

} // namespace engine
