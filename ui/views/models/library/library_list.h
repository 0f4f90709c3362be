// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/models/library/model_library.h"
#include "ui/views/models/model_list.h"

namespace ui {

/// The watched folders with the models found in them: what each is, and whether it runs here.
/// Delete takes a model off the list, or stops watching a folder. Thread: UI.
class LibraryList : public ModelList {
    Q_OBJECT

public:
    LibraryList(const Theme& theme, ModelLibrary& library, QWidget* parent = nullptr);

    /// Hides models that cannot run here, or are not known to.
    void setOnlyRunning(bool isOnly);

    void removeCurrent() override;

protected:
    bool canOpen(const QListWidgetItem& item) const override;
    QString removeText(const QListWidgetItem& item) const override;

private:
    void fill();
    void addHead(const LibraryFolder& folder);
    void addModel(const LibraryModel& model);

    ModelLibrary& m_library;
    bool m_isOnlyRunning = false;
};

} // namespace ui
