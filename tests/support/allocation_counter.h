// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// Counts what operator new hands out in the whole program. To use it, name
/// tests/support/allocation_counter.cpp among the sources of the test: it replaces the global
/// operators new and delete (fit for address-sanitizer builds). C libraries that call malloc
/// themselves are not seen. Thread: any.
namespace test_support {

/// The most bytes that were alive at once since this object was made, beyond those alive then.
/// One at a time: making a second one starts the count anew.
class PeakAllocation {
public:
    PeakAllocation();
    std::size_t bytes() const;

private:
    std::size_t m_start;
};

} // namespace test_support
