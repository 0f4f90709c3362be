// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_registry.h"
#include "engine/metrics/decode_metrics.h"
#include "engine/session/engine_event.h"
#include "engine/session/loading/model_loader.h"
#include "engine/session/worker/task_naming.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// The model and memory of a decoder; null without a model, and if no skip sets are saved.
struct DecoderGround {
    SessionModel* model = nullptr;
    SkipSetMemory* memory = nullptr;
};

/// The chosen decoder with its settings and its totals. A failed change changes nothing, but for a
/// lack of memory it may have dropped the decoder. Thread: engine.
class DecoderSlot {
public:
    /// It goes on while the computer sleeps: what was measured before may have changed behind it.
    using Clock = std::chrono::system_clock;

    explicit DecoderSlot(DecoderRegistry& registry)
        : m_registry(registry) {}

    /// Errors: those of the registry; with a model also those of making the decoder.
    Result<void> choose(const std::string& name, const SettingValues& given, DecoderGround ground);

    /// Whether these are the decoder chosen last and its current settings.
    bool isChosen(const std::string& name, const SettingValues& given) const {
        return name == m_info.name && given == m_given;
    }

    /// Returns what the decoder did at once. With a model, a decoder that does not exist yet is
    /// created, so that settings that do not fit the model are reported now and not by the next
    /// prompt. Errors: those of resolveSettings(), Decoder::configure() and of making the decoder;
    /// Cancelled if `wanted` names another decoder than the chosen one.
    Result<SearchReport> changeSettings(const SettingValues& values,
                                        DecoderGround ground,
                                        const std::string& wanted = {});

    /// Errors: InvalidInput for options out of range; those of Decoder::changeSampling, except from
    /// a decoder that cannot apply them.
    Result<void> changeSampling(const SamplingOptions& sampling);

    /// The decoder, created if there is none. Errors: those of creating it.
    Result<Decoder*> ready(DecoderGround ground);

    /// Drops the decoder, but not the choice: it is created again when it is needed. The decoder
    /// first stores its statistics. Call it before the model goes away.
    void drop();

    /// Notes of dropped decoders since the last call: sentences for the user.
    std::vector<std::string> takeNotes() { return std::exchange(m_notes, {}); }

    /// Also forgets the totals, which were measured on another model.
    void leaveModel();

    /// The following steps belong to this chat. Plain steps older than a minute are forgotten: the
    /// computer may be slower or faster by now, so they are measured anew.
    void enterChat(std::uint64_t chat, Clock::time_point now = Clock::now());

    /// The span that has begun since the last call; none if there is none.
    std::optional<SpanStarted> takeSpanStart();

    /// Adds a step to the totals of its span, and counts it.
    void add(const DecodeStep& step,
             double stepMs,
             bool isBaseline,
             Clock::time_point now = Clock::now());

    /// Milliseconds of a plain step on this model: the median of the newest nine; 0 while fewer
    /// than two are known.
    double baselineStepMs() const;

    /// Tokens at the beginning of `prompt` whose keys and values the decoder has cached.
    int reusableTokens(std::span<const TokenId> prompt) const;

    /// Records that the decoder has processed these tokens, prompt and answer.
    void noteSequence(std::vector<TokenId> tokens);

    /// Whether the next step should be a plain one, so that the speedup is measured during the run:
    /// behind 32 of the decoder's own steps in a row. Where few plain steps of this model and chat
    /// are known, behind 2, 4, 8 and 16, so that a short answer has a speedup, too.
    bool isBaselineStepNext() const;

    /// Whether this phase of this task differs from the last one; it becomes the last one.
    bool entersPhase(DecoderPhase phase, const std::string& task) {
        std::optional entered(std::pair(phase, task));
        return std::exchange(m_phase, entered) != entered;
    }

    /// The task of the last phase; empty before the first.
    std::string task() const { return m_phase ? m_phase->second : std::string(); }

    /// The task whose search is under way; none in any other phase.
    std::optional<std::string> searchedTask() const {
        return m_phase && m_phase->first == DecoderPhase::Optimise ? std::optional(m_phase->second)
                                                                   : std::nullopt;
    }

    /// Null while there is none.
    Decoder* decoder() const { return m_decoder.get(); }

    /// The newest prompt whose task was looked for.
    SeenPrompt& seenPrompt() { return m_seenPrompt; }

    const DecoderInfo& info() const { return m_info; }

    const SettingValues& settings() const { return m_settings; }

    const SamplingOptions& sampling() const { return m_sampling; }

    /// Of the span that has begun last, see SpanStarted.
    DecodeMetrics& metrics() { return m_metrics; }

private:
    struct PlainStep {
        double ms = 0.0;
        Clock::time_point end;
    };

    Result<std::unique_ptr<Decoder>>
    make(const std::string& name, const SettingValues& settings, DecoderGround ground);
    void beginSpan(SpanCause cause);

    DecoderRegistry& m_registry;
    DecoderInfo m_info;
    SettingValues m_given;    // as the user set them
    SettingValues m_settings; // resolved
    SamplingOptions m_sampling;
    std::unique_ptr<Decoder> m_decoder;
    std::vector<std::string> m_notes;
    std::vector<TokenId> m_cached; // what the decoder's cache holds
    SeenPrompt m_seenPrompt;
    DecodeMetrics m_metrics; // of this span
    std::int64_t m_span = 1;
    std::optional<SpanCause> m_unreportedSpan;
    std::uint64_t m_chat = 0;
    std::deque<PlainStep> m_plainSteps;                          // the newest
    std::optional<std::pair<DecoderPhase, std::string>> m_phase; // the last, and its task
    std::size_t m_sincePlain = 0; // steps behind the newest plain one
};

} // namespace engine
