// SPDX-License-Identifier: GPL-3.0-only
// chat_streamer FILE: streams answers through a real ChatStore until it is killed, or the store
// tells of a fault (exit code 7). Each acknowledgement goes to the standard output as "ID
// TOKENS\n", in one write.
#include "tests/ui/store/store_fixture.h"

#include <QHash>
#include <QTimer>

#include <unistd.h>

using namespace ui;

namespace {

constexpr int kTokensOfAnAnswer = 60;
constexpr int kMessagesOfAChat = 6;

class Streamer : public QObject {
public:
    explicit Streamer(const QString& path)
        : m_store({path, 4, 10}) {
        connect(&m_store, &ChatStore::opened, this, [this] {
            beginTurn();
            m_timer.start(0);
        });
        connect(&m_store, &ChatStore::saved, this, &Streamer::acknowledge);
        connect(&m_store, &ChatStore::faulted, this, [] { QCoreApplication::exit(7); });
        connect(&m_timer, &QTimer::timeout, this, &Streamer::grow);
        m_store.open();
    }

private:
    static void acknowledge(qint64 id, qint64 tokenCount) {
        const QByteArray line =
            QByteArray::number(id) + ' ' + QByteArray::number(tokenCount) + '\n';
        if (::write(STDOUT_FILENO, line.constData(), static_cast<std::size_t>(line.size())) !=
            line.size())
            ::_exit(1);
    }

    void beginTurn() {
        if (m_messageCount % kMessagesOfAChat == 0) {
            m_chat = m_store.createChat(titled(QStringLiteral("chat %1").arg(m_messageCount)));
            m_leaf = 0;
        }
        m_leaf = m_store.appendMessage(userMessage(m_chat, m_leaf, QStringLiteral("go on")));
        m_answer = answerOfTokens(m_chat, m_leaf, 0);
        m_answer.id = m_store.appendMessage(m_answer);
        m_leaf = m_answer.id;
        m_messageCount += 2;
    }

    void grow() {
        const MessageId id = m_answer.id;
        const int count = static_cast<int>(m_answer.tokens.size()) + 1;
        m_answer = answerOfTokens(m_chat, m_answer.parentId, count);
        m_answer.id = id;
        if (count < kTokensOfAnAnswer) {
            m_store.updateMessage(m_answer);
            return;
        }
        m_answer.state = MessageState::Finished;
        m_store.finishMessage(m_answer);
        beginTurn();
    }

    ChatStore m_store;
    QTimer m_timer;
    StoredMessage m_answer;
    ChatId m_chat = 0;
    MessageId m_leaf = 0;
    int m_messageCount = 0;
};

} // namespace

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    if (argc != 2)
        return 2;
    const Streamer streamer(QString::fromLocal8Bit(argv[1]));
    return QCoreApplication::exec();
}
