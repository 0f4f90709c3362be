// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder.h"
#include "engine/decoding/target.h"

#include <set>
#include <string>
#include <utility>

namespace engine {

/// A decoder that owns its Target. It answers what depends on the target alone and reports what
/// came up between two steps with the next one. What is left to write is begin() and round(), and
/// what the method does behind a plain step, at the end of an answer or with other sampling
/// options. Thread: engine.
class TargetDecoder : public Decoder {
public:
    Result<DecodeStep> step() final { return reported(round()); }

    Result<DecodeStep> plainStep() final { return reported(plainRound()); }

    Result<bool> readAhead(const Prompt& prompt, const PromptWork& work) override {
        return m_target.readAhead(prompt, work);
    }

    Result<SearchReport> endAnswer() override { return takeReport(); }

    Result<void> changeSampling(const SamplingOptions& sampling) override {
        return m_target.changeSampling(sampling);
    }

    int remainingContext() const override { return m_target.remainingContext(); }

    int cachedTokens() const override { return m_target.length(); }

protected:
    explicit TargetDecoder(Target target)
        : m_target(std::move(target)) {}

    /// The method: one round, usually draft, verify, learn. Errors: those of Decoder::step.
    virtual Result<DecodeStep> round() = 0;

    /// One token without a draft.
    virtual Result<DecodeStep> plainRound() {
        ENGINE_TRY(DecodeStep step, m_target.plainStep());
        observe(step);
        return step;
    }

    /// Learns from a step; called behind each plain one, and by round() behind its own.
    virtual void observe(const DecodeStep& /*step*/) {}

    /// A decoder with phases adds its own.
    SearchReport takeReport() override { return std::exchange(m_report, {}); }

    /// Reports a sentence for the user, unless it is empty.
    void note(std::string sentence) {
        if (!sentence.empty())
            m_report.notes.push_back(std::move(sentence));
    }

    /// The same, but each sentence only once.
    void noteOnce(const std::string& sentence) {
        if (m_notedOnce.insert(sentence).second)
            note(sentence);
    }

    /// Does a part of a search. Its time is reported, that of a cancelled one too, and goes to
    /// `spentMs` as well, unless that is null.
    template <typename Work> auto searched(Work&& work, double* spentMs = nullptr) {
        const double startMs = m_target.nowMs();
        auto made = std::forward<Work>(work)();
        const double ms = m_target.nowMs() - startMs;
        m_report.searchMs += ms;
        if (spentMs != nullptr)
            *spentMs = ms;
        return made;
    }

    Target m_target;
    SearchReport m_report; ///< of a cancelled step, until takeReport() is called

private:
    Result<DecodeStep> reported(Result<DecodeStep> made) {
        if (made)
            made.value().search = takeReport();
        return made;
    }

    std::set<std::string> m_notedOnce;
};

} // namespace engine
