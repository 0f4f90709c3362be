// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder.h"

#include <string>
#include <vector>

namespace engine {

/// What the host makes sure of before it looks at a module's step: that all indices, tokens and
/// figures can be relied upon, and that what is shown stays small. Thread: engine.
class StepCheck {
public:
    /// A draft, and the rows beside it, are no longer; one pass could not hold more.
    static constexpr int kMostRows = 4096;

    // What is kept of a step's tables.
    static constexpr std::size_t kMostTables = 8;
    static constexpr std::size_t kMostTableRows = 64;
    static constexpr std::size_t kMostColumns = 32;
    static constexpr std::size_t kMostTextBytes = 200;

    StepCheck(std::string decoder, int vocabSize, int layerCount)
        : m_decoder(std::move(decoder))
        , m_vocabSize(vocabSize)
        , m_layerCount(layerCount) {}

    void begin(const Prompt& prompt);

    /// A step that breaks what Decoder and DecodeStep promise is a bug of the module
    /// (ENGINE_CHECK). Tables that are too large are cut; a note says so, once.
    void passStep(DecodeStep& step);

    /// The same for what was done outside of a step.
    void passReport(const SearchReport& report) const;

private:
    void checkTokens(const DecodeStep& step) const;
    void checkDraft(const DecodeStep& step) const;
    void checkPath(const DecodeStep& step) const;
    void checkSides(const DecodeStep& step) const;
    void checkTable(const StepTable& table) const;
    void checkToken(TokenId token, std::string_view what) const;
    void checkPlan(const LayerPlan& plan) const;
    void limitTables(DecodeStep& step);

    std::string m_decoder;
    int m_vocabSize;
    int m_layerCount;
    int m_remainingTokens = 0;
    std::vector<TokenId> m_endIds;
    bool m_hasReportedCut = false;
};

} // namespace engine
