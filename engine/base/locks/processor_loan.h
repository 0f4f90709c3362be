// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace engine {

/// A processor for a thread that has some milliseconds of work now and then, as the window's thread
/// has with a picture, while others compute on all processors. Without a loan the system takes a
/// processor from one of them in the middle of its part, and the rest wait for that part. A thread
/// that lends goes to sleep between two parts instead, and the rest take over its share.
/// Give it back before you wait for a thread that lends. Thread: the one that needs the processor.
class ProcessorLoan {
public:
    ProcessorLoan() = default;

    ~ProcessorLoan() { giveBack(); }

    ProcessorLoan(const ProcessorLoan&) = delete;
    ProcessorLoan& operator=(const ProcessorLoan&) = delete;

    /// Asks all lenders of this process, and sleeps until one of them does, at most two
    /// milliseconds. Returns at once if none of them is awake, because then a processor is free.
    void take();

    void giveBack();

private:
    bool m_isTaken = false;
};

/// What a thread that computes lends. Thread: that one.
class ProcessorLender {
public:
    /// `lends`: false for a thread that keeps its processor.
    explicit ProcessorLender(bool lends);
    ~ProcessorLender();

    ProcessorLender(const ProcessorLender&) = delete;
    ProcessorLender& operator=(const ProcessorLender&) = delete;

    /// Whether to lend() now. One read of memory that rarely changes.
    bool isAsked() const;

    /// Sleeps until nobody needs the processor.
    void lend();

    /// To be told around every other sleep: a sleeping thread has nothing to lend.
    void setAwake(bool isAwake);

private:
    bool m_lends;
};

} // namespace engine
