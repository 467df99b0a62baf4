--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

function Escaped (Text : String) return String;
--  Replaces \r, \n, \t, \0 and \\ in Text with the characters that they mean in C
