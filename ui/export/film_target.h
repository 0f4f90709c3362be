// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/export/apng_writer.h"

#include <QString>

namespace ui {

enum class FilmForm {
    AnimatedPng, ///< one file
    PngFolder,   ///< a folder of numbered pictures
};

/// Where a film goes. One rule for both forms: nothing that exists is replaced unless the user has
/// said so, nothing half is left behind, and every problem is one sentence for the user. Frames of
/// a folder are written into "NAME.part", which gets its name at the end. Thread: UI.
class FilmTarget {
public:
    FilmTarget(FilmForm form, QString path, bool mayReplace);

    /// Removes what is unfinished.
    ~FilmTarget();

    FilmTarget(const FilmTarget&) = delete;
    FilmTarget& operator=(const FilmTarget&) = delete;

    // Each returns a sentence for the user, empty when all is well.

    QString begin();
    QString add(const QImage& picture, int milliseconds);
    QString finish();

private:
    QString obstacle() const;

    QString unfinishedPath() const { return m_path + QStringLiteral(".part"); }

    FilmForm m_form;
    QString m_path;
    bool m_mayReplace;
    bool m_hasFolder = false; ///< the unfinished one is ours
    int m_frames = 0;
    ApngWriter m_writer;
};

} // namespace ui
