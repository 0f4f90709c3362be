// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/prompt_list.h"

#include "ui/files/whole_file.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

namespace ui {

namespace {

constexpr QLatin1String kFormat("swift-studio-prompts");
constexpr int kPromptTitleLength = 60;

bool isBefore(const SavedPrompt& a, const SavedPrompt& b) {
    return QString::compare(a.title, b.title, Qt::CaseInsensitive) < 0;
}

} // namespace

PromptList::PromptList(QString path, QObject* parent)
    : QObject(parent)
    , m_path(std::move(path)) {
    read();
}

QString PromptList::titleOf(const QString& text) {
    const QString line = text.simplified();
    return line.size() <= kPromptTitleLength ? line : line.left(kPromptTitleLength - 1) + u'\u2026';
}

void PromptList::read() {
    QFile file(m_path);
    if (!file.exists())
        return;
    const QByteArray bytes = file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    QJsonParseError fault;
    const QJsonObject json = QJsonDocument::fromJson(bytes, &fault).object();
    if (json.value(QLatin1String("format")).toString() == kFormat) {
        for (const QJsonValue& value : json.value(QLatin1String("prompts")).toArray())
            m_prompts.append({value[QLatin1String("title")].toString(),
                              value[QLatin1String("text")].toString()});
        return;
    }
    QString why = tr("it holds something else");
    if (file.error() != QFile::NoError)
        why = file.errorString();
    else if (fault.error != QJsonParseError::NoError)
        why = tr("line %1: %2")
                  .arg(bytes.left(fault.offset).count('\n') + 1)
                  .arg(fault.errorString());
    file.close();
    m_problem = tr("The file with your prompts cannot be read (%1). It was kept as %2.")
                    .arg(why, setAside(m_path));
}

QString PromptList::keep(QList<SavedPrompt> prompts) {
    std::stable_sort(prompts.begin(), prompts.end(), isBefore);
    QJsonArray list;
    for (const SavedPrompt& prompt : prompts)
        list.append(QJsonObject{{QStringLiteral("title"), prompt.title},
                                {QStringLiteral("text"), prompt.text}});
    const QJsonObject json{{QStringLiteral("format"), kFormat},
                           {QStringLiteral("version"), 1},
                           {QStringLiteral("prompts"), list}};
    const QByteArray content = QJsonDocument(json).toJson();
    if (m_path.isEmpty())
        return m_problem;
    QDir().mkpath(QFileInfo(m_path).absolutePath());
    if (const QString problem = saveWhole(content, m_path); !problem.isEmpty())
        return tr("Your prompts cannot be written to %1 (%2). Check the folder's permissions and "
                  "the free space.")
            .arg(QDir::toNativeSeparators(m_path), problem);
    m_prompts = prompts;
    emit changed();
    return {};
}

QString PromptList::add(SavedPrompt prompt) {
    if (prompt.title.trimmed().isEmpty())
        prompt.title = titleOf(prompt.text);
    QList<SavedPrompt> more = m_prompts;
    more.append(prompt);
    return keep(more);
}

QString PromptList::replace(const SavedPrompt& old, SavedPrompt by) {
    if (by.title.trimmed().isEmpty())
        by.title = titleOf(by.text);
    QList<SavedPrompt> other = m_prompts;
    const qsizetype at = other.indexOf(old);
    if (at < 0)
        return add(by);
    other[at] = by;
    return keep(other);
}

QString PromptList::remove(const SavedPrompt& prompt) {
    QList<SavedPrompt> fewer = m_prompts;
    fewer.removeOne(prompt);
    return keep(fewer);
}

} // namespace ui
