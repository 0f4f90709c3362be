// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/draft_level_maker.h"
#include "engine/decoding/drafts/drafter.h"
#include "engine/model/draft_model.h"

#include <memory>
#include <span>
#include <stop_token>
#include <vector>

namespace engine {

/// Drafts with a draft model. Its cache has a slot for each cached row of the target, or for those
/// from join() on: slot t holds what became of the stream of row t and of token t + 1. A draft
/// first catches up with the rows that the last round made true, in one pass whose last row gives
/// the first token; each further token takes a pass of one row, which reads the draft model's own
/// stream instead.
///
/// The decoder hands it the streams: of the prompt by watch() and take(), of each round by giving
/// handOuts() to Target::verify and calling observe() behind it, also behind plain steps. It
/// catches up with a prompt piece by piece, so that it never holds the streams of more than a few
/// pieces. A draft pass whose numbers are not finite makes no draft; kMostFailures of them in a row
/// switch it off until forget(). While it is off or rests it stores nothing: behind forget() it
/// drafts again from the next watch() on, which has the rows that it missed read again, or without
/// them behind join().
class FeatureDrafter final : public Drafter {
public:
    static constexpr int kMostFailures = 3;

    /// `model` must outlive it; a cache for so many tokens, `longestDraft` of them drafted ones.
    /// Errors: NoMemory.
    static Result<FeatureDrafter> make(DraftModel& model, int contextLength, int longestDraft);

    /// To be given to Target::begin or readAhead for a prompt; reads `work` on. What does not
    /// belong to the prompt is forgotten. It must stay where it is until the prompt is read. If it
    /// was off and missed more than kPrefillRows rows that are cached, it switches itself off again
    /// instead of having them read again.
    PromptWork watch(const Target& target, std::span<const TokenId> prompt, const PromptWork& work);

    /// Takes the streams of rows that were read since watch() and are not taken yet. Errors: those
    /// of reading them.
    Result<void> take();

    /// Catches up with the prompt but for its last cached row. Errors: Cancelled.
    Result<void> begin(const Target& target);

    /// For VerifyTerms::handOuts of the next pass; none while it is off.
    std::span<const HandOut> handOuts(const Target& target);

    /// Takes the streams of the rows that a step kept. Errors: those of reading them.
    Result<void> observe(const DecodeStep& step);

    /// Stores nothing from now on, until the next watch() or join().
    void rest() { dropWaiting(); }

    /// Goes on with the next row of the target and without those before it: its cache begins anew,
    /// so nothing is caught up with, and its first drafts see little of the text. Between rounds.
    void join(const Target& target);

    /// Whether streams are not wanted: it is off, or rests.
    bool rests() const { return isOff() || m_isBehind; }

    /// Whether it has been switched off, because its numbers were not finite.
    bool isOff() const { return m_failures >= kMostFailures; }

    /// Forgets the failures.
    void forget() { m_failures = 0; }

    /// The part of the target's weights that a pass of one row reads.
    double share(const Target& target) const;

    /// Rows of the target whose streams it has, and how many of them a draft first catches up with.
    std::size_t knownRows() const { return m_following.size() + waitingRows(); }

    std::size_t waitingRows() const { return m_waiting.size() / m_width - m_firstWaiting; }

    /// Whether it knows all rows of the target from the first one on.
    bool isWhole() const { return m_firstRow == 0; }

    const DraftModel& model() const { return *m_model; }

    /// Its cache, for checks: the slots that follow true rows.
    KvCache& cache() { return m_cache; }

    /// [slots] the token behind each slot; for checks.
    std::span<const TokenId> following() const { return m_following; }

    /// [rows, hidden] the streams of the rows behind the slots; for checks.
    std::span<const double> waiting() const {
        return std::span(m_waiting).subspan(m_firstWaiting * m_width);
    }

private:
    /// What a pass reads and where, and whether its last row goes through the head.
    struct Rows {
        std::span<const TokenId> tokens;
        std::span<const double> streams;
        Position firstSlot;
        bool hasHead;
    };

    FeatureDrafter(DraftModel& model, KvCache cache);

    Result<Draft> makeDraft(Target& target, const DraftTerms& terms) override;
    Result<std::vector<DraftLevel>>
    draftLevels(Target& target, const DraftTerms& terms, const ChainLimit& limit, DraftEnd& end);
    Result<void> catchUp(const Target& target, std::size_t rows, bool hasHead);
    Result<void> runPass(const Rows& rows);
    Result<void> readHead();
    Result<void> catchUpWithPrompt(const Target& target, const std::stop_token& stop);
    void dropWaiting();

    void startAt(Position row);

    DraftModel* m_model;
    std::size_t m_width; // hidden size
    KvCache m_cache;
    LayerPlan m_plan;
    std::vector<TokenId> m_following;
    std::vector<double> m_waiting;  // [rows, hidden]
    std::size_t m_firstWaiting = 0; // row of m_waiting; those before it are slots already
    Position m_firstRow = 0;        // of the target, to which slot 0 belongs; see join()
    bool m_isBehind = false;        // rows of the target were missed while it was off or rested
    PromptStreams m_prompt;
    HiddenRows m_streams; // of the newest pass of the target
    std::vector<HandOut> m_handOuts;
    int m_failures = 0;
    std::uint64_t m_round = 0;
    bool m_needsLogits = false;
    // Of the newest pass:
    std::vector<TokenId> m_tokens;
    std::vector<double> m_read; // [rows, hidden]
    std::vector<double> m_own;  // [hidden] the stream of its last row
    HiddenRows m_ownRows;
    ForwardResult m_pass;  // in the rows of the head
    ForwardResult m_found; // in the model's vocabulary
    std::shared_ptr<HostLogits<double>> m_logits;
};

} // namespace engine
