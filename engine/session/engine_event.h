// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/decoding/answer/generation_metrics.h"
#include "engine/decoding/decoder_info.h"
#include "engine/decoding/round/decode_step.h"
#include "engine/decoding/skip_sets/all_skip_sets.h"
#include "engine/lens/attention_lens.h"
#include "engine/lens/lens_token.h"
#include "engine/metrics/decode_metrics.h"
#include "engine/model/skip_sets/skip_set.h"
#include "engine/sampling/sampler.h"
#include "engine/session/recording/session_records.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace engine {

// The events of an EngineSession: plain values. kKind names an event in recordings.

/// The progress of a load. This is a picture: a newer one may replace it before it is taken.
struct ModelLoadProgress {
    static constexpr std::string_view kKind = "model_load_progress";
    std::string path;
    std::string stage; ///< "tokenizer", "weights", ...
    double part = 0.0; ///< of this stage, 0 to 1
};

struct ModelLoaded {
    static constexpr std::string_view kKind = "model_loaded";
    std::string path;
    ModelFacts model;
    std::vector<std::string> notes;
    std::vector<DecoderInfo> decoders; ///< all that can be chosen
    /// Why modules with decoders were left out, such as those of another build; none in older
    /// recordings, where the notes say so.
    std::vector<Error> refusedModules = {};
    std::string fingerprint = {}; ///< see modelFingerprint(); empty in older recordings
};

struct ModelUnloaded {
    static constexpr std::string_view kKind = "model_unloaded";
};

/// The reply to InspectModel: the facts from the files, and the memory that the model would need.
struct ModelInspected {
    static constexpr std::string_view kKind = "model_inspected";
    std::uint64_t requestId = 0;
    std::string path;
    ModelFacts model; ///< weightBytes is computed from the sizes; nothing was loaded
    MemoryFacts memory;
    std::vector<std::string> notes;
};

/// Answers CountTokens.
struct TokensCounted {
    static constexpr std::string_view kKind = "tokens_counted";
    std::uint64_t requestId = 0;
    int total = 0;               ///< what the prompt of this conversation would hold
    std::vector<int> perMessage; ///< [messages] see PromptCount
    int contextLength = 0;       ///< number of tokens that fit, prompt and answer together
};

/// The tasks that are known for the model, after what was asked to be done with them.
struct TasksListed {
    static constexpr std::string_view kKind = "tasks_listed";
    std::uint64_t requestId = 0;
    std::vector<TaskSummary> tasks; ///< by name
    std::string note;               ///< a sentence about their file; usually empty
};

/// The skip sets that are kept, after what was asked to be done with them.
struct SkipSetsListed {
    static constexpr std::string_view kKind = "skip_sets_listed";
    std::uint64_t requestId = 0;
    ModelSkipSets own;                 ///< of the loaded model; no layers if there is none
    std::vector<ModelSkipSets> others; ///< of other models, which the loaded one cannot use
    /// Sentences: what cannot be read, and what is left out because there is too much.
    std::vector<std::string> problems;
    std::vector<std::string> taken;   ///< tasks whose sets were added, imported or exported
    std::vector<NamedSkipSet> lost;   ///< what was removed, replaced, or had another name
    std::vector<std::string> leftOut; ///< sentences about sets of a file that were not imported
    std::vector<std::string> kept;    ///< tasks that kept their sets, which a file has others for
    std::string note;                 ///< a sentence about the file of sets; usually empty
};

/// Part of the answer to ReadLens.
struct LensTokensRead {
    static constexpr std::string_view kKind = "lens_tokens_read";
    std::uint64_t requestId = 0;
    std::uint64_t promptId = 0;
    int first = 0;                 ///< among the tokens of PromptFinished
    std::vector<LensToken> tokens; ///< from there on
    std::vector<ShownToken> texts; ///< of every token that is named, each once
};

/// How much of ReadLens or ReadAttention is done. A picture.
struct LensProgress {
    static constexpr std::string_view kKind = "lens_progress";
    std::uint64_t requestId = 0;
    double part = 0.0; ///< 0 to 1
};

