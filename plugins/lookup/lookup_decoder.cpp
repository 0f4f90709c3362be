// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/free/free_drafter.h"
#include "engine/decoding/free/free_settings.h"
#include "engine/decoding/target_decoder.h"

#include <algorithm>
#include <utility>

namespace lookup {

using namespace engine;

namespace {

/// Slots behind the context, and the largest tree that can be set.
constexpr int kMostNodes = 64;

/// Drafts from what has been seen before, at no cost of a pass: earlier places in the text, and
/// what the model made of the newest tokens the last time. Verified by the rule Match, so that
/// sampling, too, gives vanilla's own tokens. Source: arXiv 2408.08696 for the successors.
class LookupDecoder final : public TargetDecoder {
public:
    LookupDecoder(Target target, const DecoderContext& context)
        : TargetDecoder(std::move(target))
        , m_drafter(context.transformer.config().vocabSize)
        , m_memory(context.memory) {
        use(context.settings);
    }

    Result<void> begin(const Prompt& prompt, const PromptWork& work) override {
        ENGINE_TRY_DO(m_target.begin(prompt, work));
        const SkipSetMemory* wanted = m_remembers ? m_memory : nullptr;
        if (m_drafter.isRemembering() != (wanted != nullptr))
            note(m_drafter.remember(wanted));
        m_drafter.begin(prompt, m_target.sampler().options());
        return {};
    }

    Result<SearchReport> endAnswer() override {
        note(m_drafter.keep());
        return takeReport();
    }

    std::vector<std::string> storeStatistics() override { return m_drafter.storeAll(); }

    Result<SearchReport> configure(const SettingValues& values,
                                   const SettingValues& /*given*/) override {
        use(values);
        return SearchReport();
    }

private:
    /// One round: draft, verify, learn. Nothing worth its row is a plain step.
    Result<DecodeStep> round() override {
        ENGINE_TRY(Draft draft, m_drafter.draft(m_target, {.maxNodes = maxNodes()}));
        ENGINE_TRY(DecodeStep step, m_target.verify(std::move(draft)));
        observe(step);
        return step;
    }

    void observe(const DecodeStep& step) override { m_drafter.observe(m_target, step); }

    void use(const SettingValues& values) {
        m_maxNodes = integerOf(values, "max_nodes");
        m_drafter.use(freeSourcesOf(values), numberOf(values, "least_gain"));
        m_remembers = flagOf(values, "remember");
    }

    int maxNodes() const {
        return m_maxNodes > 0 ? m_maxNodes : std::min(m_target.preferredNodes(), kMostNodes);
    }

    FreeDrafter m_drafter;
    int m_maxNodes = 0; // 0: as many as are worth their rows
    bool m_remembers = false;
    const SkipSetMemory* m_memory;
};

Result<std::unique_ptr<Decoder>> makeLookup(const DecoderContext& context) {
    ENGINE_TRY(
        Target target,
        Target::make(context.transformer, context.sampling, context.contextLength, kMostNodes));
    target.useClock(context.clock);
    return std::unique_ptr<Decoder>(std::make_unique<LookupDecoder>(std::move(target), context));
}

DecoderInfo lookupInfo() {
    DecoderInfo info;
    info.name = "lookup";
    info.title = "Look-up";
    info.summary =
        "Drafts the tokens that followed the newest ones earlier in the text, and those that "
        "the model last predicted behind them.";
    info.source = "arXiv 2304.04487, arXiv 2408.08696";
    info.explanation =
        "A draft is not computed: it consists of the tokens that followed the newest ones the last "
        "time they appeared in the text, and of those that the model last predicted after them. "
        "The model reads the whole draft in one pass and keeps what it would have written itself. "
        "This helps where an answer repeats its prompt or itself, as in translations, code, "
        "summaries and long documents, and no drafter is cheaper: a wrong draft costs only its "
        "rows in the pass. Where a text says new things, drafts are seldom right; they then stay "
        "short, and little is won or lost.";
    info.settings = {
        stepSetting(integerSetting("max_nodes", "Draft tree nodes", 0, {0, kMostNodes}),
                    "nodes",
                    "The most nodes that a draft tree may have; 0 = as many as suit the backend "
                    "and, once it is measured, the cost of a row."),
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
