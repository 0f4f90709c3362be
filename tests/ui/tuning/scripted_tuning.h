// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/tuning/tuning_session.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <memory>
#include <optional>

namespace support {

/// A stand-in for swift-run that obeys the contract of `tune --json`: it appends what it was called
/// with to OUT.told, makes the folder OUT.work, says the lines that the test has given it, and then
/// ends as the test wants it to (scripted_swift_run.cpp). Its files lie in a folder of their own,
/// the adapters in use too.
class ScriptedTuning {
public:
    ScriptedTuning() {
        qputenv("SWIFT_STUDIO_DATA", path("memory").toUtf8());
        const bool isThere = QFile::copy(QCoreApplication::applicationDirPath() +
                                             QStringLiteral("/scripted_swift_run"),
                                         program());
        Q_ASSERT(isThere);
        say({});
        endBy("wait");
        sayCompared({});
        endComparisonBy("wait");
        write("prompts.jsonl", "{\"prompt\":\"p\"}\n");
    }

    QString path(const QString& name) const { return m_folder.filePath(name); }

    QString program() const { return path(QStringLiteral("swift-run")); }

    ui::TuningPlaces places() const {
        return {program(), path(QStringLiteral("tuning")), true, path(QStringLiteral("models"))};
    }

    static ui::TuningModel model(const QString& name = QStringLiteral("Tiny")) {
        return {QStringLiteral("/models/") + name, name, false, 576};
    }

    ui::TuningChoice choice() const {
        ui::TuningChoice choice;
        choice.model = model();
        choice.data = {path(QStringLiteral("prompts.jsonl"))};
        return choice;
    }

    /// Of a copy of the model.
    ui::TuningChoice copyChoice(ui::TuningRecipe recipe = ui::TuningRecipe::LayerSkip) const {
        ui::TuningChoice made = choice();
        made.recipe = recipe;
        made.output = path(QStringLiteral("models/Tiny-") + ui::recipeKey(recipe));
        return made;
    }

    /// What it says at its next starts.
    void say(const QByteArrayList& lines) const { write("lines", lines.join('\n') + '\n'); }

    /// How it ends then: "done", "fail", "crash", or "wait" for Ctrl+C. Behind Ctrl+C, "full" finds
    /// no room, and "save" counts in OUT.interrupts until it is terminated, and then makes
    /// OUT.saved.
    void endBy(const QByteArray& end) const { write("end", end); }

    /// The same for what compares.
    void sayCompared(const QByteArrayList& lines) const {
        write("compared-lines", lines.join('\n') + '\n');
    }

    void endComparisonBy(const QByteArray& end) const { write("compared-end", end); }

    /// The arguments of its starts for an adapter, each in a line.
    static QStringList told(const QString& adapter) { return toldIn(adapter + ".told"); }

    /// Likewise, for an adapter or a new model's folder.
    static QStringList toldToCompare(const QString& result) { return toldIn(result + ".compared"); }

    static QStringList toldIn(const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly)
                   ? QString::fromUtf8(file.readAll()).split(u'\n', Qt::SkipEmptyParts)
                   : QStringList();
    }

    /// 'T': it is held; 'S': it waits; 'Z' or 0: it has ended.
    static char stateOf(qint64 process) {
        QFile file(QStringLiteral("/proc/%1/stat").arg(process));
        if (!file.open(QIODevice::ReadOnly))
            return 0;
        const QByteArray line = file.readAll();
        return line.mid(line.lastIndexOf(')') + 2, 1).front();
    }

    void write(const QString& name, const QByteArray& content) const {
        QFile file(path(name));
        const bool isWritten =
            file.open(QIODevice::WriteOnly) && file.write(content) == content.size();
        Q_ASSERT(isWritten);
    }

    static QByteArray started() {
        return R"({"event":"start","recipe":"draft","model":"Tiny","fingerprint":"f00d",)"
               R"("profile":"full","seed":1,"threads":2,"precision":"float32",)"
               R"("trained_weights":4200000,"answer_tokens":1200000,"epochs":3,"steps":null,)"
               R"("minutes":null})";
    }

