--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

function Escaped (Text : String) return String;
--  With \r, \n, \t, \0 and \\ in Text for what they stand for in C
