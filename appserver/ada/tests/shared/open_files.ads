--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

function Open_Files return Natural;
--  Descriptors of this process, that of the folder which has their names among them
