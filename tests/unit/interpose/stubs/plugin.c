/* SPDX-License-Identifier: BSD-3-Clause */
/* A plug-in of a program: calls back, so that a stack leads through it. */
#include "stubs.h"

int stub_call(int (*function)(void))
{
    int got = function();
    return got + 1;
}
