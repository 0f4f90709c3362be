// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"
#include "engine/decoding/decoder_info.h"
#include "engine/sampling/sampler.h"
#include "engine/session/context_fit.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace engine {

// What can be asked of an EngineSession: plain values, worked on in the order in which they are
// sent. All answers are events (engine_event.h).

/// Loads a model in place of the one that is loaded, and ends earlier loads that are not done.
struct LoadModel {
    std::string path;            ///< a folder or a GGUF file
    std::string backend = {};    ///< empty = the usual one
    SettingValues settings = {}; ///< of the backend; what is not given has its default
    int contextLength = 0;       ///< tokens; 0 = the smaller of the model's and 8192
};

/// Ends loads at work or waiting; the model loaded before stays. Acts at once.
struct StopLoading {};

/// Ends loads and prompts sent before at once, then frees the model.
struct UnloadModel {};

/// Looks at a model without loading it; answered by ModelInspected. This and CountTokens are
/// answered between two steps of a prompt that runs.
struct InspectModel {
    std::uint64_t requestId = 0; ///< chosen by the sender
    std::string path;            ///< this and the others as in LoadModel
    std::string backend = {};
    SettingValues settings = {};
    int contextLength = 0;
};

/// Chooses how tokens are made from the next prompt on. "vanilla" is chosen at the start.
struct ChooseDecoder {
    std::string name;
    SettingValues settings = {}; ///< what is not given has its default
};

/// Changes some settings of the chosen decoder, between two steps of a prompt that runs; each acts
/// at the moment its SettingInfo names. A profile sets back what was given before it.
struct ChangeSettings {
    SettingValues values;
};

/// Acts from the next prompt on. What the decoder has searched and cached stays, except that a
/// decoder that cannot take other options is made anew.
struct ChangeSampling {
    SamplingOptions sampling;
};

/// A message of a conversation.
struct PromptMessage {
    std::string role; ///< "system", "user" or "assistant"
    std::string content;
    std::vector<TokenId> tokens = {}; ///< the ids of an earlier answer, from its PromptFinished
};

/// Asks for an answer, and says all that it depends on. Ends with one PromptFinished or one
/// EngineFailed of this id, unless the session is closed before. PromptStarted tells that it was
/// counted and fits; EngineFailed has its counts when it does not.
struct SubmitPrompt {
    std::uint64_t promptId = 0;               ///< chosen by the sender
    std::vector<PromptMessage> messages = {}; ///< the whole conversation; or:
    std::string text = {};                    ///< raw text to continue, when there are no messages
    std::string task = {};                    ///< whose search state shall be used
    std::uint64_t chat = 0;                   ///< whose sums its steps are added to (SpanStarted)
    int maxTokens = 256;
    std::vector<std::string> stopStrings = {};
    /// The last message is an answer that goes on: it ends the prompt as it is, and what comes is
    /// text behind its `content`, beginning with what its `tokens` say beyond it. Greedy decoding
    /// then makes the very tokens that it would have made without the stop.
    bool continuesLast = false;
    ContextPolicy policy = ContextPolicy::Ask;    ///< a system message at the front always stays
    int answerRoom = 1;                           ///< tokens, see promptRoom()
    std::optional<SamplingOptions> sampling = {}; ///< as by ChangeSampling before it
    std::optional<ChooseDecoder> decoder = {};    ///< as by ChooseDecoder, if it is another one
};

/// Asks how many tokens a conversation's prompt holds; answered by TokensCounted.
struct CountTokens {
    std::uint64_t requestId = 0;              ///< chosen by the sender
    std::vector<PromptMessage> messages = {}; ///< as in SubmitPrompt; or:
    std::string text = {};
    bool continuesLast = false; ///< as in SubmitPrompt
};

/// Ends the prompt that runs and those that wait, never one that is sent later. Acts at once,
/// within one forward pass; what is there is kept.
struct StopGeneration {};

/// Writes all further events to a file, in place of an earlier recording. This and StopRecording
/// act between two steps of a prompt that runs.
struct StartRecording {
    std::string path;
    bool mayOverwrite = false; ///< also a file that is no recording
};

struct StopRecording {};

using EngineCommand = std::variant<LoadModel,
                                   StopLoading,
                                   UnloadModel,
                                   InspectModel,
                                   ChooseDecoder,
                                   ChangeSettings,
                                   ChangeSampling,
                                   SubmitPrompt,
                                   CountTokens,
                                   StopGeneration,
                                   StartRecording,
                                   StopRecording>;

} // namespace engine
