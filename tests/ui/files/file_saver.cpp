// SPDX-License-Identifier: GPL-3.0-only
// file_saver WHAT FILE: saves one of the things that the window saves, as the window does. Exit
// code 0 when it is saved, 7 when a sentence on standard error says why not, 2 for another WHAT.
#include "ui/chat/prompt_list.h"
#include "ui/plots/picture_file.h"
#include "ui/store/export/chat_export.h"
#include "ui/views/controls/presets/preset.h"
#include "ui/views/layer_map/editing/skip_set_files.h"

#include <QApplication>
#include <QFileInfo>
#include <QPainter>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string_view>

using namespace ui;

namespace {

class Square : public PictureSource {
public:
    FigureTable table() const override { return {{QStringLiteral("a")}, {{QStringLiteral("1")}}}; }

    QSize pictureSize() const override { return {20, 20}; }

    void drawPicture(QPaintDevice& device, QSize size) override {
        QPainter(&device).fillRect(QRect(QPoint(), size), Qt::blue);
    }
};

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

QString presetSaved(const QString& path) {
    PresetShelf shelf({}, QFileInfo(path).absolutePath());
    Preset preset;
    preset.name = QFileInfo(path).completeBaseName();
    preset.decoder = "swift";
    preset.values["r"] = 0.25;
    const auto saved = shelf.save(preset);
    return saved ? QString() : QString::fromStdString(saved.error().message);
}

/// A sentence, or nothing when it is saved.
QString saved(const QString& what, const QString& path) {
    Square square;
    const std::map<QString, std::function<QString()>> ways = {
        {QStringLiteral("markdown"), [&] { return exported(ExportFormat::Markdown, path); }},
        {QStringLiteral("html"), [&] { return exported(ExportFormat::Html, path); }},
        {QStringLiteral("json"), [&] { return exported(ExportFormat::Json, path); }},
        {QStringLiteral("pdf"), [&] { return exported(ExportFormat::Pdf, path); }},
        {QStringLiteral("prompts"),
         [&] {
             return PromptList(path).add({QStringLiteral("t"), QStringLiteral("new")});
         }},
        {QStringLiteral("csv"), [&] { return saveCsv(square.table(), path).value_or(QString()); }},
        {QStringLiteral("svg"), [&] { return saveSvg(square, path).value_or(QString()); }},
        {QStringLiteral("png"), [&] { return savePng(square, path).value_or(QString()); }},
        {QStringLiteral("skip_set"),
         [&] {
             return writeSkipSet(path, "chat", {{3}, {4}}).value_or(QString());
         }},
        {QStringLiteral("preset"), [&] { return presetSaved(path); }}};
    const auto way = ways.find(what);
    if (way == ways.end())
        ::_Exit(2);
    return way->second();
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    // Fonts are what takes most of the time, and only these are drawn.
    const std::set<std::string_view> drawn = {"html", "pdf", "svg", "png"};
    std::unique_ptr<QCoreApplication> application;
    if (drawn.contains(argv[1]))
        application = std::make_unique<QApplication>(argc, argv);
    else
        application = std::make_unique<QCoreApplication>(argc, argv);
    const QString problem = saved(QString::fromLocal8Bit(argv[1]), QString::fromLocal8Bit(argv[2]));
    if (problem.isEmpty())
        return 0;
    std::fputs(qPrintable(problem), stderr);
    return 7;
}
