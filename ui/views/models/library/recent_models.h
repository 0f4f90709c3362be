// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_command.h"

#include <QObject>
#include <QString>

#include <vector>

class QSettings;

namespace ui {

/// A model that was opened before. A plain value.
struct RecentModel {
    QString path;                ///< a file or a folder
    QString name;                ///< for people
    engine::LoadModel load = {}; ///< its options, as chosen in the dock Models; no path
};

/// The models that were opened, newest first, kept in the settings it is given. Thread: UI.
class RecentModels : public QObject {
    Q_OBJECT

public:
    static constexpr int kMost = 10;

    /// `settings` outlives it.
    explicit RecentModels(QSettings& settings, QObject* parent = nullptr);

    const std::vector<RecentModel>& list() const { return m_list; }

    /// Moves it to the top, replacing an older entry with the same path.
    void add(const RecentModel& model);

    void remove(const QString& path);

    /// The command that loads this model with its options; the usual ones if it is not in the list.
    engine::LoadModel loadOf(const QString& path) const;

    /// Whether its file or folder is missing; asks the file system.
    static bool isGone(const RecentModel& model);

    /// The name from a path: the file's name without its ending, or the folder's.
    static QString nameOf(const QString& path);

signals:
    void changed();

private:
    void keep();

    QSettings& m_settings;
    std::vector<RecentModel> m_list;
};

} // namespace ui
