// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder.h"
#include "engine/decoding/target.h"

#include <set>
#include <string>
#include <utility>

namespace engine {

/// A decoder on a Target of its own: what hangs on the target alone is answered here, and what
/// comes up between two steps is kept until one tells it. begin() and step() are left to write, and
/// what else a decoder does behind a plain step, an answer or other sampling options. Thread:
/// engine.
class TargetDecoder : public Decoder {
public:
    /// Tells what there is to tell.
    Result<DecodeStep> plainStep() override {
        ENGINE_TRY(DecodeStep step, m_target.plainStep());
        step.search = takeReport();
        return step;
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

    /// What has come up since the last report, which is empty then; a decoder with phases adds its
    /// own.
    virtual SearchReport takeReport() { return std::exchange(m_report, {}); }

    /// Tells the user a sentence, unless it is empty.
    void remark(std::string sentence) {
        if (!sentence.empty())
            m_report.remarks.push_back(std::move(sentence));
    }

    /// The same, but nothing that was told like this before.
    void remarkOnce(const std::string& sentence) {
        if (m_toldOnce.insert(sentence).second)
            remark(sentence);
    }

    Target m_target;
    SearchReport m_report; ///< also behind a cancelled step

private:
    std::set<std::string> m_toldOnce;
};

} // namespace engine
