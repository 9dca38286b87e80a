/* SPDX-License-Identifier: BSD-3-Clause */
/* An object that calls the kernel by ioctl(); without, where NO_IOCTL is defined. */
#include <sys/ioctl.h>

#include "stubs.h"

int kernel_call(int fd, unsigned long request, void *argument)
{
#ifdef NO_IOCTL
    return 0;
#else
    return ioctl(fd, request, argument);
#endif
}
