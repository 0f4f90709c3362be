// SPDX-License-Identifier: GPL-3.0-only
#include "engine/decoding/decoder_registry.h"
#include "engine/session/known_backends.h"
#include "tests/ui/language/source_texts.h"
#include "ui/language/catalogue.h"

#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTest>

using namespace engine;

namespace {

/// With what a translation must have, too.
QStringList placeholders(const QString& text) {
    static const QRegularExpression kPlaceholder(
        QStringLiteral("%(?:L?\\d+|n)|<[^<> ][^<>]*>|\\n"));
    QStringList found;
    for (auto match = kPlaceholder.globalMatch(text); match.hasNext();)
        found << match.next().captured();
    found.sort();
    return found;
}

/// Words that are no name, no SQL, no style sheet and no code.
bool looksLikeASentence(const QString& text) {
    static const QRegularExpression kWords(QStringLiteral("[A-Za-z]{3,}[,:]? [a-z]{2,}"));
    static const QRegularExpression kCode(
        QStringLiteral("[{}<>]|\\b(SELECT|PRAGMA|INSERT|CREATE|ALTER|DROP|FROM|CASE|BEGIN)\\b|;$"));
    return text.contains(kWords) && !text.contains(kCode);
}

/// Sources whose sentences are not for the window, and why.
const QStringList kUntranslated = {
    QStringLiteral("ui/chat/answer_defaults.cpp"),         // the owner in an error of the engine
    QStringLiteral("ui/chat/session/chat_context.cpp"),    // prompts for the model
    QStringLiteral("ui/experiments/setup/run_setup.cpp"),  // written into recipes
    QStringLiteral("ui/language/catalogue.cpp"),           // told before there are translations
    QStringLiteral("ui/markdown/code/code_languages.cpp"), // words of programming languages
    QStringLiteral("ui/store/chat_records.cpp"),           // names
    QStringLiteral("ui/store/chat_store.cpp"),             // the name of a thread
    QStringLiteral("ui/store/sqlite/chat_database.cpp"),   // looked for in SQLite's messages
    QStringLiteral("ui/tuning/tuning_choice.cpp"),         // a licence, written into adapters
    QStringLiteral("ui/views/experiments/stream/prompts_view.cpp"), // the name of a task
    QStringLiteral("ui/views/layer_map/editing/manual_set.cpp"),    // the owner, as above
};

QJsonObject objectIn(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object()
                                          : QJsonObject();
}

QString listed(QStringList lines) {
    lines.sort();
    return QStringLiteral("%1:\n%2").arg(lines.size()).arg(lines.join(QLatin1Char('\n')));
}

} // namespace

/// German is complete: what holds for it is asked of every language that comes to it.
class GermanTest : public QObject {
    Q_OBJECT

    support::SourceTexts m_source;
    QSet<QByteArray> m_engine; ///< what decoders, backends and recipes say of themselves
    std::unique_ptr<ui::Catalogue> m_german;

    QString german(const QByteArray& key) const {
        const qsizetype tab = key.indexOf('\t');
        const QByteArray english = tab < 0 ? key : key.left(tab);
        const QByteArray meaning = tab < 0 ? QByteArray() : key.mid(tab + 1);
        return m_german->translate("", english.constData(), meaning.constData());
    }

    void addSetting(const SettingInfo& setting) {
        for (const std::string& text :
             {setting.title, setting.unit, setting.meaning, setting.group})
            m_engine.insert(QByteArray::fromStdString(text));
        for (const std::string& text : setting.choiceTitles)
            m_engine.insert(QByteArray::fromStdString(text));
    }

private slots:

    void initTestCase() {
        m_source = support::textsOfTheWindow();
        DecoderRegistry registry(SWIFT_STUDIO_MODULE_DIR);
        for (const DecoderInfo& decoder : registry.list()) {
            for (const std::string& text : {decoder.summary, decoder.explanation})
                m_engine.insert(QByteArray::fromStdString(text));
            for (const SettingInfo& setting : decoder.settings)
                addSetting(setting);
        }
        for (const BackendInfo& backend : knownBackends(SWIFT_STUDIO_MODULE_DIR)) {
            m_engine.insert(QByteArray::fromStdString(backend.summary));
            for (const SettingInfo& setting : backend.settings)
                addSetting(setting);
        }
        m_engine.insert("LibTorch, all cores"); // of a module that is not built everywhere
        for (const QFileInfo& file :
             QDir(QStringLiteral("resources/recipes")).entryInfoList(QDir::Files)) {
            const QJsonObject recipe = objectIn(file.filePath());
            for (const char* text : {"title", "summary"})
                m_engine.insert(recipe[QLatin1String(text)].toString().toUtf8());
        }
        for (const QFileInfo& file :
             QDir(QStringLiteral("resources/presets")).entryInfoList(QDir::Files)) {
            const QJsonObject preset = objectIn(file.filePath());
            for (const char* text : {"name", "meaning"})
                m_engine.insert(preset[QLatin1String(text)].toString().toUtf8());
        }
        m_engine.remove({});
        auto read = ui::Catalogue::read(QStringLiteral("resources/translations/de"));
        QVERIFY2(read, read ? "" : read.error().message.c_str());
        m_german = std::move(read).value();
        QVERIFY(m_source.translated.size() > 1000);
        QVERIFY(m_engine.size() > 100);
    }

