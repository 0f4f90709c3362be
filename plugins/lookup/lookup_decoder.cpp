// SPDX-License-Identifier: Apache-2.0
#include "engine/base/forward_clock.h"
#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/free/free_drafter.h"
#include "engine/decoding/free/free_settings.h"
#include "engine/decoding/target_decoder.h"

#include <chrono>
#include <utility>

namespace lookup {

using namespace engine;

namespace {

using Clock = ForwardClock;

/// Slots behind the context, and the largest tree that can be set.
constexpr int kMostNodes = 64;

FreeDraftOptions draftOptions(const SettingValues& values, int preferredTreeNodes) {
    const int nodes = integerOf(values, "max_nodes");
    FreeDraftOptions options;
    options.maxNodes = nodes == 0 ? std::min(preferredTreeNodes, kMostNodes) : nodes;
    options.leastGain = numberOf(values, "least_gain");
    options.sources = freeSourcesOf(values);
    return options;
}

/// Drafts from what has been seen before, at no cost of a pass: earlier places in the text, and
/// what the model made of the newest tokens the last time. Verified by the rule Match, so that
/// sampling, too, gives vanilla's own tokens. Source: product.md; arXiv 2408.08696 for the
/// successors.
class LookupDecoder final : public TargetDecoder {
public:
    LookupDecoder(Target target, const DecoderContext& context)
        : TargetDecoder(std::move(target))
        , m_drafter(context.transformer.config().vocabSize)
        , m_options(draftOptions(context.settings, context.transformer.preferredTreeNodes()))
        , m_remembers(flagOf(context.settings, "remember"))
        , m_memory(context.memory) {}

    Result<void> begin(const Prompt& prompt, const PromptWork& work) override {
        ENGINE_TRY_DO(m_target.begin(prompt, work));
        const SkipSetMemory* wanted = m_remembers ? m_memory : nullptr;
        if (m_drafter.isRemembering() != (wanted != nullptr))
            remark(m_drafter.remember(wanted));
        m_drafter.begin(prompt, m_target.sampler().options());
        return {};
    }

    /// One round: draft, verify, learn. Nothing worth its row is a plain step.
    Result<DecodeStep> step() override {
        const auto start = Clock::now();
        m_options.maxDepth = m_target.remainingTokens() - 1; // the bonus takes a place, too
        FreeDraft draft = m_drafter.draft(m_options);
        const std::chrono::duration<double, std::milli> drafted = Clock::now() - start;
        ENGINE_TRY(DecodeStep step, m_target.verify(std::move(draft.tree), VerifyRule::Match));
        step.draftMs = step.isPlain() ? 0.0 : drafted.count();
        return learnt(std::move(step));
    }

    Result<DecodeStep> plainStep() override {
        ENGINE_TRY(DecodeStep step, m_target.plainStep());
        return learnt(std::move(step));
    }

    Result<SearchReport> endAnswer() override {
        remark(m_drafter.keep());
        return takeReport();
    }

    std::vector<std::string> storeLearnt() override { return m_drafter.storeAll(); }

    Result<SearchReport> configure(const SettingValues& values,
                                   const SettingValues& /*given*/) override {
        m_options = draftOptions(values, m_target.transformer().preferredTreeNodes());
        m_remembers = flagOf(values, "remember");
        return SearchReport();
    }

private:
    DecodeStep learnt(DecodeStep step) {
        m_drafter.observe(m_target, step);
        step.search = takeReport();
        return step;
    }

    FreeDrafter m_drafter;
    FreeDraftOptions m_options;
    bool m_remembers;
    const SkipSetMemory* m_memory;
};

Result<std::unique_ptr<Decoder>> makeLookup(const DecoderContext& context) {
    ENGINE_TRY(
        Target target,
        Target::make(context.transformer, context.sampling, context.contextLength, kMostNodes));
    return std::unique_ptr<Decoder>(std::make_unique<LookupDecoder>(std::move(target), context));
}

DecoderInfo lookupInfo() {
    DecoderInfo info;
    info.name = "lookup";
    info.title = "Look-up";
    info.summary = "Drafts what followed the newest tokens earlier in the text, and what the model "
                   "itself last had follow them.";
    info.source = "arXiv 2304.04487, arXiv 2408.08696";
    info.explanation =
        "Nothing is computed for a draft: it is what followed the newest tokens when they last "
        "stood in the text, and what the model itself last had follow them. The model reads the "
        "whole draft in one pass and keeps what it would have written itself. It helps where an "
        "answer repeats its prompt or itself, as in translation, code, summaries and long "
        "documents, and it is the cheapest drafter there is: a wrong draft costs only the rows of "
        "the pass. Where a text says new things it is seldom right; then drafts are short, and "
        "little is won or lost.";
    info.settings = {
        stepSetting(integerSetting("max_nodes", "Draft tree nodes", 0, {0, kMostNodes}),
                    "nodes",
                    "A draft tree has at most so many nodes; 0 = what suits the backend."),
        stepSetting(numberSetting("least_gain", "Least gain", 0.1, {0.0, 1.0}),
                    "tokens",
                    "A node that promises fewer tokens than this is not drafted: each costs "
                    "the model a row."),
    };
    appendSettings(info.settings, freeDraftSettings());
    return info;
}

void registerDecoders(DecoderRegistry& registry) { registry.add(lookupInfo(), &makeLookup); }

} // namespace

} // namespace lookup

ENGINE_DECODER_MODULE(lookup::registerDecoders);
