// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"
#include "engine/decoding/decoder_info.h"
#include "engine/decoding/skip_sets/all_skip_sets.h"
#include "engine/decoding/skip_sets/skip_set_exchange.h"
#include "engine/sampling/sampler.h"
#include "engine/session/context_fit.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace engine {

// The commands of an EngineSession: plain values, processed in the order in which they are sent.
// All replies are events (engine_event.h).
//
// A conversation is a number that the sender chooses. Each has a decoder of its own, with its own
// cache, settings and totals; all share the model. A sender of one conversation leaves it at 0;
// high numbers are asides (asides.h), which leave nothing behind.

/// Loads a model instead of the current one, and cancels earlier loads that are not finished.
struct LoadModel {
    std::string path;              ///< a folder or a GGUF file
    std::string backend = {};      ///< empty = the usual one
    SettingValues settings = {};   ///< of the backend; missing ones have their defaults
    int contextLength = 0;         ///< tokens; 0 = the smaller of the model's and 8192
    bool isPlanted = false;        ///< the lesson model made from it, see withSilentCopies
    std::string draftAdapter = {}; ///< a file, "none", or empty; see adoptDraftAdapter
};

/// Cancels running and waiting loads; the model loaded before stays. Takes effect at once.
struct StopLoading {};

/// Cancels all earlier loads and prompts at once, then frees the model.
struct UnloadModel {};

/// Inspects a model without loading it; the reply is ModelInspected. This and CountTokens are
/// answered between two steps of a running prompt.
struct InspectModel {
    std::uint64_t requestId = 0; ///< chosen by the sender
    std::string path;            ///< this and the others as in LoadModel
    std::string backend = {};
    SettingValues settings = {};
    int contextLength = 0;
    bool isPlanted = false;
};

/// Chooses the conversation's decoder from its next prompt on. A conversation starts with
/// "vanilla".
struct ChooseDecoder {
    std::string name;
    SettingValues settings = {}; ///< missing ones have their defaults
    std::uint64_t conversation = 0;
};

/// Changes some settings of the chosen decoder, between two steps of a running prompt; each takes
/// effect at the moment given in its SettingInfo. A profile resets the settings given before it.
/// Changes that are sent behind a ChooseDecoder wait with it.
struct ChangeSettings {
    SettingValues values;
    std::uint64_t conversation = 0;
    std::string decoder = {}; ///< if another one is chosen by then, the change is refused with
                              ///< Cancelled; empty = whichever is chosen
};

/// Takes effect from the conversation's next prompt on. The decoder keeps its search and its cache,
/// except that a decoder that cannot change its options is created again.
struct ChangeSampling {
    SamplingOptions sampling;
    std::uint64_t conversation = 0;
};

/// A message of a conversation.
struct PromptMessage {
    std::string role; ///< "system", "user" or "assistant"
    std::string content;
    std::vector<TokenId> tokens = {}; ///< the ids of an earlier answer, from its PromptFinished
};

/// Whether what a prompt looks like (KnownTask) and its task have to do with each other. Decoders
/// see SubmitPrompt::task alone, whatever is recognised.
enum class TaskUse {
    Given,      ///< the task is what it is called; nothing is kept
    Learned,    ///< the prompt is kept as one of its task
    Recognised, ///< the task is named by the prompt (TaskRecognised), which is kept under this name
};

/// Requests an answer, with everything that it depends on. Ends with one PromptFinished or one
/// EngineFailed with this id, unless the session is closed before. PromptStarted says that the
/// prompt was counted and fits; if it does not fit, EngineFailed has the counts.
///
/// The prompts of a conversation are answered one after another. While several conversations have
/// a prompt, each makes one decoding step in turn; reading a prompt is one turn, too. The tokens of
/// an answer do not depend on what else is answered meanwhile.
struct SubmitPrompt {
    std::uint64_t promptId = 0;               ///< chosen by the sender
    std::vector<PromptMessage> messages = {}; ///< the whole conversation; or:
    std::string text = {};                    ///< raw text to continue, when there are no messages;
                                              ///< or:
    std::vector<TokenId> ids = {};            ///< the prompt's tokens; they need no tokenizer
    std::string task = {};                    ///< the task whose search state is used
    TaskUse taskUse = TaskUse::Given;         ///< the others for messages alone
    std::uint64_t chat = 0;                   ///< the chat to whose totals its steps are added
                                              ///< (SpanStarted)
    int maxTokens = 256;
    std::vector<std::string> stopStrings = {};
    /// The last message is an answer to be continued: it ends the prompt unchanged, and the new
    /// text comes after its `content`, starting with any text that its `tokens` have beyond it.
    /// Greedy decoding then gives exactly the tokens that it would have given without the stop.
    bool continuesLast = false;
    int firstStep = 0; ///< steps of that answer before this prompt; views count on from there
    ContextPolicy policy = ContextPolicy::Ask;    ///< a leading system message always stays
    int answerRoom = 1;                           ///< tokens, see promptRoom()
    std::optional<SamplingOptions> sampling = {}; ///< as set by an earlier ChangeSampling
    std::optional<ChooseDecoder> decoder = {};    ///< as set by ChooseDecoder, if it is another one
    /// Whose cache and decoder are used. If there is no memory for one more cache, that of the
    /// conversation that was idle longest is freed, which a Note says; if none is idle, the
    /// prompt fails with NoMemory.
    std::uint64_t conversation = 0;
};

/// Stops the conversation's prompts at once, then frees its decoder and its cache and forgets its
/// settings and totals.
struct CloseConversation {
    std::uint64_t conversation = 0;
};

/// Asks for the number of tokens of a conversation's prompt; the reply is TokensCounted.
struct CountTokens {
    std::uint64_t requestId = 0;              ///< chosen by the sender
    std::vector<PromptMessage> messages = {}; ///< as in SubmitPrompt; or:
    std::string text = {};
    bool continuesLast = false; ///< as in SubmitPrompt
};