/// The end of ReadLens, or of a ReadAttention that was stopped.
struct LensFinished {
    static constexpr std::string_view kKind = "lens_finished";
    std::uint64_t requestId = 0;
    bool isStopped = false; ///< before its end
    /// Mean of |f(x)| / |x| over the tokens read, where x is the stream that enters a sublayer and
    /// f(x) what it adds. Shapes: [2 * layers], attention first; empty if it was stopped.
    std::vector<double> influence;
    double seconds = 0.0; ///< of all passes together
};

/// Answers ReadAttention.
struct AttentionRead {
    static constexpr std::string_view kKind = "attention_read";
    std::uint64_t requestId = 0;
    std::uint64_t promptId = 0;
    int token = 0;
    int layer = 0;
    std::vector<HeadAttention> heads; ///< each over the text before the token
    std::vector<std::string> texts;   ///< of this text's tokens, as readableToken() writes them
    int promptTokens = 0;             ///< of these, those of the prompt
};

struct DecoderChosen {
    static constexpr std::string_view kKind = "decoder_chosen";
    DecoderInfo info;
    SettingValues settings; ///< all of them, resolved
};

struct SettingsChanged {
    static constexpr std::string_view kKind = "settings_changed";
    SettingValues settings; ///< all of them, resolved
};

struct SamplingChanged {
    static constexpr std::string_view kKind = "sampling_changed";
    SamplingOptions sampling;
};

struct PromptStarted {
    static constexpr std::string_view kKind = "prompt_started";
    std::uint64_t promptId = 0;
    std::string task;
    int promptTokens = 0;
    int reusedTokens = 0; ///< tokens whose keys and values were already cached
    /// The user's question: the last message, or the raw text; at most kQuestionBytes of it. Empty
    /// in older recordings.
    std::string question;
    bool continuesLast = false; ///< an answer goes on; false in older recordings
    int firstStep = 0;          ///< as in SubmitPrompt; 0 in older recordings
    /// What the answer that goes on says so far. None where none does, and in older recordings.
    std::optional<std::string> begunText = {};
};

/// What a prompt looks like names its task for people: in views, recordings and exports. Follows
/// PromptStarted, before the first step.
struct TaskRecognised {
    static constexpr std::string_view kKind = "task_recognised";
    std::uint64_t promptId = 0;
    std::string task;
    bool isNew = false;    ///< the prompt is like those of no known task, so one begins with it
    double likeness = 0.0; ///< of the nearest of the task's prompts, a cosine; 0 if it is new
    std::string otherTask; ///< the nearest of the other tasks; empty if there is none
    double otherLikeness = 0.0;
};

/// From here on the totals of steps start again, because of another chat, decoder, model or other
/// settings.
struct SpanStarted {
    static constexpr std::string_view kKind = "span_started";
    std::int64_t span = 0; ///< counts up from 1
    SpanCause cause = SpanCause::Decoder;
};

/// How much of the prompt has been read. A picture.
struct PromptProgress {
    static constexpr std::string_view kKind = "prompt_progress";
    std::uint64_t promptId = 0;
    double part = 0.0; ///< 0 to 1
};

