// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/grammar/json_parts.h"

#include <cstdint>
#include <optional>
#include <string>

namespace engine {

/// A number as it is written in JSON without an exponent.
struct Decimal {
    bool isNegative = false;
    std::int64_t whole = 0;    ///< at most JsonParts::kMostInteger + 1, which stands for all beyond
    std::string fraction = {}; ///< the digits behind the point; the last one is no 0
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

/// Decimals of 16 digits before the point and `places` behind it, at most, that lie between the
/// bounds. A negative zero and exponents are left out. 0 <= places <= kMostPlaces.
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
    /// What the digits that are still to come are held against, of one bound; empty = nothing.
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
