// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/setup/data_scan.h"

#include "engine/experiments/data/data_sources.h"
#include "ui/shell/figure_text.h"

#include <optional>
#include <utility>

namespace ui {

namespace {

/// From the first file that can be read; one that was named itself must be.
engine::Result<engine::DataLayout> proposedLayout(const std::vector<std::string>& paths,
                                                  std::optional<bool> hasHeader,
                                                  const std::stop_token& stop) {
    ENGINE_TRY(const auto sources, engine::findDataSources(paths));
    engine::Result<engine::DataLayout> proposed = engine::DataLayout();
    for (const engine::DataSource& source : sources) {
        proposed = engine::proposeLayout(source.path, hasHeader, stop);
        const bool isCancelled = !proposed && proposed.error().code == engine::ErrorCode::Cancelled;
        if (proposed || isCancelled || !source.isOfFolder)
            break;
    }
    return proposed;
}

} // namespace

QString tasksText(const engine::DataPreview& preview) {
    const auto count = static_cast<qint64>(preview.tasks.size());
    return preview.hasMoreTasks
               ? DataScan::tr("more than %1 tasks").arg(numberText(count))
               : countText(count, DataScan::tr("1 task"), DataScan::tr("%1 tasks"));
}

DataScan::DataScan(QObject* parent)
    : QObject(parent) {
    m_thread.setMaxThreadCount(1);
}

DataScan::~DataScan() {
    m_stop.request_stop();
    m_thread.waitForDone();
}

void DataScan::open(const QStringList& paths, std::optional<bool> hasHeader) {
    begin(paths, std::nullopt, hasHeader);
}

void DataScan::read(const QStringList& paths, const engine::DataLayout& layout) {
    begin(paths, layout, std::nullopt);
}

/// From the thread to the UI. The destructor waits for the thread, so `this` is valid.
template <typename Task> void DataScan::tell(int look, Task task) {
    QMetaObject::invokeMethod(
        this,
        [this, look, task = std::move(task)] {
            if (look == m_look)
                task();
        },
        Qt::QueuedConnection);
}

void DataScan::begin(const QStringList& paths,
                     std::optional<engine::DataLayout> layout,
                     std::optional<bool> hasHeader) {
    m_stop.request_stop();
    m_stop = std::stop_source();
    const int look = ++m_look;
    std::vector<std::string> names;
    for (const QString& path : paths)
        names.push_back(path.toStdString());
    m_thread.start([this, look, names, layout, hasHeader, stop = m_stop.get_token()] {
        engine::DataLayout used = layout.value_or(engine::DataLayout());
        if (!layout) {
            auto proposed = proposedLayout(names, hasHeader, stop);
            if (!proposed) {
                tell(look, [this, text = errorText(proposed.error())] { emit failed(text); });
                return;
            }
            used = std::move(proposed).value();
            tell(look, [this, used] { emit layoutProposed(used); });
        }
        engine::PreviewOptions options;
        options.onProgress = [this, look](const engine::DataPreview& so) {
            tell(look, [this, preview = std::make_shared<engine::DataPreview>(so)] {
                emit previewCame(preview, false);
            });
        };
        auto preview = engine::previewData(names, used, options, stop);
        if (preview)
            tell(look,
                 [this, whole = std::make_shared<engine::DataPreview>(std::move(preview).value())] {
                     emit previewCame(whole, true);
                 });
        else if (preview.error().code != engine::ErrorCode::Cancelled)
            tell(look, [this, text = errorText(preview.error())] { emit failed(text); });
    });
}

} // namespace ui
