// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/models/library/model_library.h"

#include <QListWidget>

namespace ui {

/// The watched folders with the models found in them: what each is, and whether it runs here. Enter
/// or a click opens a model; Delete removes a model from the list, or stops watching a folder.
/// Thread: UI.
class LibraryList : public QListWidget {
    Q_OBJECT

public:
    LibraryList(const Theme& theme, ModelLibrary& library, QWidget* parent = nullptr);

    /// Hides models that cannot run here, or are not known to.
    void setOnlyRunning(bool isOnly);

    /// Removes the current row from the list.
    void removeCurrent();

    QSize sizeHint() const override;

signals:
    void opened(const QString& path);

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void fill();
    void addHead(const LibraryFolder& folder);
    void addModel(const LibraryModel& model);
    void openItem(const QListWidgetItem* item);
    void showMenu(const QPoint& position);

    const Theme& m_theme;
    ModelLibrary& m_library;
    bool m_isOnlyRunning = false;
};

} // namespace ui