    void sourcesAreReadAsTheCompilerReadsThem() {
        support::SourceTexts texts;
        support::addTexts(
            QStringLiteral(
                "// tr(\"a comment\")\n"
                "f(tr(\"One \"\n"
                "     \"\\\"two\\\" \\u00B7 %1\", \"kind\"), '\"', 10'000, Other::tr(\"Three\"));\n"
                "const char* names[] = {QT_TR_NOOP(\"Four\"), QT_TRANSLATE_NOOP(\"ui::X\", "
                "\"Five\")};\n"
                "/* tr(\"Six\") */ attr(\"Seven words\"); tr(name); s = R\"(Eight)\";"),
            QStringLiteral("a.cpp"),
            texts);
        QCOMPARE(texts.translated,
                 QSet<QByteArray>({"One \"two\" \u00B7 %1\tkind", "Three", "Four", "Five"}));
        QCOMPARE(int(texts.others.size()), 2);
        QCOMPARE(texts.others[0].text, QStringLiteral("Seven words"));
        QCOMPARE(texts.others[0].place, QStringLiteral("a.cpp:5"));
        QCOMPARE(texts.others[1].text, QStringLiteral("Eight"));
    }

    void everySentenceOfTheWindowCanBeTranslated() {
        QStringList loose;
        for (const support::SourceTexts::Other& other : m_source.others)
            if (looksLikeASentence(other.text) &&
                !kUntranslated.contains(other.place.section(QLatin1Char(':'), 0, 0)))
                loose << other.place + QStringLiteral(": ") + other.text;
        QVERIFY2(loose.isEmpty(), qPrintable(listed(loose)));
    }

    void everyTextHasItsGerman() {
        QStringList missing;
        for (const QByteArray& key : m_source.translated + m_engine)
            if (german(key).isEmpty())
                missing << QString::fromUtf8(key);
        QVERIFY2(missing.isEmpty(), qPrintable(listed(missing)));
    }

    /// What the window says no more would be read and kept up for nobody. Qt's own texts are in
    /// none of our sources.
    void everyGermanTextIsSaid() {
        const QJsonObject ofQt = objectIn(QStringLiteral("resources/translations/de/qt.json"));
        QStringList unsaid;
        for (const QByteArray& key : m_german->keys())
            if (!m_source.translated.contains(key) && !m_engine.contains(key) &&
                !ofQt.contains(QString::fromUtf8(key)))
                unsaid << QString::fromUtf8(key);
        QVERIFY2(unsaid.isEmpty(), qPrintable(listed(unsaid)));
    }

    void theGermanHasThePlaceholdersOfTheEnglish() {
        QStringList wrong;
        for (const QByteArray& key : m_german->keys()) {
            const QString english = QString::fromUtf8(key).section(QLatin1Char('\t'), 0, 0);
            if (placeholders(english) != placeholders(german(key)))
                wrong << QStringLiteral("%1 | %2").arg(english, german(key));
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(listed(wrong)));
    }

    /// A menu's letter, the full stop and the dots of "more to come" are kept as well.
    void theGermanEndsAsTheEnglish() {
        QStringList wrong;
        const auto endOf = [](const QString& text) {
            static const QString kEnds = QStringLiteral(".:?! ");
            return !text.isEmpty() && kEnds.contains(text.back()) ? QString(text.back())
                                                                  : QString();
        };
        for (const QByteArray& key : m_german->keys()) {
            const QString english = QString::fromUtf8(key).section(QLatin1Char('\t'), 0, 0);
            const QString text = german(key);
            if (endOf(english) != endOf(text) ||
                english.startsWith(QLatin1Char(' ')) != text.startsWith(QLatin1Char(' ')) ||
                english.endsWith(QLatin1String("...")) != text.endsWith(QLatin1String("...")))
                wrong << QStringLiteral("%1 | %2").arg(english, text);
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(listed(wrong)));
    }
};

QTEST_GUILESS_MAIN(GermanTest)
#include "german_test.moc"
