// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/session/engine_command.h"

#include <string_view>

namespace engine {

/// The names of commands in EngineFailed::task.
struct CommandNames {
    std::string_view operator()(const LoadModel&) const { return "load_model"; }

    std::string_view operator()(const StopLoading&) const { return "stop_loading"; }

    std::string_view operator()(const UnloadModel&) const { return "unload_model"; }

    std::string_view operator()(const InspectModel&) const { return "inspect_model"; }

    std::string_view operator()(const CloseConversation&) const { return "close_conversation"; }

    std::string_view operator()(const CountTokens&) const { return "count_tokens"; }

    std::string_view operator()(const ListTasks&) const { return "list_tasks"; }

    std::string_view operator()(const RenameTask&) const { return "rename_task"; }

    std::string_view operator()(const ForgetTask&) const { return "forget_task"; }

    std::string_view operator()(const ListSkipSets&) const { return "list_skip_sets"; }

    std::string_view operator()(const ChangeSkipSets&) const { return "change_skip_sets"; }

    std::string_view operator()(const RenameSkipSet&) const { return "rename_skip_set"; }

    std::string_view operator()(const ImportSkipSets&) const { return "import_skip_sets"; }

    std::string_view operator()(const ExportSkipSets&) const { return "export_skip_sets"; }

    std::string_view operator()(const ReadLens&) const { return "read_lens"; }

    std::string_view operator()(const ReadAttention&) const { return "read_attention"; }

    std::string_view operator()(const StopLens&) const { return "stop_lens"; }

    std::string_view operator()(const ChooseDecoder&) const { return "choose_decoder"; }

    std::string_view operator()(const ChangeSettings&) const { return "change_settings"; }

    std::string_view operator()(const ChangeSampling&) const { return "change_sampling"; }

    std::string_view operator()(const SubmitPrompt&) const { return "submit_prompt"; }

    std::string_view operator()(const StopGeneration&) const { return "stop_generation"; }

    std::string_view operator()(const StartRecording&) const { return "start_recording"; }

    std::string_view operator()(const StopRecording&) const { return "stop_recording"; }

    std::string_view operator()(const TakeTurns&) const { return "take_turns"; }
};

inline std::string_view commandName(const EngineCommand& command) {
    return std::visit(CommandNames(), command);
}

} // namespace engine
