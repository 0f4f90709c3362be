// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/answer/generation.h"
#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/drafts/draft_stop_rule.h"
#include "engine/decoding/drafts/self_drafter.h"
#include "engine/decoding/target.h"
#include "engine/session/engine_session.h"
#include "tests/support/byte_tokenizer.h"
#include "tests/support/transformers/stub_transformer.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// A session on a model without weights, with decoders that do what a test wants.
namespace session_test {

inline const std::string kTemplate =
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}";

inline const std::string kFingerprint = "57ab"; // of the stub

/// Waits as the engine's thread, until it is asked to stop; `onEnter` is told before.
inline void waitForStop(std::stop_token stop) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    changed.wait(lock, stop, [] { return false; });
}

/// What the decoders of a test do besides decoding; set before the session begins.
struct DecoderScript {
    std::function<engine::Result<void>(int step, std::stop_token)> onStep =
        {};                                          ///< its error is the step's
    std::function<void()> onPass = {};               ///< before each pass of the model
    std::function<void(std::stop_token)> onEnd = {}; ///< at the end of an answer
    /// A piece of work in the pause behind an answer.
    std::function<engine::Result<std::optional<engine::SearchReport>>(const std::stop_token&)>
        onIdle = {};
    engine::Position gpuSlots = 0; ///< see StubTransformer
};

/// Drafts with a plan that skips a layer, and tells of a search as a decoder of the plugins does.
class DraftingDecoder final : public engine::Decoder {
public:
    DraftingDecoder(engine::Target target, int length, const DecoderScript& script)
        : m_target(std::move(target))
        , m_length(length)
        , m_script(script)
        , m_plan(engine::LayerPlan::full(4)) {
        m_plan.attention[1] = m_plan.mlp[2] = engine::SublayerAction::Skip;
        m_drafter.use(m_plan, 1);
    }

    engine::Result<void> begin(const engine::Prompt& prompt,
                               const engine::PromptWork& work) override {
        return m_target.begin(prompt, work);
    }

    engine::Result<engine::DecodeStep> step() override {
        if (m_script.onStep)
            ENGINE_TRY_DO(m_script.onStep(m_stepCount, m_target.stop()));
        if (m_target.remainingTokens() == 1)
            return m_target.plainStep();
        const engine::ConfidenceStopRule rule(0.0, m_length);
        ENGINE_TRY(engine::Draft draft,
                   m_drafter.draft(m_target, {.maxNodes = 8, .stopRule = &rule}));
        if (m_stepCount == 0)
            draft.sides = {{'x', -1}};
        ENGINE_TRY(engine::DecodeStep step, m_target.verify(std::move(draft)));
        if (m_stepCount == 0)
            step.tables = {
                {"pool",
                 "Pool",
                 {"key", "next", "count"},
                 {{std::string("first"), engine::TokenCell{'y'}, 2.0}, {engine::TokenCell{}}},
                 0}};
        step.search.phase =
            m_stepCount < 2 ? engine::DecoderPhase::Optimise : engine::DecoderPhase::Accelerate;
        if (m_stepCount++ == 0)
            tellStart(step.search);
        return step;
    }

    engine::Result<engine::DecodeStep> plainStep() override { return m_target.plainStep(); }

    engine::Result<engine::SearchReport> endAnswer() override {
        engine::SearchReport report;
        report.phase = engine::DecoderPhase::Accelerate;
        report.searchMs = 0.5;
        if (m_script.onEnd)
            m_script.onEnd(m_target.stop());
        if (m_target.stop().stop_requested())
            return engine::Error{engine::ErrorCode::Cancelled, "The search was cancelled.", ""};
        return report;
    }

    engine::Result<std::optional<engine::SearchReport>> idle(const std::stop_token& stop) override {
        return m_script.onIdle ? m_script.onIdle(stop) : Decoder::idle(stop);
    }

