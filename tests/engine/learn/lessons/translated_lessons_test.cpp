// SPDX-License-Identifier: Apache-2.0
// A translated lesson shows, does and asks for the same as the English one; only its words differ.
#include "engine/learn/lessons/lesson.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTest>

using namespace engine;

namespace {

const QString kFolder = QStringLiteral("resources/lessons");

/// The members that a translator writes anew. "right" is one where it is a text.
const QStringList kWords = {
    "title", "summary", "source", "button", "question", "text", "reply", "right", "wrong"};

QStringList filesIn(const QString& folder) {
    return QDir(folder).entryList({QStringLiteral("*.json")}, QDir::Files, QDir::Name);
}

QStringList languages() { return QDir(kFolder).entryList(QDir::Dirs | QDir::NoDotAndDotDot); }

QJsonValue jsonOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly)
               ? QJsonValue(QJsonDocument::fromJson(file.readAll()).object())
               : QJsonValue();
}

/// The facts that a text shows, each once.
QSet<QString> placesIn(const QString& text) {
    static const QRegularExpression kPlace(QStringLiteral("\\{\\{[^}]*\\}\\}"));
    QSet<QString> places;
    for (auto match = kPlace.globalMatch(text); match.hasNext();)
        places << match.next().captured();
    return places;
}

/// Something to translate: two words outside of the places.
bool isSentence(QString text) {
    for (const QString& place : placesIn(text))
        text.remove(place);
    static const QRegularExpression kTwoWords(QStringLiteral("[A-Za-z]{2,} [a-z]{2,}"));
    return text.contains(kTwoWords);
}

/// Collects where a translation is not what it must be.
class Comparison {
public:
    QStringList faults;

    void compare(const QJsonValue& original, const QJsonValue& translated, const QString& at) {
        if (original.type() != translated.type()) {
            faults << at + QStringLiteral(" is there in one of the two only, or is another kind");
        } else if (original.isObject()) {
            compareObjects(original.toObject(), translated.toObject(), at);
        } else if (original.isArray()) {
            const QJsonArray from = original.toArray();
            const QJsonArray to = translated.toArray();
            if (from.size() != to.size())
                faults << QStringLiteral("%1 has %2 members, not %3")
                              .arg(at)
                              .arg(to.size())
                              .arg(from.size());
            for (qsizetype i = 0; i < std::min(from.size(), to.size()); ++i)
                compare(from[i], to[i], QStringLiteral("%1[%2]").arg(at).arg(i));
        } else if (original.isString() && kWords.contains(at.section(QLatin1Char('.'), -1))) {
            compareWords(original.toString(), translated.toString(), at);
        } else if (original != translated) {
            faults << at + QStringLiteral(" differs");
        }
    }

    void compareWords(const QString& original, const QString& translated, const QString& at) {
        if (placesIn(original) != placesIn(translated))
            faults << at + QStringLiteral(" shows other facts: ") + translated;
        if (isSentence(original) && original == translated)
            faults << at + QStringLiteral(" is not translated: ") + translated;
    }

private:
    void
    compareObjects(const QJsonObject& original, const QJsonObject& translated, const QString& at) {
        QStringList members = original.keys();
        for (const QString& member : translated.keys())
            if (!members.contains(member))
                members << member;
        for (const QString& member : members)
            compare(original[member], translated[member], at + QLatin1Char('.') + member);
    }
};

} // namespace

class TranslatedLessonsTest : public QObject {
    Q_OBJECT

private slots:

    void aTranslationIsOfALessonThatThereIs() {
        const QStringList originals = filesIn(kFolder);
        for (const QString& language : languages())
            for (const QString& file : filesIn(kFolder + QLatin1Char('/') + language))
                QVERIFY2(originals.contains(file), qPrintable(language + QLatin1Char('/') + file));
    }

    void germanHasEveryLesson() {
        QVERIFY(filesIn(kFolder).size() >= 10);
        QCOMPARE(filesIn(kFolder + QStringLiteral("/de")), filesIn(kFolder));
    }

    void aTranslationDiffersInItsWordsAlone_data() {
        QTest::addColumn<QString>("original");
        QTest::addColumn<QString>("translated");
        for (const QString& language : languages())
            for (const QString& file : filesIn(kFolder + QLatin1Char('/') + language)) {
                const QString name = language + QLatin1Char('/') + file;
                QTest::newRow(qPrintable(name))
                    << kFolder + QLatin1Char('/') + file << kFolder + QLatin1Char('/') + name;
            }
    }

    void aTranslationDiffersInItsWordsAlone() {
        QFETCH(QString, original);
        QFETCH(QString, translated);
        const auto english = readLessonFile(original.toStdString());
        const auto other = readLessonFile(translated.toStdString());
        QVERIFY2(english, english ? "" : english.error().message.c_str());
        QVERIFY2(other, other ? "" : other.error().message.c_str());
        Comparison comparison;
        comparison.compare(jsonOf(original), jsonOf(translated), QStringLiteral("lesson"));
        const auto& steps = english.value().steps;
        for (std::size_t i = 0; i < std::min(steps.size(), other.value().steps.size()); ++i)
            comparison.compareWords(QString::fromStdString(steps[i].text),
                                    QString::fromStdString(other.value().steps[i].text),
                                    QStringLiteral("the text of step %1").arg(i + 1));
        QVERIFY2(comparison.faults.isEmpty(),
                 qPrintable(comparison.faults.join(QLatin1Char('\n'))));
    }

    /// The comparison itself: one fault in a translation that is right.
    void aDifferenceIsFound_data() {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("named");
        QTest::newRow("another right answer") << "\"right\": true,"
                                              << "\"right\": false,"
                                              << "answers[0].right";
        QTest::newRow("no mark") << "\"right\": true, "
                                 << ""
                                 << "answers[0].right";
        QTest::newRow("another view") << "chat"
                                      << "lens"
                                      << "steps[0].view";
        QTest::newRow("another prompt") << "Count."
                                        << "Zähle."
                                        << "actions[0].ask";
        QTest::newRow("another fact") << "answer.M"
                                      << "answer.c"
                                      << "shows other facts";
        QTest::newRow("an answer less") << R"(, {"text": "no", "reply": "Look."})"
                                        << ""
                                        << "answers has 1 members, not 2";
        QTest::newRow("not translated") << "Wie viele?"
                                        << "How many?"
                                        << "is not translated";
    }

    void aDifferenceIsFound() {
        QFETCH(QString, from);
        QFETCH(QString, to);
        QFETCH(QString, named);
        const QString english =
            R"({"steps": [{"view": "chat", "actions": [{"ask": "Count."}], "check": {
 "question": "How many?", "answers": [
 {"text": "{{answer.M}}", "right": true, "reply": "Yes."}, {"text": "no", "reply": "Look."}]}}]})";
        QString german = english;
        german.replace("How many?", "Wie viele?");
        const auto faults = [&](const QString& text) {
            Comparison comparison;
            comparison.compare(QJsonDocument::fromJson(english.toUtf8()).object(),
                               QJsonDocument::fromJson(text.toUtf8()).object(),
                               QStringLiteral("lesson"));
            return comparison.faults.join(QLatin1Char('\n'));
        };
        QCOMPARE(faults(german), QString());
        QVERIFY(german.contains(from));
        german.replace(from, to);
        QVERIFY2(faults(german).contains(named), qPrintable(faults(german)));
    }
};

QTEST_GUILESS_MAIN(TranslatedLessonsTest)
#include "translated_lessons_test.moc"
