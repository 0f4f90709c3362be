// SPDX-License-Identifier: Apache-2.0
#include "tests/support/lossless/token_law.h"

#include "tests/support/lossless/plain_penalties.h"

#include <algorithm>
#include <cmath>

namespace support {

using namespace engine;

namespace {

Tokens joined(const Tokens& head, const Tokens& tail) {
    Tokens whole = head;
    whole.insert(whole.end(), tail.begin(), tail.end());
    return whole;
}

/// The tokens that one round emits over all its outcomes, cut to `count` tokens.
TokenLaw lawOfOneRound(const Round& round, const Tokens& prompt, int count) {
    TokenLaw law;
    EnumeratedDecisions decisions;
    do {
        Tokens emitted = round(prompt, decisions);
        if (emitted.size() > static_cast<std::size_t>(count))
            emitted.resize(static_cast<std::size_t>(count));
        law[emitted] += decisions.probability();
    } while (decisions.next());
    return law;
}

/// Distributions by the number of tokens already in the answer.
class Enumeration {
public:
    Enumeration(const Round& round, const Tokens& prompt)
        : m_round(round)
        , m_prompt(prompt) {}

    const TokenLaw& behind(const Tokens& answer, int count) {
        const auto known = m_laws.find(answer);
        if (known != m_laws.end())
            return known->second;
        TokenLaw law;
        for (const auto& [emitted, probability] :
             lawOfOneRound(m_round, joined(m_prompt, answer), count)) {
            const int left = count - static_cast<int>(emitted.size());
            if (left == 0)
                law[emitted] += probability;
            else
                for (const auto& [rest, likely] : behind(joined(answer, emitted), left))
                    law[joined(emitted, rest)] += probability * likely;
        }
        return m_laws[answer] = std::move(law);
    }

private:
    const Round& m_round;
    const Tokens& m_prompt;
    std::map<Tokens, TokenLaw> m_laws;
};

template <typename Number>
std::map<Tokens, Number> marginalOf(const std::map<Tokens, Number>& cells, std::size_t index) {
    std::map<Tokens, Number> marginal;
    for (const auto& [tokens, number] : cells)
        marginal[{tokens[index]}] += number;
    return marginal;
}

/// The value that chi-squared exceeds with probability 1e-6 (8e-7 at 31 degrees: 84.2).
/// Source: Wilson and Hilferty, PNAS 17, 1931.
double chiSquaredLimit(double degrees) {
    constexpr double kNormalLimit = 4.753;
    const double part = 2.0 / (9.0 * degrees);
    return degrees * std::pow(1.0 - part + kNormalLimit * std::sqrt(part), 3.0);
}

/// The same the other way round.
double chiSquaredLikelihood(double chiSquared, double degrees) {
    const double part = 2.0 / (9.0 * degrees);
    const double normal = (std::cbrt(chiSquared / degrees) - 1.0 + part) / std::sqrt(part);
    return 0.5 * std::erfc(normal / std::sqrt(2.0));
}

} // namespace

TokenLaw vanillaLaw(const BigramTable& table,
                    const SamplingOptions& sampling,
                    const Tokens& prompt,
                    int count) {
    const Sampler sampler(sampling);
    TokenLaw law = {{{}, 1.0}};
    for (int step = 0; step < count; ++step) {
        TokenLaw longer;
        for (const auto& [answer, probability] : law) {
            const Tokens whole = joined(prompt, answer);
            const TokenId before = whole.size() > 1 ? whole[whole.size() - 2] : kNoToken;
            const Distribution p = sampler.distribution(
                penalised(table.row(before, whole.back()), sampling, prompt, answer));
            for (std::size_t i = 0; i < p.ids.size(); ++i)
                longer[joined(answer, {p.ids[i]})] += probability * p.probabilities[i];
        }
        law = std::move(longer);
    }
    return law;
}

TokenLaw enumeratedLaw(const Round& round, const Tokens& prompt, int count) {
    return Enumeration(round, prompt).behind({}, count);
}

double totalVariation(const TokenLaw& a, const TokenLaw& b) {
    TokenLaw difference = a;
    for (const auto& [tokens, probability] : b)
        difference[tokens] -= probability;
    double total = 0.0;
    for (const auto& [tokens, probability] : difference)
        total += std::abs(probability);
    return 0.5 * total;
}

double LawDistance::likelihood() const { return chiSquaredLikelihood(chiSquared, degrees); }

std::string LawDistance::text() const {
    return fmt::format("{} samples, chi-squared {:.1f} of at most {:.1f}, {:.0f} degrees of "
                       "freedom, p {:.3g}, total variation {:.4f}",
                       samples,
                       chiSquared,
                       limit,
                       degrees,
                       likelihood(),
                       variation);
}

LawDistance farthestFromLaw(const TokenLaw& law,
                            const std::map<Tokens, long>& samples,
                            std::size_t mostTogether) {
    std::vector<LawDistance> all;
    if (law.size() <= mostTogether)
        all.push_back(distanceFromLaw(law, samples));
    const std::size_t count = law.begin()->first.size();
    for (std::size_t index = 0; index < count; ++index)
        all.push_back(distanceFromLaw(marginal(law, index), marginal(samples, index)));
    return *std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.chiSquared / a.limit < b.chiSquared / b.limit;
    });
}

LawDistance distanceFromLaw(const TokenLaw& law, const std::map<Tokens, long>& samples) {
    long count = 0;
    TokenLaw found;
    for (const auto& [tokens, seen] : samples)
        count += seen;
    for (const auto& [tokens, seen] : samples)
        found[tokens] = static_cast<double>(seen) / static_cast<double>(count);
    LawDistance distance;
    distance.samples = count;
    distance.variation = totalVariation(law, found);
    double cells = 0.0;
    double rareExpected = 0.0;
    double rareSeen = static_cast<double>(count);
    const auto add = [&](double expected, double seen) {
        distance.chiSquared += (seen - expected) * (seen - expected) / expected;
        cells += 1.0;
    };
    for (const auto& [tokens, probability] : law) {
        const double expected = probability * static_cast<double>(count);
        const auto at = samples.find(tokens);
        const double seen = at == samples.end() ? 0.0 : static_cast<double>(at->second);
        if (expected < 5.0) {
            rareExpected += expected;
            continue;
        }
        rareSeen -= seen;
        add(expected, seen);
    }
    // Outcomes that are impossible under the distribution also end here.
    if (rareExpected >= 5.0 || rareSeen > 20.0)
        add(std::max(rareExpected, 1.0), rareSeen);
    distance.degrees = std::max(cells - 1.0, 1.0);
    distance.limit = chiSquaredLimit(distance.degrees);
    return distance;
}

TokenLaw marginal(const TokenLaw& law, std::size_t index) { return marginalOf(law, index); }

std::map<Tokens, long> marginal(const std::map<Tokens, long>& samples, std::size_t index) {
    return marginalOf(samples, index);
}

} // namespace support