    engine::Result<engine::SearchReport> configure(const engine::SettingValues& values,
                                                   const engine::SettingValues& given) override {
        m_length = engine::integerOf(values, "length");
        engine::SearchReport report;
        if (given.contains("length"))
            tellStart(report);
        report.searchMs = 0.25;
        return report;
    }

    int remainingContext() const override { return m_target.remainingContext(); }

    int cachedTokens() const override { return m_target.length(); }

private:
    void tellStart(engine::SearchReport& report) const {
        engine::PlanChange& change = report.planChanges.emplace_back();
        change.planId = 1;
        change.plan = m_plan;
        change.reason = "start";
        engine::TrialRecord& trial = report.trials.emplace_back();
        trial.kind = "random";
        trial.index = 1;
        trial.score = trial.best = 0.5;
        trial.isBest = true;
        trial.plan = m_plan;
        trial.ticks = {1, 0};
        trial.window = {'a', 'b'};
        trial.guesses = {'a', 0};
    }

    engine::Target m_target;
    engine::SelfDrafter m_drafter;
    int m_length;
    const DecoderScript& m_script;
    engine::LayerPlan m_plan;
    int m_stepCount = 0;
};

/// "drafting" with a setting "length", 1 to 8 tokens.
inline void addDraftingDecoder(engine::DecoderRegistry& registry, const DecoderScript& script) {
    engine::DecoderInfo info;
    info.name = info.title = "drafting";
    info.settings.push_back({.name = "length",
                             .title = "Length",
                             .kind = engine::SettingKind::Integer,
                             .initial = 3.0,
                             .minimum = 1.0,
                             .maximum = 8.0});
    registry.add(std::move(info),
                 [&script](const engine::DecoderContext& context)
                     -> engine::Result<std::unique_ptr<engine::Decoder>> {
                     ENGINE_TRY(
                         engine::Target target,
                         engine::Target::make(
                             context.transformer, context.sampling, context.contextLength, 16));
                     return std::unique_ptr<engine::Decoder>(std::make_unique<DraftingDecoder>(
                         std::move(target), engine::integerOf(context.settings, "length"), script));
                 });
}

/// A session and all events it has told so far.
class Fixture {
public:
    /// Paths "missing", "too big" and "thrower" cannot be loaded, "slow" waits until it is stopped;
    /// all others give the stub.
    explicit Fixture(DecoderScript given = {},
                     std::size_t eventCapacity = 4096,
                     engine::SessionOptions options = {})
        : script(std::move(given))
        , session(completed(std::move(options), eventCapacity)) {}

    /// Takes events until one is of type T and fits; null when none comes in a long time or the
    /// session is closed. Events are looked at once, in order.
    template <typename T>
    const T* next(const std::function<bool(const T&)>& fits = [](const T&) { return true; }) {
        while (true) {
            for (; m_seen < events.size(); ++m_seen)
                if (const T* found = events[m_seen].template as<T>(); found && fits(*found)) {
                    ++m_seen;
                    return found;
                }
            if (!session.waitForEvents(std::chrono::milliseconds(support::kPatienceMs)))
                return nullptr;
            take();
        }
    }

    /// What was told behind each step.
    std::vector<engine::Statistics> behindSteps() const {
        std::vector<engine::Statistics> told;
        bool isBehindStep = false;
        for (const engine::EngineEvent& event : events) {
            if (event.template as<engine::StepFinished>() != nullptr)
                isBehindStep = true;
            else if (const auto* statistics = event.template as<engine::Statistics>();
                     statistics != nullptr && std::exchange(isBehindStep, false))
                told.push_back(*statistics);
        }
        return told;
    }

    /// The end of a prompt, or null when it failed.
    const engine::PromptFinished* finish(std::uint64_t promptId) {
        return next<engine::PromptFinished>(
            [promptId](const engine::PromptFinished& event) { return event.promptId == promptId; });
    }

    bool fails(const std::string& task) {
        return next<engine::EngineFailed>([&task](const engine::EngineFailed& event) {
                   return event.task == task;
               }) != nullptr;
    }

