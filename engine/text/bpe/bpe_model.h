// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace engine {

/// Switches of a BPE model, named as in tokenizer.json.
struct BpeOptions {
    bool ignoresMerges = false; ///< a whole piece that is in the vocabulary is taken as it is
    bool hasByteFallback = false;
    bool fusesUnknown = false;
    std::string unknownToken; ///< empty: unknown characters are dropped
    std::string continuingPrefix;
    std::string endSuffix;
    /// By id; not empty: a unigram vocabulary without merges. A piece becomes the tokens with the
    /// largest sum of scores, and a run of unknown characters is always one token.
    std::vector<double> scores;
};

/// What merges mean that the vocabulary and the order do not settle.
enum class MergeRules : std::uint8_t {
    TokenizerJson, ///< of two merges of one pair the last counts; no token may be missing
    /// The first counts. What a merge makes may be missing from the vocabulary: it is a step on the
    /// way to a longer token, and falls apart into its characters where none comes of it. A merge
    /// with a part that is no token, and that no earlier merge makes, is passed over. Source:
    /// llama.cpp.
    Gguf
};

/// A vocabulary with its ranked merges, or with scores. Thread: one at a time (pieces are
/// remembered).
class BpeModel {
public:
    using Merge = std::pair<std::string, std::string>;

    BpeModel(BpeModel&&) = default;
    BpeModel& operator=(BpeModel&&) = default;
    BpeModel(const BpeModel&) = delete;
    BpeModel& operator=(const BpeModel&) = delete;
    ~BpeModel() = default;

    /// `texts`: vocabulary text by id, empty for a gap; no text twice. `merges`: in order of rank.
    /// Scores, if there are any, are as many as texts.
    /// Errors: CorruptFile for two tokens of one text, and when a merge names or makes a token that
    /// is not in the vocabulary, but for MergeRules::Gguf.
    static Result<BpeModel> make(std::vector<std::string> texts,
                                 const std::vector<Merge>& merges,
                                 BpeOptions options,
                                 MergeRules rules);

    /// Appends the tokens of one piece. Time: n log n in the length of the piece.
    /// Errors: CorruptFile when it needs the unknown token and the vocabulary lacks that.
    Result<void> tokenize(std::string_view piece, std::vector<TokenId>& ids) const;

    /// The id of a vocabulary text, or kNoToken.
    TokenId find(std::string_view text) const;

    /// Number of ids, gaps included.
    std::size_t size() const { return m_size; }

    /// How many merges make no token of the vocabulary, or have parts that never come about.
    std::size_t incompleteMerges() const { return m_incompleteMerges; }

    /// The text of an id, empty for a gap; `id` must be in range.
    const std::string& text(TokenId id) const { return m_texts[static_cast<std::size_t>(id)]; }

    /// How many pairs of neighbours have been looked at so far: what merging costs.
    std::uint64_t pairsTried() const { return m_pairsTried; }

private:
    struct MergeRule {
        std::uint32_t rank = 0;
        TokenId result = kNoToken;
    };

    struct Symbol {
        TokenId id = kNoToken; // kNoToken once it is merged into its left neighbour
        std::int32_t previous = -1;
        std::int32_t next = -1;
    };

    /// A place of the table of merges; free while its result is kNoToken.
    struct MergePlace {
        std::uint64_t pair = 0;
        MergeRule rule = {};
    };

    class MergeQueue;

    BpeModel() = default;
    Result<void> indexTexts();
    std::size_t placeOf(std::string_view text) const;
    std::size_t placeOf(std::uint64_t pair) const;
    TokenId findAny(std::string_view text) const;
    TokenId addStep(std::string text);
    Result<void> addMerge(const Merge& merge, std::uint32_t rank, MergeRules rules);
    Result<std::vector<TokenId>> characterIds(std::string_view piece) const;
    bool appendByteTokens(std::string_view character, std::vector<TokenId>& ids) const;
    const MergeRule* findMerge(TokenId left, TokenId right) const;
    std::vector<TokenId> merge(const std::vector<TokenId>& characters) const;
    Result<std::vector<TokenId>> withoutSteps(std::vector<TokenId> ids) const;
    void remember(std::string_view piece, const std::vector<TokenId>& ids) const;

    // unigram_pieces.cpp
    void sortTexts();
    void appendUnknown(std::string_view run, std::vector<TokenId>& ids) const;
    Result<std::vector<TokenId>> likeliest(std::string_view piece) const;

    BpeOptions m_options;
    TokenId m_unknownId = kNoToken;
    std::vector<std::string> m_texts; // the vocabulary, and behind it the steps
    std::size_t m_size = 0;           // of the vocabulary
    std::size_t m_incompleteMerges = 0;
    // Both are tables of a power of two of places, in which a search goes on at the next place
    // until a free one: a quarter of the memory of maps, which allocate every entry.
    std::vector<TokenId> m_ids; // kNoToken: free
    std::vector<MergePlace> m_merges;
    std::vector<TokenId> m_sorted; // of a unigram vocabulary, by their texts
    double m_unknownScore = 0.0;   // of it
    mutable std::unordered_map<std::string, std::vector<TokenId>> m_remembered;
    mutable std::uint64_t m_pairsTried = 0;
};

} // namespace engine
