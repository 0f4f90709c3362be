// SPDX-License-Identifier: Apache-2.0
#include "app/commands/tune/tune_run.h"
#include "app/streams/counted.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/json/json_document.h"
#include "engine/model/model_fingerprint.h"
#include "engine/session/loading/model_parts.h"
#include "engine/tuning/model_numbers.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace app {

using namespace engine;

namespace {

std::string sizesText(const DraftAdapter& adapter) {
    const DraftSizes& sizes = adapter.sizes;
    return fmt::format("{} of {} numbers ({} of {}, {} for keys, MLP {}), window {}, "
                       "{} weights; {} tokens can be drafted",
                       counted(sizes.layerCount, "layer"),
                       sizes.hiddenSize,
                       counted(sizes.headCount, "head"),
                       sizes.headDim,
                       sizes.kvHeadCount,
                       sizes.mlpSize,
                       sizes.window,
                       trainedWeights(sizes),
                       adapter.headIds.size());
}

/// "data: prompts.jsonl (MIT), chats.jsonl (unknown)"; empty if it names none.
std::string dataText(const std::string& description) {
    const auto document = JsonDocument::parse(description, "the description");
    if (!document)
        return {};
    std::vector<std::string> sources;
    for (const JsonValue& source : document.value().root()["data"]["sources"].items())
        sources.push_back(fmt::format("{} ({})",
                                      readable(source["file"].asString().value_or("?")),
                                      readable(source["licence"].asString().value_or("unknown"))));
    return sources.empty() ? std::string() : fmt::format("data: {}", fmt::join(sources, ", "));
}

} // namespace

Result<void> checkAdapterFile(const TuneOptions& options, const Console& console) {
    ENGINE_TRY(const DraftAdapter adapter, readDraftAdapter(options.check));
    ENGINE_TRY(const std::string description, readDraftDescription(options.check));
    ENGINE_TRY(const ModelFiles files, openModel(options.model));
    ENGINE_TRY(const ModelConfig config, files.config());
    ENGINE_TRY(const auto weights, files.weights());
    ENGINE_TRY(const std::string fingerprint, modelFingerprint(config, *weights));
    const Result<void> fits = checkFits(adapter, config, fingerprint);
    const std::string model = fileFactsOf(files, *weights).name;
    if (!console.isJson()) {
        console.line(fmt::format("{}: {}", options.check, adapter.about));
        console.line("  " + sizesText(adapter));
        console.line(fmt::format("  made for {}", fmt::join(adapter.fingerprints, ", ")));
        if (const std::string data = dataText(description); !data.empty())
            console.line("  " + data);
        if (fits)
            console.line(fmt::format("  fits {}", model));
    }
    const auto holds = nlohmann::ordered_json::parse(description, nullptr, false);
    console.jsonLine({{"event", "adapter"},
                      {"path", options.check},
                      {"model", model},
                      {"fits", fits.hasValue()},
                      {"trained_weights", trainedWeights(adapter.sizes)},
                      {"head_tokens", adapter.headIds.size()},
                      {"holds", holds}});
    return fits;
}

} // namespace app