/// Asks for the tasks that are known for the model (KnownTask). The reply to this and the next two
/// is TasksListed; all three take effect between two steps of a running prompt.
struct ListTasks {
    std::uint64_t requestId = 0; ///< chosen by the sender
};

/// Gives a task another name, under which prompts are recognised and kept from now on. If another
/// task has that name, the two become one. Its skip set keeps the old name.
struct RenameTask {
    std::uint64_t requestId = 0;
    std::string task;
    std::string name;
};

/// Forgets what the prompts of a task look like, the one that is being answered included. Its skip
/// set stays.
struct ForgetTask {
    std::uint64_t requestId = 0;
    std::string task;
};

/// Asks for the skip sets that are kept for the loaded model and for others. The reply to this and
/// the next four is SkipSetsListed; all five take effect between two steps of a running prompt. A
/// decoder that drafts with a set keeps it, whatever becomes of what is stored.
struct ListSkipSets {
    std::uint64_t requestId = 0; ///< chosen by the sender
};

/// The model whose sets are meant, whichever is loaded. A plain value.
struct SkipSetOwner {
    std::string fingerprint = {}; ///< see modelFingerprint(); empty = the loaded model
    std::string model = {};       ///< its name for people
    int layerCount = 0;
};

/// Removes stored sets of a model and adds others: all of it or nothing. A task that has a set is
/// refused.
struct ChangeSkipSets {
    std::uint64_t requestId = 0;
    std::vector<std::string> removed = {}; ///< tasks
    std::vector<NamedSkipSet> added = {};
    SkipSetOwner owner = {};
};

/// Gives the set of a task to another one. If that one has a set, this is refused.
struct RenameSkipSet {
    std::uint64_t requestId = 0;
    std::string task;
    std::string name;
};

/// Takes in the sets of a file (readSkipSetImport). A task that has a set keeps it unless
/// `replaces`. A set that is stored already is neither taken nor kept. With an owner that is named,
/// those of other models are passed over.
struct ImportSkipSets {
    std::uint64_t requestId = 0;
    std::string path;
    bool replaces = false;
    SkipSetOwner owner = {};
};

/// Writes stored sets of the loaded model into a file, in place of an earlier one.
struct ExportSkipSets {
    std::uint64_t requestId = 0;
    std::string path;
    std::vector<std::string> tasks = {}; ///< empty = all
    SkipSetForm form = SkipSetForm::Published;
};

/// Asks what the model predicts at each depth for tokens of an answer of this session (no aside; of
/// the last kLensAnswers that have ended with this model). Answered by LensTokensRead, piece by
/// piece, and one LensFinished, or EngineFailed. The model reads the text once more, one short pass
/// at a time while no prompt is being answered; no answer changes by it. A newer ReadLens replaces
/// it, and StopGeneration stops it, too.
struct ReadLens {
    std::uint64_t requestId = 0; ///< chosen by the sender
    std::uint64_t promptId = 0;  ///< of the newest answer with this id
    int first = 0;               ///< among the tokens of PromptFinished
    int count = 0;               ///< 0 = all from there on
};

/// Asks where the heads of a layer look while the model predicts a token of an answer, as ReadLens
/// does. Answered by AttentionRead, LensFinished with `isStopped`, or EngineFailed.
struct ReadAttention {
    std::uint64_t requestId = 0; ///< chosen by the sender
    std::uint64_t promptId = 0;
    int token = 0; ///< among the tokens of PromptFinished
    int layer = 0; ///< 0-based
};

/// Ends what the two above have begun.
struct StopLens {};

/// Answers whose texts can be read again.
inline constexpr std::size_t kLensAnswers = 64;

/// Stops the running prompts and the waiting ones, of all conversations or of one, never one that
/// is sent later. Takes effect within one forward pass; the answers so far are kept.
struct StopGeneration {
    std::optional<std::uint64_t> conversation = {}; ///< none = all
};

/// Writes all further events to a file, replacing an earlier recording. This and StopRecording take
/// effect between two steps of a running prompt.
struct StartRecording {
    std::string path;
    bool mayOverwrite = false; ///< also a file that is not a recording
};

struct StopRecording {};

/// From here on, each step, each piece of a prompt and each piece of work in a pause waits for its
/// turn with the other processes that use this file (TurnLock), until another one or none is named.
/// Waiting is not part of any measured time, and a stop ends it.
struct TakeTurns {
    std::string path; ///< empty = turns are no longer taken
};

/// One of them. How such a value is copied, moved and ended is compiled once, not in every file
/// that sends one.
struct EngineCommand : std::variant<LoadModel,
                                    StopLoading,
                                    UnloadModel,
                                    InspectModel,
                                    ChooseDecoder,
                                    ChangeSettings,
                                    ChangeSampling,
                                    SubmitPrompt,
                                    CloseConversation,
                                    CountTokens,
                                    ListTasks,
                                    RenameTask,
                                    ForgetTask,
                                    ReadLens,
                                    ReadAttention,
                                    StopLens,
                                    ListSkipSets,
                                    ChangeSkipSets,
                                    RenameSkipSet,
                                    ImportSkipSets,
                                    ExportSkipSets,
                                    StopGeneration,
                                    StartRecording,
                                    StopRecording,
                                    TakeTurns> {
    using variant::variant;
    EngineCommand() = default;
    EngineCommand(const EngineCommand& other);
    EngineCommand(EngineCommand&& other) noexcept;
    EngineCommand& operator=(const EngineCommand& other);
    EngineCommand& operator=(EngineCommand&& other) noexcept;
    ~EngineCommand();
};

} // namespace engine
