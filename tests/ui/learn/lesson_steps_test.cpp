// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/lessons/lesson_steps.h"

#include <QTest>
#include <QUndoStack>

using namespace ui;

namespace {

/// Counts what is done and not undone.
class CountedStep : public QUndoCommand {
public:
    CountedStep(const QString& text, int& done, int id = 7)
        : QUndoCommand(text)
        , m_done(done)
        , m_id(id) {}

    void undo() override { --m_done; }

    void redo() override { ++m_done; }

    int id() const override { return m_id; }

private:
    int& m_done;
    int m_id;
};

} // namespace

class LessonStepsTest : public QObject {
    Q_OBJECT

private slots:

    void whatALessonHasChangedIsNoStepOfTheUsers() {
        QUndoStack history;
        LessonSteps steps(history);
        int users = 0;
        int lessons = 0;
        history.push(new CountedStep("mine", users));
        steps.begin();
        for (int i = 0; i < 3; ++i)
            history.push(new CountedStep("of the lesson", lessons));
        history.undo();
        steps.drop();
        QCOMPARE(lessons, 2); // it is given back in another way
        QCOMPARE(history.undoText(), QString("mine"));
        QCOMPARE(history.count(), 1);
        QVERIFY(!history.canRedo());
        history.undo();
        QCOMPARE(users, 0);
        history.redo();
        history.push(new CountedStep("behind the lesson", users));
        steps.drop();
        QCOMPARE(history.count(), 2);
    }

    void whatWasOnlyUndoneInALessonIsNotDoneAgain() {
        QUndoStack history;
        LessonSteps steps(history);
        int lessons = 0;
        steps.begin();
        history.push(new CountedStep("of the lesson", lessons));
        history.undo();
        steps.drop();
        QCOMPARE(history.count(), 0);
        QVERIFY(!history.canRedo());
        QVERIFY(!history.canUndo());
    }

    void aLessonThatChangesNothingTakesNothing() {
        QUndoStack history;
        LessonSteps steps(history);
        int users = 0;
        for (int i = 0; i < 2; ++i)
            history.push(new CountedStep("mine", users));
        history.undo();
        steps.drop(); // none has begun
        steps.begin();
        steps.drop();
        QCOMPARE(history.count(), 2);
        QCOMPARE(history.index(), 1);
        QVERIFY(history.canRedo());
    }

    void aStepOfBeforeThatIsDoneAgainInALessonStaysTheUsers() {
        QUndoStack history;
        LessonSteps steps(history);
        int users = 0;
        int lessons = 0;
        for (int i = 0; i < 2; ++i)
            history.push(new CountedStep("mine", users));
        steps.begin();
        history.undo();
        history.redo();
        steps.drop(); // nothing is of the lesson
        QCOMPARE(history.index(), 2);
        history.undo();
        steps.begin();
        history.redo(); // undone before the lesson
        history.push(new CountedStep("of the lesson", lessons));
        steps.drop();
        QCOMPARE(history.count(), 2);
        QCOMPARE(history.undoText(), QString("mine"));
        history.undo();
        history.undo();
        QCOMPARE(users, 0);
        QCOMPARE(lessons, 1); // it is given back in another way
    }

    void aStepThatTakesThePlaceOfAnUndoneOneIsOfTheLesson() {
        QUndoStack history;
        LessonSteps steps(history);
        int users = 0;
        int lessons = 0;
        for (int i = 0; i < 2; ++i)
            history.push(new CountedStep("mine", users));
        steps.begin();
        history.undo();
        history.push(new CountedStep("of the lesson", lessons));
        steps.drop();
        QCOMPARE(history.count(), 1);
        QCOMPARE(users, 1);
    }

    void aStoredSetThatIsDeletedMeanwhileCanComeBack() {
        QUndoStack history;
        LessonSteps steps(history);
        int stored = 0;
        int lessons = 0;
        steps.begin();
        history.push(new CountedStep("of the lesson", lessons));
        history.push(new CountedStep("delete a set", stored, -1));
        history.push(new CountedStep("of the lesson", lessons));
        steps.drop();
        QCOMPARE(history.undoText(), QString("delete a set"));
        history.undo();
        QCOMPARE(stored, 0);
        history.undo();
        QCOMPARE(lessons, 2);
        QCOMPARE(history.count(), 1);
    }
};

QTEST_MAIN(LessonStepsTest)
#include "lesson_steps_test.moc"
