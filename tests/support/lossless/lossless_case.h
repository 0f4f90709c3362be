// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_registry.h"
#include "tests/support/transformers/spy_transformer.h"

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace support {

/// A network that random cases run on.
struct CaseModel {
    std::string name;
    std::unique_ptr<engine::Transformer> transformer; ///< plain, float64
};

/// The random ones, which always exist: first one whose next tokens are nearly equally likely, then
/// two that are almost certain of theirs. After them, one of every family in the golden data.
std::vector<CaseModel> caseModels();

/// Chooses numbers for cases; the same seed gives the same cases.
class CaseRandom {
public:
    explicit CaseRandom(std::uint64_t seed)
        : m_engine(seed) {}

    /// A whole number from `low` to `high`.
    int whole(int low, int high) {
        const auto range = static_cast<std::uint64_t>(high - low + 1);
        return low + static_cast<int>(m_engine() % range);
    }

    /// A number from 0 to 1.
    double part() { return static_cast<double>(m_engine() >> 11U) * 0x1.0p-53; }

    bool oneIn(int n) { return whole(1, n) == 1; }

    template <typename T> const T& oneOf(const std::vector<T>& values) {
        return values[static_cast<std::size_t>(whole(0, static_cast<int>(values.size()) - 1))];
    }

private:
    std::mt19937_64 m_engine;
};

/// The start of one answer and its sampling options.
struct LosslessCase {
    std::vector<std::vector<engine::TokenId>> prompts; ///< asked one after the other
    std::vector<engine::TokenId> endIds;
    int maxTokens = 16;
    int contextLength = 0;
    engine::SamplingOptions sampling;
    engine::SettingValues settings;                                ///< of the decoder under test
    std::shared_ptr<const engine::TokenTrie> vocabulary = nullptr; ///< for a grammar
};

/// Texts for the ids of a vocabulary: printable ASCII, a line break, parts of a character beyond
/// ASCII, then random texts of what JSON is made of; of a small one letters alone. Id 0 stands for
/// none, it may end answers.
std::shared_ptr<const engine::TokenTrie> caseVocabulary(int vocabSize);

/// A regular expression, a JSON schema or any JSON object that answers in such a vocabulary do not
/// complete quickly.
engine::Grammar randomGrammar(CaseRandom& random, int vocabSize);

/// Penalties, biases and cuts of the law, each on or off, mild enough that drafts are accepted.
void addRandomLaw(CaseRandom& random, engine::SamplingOptions& sampling, int vocabSize);

/// Prompts of 1 to 12 tokens, answers of 1 to 16, contexts and end tokens that may cut an answer.
/// `hasLaw`: see addRandomLaw().
LosslessCase
randomCase(CaseRandom& random, engine::Transformer& transformer, bool samples, bool hasLaw);

/// Sums over cases.
struct DraftCounts {
    int drafted = 0; ///< tokens
    int accepted = 0;
};

/// Runs a case with a decoder and with vanilla and checks, after every step, the tokens, the count
/// of cached rows and the cached numbers. Returns what is wrong, empty if nothing.
std::string compareWithVanilla(engine::DecoderRegistry& registry,
                               const std::string& decoder,
                               const LosslessCase& tried,
                               engine::Transformer& transformer,
                               DraftCounts* counts);

/// Many random cases of one decoder.
struct LosslessRun {
    std::string decoder;
    int allCases = 0;    ///< with SWIFT_STUDIO_FULL_EXACTNESS=1
    int sampleCases = 0; ///< otherwise
    bool samples = false;
    bool hasLaw = false; ///< the distribution of the next token depends on earlier tokens, see
                         ///< addRandomLaw()
    std::uint64_t firstSeed = 0;
    int leastDrafted = 10; ///< average tokens per case, half as many in a sample; fewer would
                           ///< prove nothing
    /// The decoder's settings for a network with this many layers.
    std::function<engine::SettingValues(CaseRandom& random, int layerCount)> settings;
};

/// Runs the cases and returns the first fault, empty if there is none. A run that drafts almost
/// nothing proves nothing and is a fault as well.
std::string runLosslessCases(engine::DecoderRegistry& registry,
                             std::vector<CaseModel>& models,
                             const LosslessRun& run);

/// Changes the settings after every step, makes some of the steps plain and compares 100 greedy
/// tokens with vanilla's, 10 times; in a sample 3 times.
std::string changeSettingsWhileRunning(engine::DecoderRegistry& registry,
                                       engine::Transformer& transformer,
                                       const LosslessRun& run);

/// A skip set as JSON text: each sublayer of layers [first, end) with probability `part`.
std::string randomSkipSet(CaseRandom& random, int first, int end, double part);

} // namespace support
