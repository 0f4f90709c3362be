// SPDX-License-Identifier: Apache-2.0
// A decoder that shows all that a step can: an exit plan, rows beside its draft, tables.
#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/drafts/self_drafter.h"
#include "engine/decoding/target.h"

#include <array>

namespace {

using namespace engine;

constexpr int kDraftLength = 3;
constexpr int kWindow = 5;

/// Drafts with the first half of the layers; a window of guesses, the tokens last emitted, runs
/// beside the draft and behind its first token.
class ShowingDecoder final : public Decoder {
public:
    ShowingDecoder(Target target, int layerCount)
        : m_target(std::move(target))
        , m_plan(LayerPlan::full(layerCount)) {
        m_plan.exitAfterLayer = layerCount / 2;
        m_drafter.use(m_plan, 1);
    }

    Result<void> begin(const Prompt& prompt, const PromptWork& work) override {
        m_seen.assign(prompt.tokens.begin(), prompt.tokens.end());
        return m_target.begin(prompt, work);
    }

    Result<DecodeStep> step() override {
        ENGINE_TRY(
            Draft draft,
            m_drafter.draft(m_target,
                            {.siblings = {{1, 2, 2, 3}}, .maxNodes = 8, .maxDepth = kDraftLength}));
        draft.sides = window(draft.tree.size());
        ENGINE_TRY(DecodeStep step, m_target.verify(std::move(draft)));
        if (!m_hasReportedPlan)
            step.search.planChanges.push_back({1, m_plan, 0.0, "exit"});
        m_hasReportedPlan = true;
        step.tables = {windowTable(step.sides), exitTable(step)};
        m_seen.insert(m_seen.end(), step.tokens.begin(), step.tokens.end());
        return step;
    }

    Result<DecodeStep> plainStep() override {
        ENGINE_TRY(DecodeStep step, m_target.plainStep());
        m_seen.insert(m_seen.end(), step.tokens.begin(), step.tokens.end());
        return step;
    }

    Result<void> changeSampling(const SamplingOptions& sampling) override {
        return m_target.changeSampling(sampling);
    }

    int remainingContext() const override { return m_target.remainingContext(); }

    int cachedTokens() const override { return m_target.length(); }

private:
    /// A chain behind the root, and as long a one behind the first node.
    std::vector<SideRow> window(int nodes) const {
        std::vector<SideRow> sides;
        for (int chain = 0; chain < (nodes > 0 ? 2 : 1); ++chain)
            for (int i = 0; i < kWindow; ++i) {
                const auto back = static_cast<std::size_t>(i) % m_seen.size();
                const int above = nodes + static_cast<int>(sides.size()) - 1;
                sides.push_back({m_seen[m_seen.size() - 1 - back], i == 0 ? chain - 1 : above});
            }
        return sides;
    }

    static StepTable windowTable(const std::vector<SideRow>& sides) {
        StepTable table{"window", "Window", {"place", "guess", "behind"}, {}};
        for (std::size_t i = 0; i < sides.size(); ++i)
            table.rows.push_back(
                {static_cast<double>(i),
                 TokenCell{sides[i].token},
                 std::string(sides[i].parent < 0 ? "the newest token" : "another row")});
        return table;
    }

    StepTable exitTable(const DecodeStep& step) const {
        StepTable table{"exits", "Exits", {"exit after", "layers", "tokens", "per layer"}, {}};
        for (int exit = 0; exit < m_plan.layerCount(); ++exit) {
            const double layers = exit + 1.0;
            const auto tokens = static_cast<double>(step.tokens.size());
            table.rows.push_back({static_cast<double>(exit), layers, tokens, tokens / layers});
        }
        table.chosenRow = m_plan.exitAfterLayer;
        return table;
    }

    Target m_target;
    SelfDrafter m_drafter;
    LayerPlan m_plan;
    std::vector<TokenId> m_seen; // prompt and answer
    bool m_hasReportedPlan = false;
};

Result<std::unique_ptr<Decoder>> makeShowing(const DecoderContext& context) {
    ENGINE_TRY(Target target,
               Target::make(context.transformer, context.sampling, context.contextLength, 32));
    return std::unique_ptr<Decoder>(std::make_unique<ShowingDecoder>(
        std::move(target), context.transformer.config().layerCount));
}

void registerShowing(DecoderRegistry& registry) {
    DecoderInfo info;
    info.name = "showing";
    info.title = "Showing";
    info.summary = "Shows all that a step can.";
    registry.add(std::move(info), makeShowing);
}

} // namespace

ENGINE_DECODER_MODULE(registerShowing);
