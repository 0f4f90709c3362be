// SPDX-License-Identifier: Apache-2.0
// A decoder that goes wrong where its setting "fault" says.
#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/target.h"

#include <limits>
#include <stdexcept>

namespace {

using namespace engine;

class FaultyDecoder final : public Decoder {
public:
    FaultyDecoder(Target target, std::string fault)
        : m_target(std::move(target))
        , m_fault(std::move(fault)) {}

    Result<void> begin(const Prompt& prompt, const PromptWork& work) override {
        throwAt("begin");
        if (++m_begun == 2)
            throwAt("second begin");
        m_endIds.assign(prompt.endIds.begin(), prompt.endIds.end());
        m_maxTokens = prompt.maxTokens;
        return m_target.begin(prompt, work);
    }

    Result<DecodeStep> step() override {
        throwAt("step");
        if (m_fault == "no exception type")
            throw 7; // NOLINT(hicpp-exception-baseclass): just that is tried
        if (m_fault == "memory")
            throw std::bad_alloc();
        ENGINE_TRY(DecodeStep step, m_target.plainStep());
        spoil(step);
        spoilDraft(step);
        spoilRest(step);
        return step;
    }

    Result<DecodeStep> plainStep() override { return m_target.plainStep(); }

    Result<SearchReport> endAnswer() override {
        throwAt("end");
        return SearchReport();
    }

    Result<SearchReport> configure(const SettingValues&, const SettingValues&) override {
        throwAt("configure");
        return SearchReport();
    }

    int remainingContext() const override {
        throwAt("remaining");
        return m_target.remainingContext();
    }

    int cachedTokens() const override { return m_target.length(); }

private:
    void throwAt(std::string_view place) const {
        if (m_fault == place)
            throw std::runtime_error("the fault in " + m_fault);
    }

    void spoil(DecodeStep& step) const {
        const bool isThird = m_target.output().size() == 3;
        if ((m_fault == "wrong token" && isThird) || (m_fault == "twin token" && isThird))
            step.tokens.front() ^= m_fault == "twin token" ? 1 : 2;
        if (m_fault == "no tokens")
            step.tokens.clear();
        if (m_fault == "no facts")
            step.facts.clear();
        if (m_fault == "foreign token")
            step.tokens.front() = m_target.length() + 1'000'000;
        if (m_fault == "foreign path")
            step.path = {3};
        if (m_fault == "too many")
            step.tokens.resize(static_cast<std::size_t>(m_maxTokens) + 1, 1);
        if (m_fault == "beyond the end")
            step.tokens = {m_endIds.front(), 1};
        if (m_fault == "too many" || m_fault == "beyond the end")
            step.facts.resize(step.tokens.size());
    }

    void spoilDraft(DecodeStep& step) const {
        if (m_fault == "wrong path") { // claims that another token was drafted and came out
            step.draft.add(step.tokens.front() ^ 1, -1, 1.0);
            step.path = {0};
        }
        if (m_fault == "path in leaps") {
            step.draft.add(1, -1, 1.0);
            step.draft.add(step.tokens.front(), 0, 1.0);
            step.path = {1};
        }
        if (m_fault == "foreign draft")
            step.draft.add(-7, -1, 1.0);
        if (m_fault == "draft behind the end") {
            step.draft.add(m_endIds.front(), -1, 1.0);
            step.draft.add(1, 0, 1.0);
        }
        if (m_fault == "draft probability")
            step.draft.add(1, -1, std::numeric_limits<double>::quiet_NaN());
        if (m_fault == "foreign side")
            step.sides = {{1'000'000, -1}};
        if (m_fault == "side on itself")
            step.sides = {{1, -1}, {1, 1}};
        if (m_fault == "too many sides")
            step.sides.assign(5000, {1, -1});
    }

    void spoilRest(DecodeStep& step) const {
        if (m_fault == "no time")
            step.verifyMs = std::numeric_limits<double>::quiet_NaN();
        if (m_fault == "negative time")
            step.draftMs = -3.0;
        if (m_fault == "negative loads")
            step.draftLayers = -1.0;
        if (m_fault == "endless search")
            step.search.searchMs = std::numeric_limits<double>::infinity();
        if (m_fault == "plan of another model")
            step.search.planChanges.push_back({1, LayerPlan::full(77), 0.0, "start"});
        if (m_fault == "ragged table")
            step.tables = {{"pool", "Pool", {"one"}, {{1.0, 2.0}}}};
        if (m_fault == "foreign cell")
            step.tables = {{"pool", "Pool", {"one"}, {{TokenCell{1'000'000}}}}};
        if (m_fault == "foreign choice")
            step.tables = {{"pool", "Pool", {"one"}, {{1.0}}, 1}};
        if (m_fault == "huge table") {
            std::vector<TableCell> row(40, 1.0);
            row.front() = std::string(1000, 'x');
            step.tables.assign(20,
                               {"pool", "Pool", std::vector<std::string>(40, "c"), {100, row}, 99});
        }
    }

    Target m_target;
    std::string m_fault;
    std::vector<TokenId> m_endIds;
    int m_maxTokens = 0;
    int m_begun = 0; // prompts
};

Result<std::unique_ptr<Decoder>> makeFaulty(const DecoderContext& context) {
    const std::string& fault = textOf(context.settings, "fault");
    if (fault == "factory")
        throw std::runtime_error("the fault in factory");
    if (fault == "nothing made")
        return std::unique_ptr<Decoder>();
    ENGINE_TRY(Target target,
               Target::make(context.transformer, context.sampling, context.contextLength, 0));
    return std::unique_ptr<Decoder>(std::make_unique<FaultyDecoder>(std::move(target), fault));
}

void registerFaulty(DecoderRegistry& registry) {
    DecoderInfo info;
    info.name = "faulty";
    info.title = "Faulty";
    info.summary = "Goes wrong where it is told to.";
    info.settings = {{.name = "fault",
                      .title = "Fault",
                      .kind = SettingKind::Text,
                      .initial = std::string("none"),
                      .meaning = "Where it goes wrong."}};
    registry.add(info, makeFaulty);
    info.name = "faulty_twin";
    registry.add(std::move(info), makeFaulty);
}

} // namespace

ENGINE_DECODER_MODULE(registerFaulty);
