// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/data/data_preview.h"

#include <QObject>
#include <QStringList>
#include <QThreadPool>

#include <memory>
#include <optional>
#include <stop_token>

namespace ui {

/// "1 task", "9 tasks", "more than 1,000 tasks".
QString tasksText(const engine::DataPreview& preview);

/// Looks through files of prompts on a thread of its own. A new look ends the one before. Thread:
/// UI.
class DataScan : public QObject {
    Q_OBJECT

public:
    using Preview = std::shared_ptr<const engine::DataPreview>;

    explicit DataScan(QObject* parent = nullptr);
    ~DataScan() override;

    /// Proposes a layout from the first file, of a folder from the first that can be read, then
    /// reads all files with it. Whether tables have a header is found out unless it is said.
    void open(const QStringList& paths, std::optional<bool> hasHeader = {});

    /// Reads the files with this layout.
    void read(const QStringList& paths, const engine::DataLayout& layout);

signals:
    void layoutProposed(const engine::DataLayout& layout);

    /// What is known so far; `isWhole` once everything is read.
    void previewCame(const ui::DataScan::Preview& preview, bool isWhole);

    /// A sentence for the user.
    void failed(const QString& sentence);

private:
    void begin(const QStringList& paths,
               std::optional<engine::DataLayout> layout,
               std::optional<bool> hasHeader);

    template <typename Task> void tell(int look, Task task);

    QThreadPool m_thread{this};
    std::stop_source m_stop;
    int m_look = 0; ///< the newest; what older ones tell is not passed on
};

} // namespace ui