/// One round of the decoder, with everything that the views need.
struct StepFinished {
    static constexpr std::string_view kKind = "step_finished";
    std::uint64_t promptId = 0;
    int step = 0;     ///< of this prompt, from 0; see PromptStarted::firstStep
    std::string text; ///< text that became certain, of all tokens together
    std::vector<EmittedToken> tokens;
    std::vector<DraftNode> draft;        ///< the draft tree, parents before children
    std::vector<std::string> draftTexts; ///< [draft] as readableToken() writes them
    /// [1 + draft] the token that the full model found most likely behind the root and behind each
    /// node; empty if nothing was drafted, and in older recordings.
    std::vector<TokenChoice> rowChoices = {};
    std::vector<int> path;              ///< accepted nodes of it, in order
    DraftEnd draftEnd;                  ///< why it is no longer
    std::vector<double> confidences;    ///< [draft steps] probability of each first choice
    std::vector<SideRow> sides;         ///< rows outside the draft, which could not be accepted
    std::vector<std::string> sideTexts; ///< [sides] as readableToken() writes them
    std::vector<ShownTable> tables;     ///< further tables of the decoder about this round
    std::uint64_t planId = 0;           ///< plan of the draft; 0 = the full model
    bool isBaseline = false; ///< a plain step made as a baseline: not part of M and the speedup
    int verifiedRows = 0;
    double draftLayers = 0.0; ///< layers that drafting read, see DecodeStep::draftLayers
    double verifyLayers = 0.0;
    /// The drafter of this step: "none", "free", "skip", "exit", "tuned", "copy"; empty = there was
    /// no choice.
    std::string drafter;
    double expectedTokens = 0.0; ///< for which it was chosen; 0 if nothing was chosen
    double expectedCost = 0.0;   ///< the same in plain steps
    std::string refusedDrafter;  ///< the best of the others; empty = there was none
    double refusedTokens = 0.0;  ///< expected of that one
    double refusedCost = 0.0;    ///< in plain steps
    double plainMs = 0.0;        ///< of a plain step at the time of the choice; 0 = not known
    bool isProbe = false;        ///< chosen to measure its gain, not because it pays
    double draftMs = 0.0;
    double verifyMs = 0.0;
    double searchMs = 0.0;
    double otherMs = 0.0;
    double tokensPerSecond = 0.0; ///< of this answer so far

    /// By the full model alone.
    bool isPlain() const { return draft.empty() && sides.empty(); }
};

/// Text that belongs to no step: from the tokens with which an answer begins, or held back until
/// its end because it might have been the beginning of a stop string.
struct TextReleased {
    static constexpr std::string_view kKind = "text_released";
    std::uint64_t promptId = 0;
    std::string text;
};

/// A candidate of the search was scored.
struct TrialFinished {
    static constexpr std::string_view kKind = "trial_finished";
    std::string trialKind; ///< see TrialRecord::kind
    bool counts = true;
    int index = 0;
    double score = 0.0;
    double best = 0.0;
    bool isBest = false;
    PlanOutline plan;
    std::vector<int> ticks; ///< [window] 1 = the candidate predicted this token
    /// [window] the expected tokens, as readableToken() writes them; empty in older recordings.
    std::vector<std::string> window;
    std::vector<std::string> guesses; ///< [window] what it predicted
    double suggestMs = 0.0;
    double scoreMs = 0.0;
    std::string task = {}; ///< for which it was tried; empty in older recordings
    bool isBeside = false; ///< of a search beside the drafts; false in older recordings
};

/// From here on the decoder drafts with another plan, or, for a task that it knows, with an earlier
/// one again; or (isBeside) a search beside the drafts knows a better plan, which is not used.
struct PlanChanged {
    static constexpr std::string_view kKind = "plan_changed";
    std::uint64_t planId = 0;
    PlanOutline plan;
    double skipRatio = 0.0;       ///< the ratio r for which the plan was made
    std::string reason;           ///< see PlanChange::reason
    double askedRatio = 0.0;      ///< the r that was asked for; 0 = none was
    std::string ratioReason = {}; ///< sentence: why it is not `skipRatio`; empty if it is
    std::string task = {};        ///< that drafts with it; empty in older recordings
    bool isBeside = false;        ///< false in older recordings
};

/// What drafting with the best set found beside the drafts would give. Sent when it changes.
struct ForecastMade {
    static constexpr std::string_view kKind = "forecast_made";
    DraftForecast forecast;
};

struct PhaseChanged {
    static constexpr std::string_view kKind = "phase_changed";
    DecoderPhase phase = DecoderPhase::Plain;
    std::string task = {}; ///< that is in this phase; empty in older recordings
};