    static QByteArray collected(int tokens) {
        return QByteArray(R"({"event":"collect","prompts":40,"answer_tokens":)") +
               QByteArray::number(tokens) +
               R"(,"planned":1200000,"tokens_per_s":300.5,"eta_s":3600})";
    }

    static QByteArray stepped(int step, double loss) {
        return QByteArray(R"({"event":"step","step":)") + QByteArray::number(step) +
               R"(,"steps":1000,"loss":)" + QByteArray::number(loss) +
               R"(,"parts":{},"rate":0.001,"tokens_per_s":700,"eta_s":90})";
    }

    static QByteArray evaluated(int step, double first, bool isBest = true) {
        const QByteArray score = R"("acceptance":[)" + QByteArray::number(first) +
                                 R"(,0.5,0.4,0.3],"tokens_per_round":2.1)";
        return R"({"event":"eval","step":)" + QByteArray::number(step) + ',' + score +
               R"(,"best":)" + (isBest ? "true" : "false") + R"(,"tasks":{"code":{)" + score +
               R"(},"long_story":{"acceptance":[0.25,0.2,0.1,0.1],"tokens_per_round":1.5}}})";
    }

    static QByteArray prices(const char* when = "start") {
        return QByteArray(R"({"event":"prices","when":")") + when +
               R"(","plain_ms":8,"c":0.05,"v":{"2":1.12,"3":1.2,"4":1.35},"rounds":30,)"
               R"("break_even":0.17,"drafted":1})";
    }

    static QByteArray selfPrompts(int written, int planned = 500) {
        return R"({"event":"self_prompts","written":)" + QByteArray::number(written) +
               R"(,"planned":)" + QByteArray::number(planned) + "}";
    }

    /// What all three decoders did with a prompt, of which there are `of`: 100 tokens each.
    static QByteArrayList compared(
        int line, double plainMs, double withMs, double withoutMs, int of, bool isEqual = true) {
        const auto answer = [&](const char* variant, double ms, int rounds, bool equal) {
            return R"({"event":"prompt","data":"d","line":)" + QByteArray::number(line) +
                   R"(,"task":")" + (line % 2 == 0 ? "code" : "long_story") + R"(","variant":")" +
                   variant + R"(","output_tokens":100,"steps":)" + QByteArray::number(rounds) +
                   R"(,"draft_steps":80,"accepted":40,"decode_ms":[)" + QByteArray::number(ms / 2) +
                   ',' + QByteArray::number(ms / 2) + R"(],"equal":)" + (equal ? "true" : "false") +
                   R"(,"of":)" + QByteArray::number(of) + '}';
        };
        return {answer("vanilla", plainMs, 100, true),
                answer("with", withMs, 50, isEqual),
                answer("without", withoutMs, 60, true)};
    }

    /// The same of a copy of the model with its decoder, the copy plainly, and the model plainly.
    /// Odd prompts have a reference, on which the model scores .5 and the copy .25.
    static QByteArrayList comparedCopy(int line, double plainMs, double withMs, double modelMs) {
        QByteArrayList lines = compared(line, plainMs, withMs, modelMs, 6);
        lines[2].replace(R"("variant":"without")", R"("variant":"original")");
        for (QByteArray& each : lines) {
            const char* score = each.contains("original") ? "0.5" : "0.25";
            const QByteArray half = QByteArray(R"({"rouge1":0.1,"rougeL":)") + score + '}';
            each.chop(1);
            each += R"(,"quality":[)" +
                    (line % 2 == 1 ? half + ',' + half : QByteArray("null,null")) + "]}";
        }
        return lines;
    }

    /// The best state lies there while the training goes on.
    static QByteArray best(const QString& path, int step, bool isHeldOut = true) {
        return R"({"event":"best","path":")" + path.toUtf8() + R"(","step":)" +
               QByteArray::number(step) +
               R"(,"acceptance":[0.62,0.5,0.4,0.3],"tokens_per_round":2.1,"held_out":)" +
               (isHeldOut ? "true}" : "false}");
    }

    static QByteArray checkpoint() { return R"({"event":"checkpoint","path":"/x"})"; }

    static QByteArray done(const QString& path, bool isHeldOut = true) {
        return R"({"event":"done","path":")" + path.toUtf8() +
               R"(","bytes":4500000,"acceptance":[0.6,0.5,0.4,0.3],"tokens_per_round":2.1,)" +
               R"("held_out":)" + (isHeldOut ? "true" : "false") +
               R"(,"tasks":{"code":{"acceptance":[0.6,0.5,0.4,0.3],"tokens_per_round":2.1}},)"
               R"("head_coverage":0.98,"answer_tokens":1200000,"steps":1000,)"
               R"("seconds":{"collect":3600,"train":7200}})";
    }

    // Of a copy of the model.
    static QByteArray copyStarted(const char* recipe = "layerskip") {
        return started().replace(R"("recipe":"draft")", R"("recipe":")" + QByteArray(recipe) + '"');
    }

    static QByteArray copyStepped(int step, double distance, double drafting) {
        return stepped(step, distance)
            .replace(R"("parts":{})",
                     R"("parts":{"likelihood":0.1,"drafting":)" + QByteArray::number(drafting) +
                         R"(,"gradient":1})");
    }

    static QByteArray withExits(QByteArray line, const QByteArray& exits) {
        line.chop(1);
        return line + R"(,"exits":[)" + exits + "]}";
    }

    /// Of masks: no draft reaches further than two.
    static QByteArray masksEvaluated(int step) {
        const QByteArray score = R"("acceptance":[0.7,0.3,0,0],"tokens_per_round":1.9)";
        return R"({"event":"eval","step":)" + QByteArray::number(step) + ',' + score +
               R"(,"best":true,"tasks":{"code":{)" + score + "}}}";
    }

    static QByteArray copyDone(const QString& path, bool isKept = true) {
        QByteArray line = done(path);
        line.chop(1);
        return line + R"(,"mask_token":null,"quality":{"tokens":2000,"perplexity_before":12,)" +
               R"("perplexity":)" + (isKept ? "12.24" : "15") +
               R"(,"most_perplexity":12.36,"agreement":)" + (isKept ? "0.96" : "0.81") +
               R"(,"least_agreement":0.9,"kept":)" + (isKept ? "true" : "false") +
               R"(},"exits":[0.05,0.2,0.5]})";
    }

    static QByteArray error() {
        return R"({"event":"error","code":"unsupported","message":"It cannot be.","hint":"Wait."})";
    }

