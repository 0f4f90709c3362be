// SPDX-License-Identifier: GPL-3.0-only
// Walks the lessons in the whole window on the real engine and the real models, as a learner does
// who presses "Show me" at every step.
#include "tests/ui/studio/letter_model.h"
#include "ui/bridge/links/session_link.h"
#include "ui/learn/lessons/lesson_panel.h"
#include "ui/shell/bars/message_bar.h"
#include "ui/studio/studio.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBrowser>

using namespace engine;
using namespace ui;

namespace {

const QString kDefaultModel =
    QStringLiteral(SWIFT_STUDIO_CACHE_DIR "/models/SmolLM2-135M-Instruct.Q4_1.gguf");

QByteArray told(const LessonFacts& facts) {
    QByteArray all;
    for (const auto& [name, fact] : facts)
        all += QByteArray::fromStdString(name) + " = " +
               (std::holds_alternative<double>(fact)
                    ? QByteArray::number(std::get<double>(fact))
                    : QByteArray::fromStdString(std::get<std::string>(fact))) +
               "; ";
    return all;
}

} // namespace

class LessonsWalkTest : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<Studio> m_studio;
    LessonCatalog m_catalog = LessonCatalog::of(QStringLiteral("resources/lessons"));

    void open(const QString& modelPath, const QString& defaultModel = kDefaultModel) {
        m_studio.reset();
        m_folder = std::make_unique<QTemporaryDir>();
        StudioOptions options;
        options.chatsPath = m_folder->filePath(QStringLiteral("chats.sqlite"));
        options.settingsPath = m_folder->filePath(QStringLiteral("swift-studio.ini"));
        options.presetsFolder = QStringLiteral("resources/presets");
        options.ownPresetsFolder = m_folder->filePath(QStringLiteral("presets"));
        options.lessonsFolder = QStringLiteral("resources/lessons");
        options.defaultModelPath = defaultModel;
        options.modelPath = modelPath;
        m_studio = std::make_unique<Studio>(
            makeSessionLink({.moduleFolder = SWIFT_STUDIO_MODULE_DIR,
                             .dataFolder = m_folder->filePath(QStringLiteral("data")).toStdString(),
                             .loader = makeModelLoader(SWIFT_STUDIO_MODULE_DIR)}),
            options);
        m_studio->window().resize(1440, 900);
        m_studio->window().show();
        m_studio->start();
        QTRY_VERIFY(m_studio->run().decoder() != nullptr);
    }

    LessonPanel& panel() { return m_studio->lessonPanel(); }

    LessonPlayer& player() { return m_studio->lessonPlayer(); }

    QByteArray place() {
        return QByteArray::fromStdString(player().lesson()->name) + ", step " +
               QByteArray::number(player().stepIndex() + 1) + ", \"" + panel().reply().toUtf8() +
               "\", " + told(player().facts());
    }

    /// What is read never has a gap where a number should stand.
    void everythingIsFilledIn() {
        QString all = panel().text().toPlainText() + panel().reply();
        for (const QLabel* label : panel().findChildren<QLabel*>())
            all += label->text();
        for (const QAbstractButton* answer : panel().answers().buttons())
            all += answer->text();
        QVERIFY2(!all.contains(QStringLiteral("...")), qPrintable(all + place()));
    }

    /// A lesson never does what the engine refuses.
    void nothingWentWrong() {
        for (const Notice* notice : m_studio->window().findChild<MessageBar*>()->notices())
            QVERIFY2(notice->kind != Notice::Kind::Error,
                     qPrintable(notice->headline + QLatin1Char(' ') + notice->sentence));
    }

    void answerTheQuestion() {
        const std::size_t count = player().step().check->answers.size();
        QCOMPARE(static_cast<std::size_t>(panel().answers().buttons().size()), count);
        for (const bool isRight : {false, true})
            for (std::size_t i = 0; i < count; ++i) {
                if (player().step().check->answers[i].isRight != isRight)
                    continue;
                panel().answers().button(static_cast<int>(i))->click();
                QCOMPARE(player().verdict().isRight, isRight);
                QVERIFY2(!panel().reply().isEmpty(), place());
                everythingIsFilledIn();
            }
    }

    void doWhatIsAsked() {
        QVERIFY2(!player().verdict().isRight, place());
        QVERIFY2(!panel().reply().isEmpty(), place()); // the hint
        QVERIFY2(panel().showButton().isEnabled(), place());
        panel().showButton().click();
        QTRY_VERIFY2(player().verdict().isRight || !player().isBusy(), place());
        QVERIFY2(player().verdict().isRight, place());
        QVERIFY2(panel().reply().startsWith(QStringLiteral("\u2713 ")), place());
        QTRY_VERIFY2(!player().isBusy(), place());
    }

    double number(const char* fact) const {
        const auto known = m_studio->lessonPlayer().facts().find(fact);
        return known == m_studio->lessonPlayer().facts().end() ? -1.0
                                                               : std::get<double>(known->second);
    }

    /// The lesson on why the text cannot change shows a round that was partly wrong, then one that
    /// was wrong from the first token on.
    void theRoundIsWhatTheTextSays() {
        if (player().lesson()->name != "draft_and_verify")
            return;
        if (player().stepIndex() == 1) {
            QVERIFY2(number("round.accepted") >= 1.0, place());
            QVERIFY2(number("round.accepted") < number("round.candidates"), place());
            // Two of the answers would be the same number.
            QVERIFY2(number("round.written") < number("round.candidates"), place());
        }
        if (player().stepIndex() == 2) {
            QVERIFY2(number("round.candidates") >= 2.0, place());
            QCOMPARE(number("round.accepted"), 0.0);
            QCOMPARE(number("round.written"), 1.0);
        }
    }

    /// A step that names a profile means it as it is: on this model the window has others of its
    /// own.
    void theSearchIsThePapers() {
        if (player().lesson()->name != "search" || player().stepIndex() != 1)
            return;
        QCOMPARE(textOf(m_studio->run().settings(), "profile"), std::string("paper"));
        QCOMPARE(numberOf(m_studio->run().settings(), "r"), 0.45);
    }

    void walk(const Lesson& lesson) {
        panel().begin(lesson);
        QVERIFY2(panel().obstacle().isEmpty(), qPrintable(panel().obstacle()));
        for (int i = 0; i < player().stepCount(); ++i) {
            QCOMPARE(player().stepIndex(), i);
            QTRY_VERIFY2(player().isPrepared(), place());
            QVERIFY2(!player().isDone(i), place());
            theRoundIsWhatTheTextSays();
            if (player().step().check->answers.empty())
                doWhatIsAsked();
            else
                answerTheQuestion();
            theSearchIsThePapers();
            if (QTest::currentTestFailed())
                return;
            QVERIFY2(player().isDone(i), place());
            everythingIsFilledIn();
            nothingWentWrong();
            if (QTest::currentTestFailed())
                return;
            if (i + 1 < player().stepCount())
                panel().nextButton().click();
        }
        QCOMPARE(player().doneSteps(lesson), static_cast<int>(lesson.steps.size()));
        player().leave();
    }

