--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

function Escaped (Text : String) return String;
--  Replaces the escape sequences \r, \n, \t, \0 and \\ in Text with the characters that they
--  represent in C
