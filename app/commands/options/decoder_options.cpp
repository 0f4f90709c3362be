// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/decoder_options.h"

#include "app/number_check.h"

namespace app {

using namespace engine;

void addDecoderOptions(CLI::App& command, DecoderOptions& options, const std::string& defaultTask) {
    options.task = defaultTask;
    command
        .add_option("--decoder",
                    options.name,
                    "How tokens are decoded: vanilla makes one per pass; swift-run decoders lists "
                    "the others")
        ->capture_default_str();
    command.add_option("--set",
                       options.settings,
                       "A setting of the decoder, NAME=VALUE; may be given several times");
    command
        .add_option(
            "--task",
            options.task,
            "The task whose search the decoder continues and adds to; with a chat template, a "
            "task that you name is recognised in the window later")
        ->each([&options](const std::string&) { options.isTaskNamed = true; })
        ->capture_default_str();
}

void addContextOption(CLI::App& command, ModelOptions& options) {
    command
        .add_option(
            "--context",
            options.context,
            "Most tokens of prompt and answer together; default, or 0: the model's own context, "
            "but at most 8192")
        ->transform(wholeFrom(0));
}

Result<SettingValues> parseSettings(DecoderRegistry& registry,
                                    const std::string& decoder,
                                    const std::vector<std::string>& typed) {
    ENGINE_TRY(const DecoderInfo info, registry.info(decoder));
    SettingValues values;
    for (const std::string& text : typed) {
        ENGINE_TRY(auto setting, parseSetting(info, text));
        values.insert_or_assign(std::move(setting.first), std::move(setting.second));
    }
    ENGINE_TRY_DO(checkTogether(info, values));
    return values;
}

} // namespace app
