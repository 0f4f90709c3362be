// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

class QLineEdit;

namespace ui {

/// The folder of a new model: its whole path, and a button that finds another place for it. What
/// the user has not changed follows the usual place. Thread: UI.
class OutputField : public QWidget {
    Q_OBJECT

public:
    explicit OutputField(const Theme& theme, QWidget* parent = nullptr);

    QString path() const;

    /// Where it is made unless the user wants another place.
    void setUsual(const QString& path);

    /// That of a training in sight.
    void setPath(const QString& path);

    QLineEdit& line() const { return *m_line; }

signals:
    void changed();

private:
    void askForFolder();

    QLineEdit* m_line;
    QString m_usual;
};

} // namespace ui
