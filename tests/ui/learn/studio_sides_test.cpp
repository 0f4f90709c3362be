// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/studio/engine_stage.h"
#include "ui/learn/learn_page.h"
#include "ui/shell/docks/view.h"
#include "ui/views/learn/sides/sides_view.h"

#include <QLineEdit>
#include <QPushButton>

using namespace engine;
using namespace support;
using namespace ui;

/// The lossless check and the split chat in the window, on the real engine.
class StudioSidesTest : public EngineStageTest {
    Q_OBJECT

    SidesView* sides(const char* id) {
        for (SidesView* view : studio().window().findChildren<SidesView*>())
            if (view->info().id == QLatin1String(id))
                return view;
        return nullptr;
    }

    QStringList textsOfBranch() {
        QStringList texts;
        for (const StoredMessage& message : studio().session().branch())
            texts << message.text;
        return texts;
    }

private slots:

    /// Answers are short, or a second question would not fit into the context beside the first
    /// answer, and the window would ask the user what to leave out.
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        writeLetterModel(m_folder->filePath(QStringLiteral("letters")), 3);
        QSettings(m_folder->filePath(QStringLiteral("swift-studio.ini")), QSettings::IniFormat)
            .setValue(QStringLiteral("answers/everywhere"), QStringLiteral("{\"max_tokens\":40}"));
        open();
    }

    void cleanup() { m_stage.reset(); }

    void theNewestAnswerIsCheckedAndTheChatStaysAsItIs() {
        answer(QStringLiteral("abc ab"));
        const QStringList before = textsOfBranch();
        const std::size_t events = m_stage->events.size();
        trigger("run.lossless");
        SidesView* view = sides("lossless");
        QVERIFY(view->isVisible());
        QTRY_VERIFY(view->run().hasBegun() && !view->run().isRunning());
        const SideComparison& compared = view->run().comparison();
        QVERIFY2(compared.areEqual(), qPrintable(view->verdictText()));
        QVERIFY(compared.equal > 3);
        QCOMPARE(view->run().decoder(SideRun::Right).name, std::string("swift"));
        // The same as in the chat, which knows nothing of it.
        std::vector<TokenId> written;
        for (const EmittedToken& token : view->run().answer(SideRun::Right).tokens)
            written.push_back(token.id);
        std::vector<TokenId> shown;
        for (const TokenTrace& token : lastAnswer().tokens)
            shown.push_back(token.id);
        QCOMPARE(written, shown);
        QCOMPARE(textsOfBranch(), before);
        for (std::size_t i = events; i < m_stage->events.size(); ++i)
            QVERIFY(m_stage->events[i].as<StepFinished>() == nullptr);
        trigger("workspace.chat_workspace");
        answer(QStringLiteral("cab")); // the chat goes on
    }

    void oneOfTwoAnswersIsKept() {
        answer(QStringLiteral("abc ab"));
        trigger("run.split");
        SidesView* view = sides("split_chat");
        QVERIFY(view->isVisible());
        QVERIFY(!view->run().hasBegun()); // the user begins it
        QCOMPARE(view->questionField().text(), QStringLiteral("abc ab"));
        view->questionField().setText(QStringLiteral("bad cab"));
        QTest::keyClick(&view->questionField(), Qt::Key_Return);
        QTRY_VERIFY(view->run().hasBegun() && !view->run().isRunning());
        QCOMPARE(textsOfBranch().size(), 2);
        for (QPushButton* button : view->findChildren<QPushButton*>())
            if (button->text() == QStringLiteral("Keep both as branches"))
                button->click();
        QVERIFY(!view->isVisible()); // back in the chat
        QCOMPARE(textsOfBranch().size(), 4);
        QCOMPARE(textsOfBranch()[2], QStringLiteral("bad cab"));
        const auto& chat = studio().session().chat();
        QCOMPARE(chat.childrenOf(studio().session().branch()[2].id).size(), 2);
        answer(QStringLiteral("abc")); // goes on from the kept one
        QCOMPARE(textsOfBranch().size(), 6);
    }

    void escStopsTheCheckWithinAPass() {
        answer(QStringLiteral("abc ab"));
        m_stage->gate.holdAtPass(20);
        trigger("run.lossless");
        QTRY_VERIFY(m_stage->gate.isWaiting());
        trigger("run.stop");
        m_stage->gate.release();
        SidesView* view = sides("lossless");
        QTRY_VERIFY(!view->run().isRunning());
        QVERIFY(!view->run().comparison().isWhole);
        QVERIFY(!view->run().comparison().difference);
    }
};

QTEST_MAIN(StudioSidesTest)

#include "studio_sides_test.moc"
