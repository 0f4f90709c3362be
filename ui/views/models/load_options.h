// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_command.h"
#include "engine/session/known_backends.h"

#include <QWidget>

#include <string>
#include <vector>

class QComboBox;
class QGridLayout;
class QSpinBox;

namespace ui {

/// The options for loading a model: the backend, each setting of any backend, the context. They are
/// built from the backends' own descriptions. Settings that the chosen backend lacks are grey and
/// not sent, and a backend that cannot be used on this computer says why. Thread: UI.
class LoadOptions : public QWidget {
    Q_OBJECT

public:
    /// `backends`: the usual one first.
    explicit LoadOptions(std::vector<engine::BackendInfo> backends, QWidget* parent = nullptr);

    /// The command that loads `path` in this way.
    engine::LoadModel command(const QString& path) const;

    /// Shows the options of this command; does not emit changed().
    void setLoad(const engine::LoadModel& load);

signals:
    void changed();

private:
    /// The field of a setting; one of the two is there.
    struct Field {
        std::string setting;
        QComboBox* box = nullptr;
        QSpinBox* spin = nullptr;
    };

    void addBackends();
    void addRow(QGridLayout& grid, const QString& name, QWidget* field);
    Field makeField(const engine::SettingInfo& setting);

    /// The one that is chosen, by name or as the automatic one; null when none is known.
    const engine::BackendInfo* chosen() const;

    /// Gives each field what the chosen backend takes.
    void showChosen();

    std::vector<engine::BackendInfo> m_backends;
    QComboBox* m_backend;
    std::vector<Field> m_fields;
    QSpinBox* m_context;
};

} // namespace ui
