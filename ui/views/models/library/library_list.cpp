// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/library/library_list.h"

#include "ui/shell/figure_text.h"
#include "ui/theme/tip_text.h"
#include "ui/views/models/library/recent_models.h"
#include "ui/views/models/library/two_line_delegate.h"

#include <QDir>

#include <algorithm>

namespace ui {

namespace {

constexpr int kRowsShown = 8;

/// What is known of a GPU is all it has, not what is free there.
QString verdictOf(const ModelReport& report) {
    if (report.fits())
        return LibraryList::tr("runs here");
    const QString text = report.isOfDevice ? LibraryList::tr("needs %1, the GPU has %2")
                                           : LibraryList::tr("needs %1, %2 are free");
    return text.arg(sizeText(report.neededBytes()), sizeText(report.freeBytes));
}

/// "runs here · llama · 135M · Q4_1 · 96.0 MiB": the part that a narrow dock cuts comes last.
QString factsOf(const LibraryModel& model, bool isLoaded) {
    if (!model.reason.isEmpty())
        return LibraryList::tr("does not run here: %1").arg(model.reason);
    if (!model.report)
        return LibraryList::tr("is being inspected...");
    const ModelReport& report = *model.report;
    return QStringList{isLoaded ? LibraryList::tr("is loaded") : verdictOf(report),
                       report.family,
                       parameterText(report.parameterCount),
                       mainType(report.types),
                       sizeText(report.fileBytes)}
        .join(QStringLiteral(" \u00b7 "));
}

} // namespace

LibraryList::LibraryList(const Theme& theme, ModelLibrary& library, QWidget* parent)
    : ModelList(theme, kRowsShown, parent)
    , m_library(library) {
    setAccessibleName(tr("Models in watched folders"));
    connect(&library, &ModelLibrary::changed, this, &LibraryList::fill);
    fill();
}

void LibraryList::setOnlyRunning(bool isOnly) {
    m_isOnlyRunning = isOnly;
    fill();
}

/// The current row stays where it is when others are inserted above it.
void LibraryList::fill() {
    const QListWidgetItem* before = currentItem();
    const QString path =
        before == nullptr ? QString() : before->data(TwoLineDelegate::PathRole).toString();
    const int row = currentRow();
    clear();
    for (const LibraryFolder& folder : m_library.folders()) {
        addHead(folder);
        for (const LibraryModel& model : folder.models)
            if (!m_isOnlyRunning || model.runsHere() || m_library.isLoaded(model))
                addModel(model);
    }
    int same = std::min(row, count() - 1);
    for (int i = 0; i < count(); ++i)
        if (!path.isEmpty() && item(i)->data(TwoLineDelegate::PathRole).toString() == path)
            same = i;
    setCurrentRow(same);
    updateGeometry();
}

void LibraryList::addHead(const LibraryFolder& folder) {
    auto* head = new QListWidgetItem(QDir(folder.path).dirName(), this);
    const QString where = QDir::toNativeSeparators(folder.path);
    head->setData(TwoLineDelegate::PathRole, folder.path);
    head->setData(TwoLineDelegate::SecondLineRole,
                  folder.isGone ? tr("missing: %1").arg(where) : where);
    head->setData(TwoLineDelegate::IsAlarmRole, folder.isGone);
    head->setData(TwoLineDelegate::IsHeadRole, true);
    head->setData(Qt::AccessibleTextRole,
                  tr("Watched folder %1, %2; Delete stops watching it")
                      .arg(where,
                           countText(static_cast<qint64>(folder.models.size()),
                                     tr("1 model"),
                                     tr("%1 models"))));
    head->setToolTip(tipOf(where));
}

void LibraryList::addModel(const LibraryModel& model) {
    const bool isNamed = model.report && !model.report->name.isEmpty();
    const QString name = isNamed ? model.report->name : RecentModels::nameOf(model.path);
    const bool isLoaded = m_library.isLoaded(model);
    const QString facts = factsOf(model, isLoaded);
    auto* row = new QListWidgetItem(name, this);
    row->setData(TwoLineDelegate::PathRole, model.path);
    row->setData(TwoLineDelegate::SecondLineRole, facts);
    row->setData(TwoLineDelegate::IsSentenceRole, true);
    row->setData(TwoLineDelegate::IsAlarmRole,
                 !model.reason.isEmpty() || (model.report && !model.report->fits() && !isLoaded));
    row->setData(TwoLineDelegate::IsDimRole, !model.reason.isEmpty());
    row->setData(Qt::AccessibleTextRole, tr("%1, %2").arg(name, facts));
    row->setToolTip(tipOf(QDir::toNativeSeparators(model.path) + u'\n' + facts));
}

/// One that does not run is proposed, too: the panel tells its reason in full.
bool LibraryList::canOpen(const QListWidgetItem& item) const {
    return !item.data(TwoLineDelegate::IsHeadRole).toBool();
}

QString LibraryList::removeText(const QListWidgetItem& item) const {
    return item.data(TwoLineDelegate::IsHeadRole).toBool() ? tr("&Stop watching this folder\tDel")
                                                           : ModelList::removeText(item);
}

void LibraryList::removeCurrent() {
    const QListWidgetItem* item = currentItem();
    if (item == nullptr)
        return;
    const QString path = item->data(TwoLineDelegate::PathRole).toString();
    if (item->data(TwoLineDelegate::IsHeadRole).toBool())
        m_library.removeFolder(path);
    else
        m_library.hideModel(path);
}

} // namespace ui
