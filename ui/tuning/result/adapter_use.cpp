// SPDX-License-Identifier: GPL-3.0-only
#include "ui/tuning/result/adapter_use.h"

#include "engine/session/loading/draft_adapter_choice.h"
#include "ui/files/whole_file.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <utility>

namespace ui {

namespace {

/// Byte for byte. A file that cannot be read is equal to none.
bool areEqual(const QString& one, const QString& other) {
    constexpr qint64 kBlock = 1 << 20;
    QFile first(one);
    QFile second(other);
    if (!first.open(QIODevice::ReadOnly) || !second.open(QIODevice::ReadOnly) ||
        first.size() != second.size())
        return false;
    while (!first.atEnd()) {
        const QByteArray block = first.read(kBlock);
        if (block.isEmpty() || block != second.read(kBlock))
            return false;
    }
    return true;
}

AdapterUse::Used usedAt(const QString& adapter, const QString& place) {
    using Used = AdapterUse::Used;
    if (place.isEmpty() || !QFileInfo::exists(place))
        return Used::None;
    return areEqual(adapter, place) ? Used::Result : Used::Other;
}

QString notWritten(const QString& path, const QString& reason) {
    return AdapterUse::tr(
               "%1 cannot be written (%2). Check the folder's permissions and the free space.")
        .arg(QDir::toNativeSeparators(path), reason);
}

} // namespace

AdapterUse::AdapterUse(QObject* parent)
    : QObject(parent) {
    m_thread.setMaxThreadCount(1);
}

AdapterUse::~AdapterUse() { m_thread.waitForDone(); }

void AdapterUse::look(const QString& adapter, const QString& place) {
    const bool isSame = std::exchange(m_adapter, adapter) == adapter && m_place == place;
    m_place = place;
    if (!isSame)
        ++m_number;
    if (place.isEmpty()) {
        setUsed(Used::None);
        return;
    }
    if (!isSame)
        setUsed(Used::Unknown);
    later([](const QString&, const QString&) { return Deed(); }, {});
}

void AdapterUse::use() {
    later(put, [this](const Deed& deed) { emit placed(deed.before); });
}

void AdapterUse::remove() {
    later(takeAway, [this](const Deed&) { emit removed(); });
}

/// One after the other; behind each, what is used is looked at anew. The destructor waits for the
/// thread, so `this` is valid.
void AdapterUse::later(const Task& task, const std::function<void(const Deed&)>& tell) {
    m_thread.start([this, task, tell, adapter = m_adapter, place = m_place, number = m_number] {
        const Deed deed = task(adapter, place);
        const Used found = usedAt(adapter, place);
        QMetaObject::invokeMethod(
            this,
            [this, tell, deed, found, number] {
                if (number == m_number)
                    setUsed(found);
                if (!deed.problem.isEmpty())
                    emit failed(deed.problem);
                else if (deed.isDone)
                    tell(deed);
            },
            Qt::QueuedConnection);
    });
}

void AdapterUse::setUsed(Used used) {
    if (std::exchange(m_used, used) != used)
        emit changed();
}

/// At no time is there none in the place of one that was there.
AdapterUse::Deed AdapterUse::put(const QString& adapter, const QString& place) {
    QFile trained(adapter);
    const QByteArray bytes = trained.open(QIODevice::ReadOnly) ? trained.readAll() : QByteArray();
    if (trained.error() != QFile::NoError)
        return {false,
                {},
                tr("%1 cannot be read (%2).")
                    .arg(QDir::toNativeSeparators(adapter), trained.errorString())};
    const Deed kept = usedAt(adapter, place) == Used::Other ? keepOther(place) : Deed{true, {}, {}};
    if (!kept.isDone)
        return kept;
    QDir().mkpath(QFileInfo(place).path());
    if (const QString reason = saveWhole(bytes, place); !reason.isEmpty())
        return {false, {}, notWritten(place, reason)};
    return kept;
}

AdapterUse::Deed AdapterUse::keepOther(const QString& place) {
    const auto kept = engine::keepUsedAdapter(place.toStdString());
    if (!kept)
        return {false,
                {},
                notWritten(place + QStringLiteral(".before"),
                           QString::fromStdString(kept.error().message))};
    return {true, QString::fromStdString(kept.value().string()), {}};
}

AdapterUse::Deed AdapterUse::takeAway(const QString& adapter, const QString& place) {
    if (usedAt(adapter, place) != Used::Result)
        return {};
    if (QFile::remove(place))
        return {true, {}, {}};
    return {false,
            {},
            tr("%1 cannot be deleted: check the folder's permissions.")
                .arg(QDir::toNativeSeparators(place))};
}

} // namespace ui
