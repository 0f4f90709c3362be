// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/editing/skip_set_files.h"

#include "ui/files/whole_file.h"
#include "ui/language/tr.h"

namespace ui {

using namespace engine;

namespace {

/// Skip sets are short; a larger file is something else.
constexpr std::uint64_t kLargestFileBytes = 4'000'000;

Result<std::map<std::string, SkipSet>> setsOf(const JsonValue& root, const std::string& path) {
    const bool isOneSet = root["attention"].isArray() || root["mlp"].isArray();
    if (!isOneSet)
        return readSkipSetCollection(root, path);
    ENGINE_TRY(SkipSet set, readSkipSet(root, path));
    return std::map<std::string, SkipSet>{{"", std::move(set)}};
}

} // namespace

Result<std::map<std::string, SkipSet>> readSkipSets(const QString& path, int layerCount) {
    const std::string name = path.toStdString();
    JsonLimits limits;
    limits.maxBytes = kLargestFileBytes;
    ENGINE_TRY(const JsonDocument document, readJsonFile(name, limits));
    ENGINE_TRY(auto sets, setsOf(document.root(), name));
    if (sets.empty())
        return Error{ErrorCode::InvalidInput,
                     tr("%1 does not contain a skip set.").arg(path).toStdString(),
                     tr("Choose a file with lists named \"attention\" and \"mlp\".").toStdString()};
    for (const auto& [entry, set] : sets)
        if (const auto plan = planOf(set, layerCount); !plan)
            return Error{plan.error().code,
                         name + ": " + plan.error().message,
                         tr("Choose a set that was made for this model.").toStdString()};
    return sets;
}

std::optional<QString>
writeSkipSet(const QString& path, const std::string& name, const SkipSet& set) {
    const QByteArray text = QByteArray::fromStdString(skipSetCollectionJson({{name, set}}));
    const QString problem = saveWhole(text, path);
    if (problem.isEmpty())
        return std::nullopt;
    return tr("The skip set was not saved to %1: %2. Choose another folder.").arg(path, problem);
}

} // namespace ui