/// A sentence for the user.
struct Note {
    static constexpr std::string_view kKind = "remark";
    std::string text;
};

/// The current state: sent after each step and after the end of an answer.
struct Statistics {
    static constexpr std::string_view kKind = "statistics";
    int contextUsed = 0; ///< tokens, prompt and answer so far
    int contextLength = 0;
    std::int64_t promptsFinished = 0;
    /// Time of a plain step: the median of the newest nine on this model, none older than a minute
    /// when the prompt began; 0 while fewer than two are known, and in older recordings.
    double baselineStepMs = 0.0;
    DecodeMetrics total; ///< of this span (SpanStarted)
};

struct PromptFinished {
    static constexpr std::string_view kKind = "prompt_finished";
    std::uint64_t promptId = 0;
    std::vector<TokenId> tokens; ///< of the answer, an end id included
    std::string text;
    FinishReason reason = FinishReason::MaxTokens;
    GenerationMetrics generation;
    DecodeMetrics decoding;       ///< of this prompt alone
    bool isInsideGrammar = false; ///< the answer ended before its grammar was complete
};

/// A command failed. The session goes on: the next prompt works.
struct EngineFailed {
    static constexpr std::string_view kKind = "engine_failed";
    Error error;
    std::string task;            ///< which command: "load_model", "submit_prompt", ...
    std::uint64_t promptId = 0;  ///< of "submit_prompt"
    std::uint64_t requestId = 0; ///< of the commands that have one
    /// Set when, and only when, the prompt was refused because it does not fit into the context.
    int promptTokens = 0;
    int contextLength = 0;            ///< context into which it had to fit, with
                                      ///< SubmitPrompt::answerRoom
    std::vector<int> perMessage = {}; ///< [messages] as in TokensCounted; none in older recordings
};

struct RecordingStarted {
    static constexpr std::string_view kKind = "recording_started";
    std::string path;
};

/// On request or because of an error; the run itself goes on.
struct RecordingStopped {
    static constexpr std::string_view kKind = "recording_stopped";
    std::string path;
    std::optional<Error> error;
};

/// One of them. How such a value is copied, moved and ended is compiled once, not in every file
/// that holds an event.
struct EventContent : std::variant<ModelLoadProgress,
                                   ModelLoaded,
                                   ModelUnloaded,
                                   ModelInspected,
                                   TokensCounted,
                                   TasksListed,
                                   LensTokensRead,
                                   LensProgress,
                                   LensFinished,
                                   AttentionRead,
                                   SkipSetsListed,
                                   DecoderChosen,
                                   SettingsChanged,
                                   SamplingChanged,
                                   SpanStarted,
                                   PromptStarted,
                                   TaskRecognised,
                                   PromptProgress,
                                   StepFinished,
                                   TextReleased,
                                   TrialFinished,
                                   PlanChanged,
                                   ForecastMade,
                                   PhaseChanged,
                                   Note,
                                   Statistics,
                                   PromptFinished,
                                   EngineFailed,
                                   RecordingStarted,
                                   RecordingStopped> {
    using variant::variant;
    EventContent() = default;
    EventContent(const EventContent& other);
    EventContent(EventContent&& other) noexcept;
    EventContent& operator=(const EventContent& other);
    EventContent& operator=(EventContent&& other) noexcept;
    ~EventContent();
};

struct EngineEvent {
    double time = 0.0; ///< seconds since the session began
    EventContent content;
    /// The conversation that it belongs to; 0 also for events of the whole session and in older
    /// recordings.
    std::uint64_t conversation = 0;

    /// The event if it is of this type, else null.
    template <typename T> const T* as() const { return std::get_if<T>(&content); }
};

/// "step_finished", ...
std::string_view eventKind(const EngineEvent& event);

} // namespace engine

template <>
struct std::variant_size<engine::EventContent> : std::variant_size<engine::EventContent::variant> {
};

template <std::size_t index>
struct std::variant_alternative<index, engine::EventContent>
    : std::variant_alternative<index, engine::EventContent::variant> {};
