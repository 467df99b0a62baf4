--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

function Open_Files return Natural;
--  Returns the number of open descriptors of this process, including the descriptor of the
--  directory that lists them
