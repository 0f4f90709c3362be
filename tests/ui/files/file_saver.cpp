// SPDX-License-Identifier: GPL-3.0-only
// file_saver WHAT FILE: saves one of the things that the window saves, as the window does. Exit
// code 0 when it is saved, 7 when a sentence on standard error says why not, 2 for another WHAT.
#include "ui/chat/prompt_list.h"
#include "ui/store/export/chat_export.h"

#include <QApplication>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

using namespace ui;

namespace {

QString exported(ExportFormat format, const QString& path) {
    Chat chat;
    chat.record.title = QStringLiteral("A chat");
    StoredMessage words;
    words.id = 1;
    words.text = QString(20'000, u'x');
    chat.record.leafId = 1;
    chat.messages.append(words);
    return writeExport(chat, {format, path});
}

/// A sentence, or nothing when it is saved.
QString saved(const QString& what, const QString& path) {
    const std::map<QString, std::function<QString()>> ways = {
        {QStringLiteral("markdown"), [&] { return exported(ExportFormat::Markdown, path); }},
        {QStringLiteral("html"), [&] { return exported(ExportFormat::Html, path); }},
        {QStringLiteral("json"), [&] { return exported(ExportFormat::Json, path); }},
        {QStringLiteral("pdf"), [&] { return exported(ExportFormat::Pdf, path); }},
        {QStringLiteral("prompts"), [&] {
             return PromptList(path).add({QStringLiteral("t"), QStringLiteral("new")});
         }}};
    const auto way = ways.find(what);
    if (way == ways.end())
        ::_Exit(2);
    return way->second();
}

} // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    if (argc != 3)
        return 2;
    const QString problem = saved(QString::fromLocal8Bit(argv[1]), QString::fromLocal8Bit(argv[2]));
    if (problem.isEmpty())
        return 0;
    std::fputs(qPrintable(problem), stderr);
    return 7;
}