    bool loadModel(const std::string& decoder = "vanilla") {
        session.send(engine::LoadModel{"stub"});
        session.send(engine::ChooseDecoder{decoder});
        return next<engine::ModelLoaded>() != nullptr &&
               next<engine::DecoderChosen>([&decoder](const engine::DecoderChosen& event) {
                   return event.info.name == decoder;
               }) != nullptr;
    }

    void take() {
        for (engine::EngineEvent& event : session.takeEvents())
            events.push_back(std::move(event));
    }

    template <typename T> std::vector<T> all() const {
        std::vector<T> found;
        for (const engine::EngineEvent& event : events)
            if (const T* content = event.as<T>())
                found.push_back(*content);
        return found;
    }

    const DecoderScript script;
    test_support::PassCounter passes;
    std::deque<engine::EngineEvent> events; // a deque: events given out stay where they are
    engine::EngineSession session;

private:
    engine::SessionOptions completed(engine::SessionOptions options, std::size_t eventCapacity) {
        options.eventCapacity = eventCapacity;
        options.loader = [this](const engine::LoadModel& command,
                                const engine::ModelLoadWork& work) { return load(command, work); };
        options.addDecoders = [this](engine::DecoderRegistry& registry) {
            addDraftingDecoder(registry, script);
        };
        return options;
    }

    engine::Result<engine::SessionModel> load(const engine::LoadModel& command,
                                              const engine::ModelLoadWork& work) {
        work.progress("weights", 0.5);
        if (command.path == "slow")
            waitForStop(work.stop);
        if (work.stop.stop_requested())
            return engine::Error{engine::ErrorCode::Cancelled, "The load was cancelled.", ""};
        if (command.path == "missing")
            return engine::Error{engine::ErrorCode::NotFound, "There is no such model.", ""};
        if (command.path == "too big" && m_tooBigLoads++ == 0)
            return engine::Error{engine::ErrorCode::NoMemory, "It does not fit.", ""};
        if (command.path == "thrower")
            throw std::runtime_error("the loader threw");
        engine::SessionModel model;
        model.transformer = std::make_unique<test_support::StubTransformer>(
            [this]() -> engine::Result<void> {
                if (script.onPass)
                    script.onPass();
                passes.add();
                return {};
            },
            1 << 20,
            script.gpuSlots);
        model.tokenizer = std::make_unique<test_support::ByteTokenizer>();
        ENGINE_TRY(auto chatTemplate, engine::ChatTemplate::compile(kTemplate, "a test"));
        model.chatTemplate = std::move(chatTemplate);
        model.contextLength = command.contextLength > 0 ? command.contextLength : 1 << 20;
        model.backend = "stub";
        model.fingerprint = kFingerprint;
        return model;
    }

    std::size_t m_seen = 0;
    int m_tooBigLoads = 0; // engine's thread only
};

/// The same once its model is loaded and a decoder is chosen. Fails by exception.
class LoadedFixture : public Fixture {
public:
    explicit LoadedFixture(const std::string& decoder = "vanilla") {
        ENGINE_CHECK(loadModel(decoder), "{} is not ready", decoder);
    }
};

inline engine::SubmitPrompt rawPrompt(std::uint64_t id, const std::string& text, int maxTokens) {
    return {.promptId = id, .text = text, .maxTokens = maxTokens};
}

/// What the stub answers to a text, token by token.
inline std::vector<engine::TokenId> expectedAnswer(const std::string& text, int maxTokens) {
    test_support::StubTransformer transformer;
    const auto decoder = engine::makeVanillaDecoder(transformer, {}, 1 << 20);
    const auto prompt = test_support::ByteTokenizer().encode(text, true).value();
    const auto result = engine::generate(
        *decoder.value(), {.prompt = prompt, .limits = {.maxTokens = maxTokens, .endIds = {0}}});
    return result.value().tokens;
}

} // namespace session_test
