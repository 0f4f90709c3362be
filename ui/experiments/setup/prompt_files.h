// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QStringList>

class QMimeData;

namespace ui {

/// For file dialogs: what files with prompts are called.
inline constexpr const char* kPromptFileNames =
    "*.jsonl *.ndjson *.csv *.tsv *.tab *.txt *.md *.markdown";

/// The files and folders among these that may hold prompts. A folder with a model is none of them.
QStringList promptPathsOf(const QStringList& paths);

/// The same among what is dragged.
QStringList promptPathsOf(const QMimeData& dragged);

} // namespace ui