private:
    QTemporaryDir m_folder;
};

/// A session of trainings on a script, as a window has one.
struct TuningBench {
    using Script = ScriptedTuning;

    std::unique_ptr<Script> m_script;
    std::unique_ptr<ui::TuningSession> m_session;

    void clear() {
        m_session.reset();
        m_script.reset();
    }

    void renew() {
        m_script = std::make_unique<Script>();
        open();
    }

    ui::TuningSession& session() { return *m_session; }

    ui::TuningState state() const { return m_session->state(); }

    void open() {
        m_session = std::make_unique<ui::TuningSession>(m_script->places());
        load(Script::model());
    }

    /// And all that is known of it.
    void load(const ui::TuningModel& model) {
        m_session->setModel(model);
        QTRY_VERIFY(!m_session->isReading());
    }

    /// As after the end of the program, however it came.
    void reopen() {
        m_session.reset();
        open();
    }

    QStringList told() const { return Script::told(m_session->output()); }

    void finish(std::optional<ui::TuningChoice> choice = {}) {
        m_script->say({Script::started(),
                       Script::stepped(1000, 2.0),
                       Script::done(QStringLiteral("/result"))});
        m_script->endBy("done");
        session().start(choice.value_or(m_script->choice()));
        QTRY_VERIFY(state() == ui::TuningState::Finished);
    }

    /// Of so many; the others were left out.
    void compareFour(int planned) {
        QByteArrayList lines;
        for (int i = 1; i <= 4; ++i)
            lines += Script::compared(i, 200, 100, 160, planned);
        m_script->sayCompared(lines);
        m_script->endComparisonBy("done");
        session().compare();
        QTRY_VERIFY(session().comparison().state() == ui::ComparisonState::Done);
    }
};

} // namespace support
