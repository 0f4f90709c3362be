// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/text_options.h"

#include "app/number_check.h"
#include "engine/text/vocabulary/text_limits.h"

namespace app {

using namespace engine;

void addTextOptions(CLI::App& command, TextOptions& options, int defaultMaxTokens) {
    options.maxTokens = defaultMaxTokens;
    addModelOptions(command, options.model);
    addDecoderOptions(command, options.decoder, command.get_name());
    command.add_option("--max-tokens", options.maxTokens, "Longest answer, in tokens")
        ->transform(wholeFrom(0))
        ->capture_default_str();
    addContextOption(command, options.model);
    addSamplingOptions(command, options.sampling);
    command.add_option("--stop",
                       options.stopStrings,
                       "End the answer before this text; may be given several times");
    command.add_option("--system",
                       options.system,
                       "Text of the system message at the start of the "
                       "chat");
}

Result<void> checkTexts(const TextOptions& options) {
    ENGINE_TRY_DO(checkText(options.system, "--system"));
    for (const std::string& text : options.stopStrings)
        ENGINE_TRY_DO(checkText(text, "--stop"));
    return {};
}

Error cancelledError() { return {ErrorCode::Cancelled, "Stopped.", ""}; }

} // namespace app
