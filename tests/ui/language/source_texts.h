// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QByteArray>
#include <QSet>
#include <QString>

#include <vector>

namespace support {

/// The string literals of the window's sources, neighbours joined.
struct SourceTexts {
    struct Other {
        QString place; ///< "ui/shell/main_window.cpp:82"
        QString text;
    };

    QSet<QByteArray> translated; ///< keys of a Catalogue: those in tr() and its macros
    std::vector<Other> others;
};

/// Reads all .cpp and .h files of ui/, from the root of the sources.
SourceTexts textsOfTheWindow();

/// Reads one source; `path` is for the places.
void addTexts(const QString& source, const QString& path, SourceTexts& texts);

} // namespace support
