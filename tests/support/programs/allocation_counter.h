// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// Counts the memory that operator new allocates in the whole program. To use it, add
/// tests/support/programs/allocation_counter.cpp to the sources of the test: it replaces the global
/// operators new and delete (also in address-sanitizer builds). C libraries that call malloc
/// directly are not counted. Thread: any.
namespace test_support {

/// The peak number of live bytes since this object was created, beyond those alive at that time.
/// Use one at a time: a second one restarts the count.
class PeakAllocation {
public:
    PeakAllocation();
    std::size_t bytes() const;

private:
    std::size_t m_start;
};

} // namespace test_support
