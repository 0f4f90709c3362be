// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/free_drafter.h"
#include "engine/decoding/free_settings.h"
#include "engine/decoding/step_costs.h"
#include "engine/decoding/target.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace automatic {

using namespace engine;

namespace {

using Clock = std::chrono::steady_clock;

/// Slots behind the context, and the largest tree that can be set.
constexpr int kMostNodes = 64;

/// Nodes that are looked at unless the user says otherwise; how many are drafted, costs decide.
constexpr int kUsualNodes = 15;

struct AutoSettings {
    int maxNodes;
    double margin;
    FreeSources sources;
    bool remembers;

    static AutoSettings make(const SettingValues& values) {
        const int nodes = integerOf(values, "max_nodes");
        return {nodes == 0 ? kUsualNodes : nodes,
                numberOf(values, "margin"),
                freeSourcesOf(values),
                flagOf(values, "remember")};
    }
};

/// Drafts as much, and only where, the measured milliseconds say that it pays. What a draft
/// promises is learnt from every token, also from those that were not drafted, so drafting less
/// costs no knowledge. Verified by the rule Match: vanilla's own tokens, sampling too.
class AutoDecoder final : public Decoder {
public:
    AutoDecoder(Target target, const DecoderContext& context)
        : m_target(std::move(target))
        , m_drafter(context.transformer.config().vocabSize)
        , m_settings(AutoSettings::make(context.settings))
        , m_memory(context.memory) {}

    Result<void> begin(const Prompt& prompt, const PromptWork& work) override {
        ENGINE_TRY_DO(m_target.begin(prompt, work));
        const SkipSetMemory* wanted = m_settings.remembers ? m_memory : nullptr;
        if (m_drafter.isRemembering() != (wanted != nullptr))
            remark(m_drafter.remember(wanted));
        m_drafter.begin(prompt.tokens, m_target.sampler().options());
        return {};
    }

    /// One round: choose what pays, verify it, learn from it.
    Result<DecodeStep> step() override {
        const auto start = Clock::now();
        auto [draft, choice] = choose();
        const std::chrono::duration<double, std::milli> drafted = Clock::now() - start;
        ENGINE_TRY(DecodeStep step, m_target.verify(std::move(draft), VerifyRule::Match));
        step.draftMs = step.isPlain() ? 0.0 : drafted.count();
        step.choice = choice;
        return learnt(std::move(step));
    }

    Result<DecodeStep> plainStep() override {
        ENGINE_TRY(DecodeStep step, m_target.plainStep());
        return learnt(std::move(step));
    }

    Result<SearchReport> endAnswer() override {
        remark(m_drafter.keep());
        return std::exchange(m_report, {});
    }

    Result<SearchReport> configure(const SettingValues& values,
                                   const SettingValues& /*given*/) override {
        m_settings = AutoSettings::make(values);
        return SearchReport();
    }

    Result<void> changeSampling(const SamplingOptions& sampling) override {
        return m_target.changeSampling(sampling);
    }

    int remainingContext() const override { return m_target.remainingContext(); }

    int cachedTokens() const override { return m_target.length(); }

private:
    /// The beginning of the best tree that gives the most tokens for its time.
    std::pair<DraftTree, DraftChoice> choose() const {
        FreeDraftOptions options;
        options.maxNodes = m_settings.maxNodes;
        options.maxDepth = m_target.remainingTokens() - 1; // the bonus takes a place, too
        options.sources = m_settings.sources;
        // The first step of all measures what one row costs.
        if (m_costs.samples(1) == 0)
            return {{}, {"none", 0, 1.0, 1.0}};
        FreeDraft free = m_drafter.draft(options);
        DraftChoice best{"none", 0, 1.0, 1.0};
        double bestRate = 1.0 + m_settings.margin; // tokens for the time of a plain step
        double expected = 1.0;
        for (int nodes = 1; nodes <= free.tree.size(); ++nodes) {
            expected += free.gains[static_cast<std::size_t>(nodes - 1)];
            const double cost = m_costs.relativeCost(nodes + 1);
            if (expected / cost <= bestRate)
                continue;
            bestRate = expected / cost;
            best = {"free", nodes, expected, cost};
        }
        if (best.nodes == free.tree.size())
            return {std::move(free.tree), best};
        options.maxNodes = best.nodes;
        return {best.nodes == 0 ? DraftTree() : std::move(m_drafter.draft(options).tree), best};
    }

    DecodeStep learnt(DecodeStep step) {
        m_costs.record(step.verifiedRows, step.verifyMs);
        m_drafter.observe(m_target, step);
        step.search = std::exchange(m_report, {});
        return step;
    }

    void remark(std::string sentence) {
        if (!sentence.empty())
            m_report.remarks.push_back(std::move(sentence));
    }

    Target m_target;
    FreeDrafter m_drafter;
    StepCosts m_costs;
    AutoSettings m_settings;
    const SkipSetMemory* m_memory;
    SearchReport m_report; // remarks until a step tells them
};

Result<std::unique_ptr<Decoder>> makeAuto(const DecoderContext& context) {
    ENGINE_TRY(
        Target target,
        Target::make(context.transformer, context.sampling, context.contextLength, kMostNodes));
    return std::unique_ptr<Decoder>(std::make_unique<AutoDecoder>(std::move(target), context));
}

DecoderInfo autoInfo() {
    constexpr auto kStep = SettingEffect::NextStep;
    DecoderInfo info;
    info.name = "auto";
    info.title = "Auto";
    info.summary = "Drafts what has been seen before, as much as pays by the milliseconds measured "
                   "on this machine; otherwise decodes plainly.";
    info.source = "arXiv 2304.04487, arXiv 2408.08696";
    info.settings = {
        describedSetting(integerSetting("max_nodes", "Draft tree nodes", 0, {0, kMostNodes}),
                         "nodes",
                         kStep,
                         "Nodes of a draft tree at most; 0 = as many as can pay on a processor."),
        describedSetting(numberSetting("margin", "Margin", 0.02, {-1.0, 1.0}),
                         "",
                         kStep,
                         "How much faster than a plain step a draft must promise to be: 0.02 asks "
                         "for 2 % more tokens in the same time, -1 drafts whatever it costs."),
    };
    const std::vector<SettingInfo> shared = freeDraftSettings();
    info.settings.insert(info.settings.end(), shared.begin(), shared.end());
    return info;
}

void registerDecoders(DecoderRegistry& registry) { registry.add(autoInfo(), &makeAuto); }

} // namespace

} // namespace automatic

ENGINE_DECODER_MODULE(automatic::registerDecoders);