private slots:

    void cleanup() { m_studio.reset(); }

    /// One behind the other in one window, so that what an earlier lesson leaves behind passes no
    /// check of a later one.
    void everyCheckIsFirstFailedAndThenPassedByItsSolution() {
        if (!QFileInfo::exists(kDefaultModel))
            QSKIP("The default model is not here: installer/run.sh fetches it.");
        open(kDefaultModel);
        QVERIFY(m_catalog.problems.isEmpty());
        for (const Lesson& lesson : m_catalog.lessons) {
            if (lesson.needs.spaceModel)
                continue;
            QElapsedTimer clock;
            clock.start();
            walk(lesson);
            if (QTest::currentTestFailed())
                return;
            qInfo("%s: %.1f s", lesson.name.c_str(), 1e-3 * static_cast<double>(clock.elapsed()));
        }
    }

    void theModelOfALessonIsNotTheOneOfTheNextStart() {
        QTemporaryDir models;
        const QString own = models.filePath(QStringLiteral("own"));
        const QString usual = models.filePath(QStringLiteral("usual"));
        support::writeLetterModel(own, 3);
        support::writeLetterModel(usual, 4);
        open(own, usual);
        QTRY_VERIFY(m_studio->run().model() != nullptr);
        const auto isInUse = [this](const QString& path) {
            const ModelLoaded* model = m_studio->run().model();
            return model != nullptr &&
                   QFileInfo(QString::fromStdString(model->path)) == QFileInfo(path);
        };
        Lesson lesson;
        lesson.name = "own";
        lesson.title = "A lesson of mine";
        lesson.needs.model = "default";
        lesson.steps.push_back({.title = "Read", .text = "Text.", .view = "chat"});
        panel().begin(lesson);
        QVERIFY2(panel().obstacle().isEmpty(), qPrintable(panel().obstacle()));
        QTRY_VERIFY(player().isPrepared());
        QVERIFY(isInUse(usual));
        MessageBar& messages = m_studio->window().messages();
        QVERIFY(!messages.isShown(QStringLiteral("former_model")));
        player().leave();
        const QSettings kept(m_folder->filePath(QStringLiteral("swift-studio.ini")),
                             QSettings::IniFormat);
        const QString next = kept.value(QStringLiteral("session/model")).toString();
        QVERIFY2(QFileInfo(next) == QFileInfo(own), qPrintable(next));
        const auto offers = messages.notices();
        const auto offer = std::ranges::find_if(offers, [](const Notice* notice) {
            return notice->id == QLatin1String("former_model");
        });
        QVERIFY(offer != offers.end());
        (*offer)->choices.front().act();
        QTRY_VERIFY(isInUse(own));
        QVERIFY(!messages.isShown(QStringLiteral("former_model")));
    }

    /// The small model fills in nothing of use, but it has a mask token and makes every round.
    void theLessonOnMaskTokensIsWalkedWithAModelThatHasOne() {
        QTemporaryDir models;
        const QString path = models.filePath(QStringLiteral("letters"));
        support::writeLetterModel(path, 3);
        const std::filesystem::path config = (path + QStringLiteral("/config.json")).toStdString();
        std::ifstream file(config);
        std::string text((std::istreambuf_iterator<char>(file)), {});
        text.insert(1, R"("mask_token_id":15,)");
        support::writeText(config, text);
        open(path);
        const auto lesson = std::ranges::find_if(
            m_catalog.lessons, [](const Lesson& each) { return each.needs.spaceModel; });
        QVERIFY(lesson != m_catalog.lessons.end());
        panel().begin(*lesson);
        QVERIFY2(panel().obstacle().contains(QStringLiteral("choose the decoder SPACE")),
                 qPrintable(panel().obstacle()));
        m_studio->bridge().send(ChooseDecoder{"space"});
        QTRY_COMPARE(m_studio->run().decoder()->name, std::string("space"));
        walk(*lesson);
        const auto guesses = player().facts().find("round.candidates");
        QVERIFY(guesses != player().facts().end());
        QVERIFY(std::get<double>(guesses->second) > 0.0); // its last step asks about them
    }
};

QTEST_MAIN(LessonsWalkTest)
#include "lessons_walk_test.moc"
