// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_command.h"

#include <QStringList>
#include <QWidget>

class QComboBox;
class QSpinBox;

namespace ui {

/// How a model shall be loaded: backend, the form of weights and of keys and values, threads,
/// context. What the chosen backend does not take is grey and not sent. Thread: UI.
class LoadOptions : public QWidget {
    Q_OBJECT

public:
    /// `backends` are those that this program has, besides "Automatic".
    explicit LoadOptions(const QStringList& backends, QWidget* parent = nullptr);

    /// The command that loads `path` in this way.
    engine::LoadModel command(const QString& path) const;

signals:
    void changed();

private:
    /// Whether the cpu backend is chosen, by name or as the automatic one.
    bool isCpu() const;

    void enableWhatCounts();

    QComboBox* m_backend;
    QComboBox* m_weights;   // of the cpu backend
    QComboBox* m_kvType;    // of the cpu backend
    QComboBox* m_precision; // of the others
    QSpinBox* m_threads;
    QSpinBox* m_context;
};

} // namespace ui
